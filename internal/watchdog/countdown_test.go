package watchdog

import (
	"strings"
	"testing"
	"time"
)

const (
	sec     = time.Second
	started = "info: Watchdog started: timeout=10 max=2 mode=once"
)

// Idle means settled: no run, compaction, queued message, dialog or running child.
func TestCountdownBeginsAtSettle(t *testing.T) {
	s := watched(t, "timeout=10")
	s.counts(10 * sec)
	s.run()
	s.is(Working, "the agent is working")
	s.wait(time.Hour)
	s.wantsNothing()
	s.settle()
	s.counts(10 * sec)
	s.wait(9 * sec)
	s.counts(1 * sec)
	s.wantsNothing()
	s.wait(1 * sec)
	s.wants("check c1 1/50")
	s.is(Checking, "a check is open")
}

func TestWhatKeepsASessionFromBeingIdle(t *testing.T) {
	for _, c := range []struct {
		name     string
		on, off  func(*scenario)
		phase    Phase
		why      string
		resumeAt time.Duration // what is left afterwards, of 10 s, when it began at 7 s
	}{
		{"run", (*scenario).run, (*scenario).settle, Working, "the agent is working", 10 * sec},
		{"compaction", func(s *scenario) { s.compaction(true) }, func(s *scenario) { s.compaction(false) },
			Working, "Pi is compacting", 10 * sec},
		{"child", func(s *scenario) { s.step(ChildrenChanged{1}) }, func(s *scenario) { s.step(ChildrenChanged{0}) },
			Working, "a child session is running", 10 * sec},
		{"dialog", func(s *scenario) { s.step(DialogChanged{true}) }, func(s *scenario) { s.step(DialogChanged{false}) },
			Typing, "a dialog is open in Pi", 7 * sec},
		{"queue", func(s *scenario) { s.facts.Queued = true; s.settle() }, func(s *scenario) { s.facts.Queued = false; s.settle() },
			Working, "a message is queued", 10 * sec},
		{"draft", func(s *scenario) { s.draft(true); s.wait(3 * sec) }, func(s *scenario) { s.facts.Draft = false; s.step(Activity{}) },
			Typing, "the editor holds a draft", 7 * sec},
		{"pause by hand", (*scenario).pause, (*scenario).resume, Paused, "paused by hand", 7 * sec},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := watched(t, "timeout=10")
			s.wait(3 * sec)
			c.on(s)
			s.is(c.phase, c.why)
			s.wait(time.Hour)
			s.is(c.phase, c.why)
			if strings.Contains(strings.Join(s.did, " "), "check") {
				t.Fatal("it asked meanwhile")
			}
			c.off(s)
			s.counts(c.resumeAt)
			s.forget()
			s.wait(c.resumeAt)
			s.wants("check c1 1/50")
		})
	}
}

// No countdown before this process finished a run, unless started by hand.
func TestFirstRun(t *testing.T) {
	history := State{Human: true}
	t.Run("by the environment", func(t *testing.T) {
		s := unwatched(t, history)
		s.startByEnv("timeout=10 max=2")
		s.wants("tool", "record start", started)
		s.is(Waiting, "no run has finished in this process yet; send the agent a message")
		s.wait(time.Hour)
		s.wantsNothing()
		s.user()
		s.settle()
		s.counts(10 * sec)
	})
	t.Run("resumed while it is on", func(t *testing.T) {
		s := unwatched(t, State{Started: true, On: true, Settings: Settings{0, 5, Once, ""}, Human: true, Instance: "another"})
		s.wants("tool")
		s.is(Waiting, "no run has finished in this process yet; send the agent a message")
		s.wait(time.Hour)
		s.wantsNothing()
	})
	t.Run("by hand", func(t *testing.T) {
		s := unwatched(t, history)
		s.start("timeout=10 max=2")
		s.wants("tool", "record start", started)
		s.counts(10 * sec)
	})
	t.Run("by hand, channel broken and back", func(t *testing.T) {
		s := unwatched(t, State{Started: true, On: true, Settings: Settings{10, 5, Once, ""}, Human: true, Instance: "one"})
		s.counts(10 * sec)
	})
	t.Run("by hand, no message of a person", func(t *testing.T) {
		s := unwatched(t, State{})
		s.start("timeout=0")
		s.is(Waiting, "the session has no message of the user yet")
		s.wait(time.Hour)
		s.spoken(false)
		s.run()
		s.settle()
		s.is(Waiting, "the session has no message of the user yet")
		s.forget()
		s.user()
		s.settle()
		s.wants("check c1 1/50")
	})
}

// Keys pause; 2 s after the last one it goes on with what was left, at least
// 5 s or the timeout.
func TestKeys(t *testing.T) {
	for _, c := range []struct {
		line         string
		before, left time.Duration
	}{
		{"timeout=60", 10 * sec, 50 * sec},
		{"timeout=60", 57 * sec, 5 * sec},
		{"timeout=5", 1 * sec, 5 * sec},
		{"timeout=3", 2 * sec, 3 * sec},
	} {
		s := watched(t, c.line)
		s.wait(c.before)
		s.key()
		s.is(Typing, "keys were pressed")
		s.wait(1900 * time.Millisecond)
		s.is(Typing, "keys were pressed")
		s.key()
		s.wait(1900 * time.Millisecond)
		s.is(Typing, "keys were pressed")
		s.wait(100 * time.Millisecond)
		s.counts(c.left)
		s.wait(c.left)
		s.wants("check c1 1/50")
	}
}

