package hub_test

import (
	"encoding/json"
	"fmt"
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
	has("inspect", "info: the child (child): working since ", ", judged from its bridge", "\nmaybe stuck since ", ": repeated_call, medium confidence", "\nparent: main (marker)", " returned bash FAIL red")
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
