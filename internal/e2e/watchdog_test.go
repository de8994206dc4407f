package e2e

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"piwatch/internal/watchdog"
)

// decision is the answer of the scripted model to a check.
func decision(d watchdog.Decision, note string) Reply {
	args := map[string]any{"decision": d}
	if note != "" {
		args["note"] = note
	}
	return Call(watchdog.ToolName, args)
}

// watched starts Pi in RPC mode with the bridge of the source tree.
func watched(t testing.TB, h *Home, l Launch) *RPC {
	t.Helper()
	l.Extensions = append(l.Extensions, bridgeFile(t))
	return h.StartRPC(l)
}

// say sends what piwatch would send, by the control extension.
func (r *RPC) say(text string) {
	r.home.t.Helper()
	quoted, err := json.Marshal(text)
	if err != nil {
		r.home.t.Fatal(err)
	}
	r.Prompt("/say " + string(quoted))
	r.WaitSettled()
}

func controlFile(t *testing.T) string {
	t.Helper()
	root, err := ModuleRoot()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(root, "internal", "e2e", "testdata", "control.ts")
}

// status waits until Pi's footer has shown a text, possibly in passing.
func (r *RPC) status(text string) {
	r.home.t.Helper()
	r.WaitStatus("piwatch", fmt.Sprintf("footer %q", text), func(got string) bool { return got == text })
}

// outcomes are the ends of exchanges in a session file, one line each.
func outcomes(h *Home, file string) []string {
	var all []string
	for _, e := range h.Entries(file) {
		if IsCustom(watchdog.RecordOutcome)(e) {
			line := e.Str("data.end")
			for _, field := range []string{"data.decision", "data.note", "data.why"} {
				if text := e.Str(field); text != "" {
					line += ": " + text
				}
			}
			all = append(all, line)
		}
	}
	return all
}

func wantLines(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func wantRequests(t *testing.T, h *Home, n int) {
	t.Helper()
	if all := h.Provider.Requests(); len(all) != n {
		t.Errorf("%d requests, want %d", len(all), n)
	}
}

// TestMainJob: the agent stops early, is asked, goes on, stops again, is done.
// After each check the next request equals, byte for byte, the one of a
// session without checks that got the work message.
func TestMainJob(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		h := NewHome(t, pi, HomeOptions{})
		startHub(t, h)
		h.Provider.Enqueue(
			Text("Half of it is done."),
			decision(watchdog.Continue, "the second half is left"),
			Text("The second half is done too."),
			decision(watchdog.Done, "all of it is done"),
			Text("You are welcome."),
		)
		rpc := watched(t, h, Launch{})
		file := rpc.SessionFile()
		rpc.Prompt("/watchdog timeout=1")
		rpc.Turn("do all of it")
		for _, text := range []string{"⏱1s 0/50", "⏱▶ 1/50", "⏱1s 1/50", "⏱▶ 2/50", ""} {
			rpc.status(text)
		}
		h.WaitEntry(file, "with the second outcome", func(e Record) bool {
			return IsCustom(watchdog.RecordOutcome)(e) && e.Str("data.decision") == "done"
		})
		wantRequests(t, h, 4)
		rpc.Pass()
		rpc.Turn("thank you")
		rpc.Close()
		wantLines(t, "outcomes", outcomes(h, file),
			"answered: continue: the second half is left", "answered: done: all of it is done")
		got := h.Provider.Take()

		h.Provider.Enqueue(Text("Half of it is done."), Text("The second half is done too."), Text("You are welcome."))
		control := watched(t, h, Launch{Extensions: []string{controlFile(t)}})
		control.Prompt("/watchdog timeout=86400")
		control.Turn("do all of it")
		control.say(watchdog.WorkText)
		control.Turn("thank you")
		control.Close()
		want := h.Provider.Take()

		if len(got) != 5 || len(want) != 3 {
			t.Fatalf("%d requests with checks and %d without, want 5 and 3", len(got), len(want))
		}
		SameBytes(t, got[0].Body, want[0].Body)
		SameBytes(t, got[2].Body, want[1].Body)
		SameBytes(t, got[4].Body, want[2].Body)
		for _, i := range []int{1, 3} {
			if last := got[i].Last(); last.Role != "user" || last.Text != watchdog.CheckText {
				t.Errorf("request %d ends with %s %q, want the check message", i, last.Role, last.Text)
			}
		}
	})
}

