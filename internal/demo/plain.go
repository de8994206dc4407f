package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"piwatch/internal/control"
	"piwatch/internal/watchdog"
)

// longest bounds a told story; at its normal speed it takes about 15 s.
const longest = 60 * time.Second

// teller prints the story line by line, and keeps what the hub says of each
// session.
type teller struct {
	out   io.Writer
	start time.Time
	fail  context.CancelCauseFunc

	mu       sync.Mutex
	changed  chan struct{}
	names    map[string]string // by session id
	sessions map[string]control.Session
	checks   int
	rows     int
	err      error // of printing
}

// tell plays the story, prints it and looks at its end.
func tell(ctx context.Context, o Options, w World, actors []*actor) error {
	story := ctx
	ctx, cancel := context.WithTimeoutCause(ctx, longest, fmt.Errorf("it was not over after %s", longest))
	defer cancel()
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	client, err := control.DialClient(ctx, w.Socket, o.Version, "cli")
	if err != nil {
		return err
	}
	defer client.Close()

	t := &teller{out: o.Out, start: time.Now(), fail: fail, changed: make(chan struct{}), names: map[string]string{}, sessions: map[string]control.Session{}}
	for _, a := range actors {
		t.names[a.pi.Session()] = a.name
	}
	now, pushes, err := client.Watch(ctx)
	if err != nil {
		return err
	}
	var telling, playing sync.WaitGroup
	telling.Go(func() {
		for _, s := range now {
			t.session(s)
		}
		for p := range pushes {
			if p.Session != nil {
				t.session(*p.Session)
			}
		}
	})
	results := make([]error, len(actors))
	for i, a := range actors {
		telling.Go(func() {
			for e := range a.pi.Events(ctx) {
				t.event(a.name, e)
			}
		})
		playing.Go(func() {
			if results[i] = a.play(ctx); results[i] == nil {
				results[i] = a.check(t.await(ctx, a.pi.Session(), a.end))
			}
		})
	}
	playing.Wait()
	fail(errors.New("the story is over"))
	telling.Wait()
	switch {
	case story.Err() != nil:
		return context.Cause(story)
	case t.err != nil: // nobody reads the lines
		return t.err
	}
	if err := errors.Join(results...); err != nil {
		return err
	}
	_, err = fmt.Fprintf(o.Out, "\nEverything ended as it should: %d checks, %d rows folded out of the context, no message after the end.\n", t.checks, t.rows)
	return err
}

// await gives what the hub says of a session once it is in a phase, or at last.
func (t *teller) await(ctx context.Context, id string, phase watchdog.Phase) control.Session {
	for {
		t.mu.Lock()
		s, changed := t.sessions[id], t.changed
		t.mu.Unlock()
		if s.Watch.Phase == phase {
			return s
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return s
		}
	}
}

func (t *teller) session(s control.Session) {
	t.mu.Lock()
	defer t.mu.Unlock()
	old := t.sessions[s.ID].Watch
	t.sessions[s.ID] = s
	close(t.changed)
	t.changed = make(chan struct{})
	v := s.Watch
	switch {
	case v.Phase == watchdog.Counting && !v.Deadline.Equal(old.Deadline):
		t.line(t.names[s.ID], "countdown", v.Settings.Grace().String()+" until a check")
	case v.Phase != old.Phase && (v.Phase == watchdog.Suspended || v.Phase == watchdog.Interrupted):
		t.line(t.names[s.ID], "watchdog", v.Why)
	case v.Phase == watchdog.Off && old.Phase != watchdog.Off && old.Phase != "":
		t.line(t.names[s.ID], "watchdog", v.Why)
	}
}

func (t *teller) event(name string, e Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch e.Kind {
	case Prompted:
		t.line(name, "user", e.Text)
	case Replied:
		if strings.TrimSpace(e.Text) != "" {
			t.line(name, "agent", e.Text)
		}
	case Silent:
		t.line(name, "agent", "(stops without a word)")
	case ToolRan:
		t.line(name, "tool", e.Text)
	case Interrupt:
		t.line(name, "user", "presses Esc")
	case Asked:
		t.line(name, "check", "the agent is asked: continue, done or wait_user?")
	case Worked:
		t.line(name, "work", "the check is over, the agent is sent back to work")
	case Urged:
		t.line(name, "guard", "a silent stop: the agent is asked for its next action")
	case Closed:
		t.checks++
		t.rows += len(e.Outcome.Rows)
		t.line(name, "decision", decisionText(e.Outcome))
		t.line(name, "fold", fmt.Sprintf("%d rows of the check are out of the context", len(e.Outcome.Rows)))
	case Rest:
		t.line(name, "stop", "the agent stopped")
	}
}

// decisionText says how a check ended.
func decisionText(o watchdog.Outcome) string {
	switch {
	case o.End != watchdog.EndAnswered:
		return fmt.Sprintf("none (%s): %s", o.End, o.Why)
	case o.Note != "":
		return fmt.Sprintf("%s: %s", o.Decision, o.Note)
	}
	return string(o.Decision)
}

// line prints one line; the caller holds mu.
func (t *teller) line(name, what, text string) {
	if t.err != nil {
		return
	}
	if _, err := fmt.Fprintf(t.out, "%5.1fs  %-20s %-10s %s\n", time.Since(t.start).Seconds(), name, what, text); err != nil {
		t.err = fmt.Errorf("print the story: %w", err)
		t.fail(t.err)
	}
}
