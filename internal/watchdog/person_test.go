package watchdog

import (
	"testing"
	"time"
)

// Every start begins from the defaults, and a start by hand resets the count.
func TestStart(t *testing.T) {
	s := unwatched(t, State{Human: true})
	effects := s.e.Step(s.now, StartWatch{By: "tui", Settings: s.settings("timeout=10 max=2")})
	want := Append{RecordStart, Start{By: "tui", Settings: Settings{10, 2, Once, ""}, Instance: "one"}}
	if len(effects) != 3 || effects[1] != Effect(want) {
		t.Fatalf("started with %#v", effects)
	}
	s.wait(10 * sec)
	s.opened()
	s.closed(Outcome{End: EndNoAnswer})
	s.settle()
	s.counted(1)
	s.start("")
	s.wants("tool", "record start", "info: Watchdog started anew: timeout=60 max=50 mode=once")
	s.counted(0)
	s.counts(60 * sec)
}

// A start that nobody asked for resets no limit, and may not count at once.
func TestStartByEnv(t *testing.T) {
	s := unwatched(t, State{Started: true, Settings: Defaults(), Human: true, Count: 2, OffWhy: "the cap of 2 checks was reached"})
	effects := s.e.Step(s.now, StartWatch{By: ByEnv, Settings: s.settings("timeout=10 max=2")})
	want := Append{RecordStart, Start{By: ByEnv, Settings: Settings{10, 2, Once, ""}}}
	if len(effects) != 3 || effects[1] != Effect(want) {
		t.Fatalf("started with %#v", effects)
	}
	s.counted(2)
	s.run()
	s.settle()
	s.wants("record stop", "ended max")
}

func TestStop(t *testing.T) {
	for _, mode := range []string{"mode=once", "mode=keep"} {
		s := watched(t, "timeout=10 "+mode)
		s.stop()
		s.wants("record stop", "info: Watchdog stopped.")
		s.is(Off, "off: stopped by hand")
		s.stop()
		s.wants("warning: The watchdog was not running.")
		s.user()
		s.settle()
		s.wait(time.Hour)
		s.wantsNothing()
	}
}

func TestOffRefuses(t *testing.T) {
	s := unwatched(t, State{Human: true})
	s.pause()
	s.resume()
	s.nudge()
	s.skip()
	s.extend(30 * sec)
	s.set("max=3")
	off := "error: The watchdog is off; start it first."
	s.wants(off, off, off, off, off, off)
	s.is(Off, "off")
}

// The manual pause stays until it is lifted by hand.
func TestPause(t *testing.T) {
	s := watched(t, "timeout=10")
	s.wait(4 * sec)
	s.pause()
	s.wants("record pause", "info: Watchdog paused.")
	s.pause()
	s.wants("warning: The watchdog is paused already.")
	s.nudge()
	s.wants("error: Not asked: paused by hand.")
	s.user()
	s.settle()
	s.wait(time.Hour)
	s.is(Paused, "paused by hand")
	s.wantsNothing()
	s.resume()
	s.wants("record pause", "info: Watchdog resumed.")
	s.counts(10 * sec)
	s.resume()
	s.wants("warning: The watchdog is not paused.")
}

// Who lifts a suspension is in the record, as with any pause.
func TestResumeSaysWho(t *testing.T) {
	s := asked(t, "mode=keep")
	s.answered(Done, "")
	for _, effect := range s.e.Step(s.now, PauseWatch{"cli", false}) {
		if a, ok := effect.(Append); ok && a != (Append{RecordPause, Pause{By: "cli"}}) {
			t.Errorf("recorded %#v", a)
		}
	}
}

// A pause during a check lets it end, and holds back what it leads to.
func TestPauseDuringCheck(t *testing.T) {
	s := asked(t, "")
	s.pause()
	s.decide(Continue, "")
	s.closed(Outcome{End: EndAnswered, Decision: Continue})
	s.settle()
	s.wants("record pause", "info: Watchdog paused.", noted)
	s.resume()
	s.wants("record pause", "info: Watchdog resumed.", "work c1")
}