// TestToolBlockedInCheck: every tool but one is blocked in a check, the model is
// told, and a check that never gets its answer ends as such.
func TestToolBlockedInCheck(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		h := NewHome(t, pi, HomeOptions{})
		startHub(t, h)
		bash := Call("bash", map[string]any{"command": "touch ran"})
		h.Provider.Enqueue(
			Text("Stopped early."),
			bash,
			decision(watchdog.WaitUser, "needs a key"),
		)
		rpc := watched(t, h, Launch{})
		file := rpc.SessionFile()
		rpc.Prompt("/watchdog timeout=0")
		rpc.Prompt("work")
		rpc.status("⏱▶ 1/50")
		rpc.status("")
		rpc.Close()
		wantLines(t, "outcomes", outcomes(h, file), "answered: wait_user: needs a key")
		requests := h.Provider.Take()
		if len(requests) != 3 {
			t.Fatalf("%d requests, want 3", len(requests))
		}
		if last := requests[2].Last(); last.Role != "tool" || last.Text != watchdog.BlockedText {
			t.Errorf("the model was told %s %q, want the reason of the block", last.Role, last.Text)
		}
		if _, err := filepath.Glob(filepath.Join(h.Project, "ran")); err != nil {
			t.Fatal(err)
		} else if ran, _ := filepath.Glob(filepath.Join(h.Project, "ran")); len(ran) > 0 {
			t.Error("bash ran in a check")
		}
	})
}

// TestNoAnswer: only blocked tools, and text only, are no answers: recorded as
// such, counted, and asked again after the next countdown until the cap.
func TestNoAnswer(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		h := NewHome(t, pi, HomeOptions{})
		startHub(t, h)
		bash := Call("bash", map[string]any{"command": "touch ran"})
		h.Provider.Enqueue(Text("Stopped early."), bash, bash, bash, Text("I am done, really."), Text("Next job done."))
		rpc := watched(t, h, Launch{})
		file := rpc.SessionFile()
		rpc.Prompt("/watchdog timeout=0 max=2")
		rpc.Prompt("work")
		rpc.status("⏱▶ 2/2")
		rpc.status("")
		wantLines(t, "outcomes", outcomes(h, file),
			"no_answer: only blocked tools or bad values", "no_answer: no call of the tool")
		rpc.Pass()
		rpc.Turn("next job")
		rpc.Close()
		requests := h.Provider.Take()
		if len(requests) != 6 {
			t.Fatalf("%d requests, want 6: work, three in the first check, one in the second, the next job", len(requests))
		}
		if last := requests[4].Last(); last.Text != watchdog.WrongHint+watchdog.CheckText {
			t.Errorf("the second check says %q", last.Text)
		}
		if got, want := requests[5].Roles(), "system user assistant user"; got != want {
			t.Errorf("after two checks without an answer the request has roles %q, want %q", got, want)
		}
		if ran, _ := filepath.Glob(filepath.Join(h.Project, "ran")); len(ran) > 0 {
			t.Error("bash ran in a check")
		}
	})
}

