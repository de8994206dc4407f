package watchdog

import (
	"testing"
	"time"
)

const (
	noted   = "answer accepted=true terminate=true: " + AnswerContinue
	stops   = "answer accepted=true terminate=true: " + AnswerStop
	isVoid  = "answer accepted=false terminate=true: " + AnswerVoid
	isBad   = "answer accepted=false terminate=false: " + AnswerBad
	isTwice = "answer accepted=false terminate=true: " + AnswerTwice
	noCheck = "answer accepted=false terminate=false: " + AnswerNoCheck
	isOff   = "answer accepted=false terminate=false: " + AnswerOff
)

// asked is a session whose first check is open and running.
func asked(t *testing.T, line string) *scenario {
	s := watched(t, "timeout=10 "+line)
	s.wait(10 * sec)
	s.opened()
	return s
}

// continue: the work turn starts at settle, once.
func TestContinue(t *testing.T) {
	s := asked(t, "max=3 message=mind the tests")
	s.decide(Continue, "two files left")
	s.wants(noted)
	s.closed(Outcome{End: EndAnswered, Decision: Continue, Note: "two files left"})
	s.logged("answered continue: two files left")
	s.wantsNothing() // the turn of the check has not settled
	s.facts.Settle, s.facts.Idle, s.facts.Leaf = 2, true, "leaf2"
	effects := s.e.Step(s.now, Settled{s.facts})
	want := SendWork{Check: "c1", Text: WorkText + "\n\nThe user's instruction for this: mind the tests", Settle: 2, Leaf: "leaf2"}
	if len(effects) != 1 || effects[0] != Effect(want) {
		t.Fatalf("at settle %#v", effects)
	}
	s.is(Working, "the work message is on its way")
	s.workSent()
	s.ownRun()
	s.settle()
	s.wantsNothing()
	s.counts(10 * sec)
	s.counted(1)
	s.wait(10 * sec)
	s.wants("check c2 2/3")
}

func TestWorkTextWithoutAMessage(t *testing.T) {
	if got := withTask(WorkText, Settings{}); got != WorkText {
		t.Errorf("work text without an instruction: %q", got)
	}
}

func TestOnceEnds(t *testing.T) {
	for _, d := range []Decision{Done, WaitUser} {
		s := asked(t, "")
		s.decide(d, "that is all")
		s.wants(stops)
		s.closed(Outcome{End: EndAnswered, Decision: d, Note: "that is all"})
		s.wants("ended " + string(d) + " that is all")
		s.settle()
		s.is(Off, "off: the agent answered "+string(d))
		if v := s.e.View(s.now); v.Last != d || v.Note != "that is all" {
			t.Errorf("the last answer is %s %q", v.Last, v.Note)
		}
		s.user()
		s.settle()
		if v := s.e.View(s.now); v.Last != "" || v.Note != "" {
			t.Errorf("the user spoke, and the last answer is %s %q", v.Last, v.Note)
		}
		s.wait(time.Hour)
		s.wantsNothing()
	}
}

func TestKeepSuspends(t *testing.T) {
	for _, d := range []Decision{Done, WaitUser} {
		s := asked(t, "mode=keep max=5")
		s.decide(d, "")
		s.closed(Outcome{End: EndAnswered, Decision: d})
		s.wants(stops, "ended "+string(d))
		s.settle()
		suspended := "suspended after " + string(d) + "; the user's next message resumes it"
		s.is(Suspended, suspended)
		s.spoken(false)
		s.run()
		s.settle()
		s.wait(time.Hour)
		s.is(Suspended, suspended)
		s.counted(1)
		s.user()
		s.logged("monitoring goes on")
		s.settle()
		s.counted(0)
		s.counts(10 * sec)
		s.wantsNothing()
		s.wait(10 * sec)
		s.wants("check c2 1/5")
	}
}

func TestSuspensionIsLiftedByHand(t *testing.T) {
	s := asked(t, "mode=keep")
	s.answered(Done, "")
	s.forget()
	s.resume()
	s.wants("record pause", "info: Watchdog resumed.")
	s.counts(10 * sec)
}

