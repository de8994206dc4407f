package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRPCPlainTurn(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		h := NewHome(t, pi, HomeOptions{})
		h.Provider.Enqueue(Text("Hello, ").Text("world."), Text("And again."))
		rpc := h.StartRPC(Launch{})
		t.Logf("start-up of pi --mode rpc: %v", rpc.Startup)
		rpc.Turn("say hello")
		rpc.Turn("and again")

		requests := h.Provider.WaitRequests(2)
		if got, want := requests[0].Roles(), "system user"; got != want {
			t.Errorf("first request has roles %q, want %q", got, want)
		}
		if got, want := requests[1].Roles(), "system user assistant user"; got != want {
			t.Errorf("second request has roles %q, want %q", got, want)
		}
		if got := requests[1].Last().Text; got != "and again" {
			t.Errorf("last message is %q", got)
		}
		if got := requests[1].Messages()[2].Text; got != "Hello, world." {
			t.Errorf("the first answer came back as %q", got)
		}
		if !json.Valid(requests[0].Body) || requests[0].Header.Get("Authorization") != "Bearer dummy" {
			t.Errorf("request was not kept as sent: %v %s", requests[0].Header, requests[0])
		}
		entry := h.WaitEntry(rpc.SessionFile(), "with the second answer", func(r Record) bool {
			return IsRole("assistant")(r) && r.Text() == "And again."
		})
		if got := entry.Str("message.stopReason"); got != "stop" {
			t.Errorf("stopReason is %q", got)
		}
		rpc.Close()
		if got := rpc.WaitExit(); got != 0 {
			t.Errorf("Pi left with status %d at the end of its input", got)
		}
	})
}

func TestSameScriptSameBytes(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		h := NewHome(t, pi, HomeOptions{})
		script := []Reply{Call("bash", map[string]any{"command": "echo one"}), Text("done")}
		var runs [2][]*Request
		for i := range runs {
			h.Provider.Enqueue(script...)
			rpc := h.StartRPC(Launch{})
			rpc.Turn("run it")
			rpc.Close()
			runs[i] = h.Provider.Take()
		}
		if len(runs[0]) != 2 || len(runs[1]) != 2 {
			t.Fatalf("%d and %d requests, want 2 each", len(runs[0]), len(runs[1]))
		}
		for i := range runs[0] {
			SameBytes(t, runs[1][i].Body, runs[0][i].Body)
		}
		if DiffBytes(runs[0][0].Body, runs[0][1].Body) == "" {
			t.Error("two different requests compare equal")
		}
	})
}

func TestRPCToolTurn(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		h := NewHome(t, pi, HomeOptions{Reasoning: true})
		h.WriteFile("note.txt", "the note")
		h.Provider.Enqueue(
			Thinking("look first").Text("I look.").
				Call("bash", map[string]any{"command": "cat note.txt"}).
				CallID("mine", "bash", map[string]any{"command": "echo second"}),
			Text("It says: the note."),
		)
		rpc := h.StartRPC(Launch{})
		rpc.Turn("what does the note say?")
		requests := h.Provider.WaitRequests(2)
		if got, want := requests[1].Roles(), "system user assistant tool tool"; strings.ReplaceAll(got, "developer", "system") != want {
			t.Errorf("roles %q, want %q", got, want)
		}
		messages := requests[1].Messages()
		if got := messages[3]; got.CallID != "call_1" || !strings.Contains(got.Text, "the note") {
			t.Errorf("first tool result is %+v", got)
		}
		if got := requests[1].Last(); got.CallID != "mine" || !strings.Contains(got.Text, "second") {
			t.Errorf("second tool result is %+v", got)
		}
		if !requests[1].Contains("cat note.txt") || requests[1].Contains("no such text") {
			t.Error("Contains does not see what is in the request")
		}
		thinking := h.WaitEntry(rpc.SessionFile(), "with thinking", func(r Record) bool {
			return r.Str("message.content.0.type") == "thinking"
		})
		if got := thinking.Str("message.stopReason"); got != "toolUse" {
			t.Errorf("stopReason is %q", got)
		}
	})
}

