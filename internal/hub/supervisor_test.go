package hub_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"piwatch/internal/control"
	"piwatch/internal/hub"
	"piwatch/internal/loop"
)

// turn plays one turn of the agent: an answer that calls a tool, and its result.
func (b *bridge) turn(n int, tool, args, result string) {
	b.t.Helper()
	id := fmt.Sprint("call", n)
	call := control.CalledEvent{ID: id, Tool: tool, Args: json.RawMessage(args)}
	b.tell(control.Answered, control.AnsweredEvent{Calls: []control.CalledEvent{call}})
	b.tell(control.Called, call)
	b.tell(control.Returned, control.ReturnedEvent{ID: id, Tool: tool, Text: result})
}

// circle plays the same turn n times.
func (b *bridge) circle(n int) {
	b.t.Helper()
	for i := range n {
		b.turn(i, "bash", `{"command":"make test"}`, "FAIL \x1b[31mred\x1b[0m")
	}
}

// wire collects what a bridge was asked by the supervisor.
func supervised(messages []message) []string {
	var out []string
	for _, m := range messages {
		switch m.method {
		case control.SendAlert, control.SendRescue, control.RegTools:
			out = append(out, m.method+" "+string(m.params))
		}
	}
	return out
}

// drain takes what the bridge was asked so far.
func (h *testHub) drain(b *bridge, c *client) []message {
	h.t.Helper()
	h.settleDown(c)
	b.command("status") // answered once everything before is with the bridge
	var all []message
	for {
		select {
		case m := <-b.got:
			all = append(all, m)
		default:
			return all
		}
	}
}

func (c *client) targets() map[string]control.Target {
	c.t.Helper()
	var list []control.Target
	if err := c.Loops(c.ctx, control.LoopsList, struct{}{}, &list); err != nil {
		c.t.Fatal(err)
	}
	all := map[string]control.Target{}
	for _, t := range list {
		all[t.ID] = t
	}
	return all
}

func (c *client) set(key, value string) {
	c.t.Helper()
	var reply control.CommandReply
	if err := c.Loops(c.ctx, control.LoopsSet, control.LoopsSetParams{Key: key, Value: value}, &reply); err != nil || reply.Level != "info" {
		c.t.Fatalf("set %s: %+v, %v", key, reply, err)
	}
}

func family(t *testing.T) (h *testHub, c *client, w *watcher, parent, child *bridge) {
	h = start(t)
	c = h.client()
	w = h.client().watch()
	parent = h.join(hello("main"))
	parent.run(false)
	child = h.join(hello("child", childOf("main"), func(h *control.BridgeHello) { h.Mode = "json"; h.Name = "the \x1b[1mchild" }))
	child.run(false)
	return h, c, w, parent, child
}

// By default the screen and the parent are told, and nobody is steered.
func TestAlert(t *testing.T) {
	h, c, w, parent, child := family(t)
	child.circle(3)
	if f := c.targets()["child"].Finding; f != nil {
		t.Fatalf("too early: %+v", f)
	}
	child.circle(1)
	n := w.notice("Maybe stuck")
	if n.Session != "child" || n.Level != "warning" || !strings.Contains(n.Text, "repeated_call, medium") ||
		!strings.HasSuffix(n.Text, "the parent is told; the session is not steered: alertMode=main_only.") || strings.ContainsRune(n.Text, 0x1b) {
		t.Errorf("notice %+v", n)
	}
	f := c.targets()["child"].Finding
	if f == nil || f.Rule != "repeated_call" || f.Confidence != "medium" || len(f.Says) != 1 || strings.ContainsRune(f.Says[0], 0x1b) {
		t.Fatalf("finding %+v", f)
	}
	if s := c.session("child"); s.Stuck == nil || s.Stuck.Key != f.Key {
		t.Errorf("the session says %+v", s.Stuck)
	}
	got := supervised(h.drain(parent, c))
	if len(got) != 1 || !strings.HasPrefix(got[0], `alert {"target":"child","text":"piwatch (automated, not the user): your sub-agent the child may be stuck`) || !strings.HasSuffix(got[0], `"wake":false}`) {
		t.Errorf("the parent was told %q", got)
	}
	if got := supervised(h.drain(child, c)); len(got) > 0 {
		t.Errorf("the child was sent %q", got)
	}
	// It goes on: the alert clears, and one that was not told says so.
	child.turn(9, "edit", `{"path":"a"}`, "ok")
	w.notice("Not stuck any more.")
	if t1 := c.targets()["child"]; t1.Finding != nil {
		t.Errorf("it stands: %+v", t1.Finding)
	}
	if got := supervised(h.drain(parent, c)); len(got) != 1 || !strings.Contains(got[0], `"amend":true`) || !strings.Contains(got[0], "the child seemed stuck for a time (repeated_call), and is not any more.") {
		t.Errorf("the parent was told %q", got)
	}
}