// Keys before the settle must not keep the countdown from ever beginning.
func TestKeysBeforeSettle(t *testing.T) {
	s := watched(t, "timeout=10")
	s.run()
	s.key()
	s.settle()
	s.is(Typing, "keys were pressed")
	s.wait(2 * sec)
	s.counts(10 * sec)
}

// A start typed into Pi's editor comes with keys.
func TestStartAfterKeys(t *testing.T) {
	s := unwatched(t, State{Human: true})
	s.key()
	s.start("timeout=10 max=2")
	s.is(Typing, "keys were pressed")
	s.wait(2 * sec)
	s.counts(10 * sec)
}

// It never fires over a draft, and waits for no tick meanwhile.
func TestDraft(t *testing.T) {
	s := watched(t, "timeout=10")
	s.wait(4 * sec)
	s.draft(true)
	s.wait(3 * sec)
	if wake, any := s.e.Wake(); any {
		t.Fatalf("over a draft nothing is waited for, but a tick is due at %v", wake)
	}
	s.wait(time.Hour)
	s.draft(false)
	s.is(Typing, "keys were pressed")
	s.wait(2 * sec)
	s.counts(6 * sec)
	s.draft(true)
	s.run() // the draft was sent: the time that was left is over
	s.draft(false)
	s.settle()
	s.wait(2 * sec)
	s.counts(10 * sec)
}

// Esc: no countdown until the user's next message.
func TestInterrupted(t *testing.T) {
	const why = "interrupted; waits for the user's next message"
	s := watched(t, "timeout=10")
	s.run()
	s.settleAborted()
	s.is(Interrupted, why)
	s.set("timeout=5")
	s.nudge()
	s.spoken(false)
	s.run()
	s.settle()
	s.wait(time.Hour)
	s.is(Interrupted, why)
	s.wants("record set", "info: Watchdog set: timeout=5 max=50 mode=once", "error: Not asked: "+why+".")
	s.user()
	s.settle()
	s.counts(5 * sec)
}

func TestInterruptedIsLiftedByHand(t *testing.T) {
	s := watched(t, "timeout=10")
	s.run()
	s.settleAborted()
	s.resume()
	s.wants("record pause", "info: Watchdog resumed.")
	s.counts(10 * sec)
	s.run()
	s.settleAborted()
	s.start("timeout=20")
	s.counts(20 * sec)
}

// A refusal is retried once; then the next settle is waited for.
func TestRefusals(t *testing.T) {
	for _, line := range []string{"timeout=10 max=9", "timeout=0 max=9"} {
		s := watched(t, "max=9")
		s.start(line)
		s.wait(10 * sec)
		s.forget()
		s.counted(1)
		s.refused("the session moved on since")
		s.logged("the check was not sent: the session moved on since")
		s.wait(time.Hour)
		s.wants("check c2 1/9")
		s.refused("the session moved on since")
		s.counted(0)
		s.is(Waiting, "refused: the session moved on since; waits for the next settle")
		s.wait(time.Hour)
		s.wantsNothing()
		s.run()
		s.settle()
		s.wait(10 * sec)
		s.wants("check c3 1/9")
	}
}

// What the bridge sees with a refusal corrects the engine.
func TestRefusalCorrects(t *testing.T) {
	s := watched(t, "timeout=10")
	s.wait(10 * sec)
	s.facts.Draft = true
	s.refused("the editor holds a draft")
	s.is(Typing, "the editor holds a draft")
	s.wait(time.Hour)
	s.facts.Draft = false
	s.step(Activity{})
	s.counts(10 * sec)
}

// A receipt that is read after what Pi told since does not take that back.
func TestLateRefusal(t *testing.T) {
	for name, since := range map[string]func(*scenario){
		"a draft that was deleted": func(s *scenario) { s.facts.Draft = true; s.step(Activity{}) },
		"a compaction that ended":  func(s *scenario) { s.facts.Compacting = true; s.step(CompactionChanged{}) },
		"a dialog that was closed": func(s *scenario) { s.facts.Dialog = true; s.step(DialogChanged{}) },
		"a run that settled": func(s *scenario) {
			s.run()
			settled := s.facts
			settled.Settle, settled.Runs, settled.Idle = 2, 2, true
			s.step(Settled{settled})
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := watched(t, "timeout=10")
			s.wait(10 * sec)
			since(s)
			s.refused("late")
			s.counts(10 * sec)
		})
	}
}

