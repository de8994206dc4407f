// Package ending says how a watched session came to its end, by its record: the
// agent answered done or wait_user, the cap of checks was reached, the breaker
// tripped, somebody stopped it. It is a function of the entries of a session
// file, as they come.
package ending

import (
	"encoding/json"

	"piwatch/internal/guard"
	"piwatch/internal/pi"
	"piwatch/internal/watchdog"
)

// Kind is how a session ended.
type Kind string

// The kinds. Timeout is never in a record: it is for who waited no longer.
const (
	None     Kind = ""
	Done     Kind = "done"      // the agent says that the work is done
	WaitUser Kind = "wait_user" // the agent needs the user
	Max      Kind = "max"       // the cap of checks was reached
	Breaker  Kind = "breaker"   // the guard's breaker tripped
	Stopped  Kind = "stopped"   // somebody stopped the watchdog
	Failed   Kind = "error"     // Pi or the provider failed
	Gone     Kind = "gone"      // Pi ended, and none of these came before
	Timeout  Kind = "timeout"   // it took longer than it was given
)

// Ending is where a session stands.
type Ending struct {
	Kind Kind
	// Note is the agent's note to its decision, or why it ended.
	Note string
	// Watched says that the watchdog is on, as far as the record knows.
	Watched bool
	// Started says that the watchdog was on at some time.
	Started bool
	// Error is why the last check that ended failed, "" when it did not: the
	// watchdog goes on after it, who waits may not want to.
	Error string
	// Checks counts the checks since the user's last message.
	Checks int
}

// Tracker follows the record of a session. The zero value is ready.
type Tracker struct {
	nodes []node
	byID  map[string]int
	leaf  int // node of the last entry
}

// node is an entry, reduced to what it says of the end.
type node struct {
	parent int // -1 for a root
	event  func(*state)
}

// state is an Ending and what leads to the next one.
type state struct {
	Ending
	mode watchdog.Mode
}

// Add takes in one entry, in the order of the file.
func (t *Tracker) Add(e *pi.Entry) {
	if e.Header != nil {
		return
	}
	if t.byID == nil {
		t.byID = map[string]int{}
	}
	parent, known := t.byID[e.ParentID]
	if !known || e.ParentID == "" {
		parent = -1
	}
	t.leaf = len(t.nodes)
	t.nodes = append(t.nodes, node{parent, eventOf(e)})
	if e.ID != "" {
		t.byID[e.ID] = t.leaf
	}
}

// Ending is that of the active branch: the one that ends at the last entry.
func (t *Tracker) Ending() Ending {
	var events []func(*state)
	if len(t.nodes) > 0 {
		for at := t.leaf; at >= 0; at = t.nodes[at].parent {
			if event := t.nodes[at].event; event != nil {
				events = append(events, event)
			}
		}
	}
	var s state
	for i := len(events) - 1; i >= 0; i-- {
		events[i](&s)
	}
	return s.Ending
}

// eventOf says what an entry does; nil: nothing.
func eventOf(e *pi.Entry) func(*state) {
	switch {
	case e.IsRealUserMessage():
		return (*state).spoken
	case e.Custom == nil:
		return nil
	}
	switch e.Custom.CustomType {
	case watchdog.RecordStart:
		return with(e, func(s *state, r watchdog.Start) {
			*s = state{Ending: Ending{Watched: true, Started: true}, mode: r.Settings.Mode}
		})
	case watchdog.RecordSet:
		return with(e, func(s *state, r watchdog.Set) { s.mode = r.Settings.Mode })
	case watchdog.RecordCheck, watchdog.RecordOnward:
		return with(e, func(s *state, r watchdog.Check) { s.Checks = r.N })
	case watchdog.RecordStop:
		return with(e, (*state).stop)
	case guard.Type:
		return with(e, (*state).guard)
	case watchdog.RecordPause:
		return with(e, func(s *state, r watchdog.Pause) {
			if !r.On {
				s.Kind, s.Note = None, "" // a suspension was lifted by hand
			}
		})
	case watchdog.RecordOutcome:
		return with(e, (*state).outcome)
	}
	return nil
}

// with reads the data of a record; a damaged one does nothing.
func with[T any](e *pi.Entry, event func(*state, T)) func(*state) {
	var r T
	if json.Unmarshal(e.Custom.Data, &r) != nil {
		return nil
	}
	return func(s *state) { event(s, r) }
}

// spoken: the user goes on with the session.
func (s *state) spoken() { s.Kind, s.Note, s.Checks, s.Error = None, "", 0, "" }

var stops = map[watchdog.StopReason]Kind{
	watchdog.StopByHand: Stopped, watchdog.StopMax: Max,
}

func (s *state) stop(r watchdog.Stop) {
	kind, known := stops[r.Reason]
	if !known {
		kind = Failed
	}
	s.Kind, s.Note, s.Watched = kind, "", false
	switch kind {
	case Stopped:
		s.Note = "stopped by " + r.By
	case Failed:
		s.Note = string(r.Reason)
	}
}

// guard: the breaker trips also while the watchdog is on, and stays so until the
// user speaks or a person resets it.
func (s *state) guard(r guard.Record) {
	switch {
	case r.Event == guard.Tripped:
		s.Kind, s.Note = Breaker, r.Tripped
	case r.Event == guard.WasReset && s.Kind == Breaker:
		s.Kind, s.Note = None, ""
	}
}

func (s *state) outcome(o watchdog.Outcome) {
	if o.Again { // only the fold was changed, by hand
		return
	}
	s.Error = ""
	if o.End == watchdog.EndError {
		s.Error = o.Why
		if s.Error == "" {
			s.Error = "the provider failed"
		}
	}
	if o.End != watchdog.EndAnswered || !s.Watched || o.Decision == watchdog.Continue || !o.Decision.Valid() {
		return
	}
	s.Kind, s.Note = Kind(o.Decision), o.Note
	s.Watched = s.mode == watchdog.Keep
}
