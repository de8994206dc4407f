package e2e

import (
	"testing"

	"piwatch/internal/watchdog"
)

// TestHeadless: in print and JSON mode nobody is there to wait for, so the check
// is asked in the same process, at once; Pi's result is the agent's last text.
func TestHeadless(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		for _, mode := range []string{"print", "json"} {
			t.Run(mode, func(t *testing.T) {
				h := NewHome(t, pi, HomeOptions{})
				startHub(t, h)
				h.Provider.Enqueue(
					Text("Half of it is done."),
					decision(watchdog.Continue, "more"),
					Text("All of it is done."),
					decision(watchdog.Done, "all"),
				)
				launch := Launch{Extensions: []string{bridgeFile(t)}, Env: []string{"PI_WATCHDOG=1"}}
				run := h.Print
				if mode == "json" {
					run = h.JSON
				}
				result := run(launch, "do all of it")
				if result.ExitCode != 0 {
					t.Errorf("status %d: %s", result.ExitCode, result.Stderr)
				}
				var roles []string
				for _, r := range h.Provider.Requests() {
					roles = append(roles, r.Roles())
				}
				wantLines(t, "requests", roles,
					"system user", "system user assistant user", "system user assistant user", "system user assistant user assistant user")
				wantLines(t, "outcomes", outcomes(h, h.SessionFiles()[0]), "answered: continue: more", "answered: done: all")
				if mode == "print" && result.Text() != "All of it is done." {
					t.Errorf("the result is %q", result.Text())
				}
			})
		}
	})
}
