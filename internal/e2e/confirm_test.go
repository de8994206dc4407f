package e2e

import (
	"strings"
	"testing"
)

// TestStartAgainstTheLastWords: who told the agent to wait and then starts the
// watchdog is asked whether that is meant; also after a restart, when only the
// session says what the last words were.
func TestStartAgainstTheLastWords(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		h := NewHome(t, pi, HomeOptions{})
		startHub(t, h)
		h.Provider.Enqueue(Text("I wait."), Text("On it."))
		rpc := watched(t, h, Launch{})
		rpc.Turn("Wait, I want to look at the diff first.")
		start := func(rpc *RPC, yes bool) {
			t.Helper()
			done := rpc.Start("prompt", map[string]any{"message": "/watchdog timeout=86400"})
			dialog := rpc.WaitDialog()
			if got := dialog.Str("message"); !strings.Contains(got, `says to wait: "Wait, I want to look at the diff first."`) {
				t.Errorf("the question is %q", got)
			}
			rpc.Answer(dialog, "confirmed", yes)
			done.Must()
		}
		start(rpc, false)
		rpc.WaitNotification("that nothing was done", func(n Notification) bool { return n.Text == "Watchdog: nothing was done." })
		rpc.Close()

		rpc = watched(t, h, Launch{Args: []string{"--continue"}})
		start(rpc, true)
		rpc.WaitStatus("piwatch", "a countdown", counts("0/50"))
		rpc.Prompt("/watchdog stop")
		rpc.status("")
		rpc.Turn("Now go on.")
		rpc.Prompt("/watchdog timeout=86400") // no question any more
		rpc.WaitStatus("piwatch", "a countdown", counts("0/50"))
		rpc.Close()
	})
}
