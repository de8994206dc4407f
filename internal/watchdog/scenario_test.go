package watchdog

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// begin is when every scenario starts.
var begin = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// scenario plays one session: it feeds an engine what a bridge would tell, and
// keeps what the engine wants done.
type scenario struct {
	t     *testing.T
	e     *Engine
	now   time.Time
	facts Facts // as the bridge sees them
	check string
	ids   int
	did   []string // short forms of the effects since the last look
	logs  []string
}

// unwatched is a session with a bridge, in a process that has not finished a
// run; the record before it is rec.
func unwatched(t *testing.T, rec State) *scenario {
	s := &scenario{t: t, now: begin, facts: Facts{Idle: true, Leaf: "leaf0"}}
	s.e = New(rec, s.newID)
	s.step(Joined{Facts: s.facts, Instance: "one"})
	return s
}

func (s *scenario) newID() string {
	s.ids++
	return fmt.Sprintf("c%d", s.ids)
}

// watched is a session in which the user spoke, a run was finished, and the
// watchdog was started by hand with these settings: it counts.
func watched(t *testing.T, line string) *scenario {
	s := unwatched(t, State{})
	s.user()
	s.settle()
	s.start(line)
	s.forget()
	return s
}

func (s *scenario) step(ev Event) {
	s.t.Helper()
	for _, effect := range s.e.Step(s.now, ev) {
		if l, ok := effect.(Log); ok {
			s.logs = append(s.logs, l.Text)
			continue
		}
		if a, ok := effect.(AskCheck); ok {
			s.check = a.Record.ID
		}
		s.did = append(s.did, short(effect))
	}
	if wake, any := s.e.Wake(); any && !wake.After(s.now) {
		s.t.Fatalf("after %#v the next tick is due %s ago: the hub would spin", ev, s.now.Sub(wake))
	}
}

// short is an effect in few words.
func short(effect Effect) string {
	switch e := effect.(type) {
	case AskCheck:
		return fmt.Sprintf("check %s %d/%d", e.Record.ID, e.Record.N, e.Record.Max)
	case SendWork:
		return "work " + e.Check
	case VoidCheck:
		if e.Abort {
			return fmt.Sprintf("void+abort %s: %s", e.Check, e.Why)
		}
		return fmt.Sprintf("void %s: %s", e.Check, e.Why)
	case Append:
		return "record " + strings.TrimPrefix(e.Type, "piwatch.")
	case RegisterTool:
		return "tool"
	case Rollback:
		return "rollback " + e.Check
	case Ended:
		return strings.TrimSpace("ended " + e.Event + " " + e.Note)
	case Reply:
		return e.Level + ": " + e.Text
	case Answer:
		return fmt.Sprintf("answer accepted=%v terminate=%v: %s", e.Accepted, e.Terminate, e.Text)
	}
	return fmt.Sprintf("%#v", effect)
}

// What happens in Pi.

func (s *scenario) user() { s.t.Helper(); s.spoken(true); s.run() }

func (s *scenario) spoken(human bool) { s.t.Helper(); s.step(Spoken{Human: human}) }

func (s *scenario) run() { s.t.Helper(); s.facts.Idle = false; s.step(RunStarted{}) }

func (s *scenario) ownRun() { s.t.Helper(); s.facts.Idle = false; s.step(RunStarted{Own: true}) }

func (s *scenario) settle() { s.t.Helper(); s.settled(false) }

func (s *scenario) settleAborted() { s.t.Helper(); s.settled(true) }

func (s *scenario) settled(aborted bool) {
	s.t.Helper()
	s.facts.Settle++
	s.facts.Runs++
	s.facts.Idle, s.facts.Aborted, s.facts.Leaf = true, aborted, fmt.Sprintf("leaf%d", s.facts.Settle)
	s.step(Settled{s.facts})
}

func (s *scenario) key() { s.t.Helper(); s.step(Activity{Key: true, Draft: s.facts.Draft}) }

func (s *scenario) draft(on bool) {
	s.t.Helper()
	s.facts.Draft = on
	s.step(Activity{Key: true, Draft: on})
}

func (s *scenario) compaction(on bool) {
	s.t.Helper()
	s.facts.Compacting = on
	s.step(CompactionChanged{on})
}

func (s *scenario) sent() { s.t.Helper(); s.step(Delivered{Check: s.check, Sent: true}) }

func (s *scenario) workSent() {
	s.t.Helper()
	s.step(Delivered{Check: s.check, Work: true, Sent: true})
}

func (s *scenario) refused(reason string) {
	s.t.Helper()
	facts := s.facts
	s.step(Delivered{Check: s.check, Reason: reason, Facts: &facts})
}

