package e2e

import (
	"piwatch/internal/control"
	"piwatch/internal/watchdog"
)

// voidByStop: the watchdog is stopped while a check is open, or while the
// work message is owed: in Pi, or by a client of the hub.
func voidByStop(s *stage) {
	stops := []struct {
		name  string
		stop  func(p *play)
		why   string
		phase watchdog.Phase // afterwards
	}{
		{"stopped", func(p *play) { p.rpc.Prompt("/watchdog stop") }, "stopped by hand", watchdog.Off},
		{"stopped by a client", func(p *play) { p.steer(control.Stop) }, "stopped by hand", watchdog.Off},
		{"started anew", func(p *play) { p.rpc.Prompt("/watchdog timeout=3600") }, "started anew", watchdog.Counting},
	}
	for _, stop := range stops {
		for _, m := range []moment{beforeAnswer, inText, inTextTool, inCall, inBatch, asking, deciding, inTurnEnd, inEnd} {
			s.run(stop.name+" "+m.name, func(p *play) {
				want := end{"void: " + stop.why, stop.phase, 0, 1}
				if m.name == inTurnEnd.name {
					want.outcome = "void: continue: late: " + stop.why
				}
				if m.name == inEnd.name {
					want.outcome = "answered: continue: late"
				}
				release := m.reach(p)
				if m.name == inEnd.name { // the check has ended
					stop.stop(p)
				} else {
					told := p.receipt("void")
					stop.stop(p)
					told()
				}
				release()
				p.closed()
				count := 1
				if stop.phase == watchdog.Counting {
					count = 0 // it was started by hand
				}
				p.wait(string(stop.phase), is(stop.phase, count))
				p.idle()
				p.tell()
				p.over(want)
			})
		}
	}
	s.run("stop that is told late", func(p *play) {
		release := beforeAnswer.reach(p)
		void := p.wire.hold("void", func(l wireLine) bool { return l.fromHub && l.method == "void" })
		stopped := p.begin(control.Stop, "")
		void.WaitReached()
		release()
		p.closed()
		void.Release()
		stopped()
		p.idle()
		p.tell()
		p.over(end{"void: it was ended before it was answered", watchdog.Off, 0, 1})
	})
}

// voidByAbort: the user interrupts a check. That is not an end of the run
// that was asked about: nothing is counted until the user's next message.
func voidByAbort(s *stage) {
	for _, m := range []moment{beforeAnswer, inText, inTextTool, inCall, inBatch, asking, deciding, inTurnEnd, inEnd} {
		s.run(m.name, func(p *play) {
			want := end{"void: " + answered(m, true) + "interrupted by the user", watchdog.Counting, 0, 1}
			if m.name == inEnd.name {
				want.outcome = "answered: continue: late"
			}
			release := m.reach(p)
			abort := p.rpc.Start("abort", nil)
			p.rpc.State() // it has reached Pi
			release()
			abort.Must()
			p.closed()
			p.wait("interrupted", is(watchdog.Interrupted, 1))
			p.tell()
			p.over(want)
		})
	}
}