// What was found stands in the session, with what became of it.
func TestFindingsAreRecorded(t *testing.T) {
	h, c, w, _, child := family(t)
	child.circle(4)
	w.notice("Maybe stuck")
	child.turn(9, "edit", `{"path":"a"}`, "ok")
	w.notice("Not stuck")
	var events []string
	for _, m := range h.drain(child, c) {
		var p control.RecordParams
		if m.method != control.Record {
			continue
		}
		if err := json.Unmarshal(m.params, &p); err != nil {
			t.Fatal(err)
		}
		if p.Type == loop.RecordType {
			var r loop.Record
			if err := json.Unmarshal(p.Data, &r); err != nil {
				t.Fatal(err)
			}
			events = append(events, r.Event+" "+r.Rule)
		}
	}
	if !slices.Equal(events, []string{"found repeated_call", "cleared repeated_call"}) {
		t.Errorf("records %q", events)
	}
}

func TestSteeringByPolicy(t *testing.T) {
	h, c, w, parent, child := family(t)
	c.set("alertMode", "both")
	child.circle(4)
	if n := w.notice("Maybe stuck"); !strings.Contains(n.Text, "the parent is told; dry run, nothing is sent (steerDryRunDefault). It would be: You seem to be going in circles") {
		t.Errorf("dry run: %s", n.Text)
	}
	if got := supervised(h.drain(child, c)); len(got) > 0 {
		t.Errorf("a dry run sent %q", got)
	}
	c.set("steerDryRunDefault", "false")
	c.set("rescueMessage", "Stop!")
	child.circle(4)
	if n := w.notice("Maybe stuck"); !strings.Contains(n.Text, "the parent is told; the session is steered.") {
		t.Errorf("steered: %s", n.Text)
	}
	w.notice("Steered: Stop!")
	if got := supervised(h.drain(child, c)); len(got) != 1 || !strings.HasPrefix(got[0], `rescue {"text":"Stop!","key":"repeated_call:`) {
		t.Errorf("the child was sent %q", got)
	}
	h.drain(parent, c)
	c.set("alertMode", "direct_subagent")
	child.circle(4)
	if n := w.notice("Maybe stuck"); !strings.Contains(n.Text, "the parent is not told: alertMode=direct_subagent; the session is steered.") {
		t.Errorf("direct: %s", n.Text)
	}
	if got := supervised(h.drain(parent, c)); len(got) > 0 {
		t.Errorf("the parent was told %q", got)
	}
}

// A session of its own follows the same mode: by default it is only shown.
func TestSelfCheck(t *testing.T) {
	h := start(t)
	c := h.client()
	w := h.client().watch()
	b := h.join(hello("alone"))
	b.run(false)
	b.circle(4)
	if n := w.notice("Maybe stuck"); !strings.HasSuffix(n.Text, "shown on the screen; the session is not steered: alertMode=main_only.") {
		t.Errorf("notice: %s", n.Text)
	}
	c.set("alertMode", "direct_subagent")
	c.set("steerDryRunDefault", "false")
	b.circle(4)
	w.notice("Steered: ")
}