// Wrong answers are told what is wrong; the check stays open.
func TestWrongAnswers(t *testing.T) {
	s := asked(t, "")
	s.decide("maybe", "")
	s.decide("", "")
	s.decide("Continue", "")
	s.wants(isBad, isBad, isBad)
	s.decide(Done, "first")
	s.decide(Continue, "second")
	s.wants(stops, isTwice)
	s.closed(Outcome{End: EndAnswered, Decision: Done, Note: "first"})
	s.wants("ended done first")
}

// No valid answer: recorded, counted, and the next countdown starts.
func TestNoAnswer(t *testing.T) {
	s := asked(t, "max=2")
	s.closed(Outcome{End: EndNoAnswer, Why: "no call of the tool"})
	s.logged("the check got no valid answer: no call of the tool")
	s.settle()
	s.wantsNothing()
	s.counts(10 * sec)
	s.counted(1)
	s.now = s.now.Add(10 * sec)
	effects := s.e.Step(s.now, Tick{})
	if ask, ok := effects[0].(AskCheck); !ok || ask.Text != WrongHint+CheckText || ask.Record.N != 2 {
		t.Fatalf("after a check without an answer: %#v", effects)
	}
	s.check = "c2"
	s.opened()
	s.closed(Outcome{End: EndNoAnswer})
	s.settle()
	s.wants("record stop", "ended max")
	s.is(Off, "off: the cap of 2 checks was reached")
}

// A provider's error is not the same as no answer.
func TestProviderError(t *testing.T) {
	s := asked(t, "")
	s.closed(Outcome{End: EndError, Why: "529: overloaded"})
	s.logged("the provider failed in the check: 529: overloaded")
	s.settle()
	s.counts(10 * sec)
	s.now = s.now.Add(10 * sec)
	effects := s.e.Step(s.now, Tick{})
	if ask, ok := effects[0].(AskCheck); !ok || ask.Text != CheckText {
		t.Fatalf("after an error of the provider: %#v", effects)
	}
}

// Outside a check done and wait_user stop; continue is refused with a hint.
func TestDecideOutside(t *testing.T) {
	for _, d := range []Decision{Done, WaitUser} {
		for _, mode := range []Mode{Once, Keep} {
			s := watched(t, "timeout=10 mode="+string(mode))
			s.user()
			s.decideOutside(Continue, "")
			s.decideOutside("perhaps", "")
			s.wants(noCheck, isBad)
			s.decideOutside(d, "all green")
			s.wants("ended "+string(d)+" all green", stops)
			s.decideOutside(d, "again")
			s.wants(isOff)
			s.step(Closed{Outcome{End: EndAnswered, Decision: d, Note: "all green"}})
			s.settle()
			s.wantsNothing()
			if mode == Once {
				s.is(Off, "off: the agent answered "+string(d))
			} else {
				s.is(Suspended, "suspended after "+string(d)+"; the user's next message resumes it")
			}
			if v := s.e.View(s.now); v.Note != "all green" || v.Last != d {
				t.Errorf("the note of a stop by the agent is lost: %+v", v)
			}
		}
	}
}

// The hub may be replaced between the decision and its outcome.
func TestSelfStopToldToAnotherEngine(t *testing.T) {
	s := unwatched(t, State{Started: true, On: true, Settings: Settings{10, 5, Keep, ""}, Human: true, Instance: "one"})
	s.run()
	s.forget()
	s.step(Closed{Outcome{End: EndAnswered, Decision: Done, Note: "all green"}})
	s.wants("ended done all green")
	s.settle()
	s.is(Suspended, "suspended after done; the user's next message resumes it")
}

// A start by hand while the turn of a stop by the agent still runs overrules it,
// also for whoever reads the record afterwards.
func TestSelfStopOverruled(t *testing.T) {
	s := watched(t, "timeout=10")
	s.run()
	s.decideOutside(Done, "all green")
	s.start("timeout=10")
	s.forget()
	effects := s.e.Step(s.now, Closed{Outcome{End: EndAnswered, Decision: Done, Note: "all green"}})
	if len(effects) != 1 {
		t.Fatalf("the outcome led to %#v", effects)
	}
	if again, ok := effects[0].(Append); !ok || again.Type != RecordStart {
		t.Errorf("the start is not recorded again: %#v", effects[0])
	}
	s.settle()
	s.counts(10 * sec)
}

