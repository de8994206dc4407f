package e2e

import (
	"syscall"
	"testing"

	"piwatch/internal/watchdog"
)

// TestVoidByHubDeath: the hub is killed while a check is open. The bridge brings
// a new one, which knows where the old one stood.
func TestVoidByHubDeath(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		s := bareStage(t, pi, HomeOptions{})
		installBridge(t, s.h)
		s.rpc = s.h.StartRPC(Launch{Extensions: []string{s.holdFile()}})
		defer stopHub(t, s.h)
		s.playControl()
		s.client = dialHub(t, s.h)
		// renewed kills the hub and waits for the next one.
		renewed := func(p *play, old int) {
			p.t.Helper()
			kill(p.t, old)
			p.rpc.status(watchdog.LostStatus)
			waitHub(p.t, p.h, old)
			s.client = dialHub(s.t, s.h)
		}
		gone := end{"void: piwatch went away", watchdog.Counting, 0, 1}
		for _, m := range []moment{inText, inTextTool, inCall} {
			s.run(m.name, func(p *play) {
				want := gone
				release := m.reach(p)
				renewed(p, hubPID(p.t, p.h))
				if m.late && !pi.Modern() {
					p.h.Provider.Enqueue(lateDecision(Reply{}, watchdog.Done))
					want.checks = 2
				}
				release()
				p.closed()
				p.wait("counting", is(watchdog.Counting, 1))
				p.tell()
				p.over(want)
			})
		}
		s.run("while it is asked what to answer", func(p *play) {
			release := beforeAnswer.reach(p)
			old := hubPID(p.t, p.h)
			if err := syscall.Kill(old, syscall.SIGSTOP); err != nil {
				p.t.Fatal(err)
			}
			release()
			p.rpc.WaitEvent("tool_execution_start", IsType("tool_execution_start"))
			renewed(p, old)
			p.closed()
			p.wait("counting", is(watchdog.Counting, 1))
			p.tell()
			p.over(gone)
		})
		// The answer was taken: the new hub owes the work message, and sends it once.
		s.run(inEnd.name, func(p *play) {
			release := inEnd.reach(p)
			renewed(p, hubPID(p.t, p.h))
			p.h.Provider.Enqueue(Text("The second half is done."))
			release()
			p.said("The second half is done.")
			p.wait("counting", is(watchdog.Counting, 1))
			wantLines(p.t, "outcomes", outcomes(p.h, p.file), "answered: continue: late")
			wantLines(p.t, "requests", []string{rolesOf(p.h.Provider.Take())}, "system user\nsystem user assistant user\nsystem user assistant user")
		})
	})
}
