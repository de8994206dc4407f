package hub_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"piwatch/internal/control"
	"piwatch/internal/watchdog"
)

// Every method that steers, in one session.
func TestSteering(t *testing.T) {
	h := start(t)
	c := h.client()
	b := h.join(hello("s1"))
	p := func(change ...func(*control.SteerParams)) control.SteerParams {
		s := control.SteerParams{Session: "s1"}
		for _, f := range change {
			f(&s)
		}
		return s
	}
	line := func(l string) func(*control.SteerParams) { return func(s *control.SteerParams) { s.Line = l } }
	seconds := func(n int) func(*control.SteerParams) { return func(s *control.SteerParams) { s.Seconds = n } }
	const off = "error: The watchdog is off; start it first."
	for _, method := range []string{control.Resume, control.Nudge, control.Skip, control.Set} {
		c.steer(method, p(), off)
	}
	c.steer(control.Extend, p(seconds(5)), off)
	c.steer(control.Stop, p(), "warning: The watchdog was not running.")
	c.steer(control.StatusText, p(), "info: Watchdog: off.")
	c.steer(control.Start, p(line("max=0")), `error: Watchdog not started: "max=0": must be a whole number from 1 to 10000. Usage: `+watchdog.Usage)
	if v := c.session("s1").Watch; v.Phase != watchdog.Off {
		t.Errorf("after a refused start: %+v", v)
	}
	c.steer(control.Start, p(line("timeout=60")), "info: Watchdog started: timeout=60 max=50 mode=once")
	c.steer(control.Set, p(line("max=3 mode=keep")), "info: Watchdog set: timeout=60 max=3 mode=keep")
	c.steer(control.Set, p(line("max=x")), `error: Nothing changed: "max=x": must be a whole number from 1 to 10000. Usage: `+watchdog.Usage)
	c.steer(control.Set, p(line("message=a\nb")), `error: Nothing changed: "message=a\nb": a message is one line, without control characters. Usage: `+watchdog.Usage)
	c.steer(control.Set, p(line("message= go  on")), "info: Watchdog set: timeout=60 max=3 mode=keep message= go  on")
	c.steer(control.Extend, p(seconds(30)), "info: Countdown moved: 90 s are left.")
	c.steer(control.Extend, p(seconds(-60)), "info: Countdown moved: 30 s are left.")
	for _, n := range []int{0, 86401, -86401} {
		reply, err := c.Steer(c.ctx, control.Extend, p(seconds(n)))
		if err != nil || reply.Level != "error" || !strings.Contains(reply.Text, "must be a whole number from -86400 to 86400, not 0") {
			t.Errorf("extend by %d: %+v, %v", n, reply, err)
		}
	}
	c.steer(control.StatusText, p(), "info: Watchdog: counting, 0 of 3 checks, timeout=60 max=3 mode=keep message= go  on. Asks in 30 s.")
	b.wants("tool", startRecord(`"timeout":60,"max":50,"mode":"once"`), "status ⏱60s 0/50",
		`record set {"by":"cli","settings":{"timeout":60,"max":3,"mode":"keep"}}`, "status ⏱60s 0/3 keep",
		`record set {"by":"cli","settings":{"timeout":60,"max":3,"mode":"keep","message":" go  on"}}`,
		"status ⏱90s 0/3 keep", "status ⏱30s 0/3 keep")
	c.steer(control.Skip, p(), "info: This check is skipped; the next one comes after the agent's next run.")
	c.steer(control.Nudge, p(), "info: Asking now.")
	b.wants("status ⏱▶ 0/3 keep", "check 1/3 at 1 leaf1", "status ⏱▶ 1/3 keep")
	c.steer(control.Nudge, p(), "error: Not asked: a check is open.")
}

func TestErrors(t *testing.T) {
	h := start(t)
	c := h.client()
	c.refuses(control.Start, control.SteerParams{Session: "nobody"}, control.ErrNoSession, "nobody is not live")
	c.refuses("dance", control.SteerParams{}, control.ErrUnknownMethod, "dance")
	c.refuses(control.SendCheck, control.SteerParams{}, control.ErrUnknownMethod, "check")
	c.refuses(control.Hello, control.SteerParams{}, nil, "hello was said already")
	b := h.join(hello("s1"))
	call := func(method string, params any) error { return b.conn.Call(b.ctx, method, params, nil) }
	if err := call(control.Sessions, nil); !errors.Is(err, control.ErrUnknownMethod) {
		t.Errorf("a bridge asks as a client: %v", err)
	}
	if err := call(control.Hello, hello("s2")); err == nil {
		t.Error("a bridge may say hello twice")
	}
	if err := call(control.Decide, json.RawMessage(`{"decision":7}`)); !errors.Is(err, control.ErrParams) {
		t.Errorf("bad parameters: %v", err)
	}
	b.settle() // it lives on
}

