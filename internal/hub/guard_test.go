package hub_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"piwatch/internal/control"
	"piwatch/internal/guard"
	"piwatch/internal/hub"
)

var (
	silentRow = json.RawMessage(`{"role":"assistant","stopReason":"stop","content":[{"type":"thinking","thinking":"hm"}]}`)
	spokenRow = json.RawMessage(`{"role":"assistant","stopReason":"stop","content":[{"type":"text","text":"Done."}]}`)
)

// ends tells the end of a run with these answers.
func (b *bridge) ends(answers ...json.RawMessage) {
	b.t.Helper()
	b.call(control.Ended, control.EndedEvent{Answers: answers, Facts: b.facts}, nil)
}

// urged expects a message of the guard and returns it.
func (b *bridge) urged() control.GuardParams {
	b.t.Helper()
	var p control.GuardParams
	select {
	case m := <-b.got:
		if err := json.Unmarshal(m.params, &p); err != nil || m.method != control.SendGuard {
			b.t.Fatalf("the request is %s %s", m.method, m.params)
		}
	case <-b.ctx.Done():
		b.t.Fatal("waits for the guard")
	}
	return p
}

func guardRecord(event string, row, total int, more string) string {
	return fmt.Sprintf(`record guard {"event":%q,%s"row":%d,"total":%d}`, event, more, row, total)
}

func (c *client) guard(method, want string) {
	c.t.Helper()
	reply, err := c.Steer(c.ctx, method, control.SteerParams{Session: "s1", By: "tui"})
	if err != nil || !strings.Contains(reply.Text, want) {
		c.t.Fatalf("%s: %+v, %v; want %q", method, reply, err, want)
	}
}

func TestGuardAsksForTheNextAction(t *testing.T) {
	h := start(t)
	c := h.client()
	w := c.watch()
	b := h.join(hello("s1"))
	b.user()
	b.ends(silentRow)
	p := b.urged()
	if want := (guard.Record{Event: guard.Continued, Cause: guard.Thought, Row: 1, Total: 1}); p.Record != want {
		t.Errorf("the record is %+v", p.Record)
	}
	if !strings.Contains(p.Text, "Take the next action now") || p.Fence.Settle != 1 || p.Fence.Leaf != "leaf1" || p.Fence.Until == 0 {
		t.Errorf("sent %+v", p)
	}
	w.notice("silent stop (thinking only): asked for the next action, 1 of 3 in a row, 1 of 10 since the user's message")
	if v := c.session("s1").Guard; v.Off || v.Row != 1 || v.Total != 1 || v.Last != guard.Thought {
		t.Errorf("the guard is %+v", v)
	}
	b.ends(spokenRow)
	b.wants(guardRecord("moved", 0, 1, ""))
	if v := c.session("s1").Guard; v.Row != 0 || v.Total != 1 {
		t.Errorf("the guard is %+v", v)
	}
}

// What ends is answered only once the message is with Pi, which would settle
// before.
func TestTheEndWaitsForTheGuard(t *testing.T) {
	h := start(t)
	b := h.join(hello("s1"))
	release := b.block()
	answered := make(chan error, 1)
	go func() {
		answered <- b.conn.Call(b.ctx, control.Ended, control.EndedEvent{Answers: []json.RawMessage{silentRow}, Facts: b.facts}, nil)
	}()
	b.urged()
	select {
	case err := <-answered:
		t.Fatalf("answered before the message was taken: %v", err)
	default:
	}
	release()
	if err := <-answered; err != nil {
		t.Fatal(err)
	}
}

func TestGuardIsRefused(t *testing.T) {
	h := start(t)
	c := h.client()
	w := c.watch()
	b := h.join(hello("s1"))
	b.refuse(control.SendGuard, "the editor holds a draft")
	b.ends(silentRow)
	b.urged()
	w.notice("silent stop (thinking only): not continued, the editor holds a draft")
	if v := c.session("s1").Guard; v.Row != 0 || v.Total != 0 {
		t.Errorf("the guard is %+v", v)
	}
}

func TestBreaker(t *testing.T) {
	dir := t.TempDir()
	h := start(t)
	c := h.client()
	w := c.watch()
	b := h.join(hello("s1", env("PI_WATCHDOG_ON_STOP", writeEnv), func(h *control.BridgeHello) { h.Cwd = dir }))
	for range 3 {
		b.ends(silentRow)
		b.urged()
	}
	b.ends(silentRow)
	const why = "stopped without a word 4 times in a row"
	const notice = "The agent " + why + ". The guard's breaker tripped: the guard does nothing more until you write, or reset it (/guard reset). A watchdog that is on still counts down and asks."
	b.wants(`record guard {"event":"tripped","cause":"thought","row":3,"total":3,"tripped":"`+why+`"}`, "warning: piwatch: "+notice)
	w.notice("the breaker tripped, since the agent " + why)
	if n := w.notice("on_stop"); n.Text != "on_stop (breaker): exit 0" {
		t.Errorf("notice %+v", n)
	}
	want := "PIWATCH_CWD=" + dir + "\nPIWATCH_EVENT=breaker\nPIWATCH_NOTE=" + notice + "\nPIWATCH_NUDGES=3\n"
	if got := told(t, dir); !strings.HasPrefix(got, want) {
		t.Errorf("the hook was told\n%s", got)
	}
	b.wants(`record hook {"event":"breaker","result":"exit 0"}`)

	b.ends(silentRow) // one notice, and no more
	w.notice("not continued, the breaker has tripped")
	c.guard(control.GuardStatus, "Breaker: tripped, since the agent "+why)
	c.guard(control.GuardReset, "Guard reset")
	b.wants(guardRecord("reset", 0, 0, `"by":"tui",`))
	b.ends(silentRow)
	b.urged()
}