func TestNudge(t *testing.T) {
	s := watched(t, "timeout=60 max=2")
	s.wait(3 * sec)
	effects := s.e.Step(s.now, NudgeNow{"tui"})
	if len(effects) != 2 || effects[0] != (Effect(Reply{"info", "Asking now."})) {
		t.Fatalf("nudged: %#v", effects)
	}
	if ask := effects[1].(AskCheck); ask.Record != (Check{ID: "c1", N: 1, Max: 2, Reason: "asked by hand", Waited: 3}) {
		t.Errorf("asked %#v", ask.Record)
	}
	s.check = "c1"
	s.nudge()
	s.wants("error: Not asked: a check is open.")
	s.answered(Continue, "")
	s.nudge()
	s.wants(noted, "work c1", "error: Not asked: the work message is on its way.")
	s.workSent()
	s.ownRun()
	s.nudge()
	s.wants("error: Not asked: the agent is working.")
	s.draft(true)
	s.settle()
	s.nudge()
	s.wants("error: Not asked: the editor holds a draft.")
}

// A nudge is counted: it cannot pass the cap.
func TestNudgeAtTheCap(t *testing.T) {
	s := watched(t, "timeout=60 max=1")
	s.nudge()
	s.opened()
	s.closed(Outcome{End: EndNoAnswer})
	s.settle()
	s.wants("record stop", "ended max")
	s.nudge()
	s.wants("error: The watchdog is off; start it first.")
}

// The one who types /watchdog nudge into Pi has just pressed keys.
func TestNudgeAfterKeys(t *testing.T) {
	s := watched(t, "timeout=60")
	s.key()
	s.nudge()
	s.wants("info: Asking now.", "check c1 1/50")
}

// A nudge is meant: it takes back a skip.
func TestNudgeAfterSkip(t *testing.T) {
	s := watched(t, "timeout=60")
	s.skip()
	s.forget()
	s.nudge()
	s.wants("info: Asking now.", "check c1 1/50")
}

func TestNudgeRefusedKeepsTheSkip(t *testing.T) {
	s := watched(t, "timeout=60")
	s.skip()
	s.pause()
	s.nudge()
	s.resume()
	s.is(Waiting, "this check was skipped by hand; waits for the next settle")
}

func TestSkip(t *testing.T) {
	s := watched(t, "timeout=10")
	s.wait(9 * sec)
	s.skip()
	s.wants("info: This check is skipped; the next one comes after the agent's next run.")
	s.is(Waiting, "this check was skipped by hand; waits for the next settle")
	s.wait(time.Hour)
	s.wantsNothing()
	s.skip()
	s.wants("error: Nothing counts down: this check was skipped by hand; waits for the next settle.")
	s.resume()
	s.wants("record pause", "info: Watchdog resumed.")
	s.counts(10 * sec)
	s.skip()
	s.run()
	s.skip()
	s.wants("info: This check is skipped; the next one comes after the agent's next run.", "error: Nothing counts down: the agent is working.")
	s.settle()
	s.counts(10 * sec)
}

// A countdown that is paused can be skipped too.
func TestSkipWhileTyping(t *testing.T) {
	s := watched(t, "timeout=10")
	s.key()
	s.skip()
	s.wants("info: This check is skipped; the next one comes after the agent's next run.")
	s.wait(time.Hour)
	s.wantsNothing()
}

func TestExtend(t *testing.T) {
	s := watched(t, "timeout=60")
	s.wait(20 * sec)
	s.extend(30 * sec)
	s.counts(70 * sec)
	s.extend(-30 * sec)
	s.counts(40 * sec)
	s.wants("info: Countdown moved: 70 s are left.", "info: Countdown moved: 40 s are left.")
	s.key()
	s.extend(30 * sec)
	s.wait(2 * sec)
	s.counts(70 * sec)
	s.forget()
	s.extend(-90 * sec)
	s.wants("info: Countdown moved: 0 s are left.", "check c1 1/50")
	s.extend(30 * sec)
	s.wants("error: Nothing counts down: a check is open.")
}