func (s *scenario) workRefused(reason string) {
	s.t.Helper()
	facts := s.facts
	s.step(Delivered{Check: s.check, Work: true, Reason: reason, Facts: &facts})
}

func (s *scenario) decide(d Decision, note string) { s.t.Helper(); s.step(Decided{s.check, d, note}) }

func (s *scenario) decideOutside(d Decision, note string) { s.t.Helper(); s.step(Decided{"", d, note}) }

func (s *scenario) closed(o Outcome) {
	s.t.Helper()
	if o.Check == "" {
		o.Check = s.check
	}
	s.step(Closed{o})
}

// opened is the way of a check that was just asked to its running turn.
func (s *scenario) opened() { s.t.Helper(); s.sent(); s.ownRun(); s.forget() }

// answered is the whole way of a check that was just asked.
func (s *scenario) answered(d Decision, note string) {
	s.t.Helper()
	s.opened()
	s.decide(d, note)
	s.closed(Outcome{End: EndAnswered, Decision: d, Note: note})
	s.settle()
}

// What people and time do.

func (s *scenario) settings(line string) Settings {
	s.t.Helper()
	settings, err := Parse(line)
	if err != nil {
		s.t.Fatal(err)
	}
	return settings
}

func (s *scenario) start(line string) {
	s.t.Helper()
	s.step(StartWatch{By: "tui", Settings: s.settings(line)})
}

func (s *scenario) startByEnv(line string) {
	s.t.Helper()
	s.step(StartWatch{By: ByEnv, Settings: s.settings(line)})
}

func (s *scenario) set(line string) { s.t.Helper(); s.step(ChangeSettings{"tui", s.settings(line)}) }

func (s *scenario) stop() { s.t.Helper(); s.step(StopWatch{"tui"}) }

func (s *scenario) pause() { s.t.Helper(); s.step(PauseWatch{"tui", true}) }

func (s *scenario) resume() { s.t.Helper(); s.step(PauseWatch{"tui", false}) }

func (s *scenario) nudge() { s.t.Helper(); s.step(NudgeNow{"tui"}) }

func (s *scenario) skip() { s.t.Helper(); s.step(SkipCheck{"tui"}) }

func (s *scenario) extend(d time.Duration) { s.t.Helper(); s.step(ExtendCountdown{"tui", d}) }

// wait lets time pass as a hub does: a tick whenever the engine waits for one.
func (s *scenario) wait(d time.Duration) {
	s.t.Helper()
	for end := s.now.Add(d); ; {
		wake, any := s.e.Wake()
		if !any || wake.After(end) {
			s.now = end
			return
		}
		s.now = wake
		s.step(Tick{})
	}
}

// What is expected of it.

// wants compares with everything the engine wanted since the last look, logs
// aside.
func (s *scenario) wants(effects ...string) {
	s.t.Helper()
	if !slices.Equal(s.did, effects) {
		s.t.Fatalf("the engine wanted\n\t%s\nnot\n\t%s\nlog: %s", strings.Join(s.did, "\n\t"), strings.Join(effects, "\n\t"), strings.Join(s.logs, "; "))
	}
	s.did = nil
}

func (s *scenario) forget() { s.did, s.logs = nil, nil }

func (s *scenario) wantsNothing() { s.t.Helper(); s.wants() }

func (s *scenario) logged(part string) {
	s.t.Helper()
	if !slices.ContainsFunc(s.logs, func(l string) bool { return strings.Contains(l, part) }) {
		s.t.Fatalf("nothing logged with %q: %q", part, s.logs)
	}
}

// counts expects a countdown with this much left.
func (s *scenario) counts(left time.Duration) {
	s.t.Helper()
	v := s.e.View(s.now)
	if v.Phase != Counting || v.Deadline.Sub(s.now) != left || v.Why != "" {
		s.t.Fatalf("phase %s, %s left (%s); want a countdown with %s left", v.Phase, v.Deadline.Sub(s.now), v.Why, left)
	}
}

// is expects a phase in which nothing counts, and its reason.
func (s *scenario) is(phase Phase, why string) {
	s.t.Helper()
	v := s.e.View(s.now)
	if v.Phase != phase || v.Why != why || !v.Deadline.IsZero() {
		s.t.Fatalf("phase %s (%s), deadline %v; want %s (%s)", v.Phase, v.Why, v.Deadline, phase, why)
	}
}

func (s *scenario) counted(n int) {
	s.t.Helper()
	if got := s.e.View(s.now).Count; got != n {
		s.t.Fatalf("%d checks were counted, want %d", got, n)
	}
}
