package demo

import (
	"context"
	"iter"
	"time"

	"piwatch/internal/watchdog"
)

// Kind is what an [Event] tells of.
type Kind string

// The kinds of events.
const (
	Prompted  Kind = "prompt"    // the user's message is in the session
	Replied   Kind = "answer"    // an assistant row is complete; Text is its text
	Silent    Kind = "silent"    // the same, but it holds no text and no call
	ToolRan   Kind = "tool"      // a tool call has its result; Text is the call in short
	Blocked   Kind = "blocked"   // a tool was blocked by an open check
	Asked     Kind = "asked"     // a check was opened; Text is what the agent is asked
	Worked    Kind = "work"      // the agent was sent back to work; Text is the message
	Urged     Kind = "urged"     // after a silent stop the agent was asked for its next action; Text is the message
	Closed    Kind = "closed"    // a check ended, or the agent stopped by itself: Outcome
	Rest      Kind = "settled"   // the agent settled
	Interrupt Kind = "interrupt" // the run was aborted
	Shown     Kind = "notify"    // Pi showed a line of the hub
	Footer    Kind = "status"    // Pi's footer changed; Text is the new one
	Joined    Kind = "joined"    // the hub welcomed the bridge
	Gone      Kind = "lost"      // the hub is gone; Text is the cause
)

// Event is one thing that happened in a stand-in.
type Event struct {
	Time    time.Time
	Kind    Kind
	Text    string
	Entry   string // the entry it is about, "" for none
	Outcome watchdog.Outcome
}

func (p *Pi) note(e Event) {
	e.Time = p.clock.Now()
	p.log = append(p.log, e)
	p.bump()
}

// Events gives what happened and goes on happening, from the first event to
// the end of the context or of the stand-in.
func (p *Pi) Events(ctx context.Context) iter.Seq[Event] {
	return func(yield func(Event) bool) {
		for next := 0; ; {
			p.mu.Lock()
			fresh, changed, closed := p.log[next:], p.changed, p.closed
			p.mu.Unlock()
			for _, e := range fresh {
				if !yield(e) {
					return
				}
			}
			next += len(fresh)
			if len(fresh) > 0 {
				continue
			}
			if closed {
				return
			}
			select {
			case <-changed:
			case <-ctx.Done():
				return
			}
		}
	}
}