// What is left never exceeds what a timeout may be, whatever is added in parts.
func TestExtendLimit(t *testing.T) {
	s := watched(t, "timeout=60")
	s.extend(86340 * sec)
	s.counts(86400 * sec)
	s.extend(sec)
	s.counts(86400 * sec)
	s.key() // it is held: the limit is the same
	s.extend(sec)
	s.wants("info: Countdown moved: 86400 s are left.",
		"error: Countdown not moved: more than 86400 s would be left.", "error: Countdown not moved: more than 86400 s would be left.")
}

// Settings change while it runs; only another timeout begins the countdown
// anew.
func TestChangeSettings(t *testing.T) {
	s := watched(t, "timeout=60 max=5")
	s.wait(20 * sec)
	s.set("timeout=60 max=3 mode=keep message=go")
	s.counts(40 * sec)
	s.wants("record set", "info: Watchdog set: timeout=60 max=3 mode=keep message=go")
	s.set("timeout=10 max=3 mode=keep")
	s.counts(10 * sec)
	s.forget()
	s.wait(10 * sec)
	s.wants("check c1 1/3")
	s.answered(Done, "")
	s.is(Suspended, "suspended after done; the user's next message resumes it")
}

func TestSmallerMaxEndsIt(t *testing.T) {
	s := asked(t, "max=5")
	s.closed(Outcome{End: EndNoAnswer})
	s.settle()
	s.set("timeout=10 max=1")
	s.wants("record set", "info: Watchdog set: timeout=10 max=1 mode=once", "record stop", "ended max")
	s.is(Off, "off: the cap of 1 checks was reached")
}

// max counts checks since the last message of the user, in both modes.
func TestCap(t *testing.T) {
	for _, mode := range []string{"once", "keep"} {
		s := watched(t, "timeout=10 max=2 mode="+mode)
		for range 2 {
			s.wait(10 * sec)
			s.answered(Continue, "")
			s.workSent()
			s.ownRun()
			s.forget()
			s.settle()
		}
		s.counted(2)
		s.wants("record stop", "ended max")
		s.logged("the cap of 2 checks was reached: the watchdog is off")
		s.is(Off, "off: the cap of 2 checks was reached")
		if !s.e.View(s.now).Capped {
			t.Error("the view does not say that the cap was reached")
		}
		s.user()
		if s.e.View(s.now).Capped {
			t.Error("the cap still counts after a message of the user")
		}
	}
}

func TestUserResetsTheCount(t *testing.T) {
	s := watched(t, "timeout=10 max=2")
	s.wait(10 * sec)
	s.answered(Continue, "")
	s.workSent()
	s.ownRun()
	s.settle()
	s.counted(1)
	s.spoken(false)
	s.run()
	s.settle()
	s.counted(1)
	s.user()
	s.settle()
	s.counted(0)
	s.forget()
	s.wait(10 * sec)
	s.wants("check c2 1/2")
}

func TestBusy(t *testing.T) {
	s := watched(t, "timeout=10")
	busy := func(want bool) {
		t.Helper()
		if s.e.Busy() != want {
			t.Errorf("busy: %v, want %v", !want, want)
		}
	}
	busy(false)
	s.run()
	busy(true)
	s.settle()
	busy(false)
	s.compaction(true)
	busy(true)
	s.compaction(false)
	s.wait(10 * sec)
	busy(true)
}

// A pause shows also where something else holds the countdown longer: the next
// message lifts the suspension and not the pause.
func TestPausedWhileSuspended(t *testing.T) {
	s := watched(t, "timeout=10 mode=keep")
	s.run()
	s.decideOutside(WaitUser, "which database?")
	s.settle()
	s.pause()
	s.is(Suspended, "suspended after wait_user; the user's next message resumes it; also paused by hand")
	if !s.e.View(s.now).Paused {
		t.Error("the pause is not seen")
	}
	s.user()
	s.settle()
	s.is(Paused, "paused by hand")
	s.resume()
	s.counts(10 * sec)
}