func TestHelloErrors(t *testing.T) {
	h := start(t)
	for name, c := range map[string]struct {
		method string
		params any
		check  func(error) bool
	}{
		"no hello": {control.Sessions, nil, func(err error) bool { return errors.Is(err, control.ErrUnknownMethod) }},
		"role": {control.Hello, control.ClientHello{Role: "cat", Protocol: control.Protocol},
			func(err error) bool {
				return strings.Contains(err.Error(), `role "cat": allowed are bridge and client`)
			}},
		"bridge without a session": {control.Hello, hello(""), func(err error) bool { return strings.Contains(err.Error(), "names no session") }},
		"protocol": {control.Hello, hello("s1", func(h *control.BridgeHello) { h.Protocol = 99 }), func(err error) bool {
			var p *control.ProtocolError
			return errors.As(err, &p) && *p == control.ProtocolError{Hub: control.Protocol, Peer: 99, Version: "1.2.3"}
		}},
		"nonsense": {control.Hello, json.RawMessage(`[]`), func(err error) bool { return errors.Is(err, control.ErrParams) }},
	} {
		b := h.dial()
		if err := b.conn.Call(b.ctx, c.method, c.params, nil); err == nil || !c.check(err) {
			t.Errorf("%s: %v", name, err)
		}
		b.say(hello("s-" + name)) // a proper hello is still taken
	}
}

// A client of another version may ask an older hub to stop.
func TestOtherVersionStopsTheHub(t *testing.T) {
	h := start(t)
	b := h.dial()
	err := b.conn.Call(b.ctx, control.Hello, control.ClientHello{Role: "client", Protocol: 99, Name: "cli"}, nil)
	var protocol *control.ProtocolError
	if !errors.As(err, &protocol) {
		t.Fatalf("hello: %v", err)
	}
	if err := b.conn.Call(b.ctx, control.StopHub, control.StopHubParams{Why: "newer"}, nil); err != nil && !errors.Is(err, control.ErrClosed) {
		t.Fatal(err)
	}
	h.waitEnd()
}

// What a client that watches is told, and another is not.
func TestPushes(t *testing.T) {
	h := start(t)
	c := h.client()
	w := c.watch()
	if len(w.first) != 0 {
		t.Errorf("watch begins with %+v", w.first)
	}
	other := h.client()
	b := h.join(hello("s1", func(h *control.BridgeHello) { h.Name, h.Model, h.Pi = "the parser", "a/b", "1.6.0" }))
	p := w.until(func(p control.Push) bool { return p.Session != nil }).Session
	want := control.Session{
		ID: "s1", File: "/s/s1.jsonl", Cwd: "/", Name: "the parser", Model: "a/b", Pid: 1000, Mode: "tui", Pi: "1.6.0", Bridge: "0.1.0", Live: true,
		Watch: p.Watch, Facts: b.facts,
	}
	if *p != want || p.Watch.Phase != watchdog.Off {
		t.Errorf("pushed %+v\nwant   %+v", *p, want)
	}
	other.start("s1", "timeout=5")
	p = w.until(func(p control.Push) bool { return p.Session != nil && p.Session.Watch.Phase == watchdog.Counting }).Session
	if !p.Watch.Deadline.Equal(begin.Add(5 * sec)) {
		t.Errorf("the deadline is %v", p.Watch.Deadline)
	}
	// While it counts the clients count by themselves: the next push is of the
	// next change.
	h.clock.advance(4 * sec)
	b.run(false)
	p = w.until(func(p control.Push) bool { return p.Session != nil }).Session
	if p.Watch.Phase != watchdog.Working {
		t.Errorf("pushed while it counts: %+v", p.Watch)
	}
	b.leave()
	w.until(func(p control.Push) bool { return p.Gone == "s1" })
}

// A hub that ends does not say that the sessions are gone: their bridges come
// back to the next one.
func TestAHubThatEndsTakesNoSessionAlong(t *testing.T) {
	h := start(t)
	c := h.client()
	for i := range 16 {
		h.join(hello(fmt.Sprint("s", i)))
	}
	w := c.watch()
	if err := h.client().StopHub(h.ctx, "newer"); err != nil && !errors.Is(err, control.ErrClosed) {
		t.Fatal(err)
	}
	h.waitEnd()
	for p := range w.in {
		if p.Gone != "" || p.Session != nil && !p.Session.Live {
			t.Errorf("pushed %+v", p)
		}
	}
}

// By is the client's name where it gives none.
func TestWhoSteers(t *testing.T) {
	h := start(t)
	c := h.client()
	b := h.join(hello("s1"))
	c.start("s1", "timeout=60")
	b.wants("tool", startRecord(`"timeout":60,"max":50,"mode":"once"`), "status ⏱60s 0/50")
	c.steer(control.Pause, control.SteerParams{Session: "s1", By: "tui"}, "info: Watchdog paused.")
	b.wants(`record pause {"by":"tui","on":true}`)
	if c.Hub != (control.ClientWelcome{Protocol: control.Protocol, Hub: "1.2.3", Pid: os.Getpid()}) {
		t.Errorf("the hub says %+v", c.Hub)
	}
}
