package e2e

import (
	"strings"
	"testing"

	"piwatch/internal/watchdog"
)

// TestExchangesByNumber: on the command line an exchange is named by the number
// on its card, and the last one without it.
func TestExchangesByNumber(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		h := NewHome(t, pi, HomeOptions{})
		startHub(t, h)
		h.Provider.Enqueue(Text("Half."), decision(watchdog.Continue, "more"), Text("Whole."), decision(watchdog.Done, "all"), Text("Bye."))
		rpc := watched(t, h, Launch{})
		session := rpc.SessionID()
		rpc.Prompt("/watchdog timeout=0")
		rpc.askedTurn("do it", isOutcome(watchdog.Done))
		rpc.Pass()
		run := func(want string, args ...string) {
			t.Helper()
			got := h.RunPiwatch(args...)
			if !strings.Contains(got.Stdout+got.Stderr, want) {
				t.Errorf("piwatch %s: status %d, %q %q, want %q", strings.Join(args, " "), got.ExitCode, got.Stdout, got.Stderr, want)
			}
		}
		run("off the branch", "rollback", "--last", "2")
		run("all (rolled back)", "log", "--last")
		run("back in the context", "unfold", session[:23], "1")
		run("more (unfolded by hand)", "log", session)
		run("out of the context again", "fold", session, "1")
		run("more than the exchange would be lost", "rollback", session, "1")
		rpc.Turn("bye")
		rpc.Close()
		requests := h.Provider.Requests()
		if got, want := requests[len(requests)-1].Roles(), "system user assistant user assistant user"; got != want {
			t.Errorf("the last request has roles %q, want %q", got, want)
		}
	})
}
