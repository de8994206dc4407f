package e2e

import (
	"testing"

	"piwatch/internal/control"
	"piwatch/internal/watchdog"
)

// voidErrors: the provider fails in a check, at once or after all of Pi's
// retries. That is no answer of the agent, and it leaves nothing behind.
func voidErrors(s *stage) {
	bad := Status(503, "")
	half := Text("Let me").Reset()
	call := lateDecision(Reply{}, watchdog.Done).Reset()
	for _, scene := range []struct {
		name    string
		answers []Reply
	}{
		{"refused", []Reply{Status(401, `{"error":{"message":"no entry"}}`)}},
		{"before the answer", []Reply{bad, bad, bad, bad}},
		{"in text", []Reply{half, half, half, half}},
		{"in the call of done", []Reply{call, call, call, call}},
	} {
		s.run(scene.name, func(p *play) {
			p.ask(scene.answers...)
			p.closed()
			p.wait("counting", is(watchdog.Counting, 1))
			p.tell()
			p.over(end{"error: *", watchdog.Counting, 0, len(scene.answers)})
		})
	}
}

// TestVoidInBackoff: the provider has failed in a check and Pi waits before it
// tries again.
func TestVoidInBackoff(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		s := newStage(t, pi, HomeOptions{Settings: map[string]any{
			"retry": map[string]any{"enabled": true, "maxRetries": 3, "baseDelayMs": 1500},
		}})
		fail := func(p *play) {
			p.rpc.Pass()
			p.ask(Status(503, ""))
			p.rpc.WaitEvent("auto_retry_start", IsType("auto_retry_start"))
		}
		for _, way := range ways {
			s.run(way.name, func(p *play) {
				want := end{"void: the user spoke", watchdog.Counting, 0, 1}
				fail(p)
				if way.name == "follow-up" { // it comes after the run, and the retry is of the run
					p.h.Provider.Enqueue(lateBash(Reply{}))
					want.checks = 2
					if !pi.Modern() { // a blocked call does not end a run
						p.h.Provider.Enqueue(lateDecision(Reply{}, watchdog.Done))
						want.checks = 3
					}
				}
				p.h.Provider.Enqueue(voidAnswers...)
				way.say(p).Must()
				p.over(want)
			})
		}
		s.run("abort", func(p *play) {
			fail(p)
			p.rpc.Abort()
			want := end{"void: interrupted by the user", watchdog.Counting, 0, 1}
			if pi.Modern() {
				p.wait("interrupted", is(watchdog.Interrupted, 1))
			} else {
				// Pi 0.81.1 tells an extension of retries that were given up in the same
				// words as of retries that were spent.
				want.outcome = "error: *"
				p.wait("counting", is(watchdog.Counting, 1))
			}
			p.tell()
			p.over(want)
		})
		s.run("stop", func(p *play) {
			fail(p)
			p.steer(control.Stop)
			p.closed()
			p.idle()
			p.tell()
			p.over(end{"void: stopped by hand", watchdog.Off, 0, 1})
		})
	})
}
