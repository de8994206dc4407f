package watchdog

import (
	"testing"
	"time"
)

// What voids a check: its answer changes nothing and no work turn starts.
func TestVoid(t *testing.T) {
	for _, c := range []struct {
		name  string
		void  func(*scenario)
		wants []string
		after func(*testing.T, *scenario)
	}{
		{"the user speaks", func(s *scenario) { s.spoken(true) }, nil, func(t *testing.T, s *scenario) {
			s.counted(0)
			s.run()
			s.settle()
			s.counts(10 * sec)
		}},
		{"another extension speaks", func(s *scenario) { s.spoken(false) }, nil, func(t *testing.T, s *scenario) {
			s.counted(1)
			s.run()
			s.settle()
			s.counts(10 * sec)
		}},
		{"stopped by hand", (*scenario).stop,
			[]string{"record stop", "info: Watchdog stopped.", "void+abort c1: stopped by hand"}, func(t *testing.T, s *scenario) {
				s.is(Off, "off: stopped by hand")
			}},
		{"started anew", func(s *scenario) { s.start("timeout=10 mode=keep") },
			[]string{
				"tool", "record start", "info: Watchdog started anew: timeout=10 max=50 mode=keep", "void+abort c1: started anew",
			}, func(t *testing.T, s *scenario) {
				s.counted(0)
				s.counts(10 * sec)
			}},
	} {
		for _, d := range []Decision{Continue, Done, WaitUser} {
			t.Run(c.name+" before "+string(d), func(t *testing.T) {
				s := asked(t, "mode=keep")
				c.void(s)
				s.wants(c.wants...)
				s.decide(d, "late")
				s.wants(isVoid)
				s.closed(Outcome{End: EndVoid, Why: c.name, Decision: d})
				s.logged("the check is void: " + c.name)
				s.settle()
				s.wantsNothing()
				c.after(t, s)
			})
			t.Run(c.name+" after "+string(d), func(t *testing.T) {
				s := asked(t, "mode=keep")
				s.decide(d, "early")
				s.forget()
				c.void(s)
				s.wants(c.wants...)
				s.closed(Outcome{End: EndAnswered, Decision: d}) // even if the bridge took it for an answer
				s.settle()
				s.wantsNothing()
				c.after(t, s)
			})
		}
	}
}

// Esc during a check.
func TestAbortedCheck(t *testing.T) {
	s := asked(t, "")
	s.decide(Continue, "")
	s.forget()
	s.closed(Outcome{End: EndVoid, Why: "interrupted by the user"})
	s.settleAborted()
	s.wait(time.Hour)
	s.wantsNothing()
	s.is(Interrupted, "interrupted; waits for the user's next message")
}

// Esc after the answer, before the settle: the work turn does not start.
func TestAbortAfterContinue(t *testing.T) {
	s := asked(t, "")
	s.decide(Continue, "")
	s.closed(Outcome{End: EndAnswered, Decision: Continue})
	s.forget()
	s.settleAborted()
	s.user()
	s.settle()
	s.wantsNothing()
	s.counts(10 * sec)
}

func TestBridgeLeavesDuringCheck(t *testing.T) {
	s := asked(t, "")
	s.step(Left{})
	s.is(Lost, "no bridge is connected")
	s.decide(Done, "")
	s.wants(isVoid)
}

// The bridge still has a check open when it comes back: it is void.
func TestJoinedWithAnOpenCheck(t *testing.T) {
	s := unwatched(t, State{Started: true, On: true, Settings: Settings{10, 5, Keep, ""}, Count: 3, Human: true, Instance: "one"})
	s.facts.Check, s.facts.Idle, s.facts.Runs, s.check = "c9", false, 1, "c9"
	s.step(Joined{Facts: s.facts, Instance: "one"})
	s.forget()
	s.is(Working, "the check is void; its turn ends")
	s.decide(Done, "")
	s.wants(isVoid)
	s.facts.Check = ""
	s.closed(Outcome{Check: "c9", End: EndVoid, Why: "piwatch went away"})
	s.settle()
	s.wantsNothing()
	s.counted(3)
	s.counts(10 * sec)
}