// TestKeepMode: done suspends, the user's next message resumes with count 0.
func TestKeepMode(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		h := NewHome(t, pi, HomeOptions{})
		startHub(t, h)
		h.Provider.Enqueue(Text("First job done."), decision(watchdog.Done, "one"), Text("Second job done."), decision(watchdog.Done, "two"))
		rpc := watched(t, h, Launch{})
		rpc.Prompt("/watchdog timeout=0 mode=keep")
		rpc.Prompt("first job")
		rpc.status("⏱⏸ 1/50 keep")
		rpc.Prompt("second job")
		for _, text := range []string{"⏱▶ 0/50 keep", "⏱▶ 1/50 keep", "⏱⏸ 1/50 keep"} {
			rpc.status(text)
		}
		rpc.Close()
		wantRequests(t, h, 4)
		if got, want := h.Provider.Requests()[2].Roles(), "system user assistant user"; got != want {
			t.Errorf("roles %q, want %q", got, want)
		}
	})
}

// TestUnwatched: a session that is never watched sends the same bytes with and
// without the bridge.
func TestUnwatched(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		h := NewHome(t, pi, HomeOptions{})
		startHub(t, h)
		script := []Reply{Call("bash", map[string]any{"command": "echo one"}), Text("done"), Text("again")}
		var runs [2][]*Request
		for i, extensions := range [][]string{nil, {bridgeFile(t)}} {
			h.Provider.Enqueue(script...)
			rpc := h.StartRPC(Launch{Extensions: extensions})
			rpc.Turn("run it")
			if i == 1 {
				rpc.Prompt("/watchdog status")
			}
			rpc.Turn("again")
			rpc.Close()
			runs[i] = h.Provider.Take()
		}
		for i := range runs[0] {
			SameBytes(t, runs[1][i].Body, runs[0][i].Body)
		}
		if len(runs[0]) != 3 || len(runs[1]) != 3 {
			t.Errorf("%d and %d requests, want 3 each", len(runs[0]), len(runs[1]))
		}
	})
}

// TestEnvContinue: a resumed session with history makes no request by itself,
// not even with no grace at all; after one run it is watched.
func TestEnvContinue(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		h := NewHome(t, pi, HomeOptions{})
		startHub(t, h)
		h.Provider.Enqueue(Text("Hello."))
		first := h.StartRPC(Launch{})
		first.Turn("hello")
		first.Close()
		h.Provider.Take()

		h.Provider.Enqueue(Text("More."), decision(watchdog.Done, ""))
		rpc := watched(t, h, Launch{Args: []string{"--continue"}, Env: []string{"PI_WATCHDOG=timeout=0"}})
		rpc.status("⏱▶ 0/50")
		rpc.Prompt("/watchdog status")
		note := rpc.WaitNotification("the status", func(n Notification) bool { return strings.Contains(n.Text, "Not counting") })
		if !strings.Contains(note.Text, "no run has finished in this process yet") {
			t.Errorf("status says %q", note.Text)
		}
		wantRequests(t, h, 0)
		rpc.Prompt("more")
		rpc.status("⏱▶ 1/50")
		rpc.status("")
		rpc.Close()
		wantRequests(t, h, 2)
	})
}

// TestAbort: an interrupted run is not counted on, until the user speaks.
func TestAbort(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		h := NewHome(t, pi, HomeOptions{})
		startHub(t, h)
		gate := h.Provider.NewGate("first answer")
		h.Provider.Enqueue(Text("I be").Gate(gate).Text("gin"), Text("Done."), decision(watchdog.Done, ""))
		rpc := watched(t, h, Launch{})
		rpc.Prompt("/watchdog timeout=0")
		rpc.Prompt("work")
		gate.WaitReached()
		rpc.Abort()
		rpc.status("⏱⏹ 0/50")
		gate.Release()
		rpc.Prompt("/watchdog status") // a command does not end it
		rpc.WaitNotification("the status", func(n Notification) bool { return strings.Contains(n.Text, "interrupted") })
		wantRequests(t, h, 1)
		rpc.Prompt("go on then")
		rpc.status("⏱▶ 1/50")
		rpc.status("")
		rpc.Close()
		wantRequests(t, h, 3)
	})
}
