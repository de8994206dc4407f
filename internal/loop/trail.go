package loop

import (
	"slices"
	"time"
)

// Trail holds the last events of a session as hashes and short previews. The
// zero value holds none.
type Trail struct {
	events []Trace
	next   int // place of the next one, once the trail is full
	n      int // of the last event
}

// Trace is one event of a trail.
type Trace struct {
	N    int       `json:"n"` // counts from 1
	At   time.Time `json:"at"`
	Kind string    `json:"kind"` // spoke, began, ended, called, returned, given, answered
	Tool string    `json:"tool,omitempty"`
	Hash Hash      `json:"hash,omitzero"`
	// Error says that a result is an error.
	Error bool `json:"error,omitempty"`
	// Preview is how it begins. It is foreign text, not safe to draw.
	Preview string `json:"preview,omitempty"`
}

// Add keeps an event. limit is how many are kept, lines how long a preview is.
func (t *Trail) Add(now time.Time, ev Event, limit, lines int) {
	one := Trace{At: now}
	switch ev := ev.(type) {
	case Spoken:
		if ev.Text == "" { // it is told apart, and comes with its text
			return
		}
		one.Kind, one.Preview = "spoke", preview(ev.Text, lines)
	case Began:
		one.Kind = "began"
	case Ended:
		one.Kind = "ended"
	case Called:
		one.Kind, one.Tool, one.Preview = "called", ev.Tool, digestCall(ev.Tool, ev.Args, verbatim).preview
	case Returned:
		one.Kind, one.Tool, one.Error, one.Preview = "returned", ev.Tool, ev.Error, preview(ev.Text, lines)
	case Given:
		if ev.Input.Empty() {
			return
		}
		one.Kind, one.Hash, one.Preview = "given", ev.Input.hash, ev.Input.text
	case Answered:
		h, text, _ := digestAnswer(ev)
		one.Kind, one.Hash, one.Preview = "answered", h, preview(text, lines)
	default:
		return
	}
	t.n++
	one.N = t.n
	if limit < len(t.events) { // it was set lower
		t.events, t.next = t.Last(limit), 0
	}
	if len(t.events) < limit {
		if t.next > 0 { // it was set higher
			t.events, t.next = t.Last(len(t.events)), 0
		}
		t.events = append(t.events, one)
		return
	}
	t.events[t.next] = one
	t.next = (t.next + 1) % limit
}

// Last gives up to n of the last events, the oldest first.
func (t *Trail) Last(n int) []Trace {
	all := slices.Concat(t.events[t.next:], t.events[:t.next])
	return all[max(len(all)-n, 0):]
}

// Len is how many events are kept, Seen how many came in all.
func (t *Trail) Len() int  { return len(t.events) }
func (t *Trail) Seen() int { return t.n }