func TestPrintAndJSON(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		h := NewHome(t, pi, HomeOptions{})
		h.Provider.Enqueue(Text("printed"), Text("as events"))
		result := h.Print(Launch{}, "say it")
		t.Logf("pi -p took %v", result.Elapsed)
		if result.Text() != "printed" || result.ExitCode != 0 {
			t.Errorf("pi -p: status %d, stdout %q, stderr %q", result.ExitCode, result.Stdout, result.Stderr)
		}
		result = h.JSON(Launch{Args: []string{"--no-session"}}, "say it")
		t.Logf("pi --mode json took %v", result.Elapsed)
		events, err := result.Events()
		if err != nil {
			t.Fatal(err)
		}
		var settled, said bool
		for _, event := range events {
			settled = settled || event.Type() == "agent_settled"
			said = said || event.Type() == "message_end" && event.Text() == "as events"
		}
		if !settled || !said || result.ExitCode != 0 {
			t.Errorf("pi --mode json: status %d, settled %v, said %v, stderr %q", result.ExitCode, settled, said, result.Stderr)
		}
		if files := h.SessionFiles(); len(files) != 1 {
			t.Errorf("session files %v, want the one of pi -p", files)
		}
	})
}

func TestTUI(t *testing.T) {
	RequireTmux(t)
	EachPi(t, func(t *testing.T, pi *Pi) {
		h := NewHome(t, pi, HomeOptions{})
		h.Provider.Enqueue(Text("Hello from the script."))
		pane := h.StartTUI(Launch{Extensions: []string{probe(t)}}, Small)
		pane.WaitText("probe ready")
		t.Logf("start-up of the TUI: %v", pane.Elapsed())
		pane.Type("say hello")
		pane.WaitText("say hello")
		pane.Keys("Enter")
		pane.WaitText("Hello from the script.")
		files := h.SessionFiles()
		if len(files) != 1 {
			t.Fatalf("session files: %v", files)
		}
		h.WaitEntry(files[0], "with the answer", IsRole("assistant"))
		if colours := pane.CaptureColours(); !strings.Contains(colours.Text, "\x1b[") {
			t.Error("no colours in the capture with colours")
		}
		pane.Resize(Large)
		pane.WaitScreen("60 rows", func(s Screen) bool {
			return len(s.Lines()) == 60 && s.Contains("Hello from the script.")
		})
		pane.Keys("C-d")
		if got := pane.WaitExit(); got != 0 {
			t.Errorf("the TUI left with status %d", got)
		}
	})
}

func TestAbortAtGate(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		h := NewHome(t, pi, HomeOptions{})
		gate := h.Provider.NewGate("half")
		h.Provider.Enqueue(Text("half a sen").Gate(gate).Text("tence"))
		rpc := h.StartRPC(Launch{})
		rpc.Prompt("speak")
		gate.WaitReached()
		rpc.WaitEvent("the first half", func(e Record) bool {
			return e.Str("assistantMessageEvent.delta") == "half a sen"
		})
		rpc.Abort()
		rpc.WaitSettled()
		h.Provider.WaitEnded(1)
		if !h.Provider.Requests()[0].Cancelled() {
			t.Error("the provider did not see the client go")
		}
		entry := h.WaitEntry(rpc.SessionFile(), "aborted", func(r Record) bool { return r.Str("message.stopReason") == "aborted" })
		if got := entry.Text(); got != "half a sen" {
			t.Errorf("the aborted text is %q", got)
		}
	})
}

func TestGateRelease(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		h := NewHome(t, pi, HomeOptions{})
		gate := h.Provider.NewGate("before the text")
		h.Provider.Enqueue(Reply{}.Gate(gate).Text("late"))
		run := h.StartPrint(Launch{}, "speak")
		gate.WaitReached()
		if ended, _ := h.Provider.WaitRequests(1)[0].Outcome(); ended {
			t.Error("the answer ended before the gate was released")
		}
		gate.Release()
		if got := run.Wait().Text(); got != "late" {
			t.Errorf("stdout is %q", got)
		}
	})
}