// Another engine took over in the midst of the turn and was asked for a check:
// after the stop it is void.
func TestSelfStopVoidsACheckOfAnotherEngine(t *testing.T) {
	s := watched(t, "timeout=10")
	s.run()
	s.settle()
	s.nudge()
	s.sent()
	s.forget()
	s.step(Closed{Outcome{End: EndAnswered, Decision: Done, Note: "all green"}})
	s.wants("ended done all green", "void+abort "+s.check+": the agent stopped the watchdog")
	s.is(Off, "off: the agent answered done")
}

// The count goes on too: a limit must hold through the death of every process.
func TestSelfStopOverruledKeepsTheCount(t *testing.T) {
	s := watched(t, "timeout=10 max=3 mode=keep")
	s.wait(10 * sec)
	s.opened()
	s.answered(Continue, "")
	s.workSent()
	s.ownRun()
	s.decideOutside(Done, "all green")
	s.resume()
	s.counted(1)
	effects := s.e.Step(s.now, Closed{Outcome{End: EndAnswered, Decision: Done, Note: "all green"}})
	again, ok := effects[0].(Append)
	if !ok {
		t.Fatalf("the outcome led to %#v", effects)
	}
	if record, ok := again.Data.(Start); !ok || record.Count != 1 || record.Settings != s.settings("timeout=10 max=3 mode=keep") {
		t.Errorf("recorded again as %#v", again)
	}
}

func TestDecideWhenNeverStarted(t *testing.T) {
	s := unwatched(t, State{Human: true})
	s.user()
	s.decideOutside(Done, "")
	s.wants(isOff)
}

func TestClosedButNotOpen(t *testing.T) {
	s := watched(t, "timeout=10")
	s.closed(Outcome{Check: "c7", End: EndAnswered, Decision: Done})
	s.logged("a check that is not open was closed: c7")
	s.wantsNothing()
	s.counts(10 * sec)
}

// The work message is owed while something is in the way, and sent once.
func TestOwedWork(t *testing.T) {
	s := asked(t, "")
	s.decide(Continue, "")
	s.closed(Outcome{End: EndAnswered, Decision: Continue})
	s.draft(true)
	s.forget()
	s.settle()
	s.is(Typing, "the editor holds a draft")
	s.wait(time.Hour)
	s.wantsNothing()
	s.draft(false)
	s.wait(2 * sec)
	s.wants("work c1")
	s.workSent()
	s.wait(9 * sec)
	s.ownRun()
	s.settle()
	s.wantsNothing()
}

// What takes a work message back that was not sent.
func TestOwedWorkIsVoid(t *testing.T) {
	for _, c := range []struct {
		name string
		void func(*scenario)
	}{
		{"the user speaks", (*scenario).user},
		{"another extension speaks", func(s *scenario) { s.spoken(false); s.run() }},
		{"stopped and started", func(s *scenario) { s.stop(); s.start("timeout=10") }},
		{"started anew", func(s *scenario) { s.start("timeout=10") }},
	} {
		for _, inFlight := range []bool{false, true} {
			name := c.name + " before it is sent"
			if inFlight {
				name = c.name + " while it is sent"
			}
			t.Run(name, func(t *testing.T) {
				s := asked(t, "")
				s.decide(Continue, "")
				s.closed(Outcome{End: EndAnswered, Decision: Continue})
				s.facts.Draft = !inFlight
				s.settle()
				c.void(s)
				s.forget()
				if inFlight {
					s.workRefused("the session moved on since")
				}
				s.facts.Draft = false
				s.step(Activity{})
				s.settle()
				s.wantsNothing()
				s.counts(10 * sec)
			})
		}
	}
}

