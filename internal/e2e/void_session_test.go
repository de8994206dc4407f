package e2e

import (
	"strings"
	"testing"

	"piwatch/internal/watchdog"
)

// lookElsewhere works in another session, with a tool: two requests.
func (p *play) lookElsewhere() {
	p.t.Helper()
	p.h.Provider.Enqueue(Call("bash", map[string]any{"command": "cat note.txt"}), Text("It says: the note."))
	p.rpc.Prompt("another job")
	file := p.rpc.SessionFile()
	p.h.WaitEntry(file, "with the tool's output", func(e Record) bool {
		return IsRole("toolResult")(e) && strings.Contains(e.Text(), "the note")
	})
	p.idle()
}

// answered is what a void check was answered in a moment, as it stands in its
// outcome. It has no effect. With whole, the turn of the check came to its end.
func answered(m moment, whole bool) string {
	switch {
	case m.name == inTurnEnd.name, m.name == asking.name && whole:
		return "continue: late: "
	case m.name == deciding.name && whole:
		return "done: late: "
	}
	return ""
}

// voidBySession: the session is replaced while a check is open. The other
// session has its tools; back in this one, the check is gone.
func voidBySession(s *stage) {
	s.rpc.NewSession()
	s.h.Provider.Enqueue(Text("Elsewhere."))
	s.rpc.Pass()
	s.rpc.Turn("elsewhere")
	elsewhere := s.rpc.SessionFile()
	leaves := []struct {
		name  string
		leave func(p *play) *Pending
	}{
		{"new", func(p *play) *Pending { return p.rpc.Start("new_session", nil) }},
		{"resume", func(p *play) *Pending {
			return p.rpc.Start("switch_session", map[string]any{"sessionPath": elsewhere})
		}},
		{"fork", func(p *play) *Pending { // before the first message: a session without any
			task := p.h.WaitEntry(p.file, "with the task", func(e Record) bool { return IsRole("user")(e) && e.Text() == voidTask })
			return p.rpc.Start("fork", map[string]any{"entryId": task.Str("id")})
		}},
	}
	for _, leave := range leaves {
		for _, m := range []moment{beforeAnswer, inText, inTextTool, inCall, asking, deciding, inTurnEnd} {
			s.run(leave.name+" "+m.name, func(p *play) {
				release := m.reach(p)
				left := leave.leave(p)
				p.rpc.State() // it has reached Pi
				release()
				left.Must()
				p.lookElsewhere()
				p.rpc.SwitchSession(p.file)
				p.wait("waiting for a run", is(watchdog.Waiting, 1))
				p.tell()
				// Pi 1.6.0 lets the turn end first, Pi 0.81.1 does not.
				answer := answered(m, s.h.Pi.Modern())
				p.over(end{"void: " + answer + "the session was left (" + leave.name + ")", watchdog.Counting, 0, 1 + 2})
			})
		}
	}
}

// voidInClone: a session is copied while a check is open. The copy holds the
// check, which ended with the session that asked it.
func voidInClone(s *stage) {
	for _, m := range []moment{beforeAnswer, inText, inCall, asking, deciding} {
		s.run(m.name, func(p *play) {
			release := m.reach(p)
			clone := p.rpc.Start("clone", nil)
			p.rpc.State()
			release()
			clone.Must()
			p.id, p.file = p.rpc.SessionID(), p.rpc.SessionFile()
			p.wait("waiting for a run", is(watchdog.Waiting, 1))
			p.tell()
			p.over(end{"void: the session was left", watchdog.Counting, 0, 1})
		})
	}
}

// voidByKill: Pi is killed while a check is open.
func voidByKill(s *stage) {
	for _, m := range []moment{inCall, deciding} {
		s.run(m.name, func(p *play) {
			release := m.reach(p)
			p.rpc.Kill()
			release()
			p.stage.start("--session", p.file)
			p.wait("waiting for a run", is(watchdog.Waiting, 1))
			p.tell()
			p.over(end{"void: the session was left", watchdog.Counting, 0, 1})
		})
	}
}

// voidByQuit: Pi is quit while a check is open.
func voidByQuit(s *stage) {
	s.run(inText.name, func(p *play) {
		release := inText.reach(p)
		p.rpc.Close()
		release()
		p.stage.start("--session", p.file)
		p.wait("waiting for a run", is(watchdog.Waiting, 1))
		p.tell()
		why := "the session was left (quit)"
		if s.h.Pi.Modern() { // it aborts the run first, as Esc does
			why = "interrupted by the user"
		}
		p.over(end{"void: " + why, watchdog.Counting, 0, 1})
	})
}

