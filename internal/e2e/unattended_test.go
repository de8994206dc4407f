package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"piwatch/internal/control"
	"piwatch/internal/watchdog"
)

// TestParentWaits: a parent whose child session still runs in the background is
// not idle, also when the child has no session file; when the child is gone the
// countdown begins.
func TestParentWaits(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		h := NewHome(t, pi, HomeOptions{Pis: 2})
		startHub(t, h)
		gate := h.Provider.NewGate("the child's answer")
		child := pi.Command("-p", "--no-session", "-e", bridgeFile(t), "child task")
		for i, arg := range child {
			child[i] = "'" + arg + "'"
		}
		background := Call("bash", map[string]any{"command": strings.Join(child, " ") + " >/dev/null 2>&1 </dev/null &"})
		hold := h.Provider.NewGate("the parent's last word")
		parent := []Reply{background, Text("The child ").Gate(hold).Text("works on it."), decision(watchdog.Done, "the child is done")}
		h.Provider.Handle(func(r *Request) Reply {
			if r.Contains("child task") && !r.Contains("parent task") {
				return Text("ch").Gate(gate).Text("ild")
			}
			next := parent[0]
			parent = parent[1:]
			return next
		})
		rpc := watched(t, h, Launch{})
		file := rpc.SessionFile()
		rpc.Prompt("/watchdog timeout=0")
		rpc.Prompt("parent task")
		gate.WaitReached()
		waitChild(t, h) // it runs, and the hub knows, before the parent settles
		hold.WaitReached()
		hold.Release()
		h.WaitEntry(file, "with the parent's last word", func(e Record) bool {
			return IsRole("assistant")(e) && e.Text() == "The child works on it."
		})
		if !poll(Timeout(), func() bool {
			rpc.Prompt("/watchdog status")
			note := rpc.WaitNotification("the status", func(n Notification) bool { return strings.HasPrefix(n.Text, "Watchdog: ") })
			return strings.Contains(note.Text, "a child session is running")
		}) {
			t.Error("the parent does not wait for its child")
		}
		wantRequests(t, h, 3) // two of the parent, one of the child
		gate.Release()
		rpc.status("")
		rpc.Close()
		wantRequests(t, h, 4)
		wantLines(t, "outcomes", outcomes(h, file), "answered: done: the child is done")
		// The child said bye, and its process may still be ending.
		isNode := func(l leftover) bool { return filepath.Base(l.program) == "node" }
		if !poll(Timeout(), func() bool { return !slices.ContainsFunc(leftovers(h.Dir), isNode) }) {
			t.Error("the child does not end")
		}
	})
}

// waitChild waits until the hub sees a child session at work.
func waitChild(t *testing.T, h *Home) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Timeout())
	defer cancel()
	client, err := control.DialClient(ctx, hubSocket(t, h), "0.0.0-test", "cli")
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if !poll(Timeout(), func() bool {
		sessions, err := client.Sessions(ctx)
		return err == nil && slices.ContainsFunc(sessions, func(s control.Session) bool { return s.Parent != nil && !s.Facts.Idle })
	}) {
		t.Fatal("the hub sees no child at work")
	}
}

// TestOnStop: the user's command runs when the agent answers done, with what it
// needs to know in its environment, and never holds up the session.
func TestOnStop(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		h := NewHome(t, pi, HomeOptions{})
		startHub(t, h)
		out := filepath.Join(h.Dir, "on_stop")
		hook := fmt.Sprintf(`env | grep ^PIWATCH_ | sort >'%s.part' && mv '%s.part' '%s'`, out, out, out)
		h.Provider.Enqueue(Text("It is done."), decision(watchdog.Done, "all of it"))
		rpc := watched(t, h, Launch{Env: []string{"PI_WATCHDOG=timeout=0", "PI_WATCHDOG_ON_STOP=" + hook}})
		file, session := rpc.SessionFile(), rpc.SessionID()
		rpc.Prompt("do it")
		rpc.status("⏱▶ 1/50")
		rpc.status("")
		var got []byte
		if !poll(Timeout(), func() (ok bool) {
			var err error
			got, err = os.ReadFile(out)
			return err == nil
		}) {
			t.Fatal("the on-stop command did not run")
		}
		rpc.Close()
		for _, want := range []string{
			"PIWATCH_EVENT=done", "PIWATCH_NOTE=all of it", "PIWATCH_NUDGES=1", "PIWATCH_CWD=" + h.Project,
			"PIWATCH_SESSION_ID=" + session, "PIWATCH_SESSION_FILE=" + file,
		} {
			if !strings.Contains(string(got), want+"\n") {
				t.Errorf("no %s in the environment of the command:\n%s", want, got)
			}
		}
	})
}

// TestBadEnv: a bad value of PI_WATCHDOG is said in Pi, and nothing starts.
func TestBadEnv(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		h := NewHome(t, pi, HomeOptions{})
		startHub(t, h)
		h.Provider.Enqueue(Text("Hello."))
		rpc := watched(t, h, Launch{Env: []string{"PI_WATCHDOG=timeout=soon"}})
		note := rpc.WaitNotification("the refusal", func(n Notification) bool { return strings.Contains(n.Text, "PI_WATCHDOG") })
		for _, want := range []string{`"timeout=soon"`, "a whole number from 0 to 86400", watchdog.Usage} {
			if !strings.Contains(note.Text, want) {
				t.Errorf("%q does not say %q", note.Text, want)
			}
		}
		rpc.Turn("hello")
		rpc.Close()
		if tools := h.Provider.Requests()[0].Tools(); strings.Contains(strings.Join(tools, " "), watchdog.ToolName) {
			t.Errorf("a session that is not watched has the tools %v", tools)
		}
	})
}