func TestCooldownOfAlerts(t *testing.T) {
	h, c, w, parent, child := family(t)
	c.set("cooldownSec", "-1")
	child.circle(4)
	w.notice("the parent is told")
	child.circle(4)
	if n := w.notice("Maybe stuck"); !strings.HasSuffix(n.Text, "not told again: cooldownSec=-1.") {
		t.Errorf("the same again: %s", n.Text)
	}
	for i := range 4 {
		child.turn(i, "read", `{"path":"b"}`, "another circle")
	}
	w.notice("the parent is told")
	child.circle(4)
	if n := w.notice("Maybe stuck"); !strings.HasSuffix(n.Text, "not told again: cooldownSec=-1.") {
		t.Errorf("A after B: %s", n.Text)
	}
	c.set("cooldownSec", "60")
	child.circle(4)
	if n := w.notice("Maybe stuck"); !strings.Contains(n.Text, "not told again: cooldownSec=60, 60 s are left.") {
		t.Errorf("within the time: %s", n.Text)
	}
	h.drain(parent, c)
}

func TestHeldAlerts(t *testing.T) {
	h, c, w, parent, child := family(t)
	if r := child.command("pause"); r.Text != "Loop alerts of this session are held until they are resumed." {
		t.Errorf("pause: %+v", r)
	}
	child.circle(4)
	if n := w.notice("Maybe stuck"); !strings.HasSuffix(n.Text, "not told: paused by hand (/watchdog resume).") {
		t.Errorf("paused: %s", n.Text)
	}
	child.command("resume")
	child.circle(4)
	w.notice("the parent is told")
	c.set("enabled", "false")
	child.circle(4)
	w.notice("Maybe stuck, not told: enabled=false")
	if got := supervised(h.drain(parent, c)); len(got) != 1 {
		t.Errorf("the parent was told %q", got)
	}
	// A watchdog that is paused holds them, too.
	c.set("enabled", "true")
	child.command("timeout=60")
	child.command("pause")
	child.circle(4)
	w.notice("not told: the watchdog is paused by hand")
}

func TestCommandsOfTheSupervisor(t *testing.T) {
	h, c, w, _, child := family(t)
	has := func(args string, parts ...string) {
		t.Helper()
		r := child.command(args)
		for _, part := range parts {
			if !strings.Contains(r.Level+": "+r.Text, part) {
				t.Errorf("/watchdog %s\n got %s: %s\nwant %s", args, r.Level, r.Text, part)
			}
		}
	}
	has("config", "info: enabled = true", "\nalertMode = \"main_only\"", "\nsteerDryRunDefault = null")
	has("set rescueMessage Think again, please.", "info: rescueMessage is Think again, please. for all sessions")
	has("set llmRepeatThreshold many", `error: Nothing changed: llmRepeatThreshold: "many" does not fit; allowed: a whole number from 0 to 1000`)
	has("config", `rescueMessage = "Think again, please."`)
	has("set timeout=5", "error: The watchdog is off; start it first.") // the watchdog's own settings stay what they were
	has("inspect nobody", `error: no session "nobody" is known`)
	child.circle(4)
	w.notice("Maybe stuck")
	has("inspect", "info: the child: working, judged from its bridge", "\nmaybe stuck: repeated_call, medium", "\nparent: main (marker)", " returned bash FAIL red")
	has("inspect mai", "info: main: working")
	has("status", "Maybe stuck (repeated_call, medium): the same call with the same result 4 times: bash make test")
	has("supervise", "info: This session has the tools of a supervisor now")
	if got := supervised(h.drain(child, c)); len(got) != 1 || !strings.Contains(got[0], `"watchdog_list_targets"`) {
		t.Errorf("tools: %q", got)
	}
}

