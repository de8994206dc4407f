package e2e

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"piwatch/internal/watchdog"
)

// TestOrphanOnAnotherBranch: a Pi is killed in a check, and the next one begins
// on a branch that was never watched. When navigation brings it to the branch of
// the check, that check is closed before a request can carry it, and the tool is
// known, so that the exchange is seen to be harmless.
func TestOrphanOnAnotherBranch(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		h := NewHome(t, pi, HomeOptions{})
		startHub(t, h)
		gate := h.Provider.NewGate("the rest of the check")
		row := Call("bash", map[string]any{"command": "echo hi"})
		if pi.Version == "0.81.1" { // an answer beside a blocked call does not end the run there
			row = decide(row, watchdog.Done, "all")
		}
		h.Provider.Enqueue(Text("First."), row, Reply{}.Gate(gate).Text("unheard"),
			Text("Never watched."), Text("Hello."))
		rpc := watched(t, h, Launch{})
		file := rpc.SessionFile()
		rpc.Turn("begin")
		rpc.arm()
		(&theatre{t, h, rpc}).nudge("0/50")
		gate.WaitReached()
		rpc.Kill()
		gate.Release()
		first := h.WaitEntry(file, "the first answer", func(e Record) bool { return e.Text() == "First." }).Str("id")
		appendEntry(t, file, fmt.Sprintf(`{"type":"custom","id":"0a0b0c0d","parentId":%q,"timestamp":"2026-11-01T00:00:00.000Z","customType":"other.note","data":{}}`, first))

		again := watched(t, h, Launch{Args: []string{"--continue"}, Extensions: []string{h.WriteFile("wander.ts", wanderSource)}})
		again.Turn("hello")
		last := h.Provider.Requests()[3]
		if got, want := last.Roles(), "system user assistant user"; got != want || last.Contains("automated check") {
			t.Errorf("the request on the branch that was never watched has roles %q, want %q: %s", got, want, last)
		}
		wantLines(t, "outcomes before the move", outcomes(h, file))
		goTo(`"role":"toolResult"`, "")(&theatre{t, h, again}, file, true)
		h.WaitEntry(file, "the outcome", IsCustom(watchdog.RecordOutcome))
		again.Turn("hello again")
		last = h.Provider.Requests()[4]
		if got, want := last.Roles(), "system user assistant user"; got != want || last.Contains("automated check") {
			t.Errorf("the request after the move has roles %q, want %q: %s", got, want, last)
		}
		again.Close()
		got := outcomes(h, file)
		if len(got) != 1 || !strings.HasPrefix(got[0], "void: the session was left") || strings.Contains(got[0], "not folded") {
			t.Errorf("outcomes %q", got)
		}
	})
}

// appendEntry writes an entry to a session file that no Pi has open.
func appendEntry(t *testing.T, file, line string) {
	t.Helper()
	f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString(line + "\n")
	if cause := f.Close(); err != nil || cause != nil {
		t.Fatal(err, cause)
	}
}
