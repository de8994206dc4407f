package e2e

import (
	"strings"
	"testing"

	"piwatch/internal/bridge"
	"piwatch/internal/watchdog"
)

// TestDoctor: with the real Pi, its bridge installed and a session that runs, all
// of it is seen; in a terminal the width of the sign is measured.
func TestDoctor(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		h := NewHome(t, pi, HomeOptions{})
		if got := h.RunPiwatch("install", "--pi", h.Agent); got.ExitCode != 0 {
			t.Fatalf("install: %s", got.Stderr)
		}
		rpc := h.StartRPC(Launch{Env: []string{"PI_WATCHDOG=timeout=600"}})
		rpc.WaitStatus("piwatch", "watched", func(text string) bool { return text != "" })
		got := h.RunPiwatch("doctor", "--pi", pi.Program())
		for _, want := range []string{
			"ok    pi        Pi " + pi.Version + ", ", "ok    pi        Node ", "ok    bridge    " + bridge.Path(h.Agent),
			"ok    hub       piwatch devel, pid ", "session " + rpc.SessionID() + " in " + h.Project + ": Pi " + pi.Version + ", ",
		} {
			if !strings.Contains(got.Stdout, want) {
				t.Errorf("it does not say %q:\n%s", want, got.Stdout)
			}
		}
		if got.ExitCode != 0 || strings.Contains(got.Stdout, "fail ") {
			t.Errorf("status %d:\n%s%s", got.ExitCode, got.Stdout, got.Stderr)
		}
		RequireTmux(t)
		pane := h.StartPane("piwatch doctor", Launch{}, Large, Piwatch(t), "doctor", "--pi", pi.Program())
		if code := pane.WaitExit(); code != 0 {
			t.Errorf("in a terminal: status %d", code)
		}
		pane.WaitText("ok    terminal  200×60")
		pane.WaitText("ok    terminal  ⏱ is 1 cells wide")
		rpc.Close()
	})
}

// TestUpgradeUnderARunningPi: a bridge that is replaced while a Pi runs with it
// breaks nothing: Pi goes on with the one it has, and takes the new one at /reload.
func TestUpgradeUnderARunningPi(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		h := NewHome(t, pi, HomeOptions{})
		if _, _, err := bridge.Install(h.Agent, Piwatch(t), "0.0.1", false); err != nil {
			t.Fatal(err)
		}
		h.Provider.Enqueue(Text("One."), decision(watchdog.Done, "one"), Text("Two."), decision(watchdog.Done, "two"))
		rpc := h.StartRPC(Launch{Extensions: []string{controlFile(t)}})
		has := func(version string) {
			t.Helper()
			got := h.RunPiwatch("status", "--format", "{{.Bridge}}")
			if got.Stdout != version+"\n" {
				t.Errorf("the bridge in Pi is of %q, want %s", got.Stdout, version)
			}
		}
		rpc.Prompt("/watchdog timeout=0 mode=keep")
		rpc.Prompt("one")
		h.WaitEntry(rpc.SessionFile(), "of the first answer", isOutcome(watchdog.Done))
		rpc.WaitSettled()
		if got := h.RunPiwatch("upgrade"); !strings.Contains(got.Stdout, "updated (piwatch devel, was 0.0.1)") {
			t.Errorf("upgrade: status %d, %s%s", got.ExitCode, got.Stdout, got.Stderr)
		}
		rpc.Prompt("two")
		h.WaitEntry(rpc.SessionFile(), "of the second answer", func(e Record) bool {
			return isOutcome(watchdog.Done)(e) && e.Str("data.note") == "two"
		})
		has("0.0.1")
		if got := h.RunPiwatch("doctor", "--pi", pi.Program()); !strings.Contains(got.Stdout, "bridge 0.0.1: of another piwatch") {
			t.Errorf("doctor does not see the old bridge:\n%s", got.Stdout)
		}
		rpc.Prompt("/anew")
		if !poll(Timeout(), func() bool { return h.RunPiwatch("status", "--format", "{{.Bridge}}").Stdout == "devel\n" }) {
			t.Error("Pi did not take the new bridge")
		}
		rpc.Close()
		wantRequests(t, h, 4)
	})
}