func TestByHand(t *testing.T) {
	h, c, _, _, child := family(t)
	steer := func(p control.TargetParams, want string) {
		t.Helper()
		var r control.CommandReply
		if err := c.Loops(c.ctx, control.LoopsSteer, p, &r); err != nil || r.Level+": "+r.Text != want {
			t.Errorf("%+v: %+v, %v; want %s", p, r, err, want)
		}
	}
	steer(control.TargetParams{Target: "child", Message: "Stop"}, "info: Dry run, nothing is sent. It would be: Stop")
	steer(control.TargetParams{Target: "child", Message: "Stop", Send: true}, "info: the session is steered.")
	if got := supervised(h.drain(child, c)); !slices.Equal(got, []string{`rescue {"text":"Stop","key":""}`}) {
		t.Errorf("sent %q", got)
	}
	child.settle()
	h.settleDown(c)
	steer(control.TargetParams{Target: "child", Send: true}, "error: it is not steered: it does not run.")
	var d control.TargetDetail
	if err := c.Loops(c.ctx, control.LoopsInspect, control.TargetParams{Target: "child"}, &d); err != nil || d.ID != "child" || d.Source != "bridge" || len(d.Settings) == 0 || len(d.Trail) == 0 {
		t.Errorf("inspect: %+v, %v", d, err)
	}
	if err := c.Loops(c.ctx, control.LoopsInspect, control.TargetParams{Target: "nobody"}, &d); err == nil {
		t.Error("a session that is not there was inspected")
	}
}

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

func TestStatesOfChildren(t *testing.T) {
	_, c, w, parent, child := family(t)
	state := func(id, want string) {
		t.Helper()
		if got := c.targets()[id].State; got != want {
			w.until(func(p control.Push) bool { return p.Target != nil && p.Target.ID == id && p.Target.State == want })
		}
	}
	state("child", "working")
	child.settle()
	state("child", "idle")
	child.tell(control.Bye, control.ByeEvent{Reason: "quit"})
	state("child", "done")
	parent.tell(control.Answered, control.AnsweredEvent{Failed: "502"})
	parent.tell(control.Bye, control.ByeEvent{Reason: "quit"})
	state("main", "failed")
}

// A parent that waits in a tool for a child that has ended.
func TestParentWaits(t *testing.T) {
	h := start(t)
	c := h.client()
	w := h.client().watch()
	parent := h.join(hello("main"))
	parent.run(false)
	parent.tell(control.Called, control.CalledEvent{ID: "b", Tool: "bash", Args: json.RawMessage(`{}`)})
	h.settleDown(c)
	child := h.join(hello("child", childOf("main")))
	child.tell(control.Bye, control.ByeEvent{Reason: "quit"})
	p := w.until(func(p control.Push) bool { return p.Target != nil && p.Target.Waits != nil })
	if p.Target.ID != "main" || p.Target.Waits.Child != "child" || p.Target.Waits.Tool != "bash" {
		t.Errorf("%+v", p.Target)
	}
	parent.tell(control.Returned, control.ReturnedEvent{ID: "b"})
	parent.settle()
	w.until(func(p control.Push) bool { return p.Target != nil && p.Target.ID == "main" && p.Target.Waits == nil })
}

