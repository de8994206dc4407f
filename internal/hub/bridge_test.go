package hub_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"piwatch/internal/control"
	"piwatch/internal/watchdog"
)

// bridge is the bridge of a Pi, played by the test over the real channel: it
// answers what the hub wants and keeps it in order.
type bridge struct {
	t       testing.TB
	ctx     context.Context
	conn    *control.Conn
	hello   control.BridgeHello
	welcome control.BridgeWelcome
	facts   control.Facts
	got     chan message

	mu      sync.Mutex
	byHand  []string                     // what Pi was told of changes by clients
	answers map[string][]control.Receipt // by method, what is answered next
	hold    chan struct{}                // when set, nothing is answered before it is closed
}

// message is one thing that the hub wants.
type message struct {
	method string
	params json.RawMessage
}

// hello is the greeting of a session that has history, in a process that
// finished a run.
func hello(session string, change ...func(*control.BridgeHello)) control.BridgeHello {
	h := control.BridgeHello{
		Role: "bridge", Protocol: control.Protocol, Bridge: "0.1.0", Instance: "one", Session: session, File: "/s/" + session + ".jsonl",
		Cwd: "/", Pid: 1000, Mode: "tui", Reason: "startup", Boundary: true, History: true, Env: map[string]string{},
		Facts:   control.Facts{Idle: true, Settle: 1, Leaf: "leaf1", Runs: 1},
		Records: []json.RawMessage{userRow()},
	}
	for _, f := range change {
		f(&h)
	}
	return h
}

func env(key, value string) func(*control.BridgeHello) {
	return func(h *control.BridgeHello) { h.Env[key] = value }
}

func userRow() json.RawMessage {
	return json.RawMessage(`{"type":"message","id":"u1","timestamp":"2026-11-30T12:00:00Z","message":{"role":"user","content":[]}}`)
}

func record(kind string, data any) json.RawMessage {
	line, err := json.Marshal(map[string]any{"type": "custom", "id": kind, "customType": kind, "data": data})
	if err != nil {
		panic(err)
	}
	return line
}

// dial connects a bridge that has not said hello.
func (h *testHub) dial() *bridge {
	h.t.Helper()
	b := &bridge{t: h.t, ctx: h.ctx, got: make(chan message, 1024), answers: map[string][]control.Receipt{}}
	var err error
	if b.conn, err = control.Dial(h.ctx, h.socket, b.handle); err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = b.conn.Close() })
	return b
}

func (h *testHub) join(hello control.BridgeHello) *bridge {
	h.t.Helper()
	b := h.dial()
	b.say(hello)
	return b
}

func (b *bridge) say(hello control.BridgeHello) {
	b.t.Helper()
	b.hello, b.facts = hello, hello.Facts
	b.call(control.Hello, hello, &b.welcome)
}

func (b *bridge) handle(_ context.Context, _ *control.Conn, method string, params json.RawMessage) (any, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if by, told := byHand(method, params); told {
		b.byHand = append(b.byHand, by)
		return control.Receipt{Result: control.Sent}, nil
	}
	b.got <- message{method, params}
	receipt := control.Receipt{Result: control.Sent}
	if next := b.answers[method]; len(next) > 0 {
		receipt, b.answers[method] = next[0], next[1:]
	}
	hold := b.hold
	if hold == nil {
		return receipt, nil
	}
	return control.Later(func(ctx context.Context) (any, error) {
		select {
		case <-hold:
		case <-ctx.Done():
		}
		return receipt, nil
	}), nil
}

// answer has the bridge give this receipt for the next request of a method.
func (b *bridge) answer(method string, r control.Receipt) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.answers[method] = append(b.answers[method], r)
}

func (b *bridge) refuse(method, reason string) {
	facts := b.facts
	b.answer(method, control.Receipt{Result: control.Refused, Reason: reason, Facts: &facts})
}

// block keeps all answers back until release is called.
func (b *bridge) block() (release func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	hold := make(chan struct{})
	b.hold = hold
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.hold = nil
		close(hold)
	}
}

func (b *bridge) call(method string, params, result any) {
	b.t.Helper()
	if err := b.conn.Call(b.ctx, method, params, result); err != nil {
		b.t.Fatalf("%s: %v", method, err)
	}
}

// tell returns when the hub has dealt with it: messages of one connection are
// taken in order, so an answer to the next one says so.
func (b *bridge) tell(method string, params any) {
	b.t.Helper()
	if err := b.conn.Notify(b.ctx, method, params); err != nil {
		b.t.Fatalf("%s: %v", method, err)
	}
	_ = b.conn.Call(b.ctx, "anything", nil, nil) // the answer is an error
}