func TestGuardIsRebuilt(t *testing.T) {
	h := start(t)
	c := h.client()
	tripped := guard.Record{Event: guard.Tripped, Row: 3, Total: 5, Tripped: "stopped"}
	b := h.join(hello("s1", func(h *control.BridgeHello) { h.Records = append(h.Records, record(guard.Type, tripped)) }))
	if v := c.session("s1").Guard; v.Row != 3 || v.Total != 5 || v.Tripped != "stopped" {
		t.Errorf("the guard is %+v", v)
	}
	b.ends(silentRow)
	b.user()
	if v := c.session("s1").Guard; v.Row != 0 || v.Total != 0 || v.Tripped != "" {
		t.Errorf("the guard is %+v", v)
	}
	b.ends(silentRow)
	b.urged()
}

func TestGuardSwitches(t *testing.T) {
	for name, c := range map[string]struct {
		env  string
		off  bool // in the config
		want string
	}{
		"nothing":                {"", false, "Guard: on"},
		"config":                 {"", true, "Guard: off in the config"},
		"environment":            {"0", false, "Guard: off by PI_WATCHDOG_GUARD"},
		"on by the environment":  {"1", true, "Guard: on"},
		"off by the environment": {"false", true, "Guard: off by PI_WATCHDOG_GUARD"},
		"empty":                  {" ", true, "Guard: off in the config"},
	} {
		t.Run(name, func(t *testing.T) {
			h := start(t, func(o *hub.Options) {
				o.Preferences = func() hub.Preferences { return hub.Preferences{GuardOff: c.off} }
			})
			var change []func(*control.BridgeHello)
			if c.env != "" {
				change = append(change, env("PI_WATCHDOG_GUARD", c.env))
			}
			b := h.join(hello("s1", change...))
			client := h.client()
			client.guard(control.GuardStatus, c.want)
			client.guard(control.GuardOn, "uard ")
			if strings.Contains(c.want, "off") {
				b.wants(`record guard {"event":"on","by":"tui","row":0,"total":0,"choice":"on"}`)
			}
			b.ends(silentRow)
			b.urged()
			client.guard(control.GuardOff, "Guard turned off")
			b.wants(`record guard {"event":"off","by":"tui","row":1,"total":1,"choice":"off"}`)
			b.ends(silentRow)
			client.guard(control.GuardStatus, "Guard: off by hand")
		})
	}
}

// A value of the environment that says neither on nor off is told, in Pi and to
// the clients, once, and the guard is as configured.
func TestGuardEnvironmentWrong(t *testing.T) {
	for _, off := range []bool{true, false} {
		h := start(t, func(o *hub.Options) {
			o.Preferences = func() hub.Preferences { return hub.Preferences{GuardOff: off} }
		})
		c := h.client()
		w := c.watch()
		wrong := env("PI_WATCHDOG_GUARD", "off")
		const text = `PI_WATCHDOG_GUARD: must be 0 or 1, and is "off". The guard is as configured.`
		b := h.join(hello("s1", wrong))
		b.wants("error: " + text)
		if n := w.notice("PI_WATCHDOG_GUARD"); n.Text != text || n.Level != "error" || n.Session != "s1" {
			t.Errorf("the clients are told %+v", n)
		}
		if v := c.session("s1").Guard; v.Off != off {
			t.Errorf("off in the config: %v; the guard is %+v", off, v)
		}
		again := h.join(hello("s2", wrong, func(h *control.BridgeHello) { h.Reason, h.Pid = "reload", 1001 }))
		if len(again.got) > 0 {
			t.Errorf("after a reload it is told again: %+v", <-again.got)
		}
	}
}

// What the hub cannot judge it leaves alone.
func TestGuardLeavesAlone(t *testing.T) {
	h := start(t)
	c := h.client()
	w := c.watch()
	b := h.join(hello("s1"))
	long := json.RawMessage(`{"role":"assistant","stopReason":"stop","content":[{"type":"text","text":"<think>and so on"}]}`)
	b.call(control.Ended, control.EndedEvent{Answers: []json.RawMessage{long}, Short: true, Facts: b.facts}, nil)
	b.call(control.Ended, control.EndedEvent{Answers: []json.RawMessage{silentRow}, Check: true, Facts: b.facts}, nil)
	b.ends()
	b.ends(silentRow, json.RawMessage(`7`))
	if v := c.session("s1").Guard; v.Last != "" || v.Total != 0 {
		t.Errorf("the guard is %+v", v)
	}
	nobody := h.join(hello("s2", func(h *control.BridgeHello) { h.Records, h.Pid = nil, 1001 }))
	nobody.ends(silentRow)
	w.notice("not continued, the session has no message of the user")
	if len(b.got)+len(nobody.got) > 0 {
		t.Errorf("something was sent")
	}
}

func TestGuardCommandInPi(t *testing.T) {
	h := start(t)
	b := h.join(hello("s1"))
	for args, want := range map[string]string{
		"": "info: Guard: on.", " status ": "info: Guard: on.", "reset": "warning: There is nothing to reset",
		"offf": "error: /guard offf: the words are status, on, off and reset.", "off now": "error: /guard off now: the words",
	} {
		var reply control.CommandReply
		b.call(control.Command, control.CommandParams{Name: "guard", Args: args}, &reply)
		if got := reply.Level + ": " + reply.Text; !strings.HasPrefix(got, want) {
			t.Errorf("/guard %s: %s", args, got)
		}
	}
	var reply control.CommandReply
	b.call(control.Command, control.CommandParams{Name: "guard", Args: "off"}, &reply)
	b.wants(`record guard {"event":"off","by":"pi","row":0,"total":0,"choice":"off"}`)
}
