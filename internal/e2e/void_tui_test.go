package e2e

import (
	"regexp"
	"testing"

	"piwatch/internal/watchdog"
)

// TestVoidInTerminal: the user at the keyboard. Esc interrupts a check, a typed
// message makes it void, and /reload is refused while it is open.
func TestVoidInTerminal(t *testing.T) {
	RequireTmux(t)
	EachPi(t, func(t *testing.T, pi *Pi) {
		s := newStage(t, pi, HomeOptions{})
		s.rpc.Close()
		enter := func(pane *Pane, text string) {
			pane.Type(text)
			pane.WaitScreen(text+" in the editor", Shows(text))
			pane.Keys("Enter")
		}
		scene := func(name string, act func(p *play, pane *Pane)) {
			t.Run(name, func(t *testing.T) {
				before := s.h.t
				s.h.t = t
				defer func() { s.h.t = before }()
				s.h.Provider.Take()
				pane := s.h.StartTUI(Launch{Extensions: []string{bridgeFile(t)}, Env: []string{s.wire.env()}}, Size{100, 40})
				pane.command("/watchdog timeout=86400", "Watchdog started")
				s.h.Provider.Enqueue(voidStopped)
				enter(pane, voidTask)
				p := &play{stage: s, t: t}
				pane.WaitText("Half of it is done.")
				files := s.h.SessionFiles()
				p.file = files[len(files)-1]
				p.id = s.h.Entries(p.file)[0].Str("id")
				p.wait("counting", func(v watchdog.View) bool { return v.Phase == watchdog.Counting })
				act(p, pane)
			})
		}
		thanked := func(p *play, pane *Pane, outcome string) {
			p.said("It says: the note.")
			pane.WaitScreen("a countdown", func(s Screen) bool { return counting.MatchString(s.Text) })
			enter(pane, voidThanks)
			p.said("You are welcome.")
			wantLines(p.t, "outcomes", outcomes(p.h, p.file), outcome)
			requests := p.h.Provider.Take()
			if len(requests) != 5 {
				p.t.Fatalf("%d requests, want 5:\n%s", len(requests), rolesOf(requests))
			}
			for i, request := range requests[2:] {
				SameBytes(p.t, request.Body, p.control[1+i].Body)
			}
			if n := p.count(voidSaid); n != 1 {
				p.t.Errorf("the user's message is in the session %d times", n)
			}
		}
		scene("Esc", func(p *play, pane *Pane) {
			release := inText.reach(p)
			pane.Keys("Escape")
			pane.WaitText("⏱⏹ 1/50")
			release()
			p.h.Provider.Enqueue(voidAnswers...)
			enter(pane, voidSaid)
			thanked(p, pane, "void: interrupted by the user")
		})
		scene("a message", func(p *play, pane *Pane) {
			release := inTextTool.reach(p)
			enter(pane, "/reload")
			pane.WaitScreen("a refusal", func(s Screen) bool { return refusedReload.MatchString(s.Text) })
			p.h.Provider.Enqueue(voidAnswers...)
			enter(pane, voidSaid)
			p.wait("void", func(v watchdog.View) bool { return v.Count == 0 })
			release()
			thanked(p, pane, "void: the user spoke")
		})
	})
}

var refusedReload = regexp.MustCompile(`Wait for the current response`)