// wants expects exactly these requests next, in their short forms.
func (b *bridge) wants(requests ...string) {
	b.t.Helper()
	for i, want := range requests {
		select {
		case m := <-b.got:
			if got := m.short(); got != want {
				b.t.Fatalf("request %d is\n\t%s\nnot\n\t%s", i+1, got, want)
			}
		case <-b.ctx.Done():
			b.t.Fatalf("waits for %q", want)
		}
	}
}

func (m message) short() string {
	var p struct {
		Record watchdog.Check  `json:"record"`
		Fence  control.Fence   `json:"fence"`
		Why    string          `json:"why"`
		Abort  bool            `json:"abort"`
		Type   string          `json:"type"`
		Data   json.RawMessage `json:"data"`
		Text   string          `json:"text"`
		Level  string          `json:"level"`
	}
	if err := json.Unmarshal(m.params, &p); err != nil {
		return m.method + " " + string(m.params)
	}
	switch m.method {
	case control.SendCheck:
		return fmt.Sprintf("check %d/%d at %d %s", p.Record.N, p.Record.Max, p.Fence.Settle, p.Fence.Leaf)
	case control.SendWork:
		return fmt.Sprintf("work at %d %s", p.Fence.Settle, p.Fence.Leaf)
	case control.Void:
		return fmt.Sprintf("void abort=%v: %s", p.Abort, p.Why)
	case control.Record:
		return "record " + strings.TrimPrefix(p.Type, "piwatch.") + " " + string(p.Data)
	case control.Status:
		return "status " + visible(p.Text)
	case control.Notify:
		return p.Level + ": " + p.Text
	}
	return m.method
}

// byHand is what Pi is told of a change that a client made. It is beside the
// point of nearly every test, so it does not count among the requests.
func byHand(method string, params json.RawMessage) (string, bool) {
	var p control.NotifyParams
	if method != control.Notify || json.Unmarshal(params, &p) != nil {
		return "", false
	}
	return p.Text, strings.HasSuffix(p.Text, "(cli)") || strings.HasSuffix(p.Text, "(tui)")
}

// visible makes an empty text visible.
func visible(text string) string {
	if text == "" {
		return "empty"
	}
	return text
}

// check expects a check and returns its id.
func (b *bridge) check(want string) string {
	b.t.Helper()
	select {
	case m := <-b.got:
		var p control.CheckParams
		if err := json.Unmarshal(m.params, &p); err != nil || m.short() != want {
			b.t.Fatalf("request is\n\t%s\nnot\n\t%s", m.short(), want)
		}
		if !strings.HasSuffix(p.Text, watchdog.CheckText) || p.Record.ID == "" {
			b.t.Fatalf("the check is %+v", p)
		}
		return p.Record.ID
	case <-b.ctx.Done():
		b.t.Fatalf("waits for %q", want)
	}
	return ""
}

// user is a message of the user and its run.
func (b *bridge) user() {
	b.t.Helper()
	b.tell(control.Input, control.InputEvent{Source: "interactive"})
	b.run(false)
}

func (b *bridge) run(own bool) {
	b.t.Helper()
	b.facts.Idle = false
	b.tell(control.Run, control.RunEvent{Own: own})
}

func (b *bridge) settle() {
	b.t.Helper()
	b.facts.Settle++
	b.facts.Runs++
	b.facts.Idle, b.facts.Leaf = true, fmt.Sprint("leaf", b.facts.Settle)
	b.call(control.Settled, control.SettledEvent{Facts: b.facts}, nil)
}

func (b *bridge) decide(check, decision, note string) control.DecideReply {
	b.t.Helper()
	var reply control.DecideReply
	b.call(control.Decide, control.DecideParams{Call: "call1", Check: check, Decision: decision, Note: note}, &reply)
	return reply
}

func (b *bridge) closed(o watchdog.Outcome) {
	b.t.Helper()
	b.tell(control.CheckClosed, control.CheckClosedEvent{Outcome: o})
}

func (b *bridge) command(args string) control.CommandReply {
	b.t.Helper()
	var reply control.CommandReply
	b.call(control.Command, control.CommandParams{Name: "watchdog", Args: args}, &reply)
	return reply
}

// leave closes the connection, as a Pi that was killed does.
func (b *bridge) leave() {
	b.t.Helper()
	if err := b.conn.Close(); err != nil {
		b.t.Fatal(err)
	}
}
