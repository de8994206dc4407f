package hub_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"piwatch/internal/control"
)

func TestSupervisingAgent(t *testing.T) {
	h, c, w, parent, child := family(t)
	stranger := h.join(hello("stranger", func(h *control.BridgeHello) { h.Cwd = "/elsewhere"; h.Pid = 3000 }))
	stranger.run(false)
	ask := func(tool, args, want string) {
		t.Helper()
		var r control.SuperviseReply
		if err := parent.conn.Call(parent.ctx, control.Supervise, control.SuperviseParams{Tool: tool, Args: json.RawMessage(args)}, &r); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(r.Text, want) {
			t.Errorf("%s %s\n got %s\nwant %s", tool, args, r.Text, want)
		}
	}
	ask("watchdog_list_targets", `{}`, "This session did not ask to supervise")
	parent.command("supervise")
	ask("watchdog_list_targets", `{}`, `{"targets":[{"id":"child","name":"the child","state":"working","parent":"main","likelyStuck":false}]}`)
	ask("watchdog_detect_stuck", `{"targetId":"child"}`, `{"likelyStuck":false,"evidence":[]}`)
	child.circle(4)
	w.notice("Maybe stuck")
	ask("watchdog_detect_stuck", `{"targetId":"child"}`, `{"likelyStuck":true,"rule":"repeated_call","confidence":"medium","evidence":["the same call with the same result 4 times: bash make test -\u003e FAIL red"],"suggestedRescueMessage":"You seem`)
	ask("watchdog_read_events", `{"targetId":"child","limit":1}`, `"kind":"returned","tool":"bash"`)
	ask("watchdog_read_events", `{"targetId":"child","limit":0}`, "limit: 0 does not fit")
	ask("watchdog_read_events", `{"targetId":"stranger"}`, `no target "stranger"`) // of no concern to it
	ask("watchdog_read_events", `{"targetId":"main"}`, `no target "main"`)
	ask("watchdog_steer_subagent", `{"targetId":"child","mesage":"x"}`, "the arguments do not fit")

	// Steering: dry as long as nobody says otherwise, and never past alertMode.
	ask("watchdog_steer_subagent", `{"targetId":"child","message":"Stop"}`, `{"dryRun":true,"message":"Stop","sent":false}`)
	ask("watchdog_steer_subagent", `{"targetId":"child","dryRun":false}`, `"why":"alertMode=main_only; only the user can change it"`)
	w.notice("may not steer: alertMode=main_only")
	// It does not get further by changing the policy, and the user sees that it tried.
	ask("watchdog_config", `{"action":"set","config":{"alertMode":"both"}}`, "alertMode is the user's alone; nothing changed")
	w.notice("The agent wanted to change alertMode, which is the user's alone: refused.")
	ask("watchdog_config", `{"action":"set","config":{"steerDryRunDefault":false}}`, "the user's alone")
	ask("watchdog_config", `{"action":"set","config":{"cooldownSec":5,"enabled":false}}`, "enabled is the user's alone; nothing changed")
	ask("watchdog_config", `{"action":"set","config":{"cooldownSec":"5"}}`, `cooldownSec: "5" does not fit`)
	ask("watchdog_config", `{"action":"set","config":{"cooldownSec":5}}`, `"cooldownSec":5`)
	ask("watchdog_config", `{"action":"get"}`, `"usersAlone":["enabled","alertMode","steerDryRunDefault"]`)
	ask("watchdog_config", `{"action":"drop"}`, "allowed: get, set")
	ask("watchdog_steer_subagent", `{"targetId":"child","dryRun":false}`, `"sent":false`)
	if got := supervised(h.drain(child, c)); len(got) > 0 {
		t.Errorf("the child was sent %q", got)
	}
	// What the user allows is done.
	c.set("alertMode", "both")
	ask("watchdog_steer_subagent", `{"targetId":"child","message":"Stop"}`, `"dryRun":true`)
	ask("watchdog_steer_subagent", `{"targetId":"child","message":"Stop","dryRun":false}`, `"sent":true`)
	if got := supervised(h.drain(child, c)); !slices.Equal(got, []string{`rescue {"text":"Stop","key":"` + c.targets()["child"].Finding.Key + `"}`}) {
		t.Errorf("the child was sent %q", got)
	}
	ask("watchdog_alert_main", `{"targetId":"child","message":"look"}`, `you are its parent session`)
	w.notice("A supervising agent (main): look")
	ask("watchdog_alert_main", `{"targetId":"child","message":"look","severity":"loud"}`, "allowed: info, warning, critical")
	ask("watchdog_alert_main", `{"targetId":"child","message":" "}`, "message: it is empty")
	ask("watchdog_nothing", `{}`, "does not know watchdog_nothing")

	child.leave()
	h.settleDown(c)
	w.until(func(p control.Push) bool {
		return p.Target != nil && p.Target.ID == "child" && p.Target.State == "gone"
	})
	ask("watchdog_list_targets", `{}`, `{"targets":[]}`)
	ask("watchdog_list_targets", `{"includeCompleted":true}`, `"state":"gone"`)
}

// The tools come with the hello of a session that asks by its environment.
func TestToolsByEnvironment(t *testing.T) {
	h := start(t)
	if b := h.join(hello("s1")); len(b.welcome.Tools) > 0 {
		t.Error("a session that did not ask has tools")
	}
	b := h.join(hello("s2", env("PI_WATCHDOG_SUPERVISOR", "1")))
	if len(b.welcome.Tools) != 6 {
		t.Fatalf("%d tools", len(b.welcome.Tools))
	}
	for _, tool := range b.welcome.Tools {
		if !json.Valid(tool.Parameters) {
			t.Errorf("%s: %s", tool.Name, tool.Parameters)
		}
	}
}
