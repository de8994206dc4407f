package e2e

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"piwatch/internal/watchdog"
)

// installBridge puts the bridge into the home's agent dir, as a user does.
func installBridge(t *testing.T, h *Home) {
	t.Helper()
	if result := h.RunPiwatch("install"); result.ExitCode != 0 {
		t.Fatalf("piwatch install: status %d\n%s%s", result.ExitCode, result.Stdout, result.Stderr)
	}
}

// hubPID asks the hub who it is; 0 when there is none.
func hubPID(t *testing.T, h *Home) int {
	t.Helper()
	result := h.RunPiwatch("hub", "status", "--json")
	var hub struct {
		Pid int `json:"pid"`
	}
	if result.ExitCode == 0 {
		if err := json.Unmarshal([]byte(result.Stdout), &hub); err != nil {
			t.Fatalf("piwatch hub status --json: %v\n%s", err, result.Stdout)
		}
	}
	return hub.Pid
}

// waitHub waits for a hub that is not the one with that pid.
func waitHub(t *testing.T, h *Home, not int) int {
	t.Helper()
	pid := 0
	if !poll(Timeout(), func() bool { pid = hubPID(t, h); return pid != 0 && pid != not }) {
		h.Fatalf("no hub came up (other than pid %d)", not)
	}
	return pid
}

// stopHub ends the hub in the orderly way.
func stopHub(t *testing.T, h *Home) {
	t.Helper()
	h.RunPiwatch("hub", "stop")
}

func kill(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatalf("kill %d: %v", pid, err)
	}
}

// TestHubKilledInCountdown: the hub is killed while it counts; the bridge brings
// a new one, the count is right, and nothing is sent twice.
func TestHubKilledInCountdown(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		h := NewHome(t, pi, HomeOptions{})
		installBridge(t, h)
		h.Provider.Enqueue(Text("One."), decision(watchdog.Continue, "more"), Text("Two."), decision(watchdog.Done, "all"))
		rpc := h.StartRPC(Launch{})
		defer stopHub(t, h)
		file := rpc.SessionFile()
		rpc.Prompt("/watchdog timeout=3600")
		rpc.Prompt("work")
		rpc.WaitStatus("piwatch", "a countdown", counts("0/50"))
		rpc.Prompt("/watchdog nudge")
		rpc.WaitStatus("piwatch", "a countdown after the first check", counts("1/50"))
		old := hubPID(t, h)
		kill(t, old)
		rpc.status(watchdog.LostStatus)
		waitHub(t, h, old)
		rpc.WaitStatus("piwatch", "a countdown by the new hub, with the count of the old one", counts("1/50"))
		wantRequests(t, h, 3)
		rpc.Prompt("/watchdog nudge")
		rpc.status("")
		rpc.Close()
		wantLines(t, "outcomes", outcomes(h, file), "answered: continue: more", "answered: done: all")
		wantRequests(t, h, 4)
	})
}

// counts matches a footer that counts down, with that count.
func counts(count string) func(string) bool {
	return func(text string) bool { return counting.MatchString(text) && strings.HasSuffix(text, " "+count) }
}

// TestHubKilledInCheck: the hub is killed while a check is open: the check is
// void, tools are free, and the new hub goes on where the old one stood.
func TestHubKilledInCheck(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		h := NewHome(t, pi, HomeOptions{})
		installBridge(t, h)
		gate := h.Provider.NewGate("the answer to the check")
		h.Provider.Enqueue(
			Text("Stopped early."),
			Reply{}.Gate(gate).Call(watchdog.ToolName, map[string]any{"decision": "continue"}),
			Call("bash", map[string]any{"command": "echo free"}),
			Text("Tools are free."),
			decision(watchdog.Done, "all"),
		)
		rpc := h.StartRPC(Launch{})
		defer stopHub(t, h)
		file := rpc.SessionFile()
		rpc.Prompt("/watchdog timeout=1")
		rpc.Prompt("work")
		gate.WaitReached()
		old := hubPID(t, h)
		kill(t, old)
		rpc.status(watchdog.LostStatus)
		waitHub(t, h, old)
		gate.Release()
		h.WaitEntry(file, "with the void check", func(e Record) bool {
			return IsCustom(watchdog.RecordOutcome)(e) && e.Str("data.end") == "void"
		})
		rpc.Pass()
		rpc.Prompt("use a tool")
		h.WaitEntry(file, "with the tool's output", func(e Record) bool {
			return IsRole("toolResult")(e) && strings.Contains(e.Text(), "free")
		})
		rpc.status("⏱▶ 1/50") // the user's message began the count anew, this is the next check
		rpc.status("")
		rpc.Close()
		wantLines(t, "outcomes", outcomes(h, file), "void: piwatch went away", "answered: done: all")
		wantRequests(t, h, 5)
		if got, want := h.Provider.Requests()[2].Roles(), "system user assistant user"; got != want {
			t.Errorf("after the void check the request has roles %q, want %q", got, want)
		}
	})
}

// TestSocketModes: folder 0700 and socket 0600 whatever the umask.
func TestSocketModes(t *testing.T) {
	h := NewHome(t, nil, HomeOptions{})
	old := syscall.Umask(0)
	run := h.StartPiwatch("hub", "run")
	syscall.Umask(old)
	waitHub(t, h, 0)
	socket := hubSocket(t, h)
	for path, want := range map[string]fs.FileMode{
		socket:               fs.ModeSocket | 0o600,
		filepath.Dir(socket): fs.ModeDir | 0o700,
	} {
		info, err := os.Lstat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode() != want {
			t.Errorf("%s has mode %v, want %v", path, info.Mode(), want)
		}
	}
	stopHub(t, h)
	if result := run.Wait(); result.ExitCode != 0 {
		t.Errorf("the hub left with status %d:\n%s", result.ExitCode, result.Stderr)
	}
}

// TestTwoHomes: two users' worlds on one machine do not see each other.
func TestTwoHomes(t *testing.T) {
	a, b := NewHome(t, nil, HomeOptions{}), NewHome(t, nil, HomeOptions{})
	runA := a.StartPiwatch("hub", "run")
	runB := b.StartPiwatch("hub", "run")
	pidA, pidB := waitHub(t, a, 0), waitHub(t, b, 0)
	if pidA == pidB {
		t.Errorf("both homes have the hub with pid %d", pidA)
	}
	stopHub(t, a)
	runA.Wait()
	if got := hubPID(t, b); got != pidB {
		t.Errorf("stopping one hub made the other one %d, it was %d", got, pidB)
	}
	stopHub(t, b)
	runB.Wait()
}