// A refusal during a compaction says that Pi is not idle; compaction never
// settles, so its end must be enough.
func TestRefusedByCompaction(t *testing.T) {
	s := watched(t, "timeout=10")
	s.wait(10 * sec)
	s.facts.Compacting, s.facts.Idle = true, false
	s.refused("Pi is compacting") // before its start was told
	s.is(Working, "Pi is compacting")
	s.facts.Compacting, s.facts.Idle = false, true
	s.step(CompactionChanged{false})
	s.counts(10 * sec)
}

func TestCompactionInARun(t *testing.T) {
	s := watched(t, "timeout=10")
	s.run()
	s.compaction(true)
	s.compaction(false)
	s.is(Working, "the agent is working")
	s.settle()
	s.counts(10 * sec)
}

// Sleep is not idle time.
func TestSleep(t *testing.T) {
	const slept = "the machine slept"
	t.Run("a late tick", func(t *testing.T) {
		s := watched(t, "timeout=10")
		s.now = s.now.Add(10*sec + lateTick + 1)
		s.step(Tick{})
		s.wantsNothing()
		s.logged(slept)
		s.counts(10 * sec)
	})
	t.Run("a tick that is late, but not by sleep", func(t *testing.T) {
		s := watched(t, "timeout=10")
		s.now = s.now.Add(10*sec + lateTick)
		s.step(Tick{})
		s.wants("check c1 1/50")
	})
	t.Run("another event comes before the late tick", func(t *testing.T) {
		for _, ev := range []Event{Activity{}, DialogChanged{}, CompactionChanged{}, ChildrenChanged{}, PauseWatch{On: false}} {
			s := watched(t, "timeout=10")
			s.now = s.now.Add(time.Hour)
			s.step(ev)
			s.logged(slept)
			s.counts(10 * sec)
		}
	})
	t.Run("the clock was set", func(t *testing.T) {
		for _, by := range []time.Duration{time.Hour, -time.Hour, 0} {
			s := watched(t, "timeout=10")
			s.wait(9 * sec)
			s.now = s.now.Add(by)
			s.step(ClockJumped{})
			s.wantsNothing()
			s.logged("the countdown starts anew")
			s.counts(10 * sec)
		}
	})
	t.Run("the clock was set while keys were pressed", func(t *testing.T) {
		s := watched(t, "timeout=10")
		s.key()
		s.now = s.now.Add(-time.Hour)
		s.step(ClockJumped{})
		s.counts(10 * sec)
	})
	t.Run("nothing counted", func(t *testing.T) {
		s := watched(t, "timeout=10")
		s.run()
		s.step(ClockJumped{})
		s.is(Working, "the agent is working")
	})
}

// The clock set back must not stretch what is waited for.
func TestClockSetBackAfterAMessage(t *testing.T) {
	s := watched(t, "timeout=10")
	s.spoken(false)
	s.now = s.now.Add(-time.Hour)
	s.step(ClockJumped{})
	s.wait(confirmWithin)
	s.counts(10 * sec)
}

func TestSubmittedMessage(t *testing.T) {
	s := watched(t, "timeout=10")
	s.wait(9 * sec)
	s.spoken(true)
	s.is(Working, "a message was submitted; its run starts")
	s.wait(9 * sec)
	s.run()
	s.is(Working, "the agent is working")
	s.settle()
	s.counts(10 * sec)
	s.spoken(true) // another extension takes it: no run comes of it
	s.wait(10 * sec)
	s.counts(10 * sec)
}

func TestLostBridge(t *testing.T) {
	s := watched(t, "timeout=10")
	s.wait(3 * sec)
	s.step(Left{})
	s.is(Lost, "no bridge is connected")
	if s.e.Busy() {
		t.Error("a session without a bridge is busy")
	}
	s.wait(time.Hour)
	s.wantsNothing()
}

func TestHeadlessAsksAtOnce(t *testing.T) {
	s := unwatched(t, State{})
	s.step(Joined{Facts: s.facts, Headless: true, Instance: "one"})
	s.startByEnv("timeout=600")
	s.user()
	s.forget()
	s.facts.Settle, s.facts.Runs, s.facts.Idle = 1, 1, true
	effects := s.e.Step(s.now, Settled{s.facts})
	if len(effects) != 1 {
		t.Fatalf("at settle: %#v", effects)
	}
	ask, ok := effects[0].(AskCheck)
	if !ok || ask.Record.Waited != 0 || ask.Record.Reason != "the agent was idle" {
		t.Errorf("at settle: %#v", effects[0])
	}
}

func TestCheckRecord(t *testing.T) {
	s := watched(t, "timeout=10 max=7")
	s.wait(3 * sec)
	s.key()
	s.wait(2 * sec)
	s.counts(7 * sec)
	s.wait(6900 * time.Millisecond)
	s.now = s.now.Add(100 * time.Millisecond)
	effects := s.e.Step(s.now, Tick{})
	if len(effects) != 1 {
		t.Fatalf("at zero: %#v", effects)
	}
	want := AskCheck{Record: Check{ID: "c1", N: 1, Max: 7, Reason: "the agent was idle", Waited: 12}, Text: CheckText, Settle: 1, Leaf: "leaf1"}
	if effects[0] != Effect(want) {
		t.Errorf("asked %#v\nwant  %#v", effects[0], want)
	}
}