// voidByTree: the leaf moves to before the check. Pi 1.6.0 refuses that in a
// run; the check goes on there.
func voidByTree(s *stage) {
	for _, m := range []moment{beforeAnswer, inText, inTextTool, inCall, asking, deciding} {
		s.run(m.name, func(p *play) {
			release := m.reach(p)
			navigate := p.rpc.Start("prompt", map[string]any{"message": "/tree Half of it"})
			if s.h.Pi.Modern() {
				navigate.Must()
				p.rpc.WaitNotification("a refusal", func(n Notification) bool {
					return strings.HasPrefix(n.Text, "tree: Error: Wait for the current response")
				})
				p.rpc.Steer(voidSaid)
				p.h.Provider.Enqueue(voidAnswers...)
				release()
				p.over(end{"void: the user spoke", watchdog.Counting, 0, 1})
				return
			}
			p.rpc.State()
			release()
			navigate.Must()
			p.wait("counting", is(watchdog.Counting, 0)) // there was no check on this branch
			p.tell()
			want := end{"void: the tree was navigated", watchdog.Counting, 0, 1}
			p.over(want)
		})
	}
	s.run(due.name, func(p *play) {
		release := due.reach(p)
		p.rpc.Prompt("/tree Half of it")
		release()
		p.wait("counting", is(watchdog.Counting, 0)) // there was no check on this branch
		p.tell()
		p.over(end{"answered: continue: late", watchdog.Counting, 0, 1})
	})
}

// voidByReload: an extension reloads all extensions while a check is open.
// Pi 1.6.0 refuses that in a run; on Pi 0.81.1 the run goes on, and the bridge
// that comes ends the check.
func voidByReload(s *stage) {
	for _, m := range []moment{beforeAnswer, inText, inTextTool, inCall} {
		s.run(m.name, func(p *play) {
			release := m.reach(p)
			p.rpc.Start("prompt", map[string]any{"message": "/again"}).Wait()
			if s.h.Pi.Modern() {
				p.rpc.Steer(voidSaid)
				p.h.Provider.Enqueue(voidAnswers...)
				release()
				p.over(end{"void: the user spoke", watchdog.Counting, 0, 1})
				return
			}
			if m.late {
				p.h.Provider.Enqueue(lateDecision(Reply{}, watchdog.Done))
			}
			release()
			p.closed()
			p.idle()
			p.tell()
			want := end{"void: the session was left", watchdog.Counting, 0, 1}
			if m.late {
				want.checks = 2
			}
			p.over(want)
		})
	}
}

// TestVoidByCompaction: /compact while a check is open interrupts it, as Pi
// does with any run. The summary does not know of the check.
func TestVoidByCompaction(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		s := newStage(t, pi, HomeOptions{Settings: map[string]any{"compaction": map[string]any{
			"enabled": true, "reserveTokens": 2000, "keepRecentTokens": 10,
		}}})
		long := func(p *play) { // fills what is kept, so that the cut is before it
			p.h.Provider.Enqueue(Text("More of it is done."))
			p.turn("more of it " + strings.Repeat("word ", 200))
		}
		compact := func(p *play, release func()) {
			p.h.Provider.Enqueue(Text("the summary"))
			done := p.rpc.Start("compact", nil)
			p.rpc.State() // it has reached Pi
			release()
			done.Must()
		}
		var control []*Request
		s.run("never", func(p *play) {
			long(p)
			compact(p, func() {})
			p.tell()
			p.said("It says: the note.")
			p.idle()
			p.rpc.Prompt(voidThanks)
			p.said("You are welcome.")
			p.idle()
			if control = p.h.Provider.Take(); len(control) != 6 {
				p.h.Fatalf("%d requests, want 6", len(control))
			}
		})
		for _, m := range []moment{beforeAnswer, inText, inTextTool, inCall, asking, deciding} {
			s.run(m.name, func(p *play) {
				long(p)
				release := m.reach(p)
				compact(p, release)
				p.tell()
				requests := p.ended(end{"void: " + answered(m, true) + "interrupted by the user", watchdog.Counting, 0, 1 + 2})
				for i, request := range requests[3:] {
					SameBytes(p.t, request.Body, control[2+i].Body)
				}
			})
		}
	})
}