func TestWorkRefused(t *testing.T) {
	s := asked(t, "")
	s.decide(Continue, "")
	s.closed(Outcome{End: EndAnswered, Decision: Continue})
	s.forget()
	s.settle()
	s.wants("work c1")
	s.workRefused("a dialog is open")
	s.logged("the work message was not sent: a dialog is open")
	s.wants("work c1") // one retry
	s.workRefused("a dialog is open")
	s.wantsNothing()
	s.is(Waiting, "refused: a dialog is open; waits for the next settle")
	s.wait(time.Hour)
	s.wantsNothing()
	s.run()
	s.settle()
	s.counts(10 * sec)
}

// Sending is not progress: what Pi does not start within 10 s is not confirmed.
func TestNotConfirmed(t *testing.T) {
	const why = "refused: Pi did not start it; waits for the next settle"
	t.Run("check", func(t *testing.T) {
		s := watched(t, "timeout=10")
		s.wait(10 * sec)
		s.sent()
		s.forget()
		s.wait(9900 * time.Millisecond)
		s.wantsNothing()
		s.wait(100 * time.Millisecond)
		s.wants("void c1: Pi did not start it within 10 s")
		s.logged("not confirmed")
		s.closed(Outcome{End: EndVoid})
		s.is(Waiting, why)
		if s.e.Busy() {
			t.Error("a session whose check never started is busy")
		}
		s.wait(time.Hour)
		s.wantsNothing()
		s.counted(1)
	})
	t.Run("work", func(t *testing.T) {
		s := asked(t, "")
		s.decide(Continue, "")
		s.closed(Outcome{End: EndAnswered, Decision: Continue})
		s.settle()
		s.workSent()
		s.forget()
		s.wait(10 * sec)
		s.logged("not confirmed")
		s.is(Waiting, why)
		s.wait(time.Hour)
		s.wantsNothing()
	})
	t.Run("the run started before the receipt was read", func(t *testing.T) {
		s := watched(t, "timeout=10")
		s.wait(10 * sec)
		s.ownRun()
		s.sent()
		s.forget()
		s.wait(time.Hour)
		s.wantsNothing()
		s.is(Checking, "a check is open")
	})
}

// A clock that was set gives Pi its whole time again.
func TestClockSetBeforeItIsConfirmed(t *testing.T) {
	s := watched(t, "timeout=10")
	s.wait(10 * sec)
	s.sent()
	s.wait(9 * sec)
	s.step(ClockJumped{})
	s.forget()
	s.wait(9 * sec)
	s.wantsNothing()
	s.ownRun()
	s.decide(Continue, "")
	s.closed(Outcome{End: EndAnswered, Decision: Continue})
	s.settle()
	s.workSent()
	s.wait(9 * sec)
	s.step(ClockJumped{})
	s.forget()
	s.wait(9 * sec)
	if len(s.logs) > 0 {
		t.Errorf("logged %q", s.logs)
	}
	s.ownRun()
	s.is(Working, "the agent is working")
	if got := s.e.Facts(); got.Idle || got.Settle != s.facts.Settle {
		t.Errorf("facts %+v", got)
	}
}

// The work message's run was not seen to start, but it settled.
func TestWorkSettledUnseen(t *testing.T) {
	s := asked(t, "")
	s.decide(Continue, "")
	s.closed(Outcome{End: EndAnswered, Decision: Continue})
	s.settle()
	s.workSent()
	s.forget()
	s.settle()
	s.wantsNothing()
	s.counts(10 * sec)
}

// A refused check takes its count back once, whatever happened meanwhile.
func TestCountOfARefusedCheck(t *testing.T) {
	for name, between := range map[string]func(*scenario){
		"nothing":         func(*scenario) {},
		"the user speaks": func(s *scenario) { s.user() },
		"started anew":    func(s *scenario) { s.start("timeout=10") },
	} {
		s := watched(t, "timeout=10")
		s.wait(10 * sec)
		between(s)
		s.refused("a message was just submitted")
		if got := s.e.View(s.now).Count; got != 0 {
			t.Errorf("%s before the refusal: %d checks are counted, want 0", name, got)
		}
	}
}