func TestFamily(t *testing.T) {
	origin := filepath.Join(t.TempDir(), "origin.jsonl")
	if err := os.WriteFile(origin, []byte(`{"type":"session","version":3,"id":"origin","cwd":"/"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	above := map[int][]int{2000: {1500, 1000}, 3000: {7}, 1000: {7}}
	for _, c := range []struct {
		name   string
		change func(*control.BridgeHello)
		busy   bool // the parent works
		want   control.Link
	}{
		{"nothing", func(h *control.BridgeHello) { h.Pid = 3000 }, true, control.Link{}},
		{"its process alone", func(h *control.BridgeHello) { h.Pid = 2000 }, false, control.Link{Parent: "main", By: "process"}},
		{"the marker", func(h *control.BridgeHello) { h.Pid, h.Parent = 2000, &control.Parent{Session: "main", Pid: 1000} }, false, control.Link{Parent: "main", By: "marker"}},
		{"Pi's variable", func(h *control.BridgeHello) { h.Pid, h.Inherited = 2000, "main" }, false, control.Link{Parent: "main", By: "environment"}},
		{"detached by a parent that works", func(h *control.BridgeHello) {
			h.Pid, h.Mode, h.Parent = 3000, "json", &control.Parent{Session: "main", Pid: 1000}
		}, true, control.Link{Parent: "main", By: "marker"}},
		{"a marker from a shell of long ago", func(h *control.BridgeHello) { h.Pid, h.Parent = 3000, &control.Parent{Session: "main", Pid: 1000} }, true,
			control.Link{Unknown: "it inherited the name of session main, but its process is not below that one's"}},
		{"the same without a screen", func(h *control.BridgeHello) {
			h.Pid, h.Mode, h.Parent = 3000, "print", &control.Parent{Session: "main", Pid: 1000}
		}, false, control.Link{Unknown: "it inherited the name of session main, but its process is not below that one's"}},
		{"a variable from a shell of long ago", func(h *control.BridgeHello) { h.Pid, h.Inherited = 3000, "main" }, true,
			control.Link{Unknown: "it inherited PI_SESSION_ID of session main, but its process is not below that one's"}},
		{"a fork", func(h *control.BridgeHello) { h.Pid, h.Origin = 3000, origin }, false, control.Link{Parent: "origin", By: "header"}},
		{"a fork of what is gone", func(h *control.BridgeHello) { h.Pid, h.Origin = 3000, origin+"x" }, false, control.Link{Unknown: "the session it was made from cannot be read"}},
		{"itself", func(h *control.BridgeHello) {
			h.Pid, h.Inherited, h.Parent = 3000, "child", &control.Parent{Session: "child", Pid: 3000}
		}, false, control.Link{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := start(t, func(o *hub.Options) { o.Ancestors = func(pid int) []int { return above[pid] } })
			client := h.client()
			parent := h.join(hello("main"))
			if c.busy {
				parent.run(false)
				h.settleDown(client)
			}
			h.join(hello("child", c.change))
			if got := client.targets()["child"].Link; got != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
			counts := client.session("child").Parent != nil
			if want := c.want.Parent == "main"; counts != want {
				t.Errorf("its run counts for the parent: %t, want %t", counts, want)
			}
		})
	}
}

// A session without a bridge is judged from its file, from what is appended.
func TestJudgedFromTheFile(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "--w--", "s.jsonl")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	n := 0
	write := func(fields string) {
		t.Helper()
		f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		n++
		if _, err := fmt.Fprintf(f, "{%s,\"id\":\"e%d\",\"parentId\":\"e%d\"}\n", fields, n, n-1); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(file, []byte(`{"type":"session","version":3,"id":"filed","cwd":"/w"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	h := start(t, func(o *hub.Options) { o.SessionDirs = []string{dir} })
	c := h.client()
	w := h.client().watch()
	turn := func(i int) {
		write(fmt.Sprintf(`"type":"message","message":{"role":"assistant","stopReason":"toolUse","content":[{"type":"toolCall","id":"c%d","name":"bash","arguments":{"command":"make"}}]}`, i))
		write(fmt.Sprintf(`"type":"message","message":{"role":"toolResult","toolCallId":"c%d","toolName":"bash","isError":true,"content":[{"type":"text","text":"no rule"}]}`, i))
	}
	write(`"type":"message","message":{"role":"user","content":"go"}`)
	for i := range 4 {
		turn(i)
	}
	if got := w.notice("Maybe stuck"); got.Session != "filed" || !strings.Contains(got.Text, "shown on the screen; the session is not steered: alertMode=main_only") {
		t.Errorf("%+v", got)
	}
	got := c.targets()["filed"]
	if got.Source != "file" || got.State != "working" || got.Finding == nil || got.Cwd != "/w" {
		t.Errorf("%+v", got)
	}
	write(`"type":"message","message":{"role":"assistant","stopReason":"stop","content":[{"type":"text","text":"I give up."}]}`)
	w.until(func(p control.Push) bool {
		return p.Target != nil && p.Target.State == "idle" && p.Target.Finding == nil
	})

	// With a bridge its word counts, and the file is let be.
	b := h.join(hello("filed", func(h *control.BridgeHello) { h.File = file }))
	b.run(false)
	for i := range 4 {
		turn(10 + i)
	}
	b.circle(3)
	if got := c.targets()["filed"]; got.Source != "bridge" || got.Finding != nil {
		t.Errorf("with a bridge: %+v", got)
	}
}

func TestIdleRuleWakesByItself(t *testing.T) {
	h := start(t)
	c := h.client()
	w := h.client().watch()
	c.set("idleNoProgressSec", "300")
	b := h.join(hello("s1"))
	b.run(false)
	b.tell(control.Called, control.CalledEvent{ID: "1", Tool: "bash", Args: json.RawMessage(`{}`)})
	h.settleDown(c)
	h.clock.advance(299 * time.Second)
	if c.targets()["s1"].Finding != nil {
		t.Error("too early")
	}
	h.clock.advance(time.Second)
	if n := w.notice("Maybe stuck"); !strings.Contains(n.Text, "idle_no_progress, medium): 1 calls in 300 s without an edit") {
		t.Errorf("%s", n.Text)
	}
}

// With debug the last exchange with the provider is kept, and else nothing of it.
func TestDebug(t *testing.T) {
	h, c, _, _, child := family(t)
	inspect := func() control.TargetDetail {
		t.Helper()
		child.tell(control.Answered, control.AnsweredEvent{Text: "so", Stop: "stop", Given: json.RawMessage(`{"messages":[]}`)})
		h.settleDown(c)
		var d control.TargetDetail
		if err := c.Loops(c.ctx, control.LoopsInspect, control.TargetParams{Target: "child"}, &d); err != nil {
			t.Fatal(err)
		}
		return d
	}
	if d := inspect(); d.Debug != nil {
		t.Errorf("kept without debug: %+v", d.Debug)
	}
	c.set("debug", "true")
	if d := inspect(); d.Debug == nil || d.Debug.Text != "so" || d.Debug.Stop != "stop" || d.Debug.Given != `{"messages":[]}` || d.Debug.At == 0 {
		t.Errorf("with debug: %+v", d.Debug)
	}
	c.set("debug", "false")
	if d := inspect(); d.Debug != nil {
		t.Errorf("kept after debug: %+v", d.Debug)
	}
}

// Sessions that have ended are remembered up to a limit; those that run are never
// let go.
func TestManyEndedSessions(t *testing.T) {
	h := start(t)
	c := h.client()
	lives := h.join(hello("lives"))
	lives.run(false)
	for i := range 220 {
		h.clock.advance(time.Second)
		b := h.join(hello(fmt.Sprintf("ended%03d", i), func(h *control.BridgeHello) { h.Pid = 5000 + i }))
		b.tell(control.Bye, control.ByeEvent{Reason: "quit"})
		h.settleDown(c)
	}
	all := c.targets()
	if _, kept := all["lives"]; !kept || len(all) > 203 {
		t.Errorf("%d targets, the one that runs among them: %t", len(all), kept)
	}
	if _, kept := all["ended219"]; !kept {
		t.Error("the last one that ended is gone")
	}
	if _, kept := all["ended000"]; kept {
		t.Error("the first one that ended is kept")
	}
}

// The settings come from the files of the folder a session works in, with what
// was changed at run time on top.
func TestSettingsOfTheFolder(t *testing.T) {
	h := start(t, func(o *hub.Options) {
		o.Supervisor = func(folder string, changes []loop.Change) (hub.Supervision, error) {
			s := hub.Supervision{Settings: loop.DefaultSettings(), Origin: map[string]string{"enabled": folder}}
			s.Enabled = folder != "/quiet"
			var err error
			for _, c := range changes {
				if s.Settings, err = s.With(c.Key, c.Value); err != nil {
					return s, err
				}
			}
			return s, nil
		}
	})
	c := h.client()
	w := h.client().watch()
	b := h.join(hello("s1", func(h *control.BridgeHello) { h.Cwd = "/quiet" }))
	b.run(false)
	b.circle(4)
	w.notice("not told: enabled=false")
	c.set("enabled", "true")
	b.circle(4)
	w.notice("shown on the screen")
	if r := b.command("config"); !strings.Contains(r.Text, "enabled = true (/quiet)") {
		t.Errorf("%s", r.Text)
	}
}
