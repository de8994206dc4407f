package e2e

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestOtherWatchdog: with another extension that has a command /watchdog, Pi
// numbers both. It is said, PI_WATCHDOG starts nothing, and the command of
// piwatch works under its number.
func TestOtherWatchdog(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		h := NewHome(t, pi, HomeOptions{})
		startHub(t, h)
		other := filepath.Join(filepath.Dir(controlFile(t)), "other.ts")
		rpc := watched(t, h, Launch{Extensions: []string{other}, Env: []string{"PI_WATCHDOG=timeout=0"}})
		for _, want := range []string{"another extension has a command /watchdog too", "PI_WATCHDOG: not started"} {
			note := rpc.WaitNotification(want, func(n Notification) bool { return strings.Contains(n.Text, want) })
			if !strings.Contains(note.Text, "/watchdog:2") {
				t.Errorf("%q does not name the command of piwatch", note.Text)
			}
		}
		rpc.Prompt("/watchdog:2 status")
		rpc.WaitNotification("the status", func(n Notification) bool { return n.Text == "Watchdog: off." })
		rpc.Close()
		wantRequests(t, h, 0)
	})
}
