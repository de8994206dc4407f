package e2e

import (
	"context"
	"strings"
	"testing"

	"piwatch/internal/control"
	"piwatch/internal/watchdog"
)

// steer does by hand what a client of the hub asks for.
func steer(t *testing.T, h *Home, method string, params control.SteerParams) control.CommandReply {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Timeout())
	defer cancel()
	client, err := control.DialClient(ctx, hubSocket(t, h), "0.0.0-test", "cli")
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	reply, err := client.Steer(ctx, method, params)
	if err != nil {
		t.Fatal(err)
	}
	return reply
}

// ask plays one turn that is checked and answered; Pi is idle afterwards.
func (r *RPC) askedTurn(prompt string, end func(Record) bool) {
	r.home.t.Helper()
	r.Prompt(prompt)
	r.home.WaitEntry(r.SessionFile(), "with the outcome", end)
	r.status("")
}

func isOutcome(d watchdog.Decision) func(Record) bool {
	return func(e Record) bool {
		return IsCustom(watchdog.RecordOutcome)(e) && e.Str("data.decision") == string(d)
	}
}

// TestUnfold: a fold that was undone by hand brings the rows back, and can be
// done again; a session that goes on is as if it had never been folded.
func TestUnfold(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		h := NewHome(t, pi, HomeOptions{})
		startHub(t, h)
		h.Provider.Enqueue(Text("It is done."), decision(watchdog.Done, "all"), Text("One."), Text("Two."))
		rpc := watched(t, h, Launch{})
		rpc.Prompt("/watchdog timeout=0")
		rpc.askedTurn("do it", isOutcome(watchdog.Done))
		check := h.Provider.Requests()[1]

		session := rpc.SessionID()
		reply := steer(t, h, control.Unfold, control.SteerParams{Session: session})
		if reply.Level != "info" {
			t.Fatalf("unfold: %s", reply.Text)
		}
		rpc.Pass()
		rpc.Turn("one")
		got := h.Provider.Requests()[2]
		if want := check.Roles() + " assistant tool user"; got.Roles() != want {
			t.Errorf("unfolded, the request has roles %q, want %q", got.Roles(), want)
		}
		if reply = steer(t, h, control.Fold, control.SteerParams{Session: session}); reply.Level != "info" {
			t.Fatalf("fold: %s", reply.Text)
		}
		rpc.Turn("two")
		rpc.Close()
		if got, want := h.Provider.Requests()[3].Roles(), "system user assistant user assistant user"; got != want {
			t.Errorf("folded again, the request has roles %q, want %q", got, want)
		}
	})
}

// TestRollback: by the setting, the branch moves back to before each check, so
// that the exchange is off Pi's branch; requests stay as without the check.
func TestRollback(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		h := NewHome(t, pi, HomeOptions{})
		startHub(t, h)
		h.Provider.Enqueue(Text("Half."), decision(watchdog.Continue, "more"), Text("Whole."), decision(watchdog.Done, "all"), Text("You are welcome."))
		rpc := watched(t, h, Launch{Env: []string{"PI_WATCHDOG_ROLLBACK=1"}})
		file := rpc.SessionFile()
		rpc.Prompt("/watchdog timeout=0")
		rpc.Prompt("do it")
		for range 2 {
			h.WaitEntry(file, "with a rollback", func(e Record) bool {
				return IsCustom(watchdog.RecordOutcome)(e) && e.Str("data.fold") == string(watchdog.FoldRollback) && e.Str("data.decision") == "done"
			})
		}
		rpc.Pass()
		rpc.Turn("thank you")
		messages := rpc.Start("get_messages", nil).Must()
		rpc.Close()
		var roles []string
		for _, r := range h.Provider.Requests() {
			roles = append(roles, r.Roles())
		}
		wantLines(t, "requests", roles,
			"system user", "system user assistant user",
			"system user assistant user", "system user assistant user assistant user",
			"system user assistant user assistant user")
		if text := messages.String(); strings.Contains(text, watchdog.ToolName) || strings.Contains(text, "automated check") {
			t.Errorf("the exchange is still on the branch: %s", text)
		}
	})
}

// TestRollbackRefused: what would lose more than the exchange is refused, and
// says so; nothing changes.
func TestRollbackRefused(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		h := NewHome(t, pi, HomeOptions{})
		startHub(t, h)
		h.Provider.Enqueue(Text("It is done."), decision(watchdog.Done, "all"), Text("One."))
		rpc := watched(t, h, Launch{})
		rpc.Prompt("/watchdog timeout=0")
		rpc.askedTurn("do it", isOutcome(watchdog.Done))
		rpc.Pass()
		rpc.Turn("one")
		id := h.WaitEntry(rpc.SessionFile(), "of the check", IsCustom(watchdog.RecordCheck)).Str("data.id")
		session := rpc.SessionID()
		for check, want := range map[string]string{
			id:     "more than the exchange would be lost",
			"none": "no such exchange on this branch",
		} {
			reply := steer(t, h, control.Rollback, control.SteerParams{Session: session, Check: check})
			if reply.Level != "error" || !strings.Contains(reply.Text, want) {
				t.Errorf("rollback of %s: %s %q, want %q", check, reply.Level, reply.Text, want)
			}
		}
		rpc.Close()
	})
}

// TestAnEndOutlivesItsFold: a watchdog that the agent ended stays off, whatever is
// done by hand with the exchange of that end, also when the hub is killed after.
func TestAnEndOutlivesItsFold(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		h := NewHome(t, pi, HomeOptions{})
		installBridge(t, h)
		h.Provider.Enqueue(Text("Whole."), decision(watchdog.Done, "all"))
		rpc := h.StartRPC(Launch{})
		defer stopHub(t, h)
		rpc.Prompt("/watchdog timeout=0")
		rpc.askedTurn("do it", isOutcome(watchdog.Done))
		rpc.Pass() // it has a way to move the branch from now on
		session := rpc.SessionID()
		says := func(want string, args ...string) (string, bool) {
			got := h.RunPiwatch(args...)
			return got.Stdout + got.Stderr, strings.Contains(got.Stdout+got.Stderr, want)
		}
		for _, step := range []struct{ command, want string }{
			{"unfold", "back in the context"}, {"fold", "out of the context again"}, {"unfold", "back in the context"}, {"rollback", "off the branch"},
		} {
			if got, ok := says(step.want, step.command, session, "1"); !ok {
				t.Errorf("piwatch %s says %q, want %q", step.command, got, step.want)
			}
			kill(t, hubPID(t, h))
			got, ok := "", false
			poll(Timeout(), func() bool { got, ok = says("off: the agent answered done", "status", session); return ok })
			if !ok {
				t.Errorf("after %s, another hub says %s", step.command, got)
			}
			if got := h.RunPiwatch("wait", session, "--timeout", "10s"); got.ExitCode != 0 {
				t.Errorf("after %s, wait ends with %d: %s%s", step.command, got.ExitCode, got.Stdout, got.Stderr)
			}
		}
		rpc.Close()
		wantRequests(t, h, 2)
	})
}