func TestProviderErrors(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		h := NewHome(t, pi, HomeOptions{})
		rpc := h.StartRPC(Launch{})
		last := func() Record {
			entries := h.Entries(rpc.SessionFile())
			return entries[len(entries)-1]
		}
		for _, test := range []struct {
			name    string
			replies []Reply
			stop    string
			says    string
		}{
			{"status that Pi does not retry", []Reply{Status(401, `{"error":{"message":"no entry"}}`)}, "error", "no entry"},
			{"retried status", []Reply{Status(503, ""), Status(502, `{"error":{"message":"bad"}}`), Text("up again")}, "stop", ""},
			{"reset before headers", []Reply{Reset(), Text("back")}, "stop", ""},
			{"reset in mid-stream", []Reply{Text("half").Reset(), Text("whole")}, "stop", ""},
			{"end without terminator", []Reply{Text("half").Early(), Text("whole")}, "stop", ""},
			{"empty answer", []Reply{Empty()}, "stop", ""},
		} {
			h.Provider.Take()
			h.Provider.Enqueue(test.replies...)
			rpc.Turn("try: " + test.name)
			if got := len(h.Provider.Requests()); got != len(test.replies) {
				t.Errorf("%s: %d requests, want %d", test.name, got, len(test.replies))
			}
			entry := last()
			if entry.Str("message.stopReason") != test.stop || !strings.Contains(entry.Str("message.errorMessage"), test.says) {
				t.Errorf("%s: last entry is %s", test.name, entry)
			}
		}
	})
}

func TestCompaction(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		h := NewHome(t, pi, HomeOptions{
			ContextWindow: 20_000,
			MaxTokens:     1000,
			Settings: map[string]any{"compaction": map[string]any{
				"enabled": true, "reserveTokens": 2000, "keepRecentTokens": 10,
			}},
		})
		h.Provider.Enqueue(
			Text("first answer"),
			Text("second answer").Usage(Usage{Input: 19_000, Output: 100}),
			Text("the summary"),
			Text("third answer"),
		)
		rpc := h.StartRPC(Launch{})
		rpc.Turn("first")
		rpc.Turn("second " + strings.Repeat("word ", 200)) // fills what is kept, so the cut is before it
		h.WaitEntry(rpc.SessionFile(), "compaction", IsType("compaction"))
		rpc.Turn("third")
		got := h.Provider.WaitRequests(4)[3]
		if !got.Contains("the summary") || !got.Contains("second answer") || got.Contains("first answer") {
			t.Errorf("the request after the compaction is %s", got)
		}
	})
}

func TestExtensionUI(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		h := NewHome(t, pi, HomeOptions{})
		rpc := h.StartRPC(Launch{Extensions: []string{probe(t)}})
		is := func(want string) func(string) bool { return func(text string) bool { return text == want } }
		rpc.WaitStatus("probe", "ready", is("probe ready"))
		h.Provider.Enqueue(Text("going on"))
		rpc.Prompt("/probe now")
		rpc.WaitStatus("probe", "1, for a moment", is("probe 1"))
		rpc.WaitStatus("probe", "2", is("probe 2"))
		got := rpc.WaitNotification("of the probe", func(n Notification) bool { return strings.HasPrefix(n.Text, "probe") })
		if want := (Notification{"probe says now", "warning"}); got != want {
			t.Errorf("notification %+v, want %+v", got, want)
		}
		rpc.WaitSettled()
		if got := h.Provider.WaitRequests(1)[0].Last(); got.Text != "go on: now" || got.Role != "user" {
			t.Errorf("the message of the extension arrived as %+v", got)
		}
		h.WaitEntry(rpc.SessionFile(), "of the extension", IsCustom("probe.ask"))
		confirm := rpc.Start("prompt", map[string]any{"message": "/probe-confirm"})
		dialog := rpc.WaitDialog()
		if dialog.Str("title") != "Sure?" {
			t.Errorf("dialog is %s", dialog)
		}
		rpc.Answer(dialog, "confirmed", true)
		rpc.WaitStatus("probe", "confirmed", is("confirmed"))
		confirm.Must()
	})
}

// probe is the path of the harness's test extension.
func probe(t *testing.T) string {
	t.Helper()
	return testdata(t, "probe.ts")
}

// testdata is the absolute path of a file in this package's testdata.
func testdata(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("testdata", name))
	if err == nil {
		_, err = os.Stat(path)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}
