package e2e

import (
	"regexp"
	"testing"
	"time"

	"piwatch/internal/watchdog"
)

// command types a command and sends it until it is answered: while Pi starts up
// it refuses commands and keeps them in the editor.
func (p *Pane) command(line, answer string) {
	p.home.t.Helper()
	p.WaitText(ModelName)
	p.Type(line)
	p.WaitScreen("the answer "+answer, func(s Screen) bool {
		if s.Contains(answer) {
			return true
		}
		p.Keys("Enter")
		return false
	})
}

// pass lets time pass until the screen shows what is wanted: one second for
// each second of the countdown that it has shown, and what the keyboard must
// rest while it shows that the user types. The last keys reach the hub a moment
// after they were pressed.
func (p *Pane) pass(clock hubClock, want *regexp.Regexp) {
	p.home.t.Helper()
	seen := ""
	p.WaitScreen(want.String(), func(s Screen) bool {
		if want.MatchString(s.Text) {
			return true
		}
		if s.Contains("⏱✍") {
			seen = ""
			clock.Advance(2100 * time.Millisecond)
		} else if shown := counting.FindString(s.Text); shown != seen {
			seen = shown
			clock.Advance(time.Second)
		}
		return false
	})
}

// The countdowns allow for a screen that was seen late: time has then passed
// twice.
var (
	counting     = regexp.MustCompile(`⏱\d+s \d+/\d+`)
	aroundThirty = regexp.MustCompile(`⏱(30|2\d)s 0/50`)
	aroundTen    = regexp.MustCompile(`⏱(10|[6-9])s 0/50`)
	saysDone     = regexp.MustCompile(`⏱ done: all`)
)

// TestTyping: a countdown pauses while the user types, nothing is sent over a
// draft, and the draft stays as it is.
func TestTyping(t *testing.T) {
	RequireTmux(t)
	EachPi(t, func(t *testing.T, pi *Pi) {
		h := NewHome(t, pi, HomeOptions{})
		clock := newHubClock()
		startHubAt(t, h, clock)
		h.Provider.Enqueue(Text("Stopped early."), Text("I see."), decision(watchdog.Done, "all finished"))
		pane := h.StartTUI(Launch{Extensions: []string{bridgeFile(t)}}, Size{Columns: 100, Rows: 30})
		pane.command("/watchdog timeout=30", "Watchdog started")
		pane.Type("work")
		pane.Keys("Enter")
		pane.WaitText("⏱✍ 0/50") // the keys that sent it were pressed just now
		pane.pass(clock, aroundThirty)
		pane.pass(clock, aroundTen)
		pane.Type("half a thought")
		pane.WaitText("⏱✍ 0/50")
		pane.WaitText("half a thought")
		clock.Advance(time.Hour)
		pane.Keys("Enter")
		pane.WaitText("I see.")
		wantRequests(t, h, 2)
		if last := h.Provider.Requests()[1].Last(); last.Text != "half a thought" {
			t.Errorf("the user's message is %q", last.Text)
		}
		pane.pass(clock, aroundThirty)
		pane.pass(clock, saysDone)
		wantRequests(t, h, 3)
	})
}

// TestDraftCleared: the countdown goes on with the time that was left once the
// editor is empty and the keyboard rests.
func TestDraftCleared(t *testing.T) {
	RequireTmux(t)
	EachPi(t, func(t *testing.T, pi *Pi) {
		h := NewHome(t, pi, HomeOptions{})
		clock := newHubClock()
		startHubAt(t, h, clock)
		h.Provider.Enqueue(Text("Stopped early."), decision(watchdog.Done, "all finished"))
		pane := h.StartTUI(Launch{Extensions: []string{bridgeFile(t)}}, Size{Columns: 100, Rows: 30})
		pane.command("/watchdog timeout=30", "Watchdog started")
		pane.Type("work")
		pane.Keys("Enter")
		pane.WaitText("⏱✍ 0/50")
		pane.pass(clock, aroundThirty)
		pane.pass(clock, aroundTen)
		pane.Type("no")
		pane.WaitText("⏱✍ 0/50")
		clock.Advance(time.Minute)
		pane.Keys("C-u")
		pane.WaitScreen("the editor empty", func(s Screen) bool { return !s.Contains("no\n") })
		pane.pass(clock, aroundTen)
		pane.pass(clock, saysDone)
		wantRequests(t, h, 2)
	})
}

// TestEscape: Esc in a run interrupts monitoring until the user's next message.
func TestEscape(t *testing.T) {
	RequireTmux(t)
	EachPi(t, func(t *testing.T, pi *Pi) {
		h := NewHome(t, pi, HomeOptions{})
		startHub(t, h)
		gate := h.Provider.NewGate("first answer")
		h.Provider.Enqueue(Text("I be").Gate(gate).Text("gin"), Text("Done."), decision(watchdog.Done, "all finished"))
		pane := h.StartTUI(Launch{Extensions: []string{bridgeFile(t)}}, Size{Columns: 100, Rows: 30})
		pane.command("/watchdog timeout=0", "Watchdog started")
		pane.Type("work")
		pane.Keys("Enter")
		gate.WaitReached()
		pane.Keys("Escape")
		pane.WaitText("⏱⏹ 0/50")
		gate.Release()
		wantRequests(t, h, 1)
		pane.Type("go on then")
		pane.Keys("Enter")
		pane.WaitText("⏱ done: all finished")
		wantRequests(t, h, 3)
	})
}

// TestNudgeTypedInPi: the text of a command is no draft, however soon the hub
// hears of the command.
func TestNudgeTypedInPi(t *testing.T) {
	RequireTmux(t)
	EachPi(t, func(t *testing.T, pi *Pi) {
		h := NewHome(t, pi, HomeOptions{})
		startHub(t, h)
		h.Provider.Enqueue(Text("Stopped early."), decision(watchdog.Done, "all finished"))
		pane := h.StartTUI(Launch{Extensions: []string{bridgeFile(t)}}, Size{Columns: 100, Rows: 30})
		pane.command("/watchdog timeout=86400", "Watchdog started")
		pane.Type("work")
		pane.Keys("Enter")
		pane.WaitText("Stopped early.")
		h.Provider.WaitRequests(1)
		pane.command("/watchdog nudge", "Asking now.")
		pane.WaitText("done: all finished")
		wantRequests(t, h, 2)
	})
}
