package e2e

import (
	"strings"
	"testing"

	"piwatch/internal/watchdog"
)

// TestPiKilledInCheck: a Pi that was killed while a check was open leaves no
// check in the context of the next one, and the count holds.
func TestPiKilledInCheck(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		h := NewHome(t, pi, HomeOptions{})
		startHub(t, h)
		gate := h.Provider.NewGate("the answer to the check")
		h.Provider.Enqueue(
			Text("Stopped early."), decision(watchdog.Continue, "more"), Text("Stopped again."),
			Reply{}.Gate(gate).Call(watchdog.ToolName, map[string]any{"decision": "continue"}),
			Text("Hello."), decision(watchdog.Done, "all"),
		)
		rpc := watched(t, h, Launch{})
		file := rpc.SessionFile()
		rpc.Prompt("/watchdog timeout=0 max=7")
		rpc.Prompt("work")
		gate.WaitReached()
		rpc.Kill()
		gate.Release()

		again := watched(t, h, Launch{Args: []string{"--continue"}})
		again.status("⏱▶ 2/7") // the count of the one that was killed
		again.Prompt("hello again")
		again.status("⏱▶ 1/7")
		again.status("")
		again.Close()
		requests := h.Provider.Requests()
		if got, want := requests[4].Roles(), "system user assistant user assistant user"; got != want {
			t.Errorf("the request after the kill has roles %q, want %q", got, want)
		}
		if requests[4].Contains("automated check") {
			t.Errorf("the request after the kill still holds the check: %s", requests[4])
		}
		wantLines(t, "outcomes", outcomes(h, file), "answered: continue: more", "void: the session was left", "answered: done: all")
		wantRequests(t, h, 6)
	})
}

// TestHostileNote: what a note holds to steer a terminal is gone before it
// reaches Pi's screen, the session file or a command of the user's.
func TestHostileNote(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		h := NewHome(t, pi, HomeOptions{})
		startHub(t, h)
		h.Provider.Enqueue(Text("Done."), decision(watchdog.Done, "A\x1b[31mRED\x1b]0;pwned\a\u009b2J\u202eRTL\nnext"))
		rpc := watched(t, h, Launch{})
		file := rpc.SessionFile()
		rpc.Prompt("/watchdog timeout=0")
		rpc.Prompt("work")
		rpc.status("⏱▶ 1/50")
		rpc.status("")
		var shown string
		for _, e := range rpc.Events() {
			if e.Type() == "tool_execution_end" {
				shown = e.Str("result.details.line")
			}
		}
		rpc.Close()
		wantLines(t, "outcomes", outcomes(h, file), "answered: done: ARED 2JRTL next")
		if shown != "done: ARED 2JRTL next" || strings.ContainsAny(shown, "\x1b\n\u009b\u202e") {
			t.Errorf("Pi shows %q", shown)
		}
	})
}
