package e2e

import (
	"context"
	"testing"

	"piwatch/internal/control"
	"piwatch/internal/guard"
)

// waitSession waits until the hub says this of the only session.
func waitSession(t *testing.T, h *Home, what string, match func(control.Session) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Timeout())
	defer cancel()
	client, err := control.DialClient(ctx, hubSocket(t, h), "0.0.0-test", "cli")
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	var last []control.Session
	if !poll(Timeout(), func() bool {
		last, err = client.Sessions(ctx)
		return err == nil && len(last) == 1 && match(last[0])
	}) {
		h.Fatalf("the hub does not see %s: %+v, %v", what, last, err)
	}
}

// settledRuns matches a session that has settled so often.
func settledRuns(n int) func(control.Session) bool {
	return func(s control.Session) bool { return s.Facts.Idle && s.Facts.Runs == n }
}

// wantStill expects that the guard has left no trace.
func wantStill(t *testing.T, h *Home, requests int) {
	t.Helper()
	wantRequests(t, h, requests)
	for _, file := range h.SessionFiles() {
		wantLines(t, "rows of the guard", guardRows(h, file))
	}
}

// TestGuardOverADraft: a silent stop while the user types is not continued, and
// the draft stays as it is.
func TestGuardOverADraft(t *testing.T) {
	RequireTmux(t)
	EachPi(t, func(t *testing.T, pi *Pi) {
		h := NewHome(t, pi, HomeOptions{Reasoning: true})
		startHub(t, h)
		gate := h.Provider.NewGate("the end of the answer")
		h.Provider.Enqueue(Thinking("hm").Gate(gate), Text("I see."))
		pane := h.StartTUI(Launch{Extensions: []string{bridgeFile(t)}}, Size{Columns: 100, Rows: 30})
		pane.command("/guard status", "Guard: on.")
		pane.Type("work")
		pane.Keys("Enter")
		gate.WaitReached()
		pane.Type("half a thought")
		pane.WaitText("half a thought")
		gate.Release()
		waitSession(t, h, "the stop", func(s control.Session) bool { return settledRuns(1)(s) && s.Guard.Last == guard.Thought })
		wantStill(t, h, 1)
		pane.Keys("Enter")
		pane.WaitText("I see.")
		if last := h.Provider.Requests()[1].Last(); last.Text != "half a thought" {
			t.Errorf("the user's message is %q", last.Text)
		}
		wantStill(t, h, 2)
	})
}

// TestGuardInTheTUI: what the user sees of a silent stop.
func TestGuardInTheTUI(t *testing.T) {
	RequireTmux(t)
	EachPi(t, func(t *testing.T, pi *Pi) {
		h := NewHome(t, pi, HomeOptions{})
		startHub(t, h)
		h.Provider.Enqueue(Empty(), Empty(), Empty(), Empty())
		pane := h.StartTUI(Launch{Extensions: []string{bridgeFile(t)}}, Size{Columns: 100, Rows: 30})
		pane.command("/guard status", "Guard: on.")
		pane.Type("work")
		pane.Keys("Enter")
		pane.WaitText("⏱ a silent stop: asked for the next action")
		pane.WaitText("The guard's breaker tripped")
		waitSession(t, h, "the breaker", func(s control.Session) bool { return settledRuns(1)(s) && s.Guard.Tripped != "" })
		wantRequests(t, h, 4)
	})
}

// TestGuardAfterEsc: a run that the user stopped is not continued.
func TestGuardAfterEsc(t *testing.T) {
	RequireTmux(t)
	EachPi(t, func(t *testing.T, pi *Pi) {
		h := NewHome(t, pi, HomeOptions{Reasoning: true})
		startHub(t, h)
		gate := h.Provider.NewGate("the end of the answer")
		h.Provider.Enqueue(Thinking("hm").Gate(gate))
		pane := h.StartTUI(Launch{Extensions: []string{bridgeFile(t)}}, Size{Columns: 100, Rows: 30})
		pane.command("/guard status", "Guard: on.")
		pane.Type("work")
		pane.Keys("Enter")
		gate.WaitReached()
		pane.Keys("Escape")
		waitSession(t, h, "the interruption", func(s control.Session) bool { return settledRuns(1)(s) && s.Facts.Aborted })
		gate.Release()
		wantStill(t, h, 1)
	})
}

// TestGuardAfterAnError: what the provider failed to answer is not continued.
func TestGuardAfterAnError(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		h := NewHome(t, pi, HomeOptions{})
		startHub(t, h)
		h.Provider.Enqueue(Status(401, `{"error":{"message":"no entry"}}`), Reset(), Text("Back."))
		rpc := watched(t, h, Launch{})
		rpc.Turn("work")
		rpc.Turn("again") // Pi retries this one by itself
		rpc.Close()
		wantStill(t, h, 3)
	})
}

// TestGuardAndQueuedMessages: what the user queued during a silent answer goes
// first, and nothing else is sent.
func TestGuardAndQueuedMessages(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		for name, queue := range map[string]func(*RPC, string){"steer": (*RPC).Steer, "follow up": (*RPC).FollowUp} {
			t.Run(name, func(t *testing.T) {
				h := NewHome(t, pi, HomeOptions{Reasoning: true})
				startHub(t, h)
				gate := h.Provider.NewGate("the end of the answer")
				h.Provider.Enqueue(Thinking("hm").Gate(gate), Text("I see."))
				rpc := watched(t, h, Launch{})
				rpc.Prompt("work")
				gate.WaitReached()
				queue(rpc, "and this")
				gate.Release()
				rpc.WaitSettled()
				rpc.Close()
				wantStill(t, h, 2)
			})
		}
	})
}
