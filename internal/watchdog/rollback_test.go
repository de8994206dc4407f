package watchdog

import (
	"testing"
)

// rolling is a session whose ended exchanges are rolled back; its first check
// is open and running.
func rolling(t *testing.T, line string) *scenario {
	s := unwatched(t, State{})
	s.step(Joined{Facts: s.facts, Instance: "one", Rollback: true})
	s.user()
	s.settle()
	s.start("timeout=10 " + line)
	s.wait(10 * sec)
	s.opened()
	return s
}

func (s *scenario) rolledBack(done bool, reason string) {
	s.t.Helper()
	facts := s.facts
	s.step(RolledBack{Check: s.check, Done: done, Reason: reason, Facts: &facts})
}

// The exchange is rolled back at the settle, before anything else is sent, and
// what is sent then knows the new leaf.
func TestRollback(t *testing.T) {
	s := rolling(t, "")
	s.decide(Continue, "")
	s.closed(Outcome{End: EndAnswered, Decision: Continue, Rows: []string{"r1"}})
	s.wants(noted)
	s.settle()
	s.wants("rollback c1")
	s.is(Working, "an exchange is rolled back")
	s.nudge()
	s.wants("error: Not asked: an exchange is rolled back.")
	s.facts.Leaf = "before the check"
	effects := s.e.Step(s.now, RolledBack{Check: "c1", Done: true, Facts: &s.facts})
	want := SendWork{Check: "c1", Text: WorkText, Settle: 2, Leaf: "before the check"}
	if len(effects) != 2 || effects[1] != Effect(want) {
		t.Errorf("afterwards %#v", effects)
	}
}

func TestRollbackRefused(t *testing.T) {
	s := rolling(t, "mode=keep")
	s.closed(Outcome{End: EndNoAnswer, Rows: []string{"r1"}})
	s.settle()
	s.wants("rollback c1")
	s.rolledBack(false, "more than the exchange would be lost")
	s.logged("the exchange was not rolled back: more than the exchange would be lost")
	s.wantsNothing()
	s.counts(10 * sec)
}

// It happens also when the exchange ended the watch, and only once.
func TestRollbackAfterTheEnd(t *testing.T) {
	s := rolling(t, "")
	s.decide(Done, "")
	s.closed(Outcome{End: EndAnswered, Decision: Done, Rows: []string{"r1"}})
	s.settle()
	s.wants(stops, "ended done", "rollback c1")
	s.rolledBack(true, "")
	s.rolledBack(true, "")
	s.settle()
	s.wantsNothing()
	if v := s.e.View(s.now); v.Exchange != "c1" {
		t.Errorf("the last exchange is %q", v.Exchange)
	}
}

// What stays in the context is not taken off the branch; nor is anything when
// the user has spoken since.
func TestNoRollback(t *testing.T) {
	s := rolling(t, "")
	s.closed(Outcome{End: EndNoAnswer})
	s.settle()
	s.wantsNothing()
	s = rolling(t, "")
	s.closed(Outcome{End: EndVoid, Rows: []string{"r1"}})
	s.spoken(true)
	s.settle()
	s.wantsNothing()
	s = asked(t, "")
	s.closed(Outcome{End: EndNoAnswer, Rows: []string{"r1"}})
	s.settle()
	s.wantsNothing()
}

// A fold that is changed by hand repeats the outcome: it says nothing new of
// the watch.
func TestRebuildSkipsRepeatedOutcomes(t *testing.T) {
	r := &rows{t: t}
	r.user()
	r.record(RecordStart, Start{By: "tui", Settings: Settings{10, 5, Keep, ""}})
	r.record(RecordCheck, Check{ID: "c1", N: 1})
	r.record(RecordOutcome, Outcome{Check: "c1", End: EndAnswered, Decision: Continue})
	r.work("c1")
	want := Rebuild(r.read)
	r.record(RecordOutcome, Outcome{Check: "c1", End: EndAnswered, Decision: Continue, Again: true})
	if got := Rebuild(r.read); got != want {
		t.Errorf("rebuilt %+v\nwant    %+v", got, want)
	}
}
