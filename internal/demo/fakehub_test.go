package demo_test

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"piwatch/internal/control"
	"piwatch/internal/demo"
	"piwatch/internal/leaks"
	"piwatch/internal/watchdog"
)

func TestMain(m *testing.M) { leaks.Main(m) }

// fakeHub is the hub's end of the channel, played by the test.
type fakeHub struct {
	t        *testing.T
	socket   string
	listener *control.Listener
	work     sync.WaitGroup

	mu      sync.Mutex
	changed chan struct{}
	conn    *control.Conn // the newest
	hellos  []control.BridgeHello
	got     []message
	welcome control.BridgeWelcome
	refuse  error // answers hello
	// decide answers the tool; a hold makes the answer wait.
	decide func(control.DecideParams) control.DecideReply
	hold   chan struct{}
}

type message struct {
	method string
	params json.RawMessage
}

var texts = control.Texts{Blocked: "BLOCKED", Gone: "GONE", Lost: "LOST"}

func toolDef() control.ToolDef {
	return control.ToolDef{Name: watchdog.ToolName, Label: watchdog.ToolLabel, Description: watchdog.ToolDescription, Parameters: watchdog.ToolParameters()}
}

func newFakeHub(t *testing.T) *fakeHub {
	dir, err := os.MkdirTemp("", "demo")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	h := &fakeHub{
		t: t, socket: filepath.Join(dir, "run", "hub.sock"), changed: make(chan struct{}),
		welcome: control.BridgeWelcome{Protocol: control.Protocol, Texts: texts, Tool: toolDef(), On: true, Status: "on"},
	}
	h.decide = func(p control.DecideParams) control.DecideReply {
		if p.Check == "" && p.Decision == "continue" {
			return control.DecideReply{Text: "no check"}
		}
		return control.DecideReply{Text: "noted", Accepted: true, Terminate: true}
	}
	h.listen()
	t.Cleanup(h.stop)
	return h
}

func (h *fakeHub) listen() {
	var err error
	if h.listener, err = control.Listen(h.socket); err != nil {
		h.t.Fatal(err)
	}
	listener := h.listener
	h.work.Go(func() {
		for {
			socket, err := listener.Accept()
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err != nil {
				h.t.Errorf("accept: %v", err)
				return
			}
			conn := control.NewConn(context.Background(), socket, h.handle)
			h.mu.Lock()
			h.conn = conn
			h.mu.Unlock()
		}
	})
}

// stop ends the hub as a kill does.
func (h *fakeHub) stop() {
	_ = h.listener.Close()
	h.work.Wait()
	h.mu.Lock()
	conn := h.conn
	h.mu.Unlock()
	if conn != nil {
		_ = conn.Close()
	}
}

func (h *fakeHub) handle(_ context.Context, _ *control.Conn, method string, params json.RawMessage) (any, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.got = append(h.got, message{method, slices.Clone(params)})
	close(h.changed)
	h.changed = make(chan struct{})
	switch method {
	case control.Hello:
		h.hellos = append(h.hellos, decode[control.BridgeHello](h.t, params))
		return h.welcome, h.refuse
	case control.Decide:
		p, answer, hold := decode[control.DecideParams](h.t, params), h.decide, h.hold
		if hold == nil {
			return answer(p), nil
		}
		return control.Later(func(ctx context.Context) (any, error) {
			select {
			case <-hold:
				return answer(p), nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}), nil
	case control.Command:
		p := decode[control.CommandParams](h.t, params)
		return control.CommandReply{Text: p.Name + "|" + p.Args, Level: "info"}, nil
	}
	return struct{}{}, nil
}

func (h *fakeHub) messages() []message {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.got)
}

// await waits until n messages of a method came, and returns the last of them.
func (h *fakeHub) await(method string, n int) message {
	h.t.Helper()
	deadline := time.After(10 * time.Second)
	for {
		h.mu.Lock()
		changed := h.changed
		var found []message
		for _, m := range h.got {
			if m.method == method {
				found = append(found, m)
			}
		}
		h.mu.Unlock()
		if len(found) >= n {
			return found[n-1]
		}
		select {
		case <-changed:
		case <-deadline:
			h.t.Fatalf("the bridge did not send %s %d times; it sent %v", method, n, h.methods())
		}
	}
}

func (h *fakeHub) methods() []string {
	var names []string
	for _, m := range h.messages() {
		names = append(names, m.method)
	}
	return names
}

// call asks the bridge for something.
func (h *fakeHub) call(method string, params any) control.Receipt {
	h.t.Helper()
	h.mu.Lock()
	conn := h.conn
	h.mu.Unlock()
	var receipt control.Receipt
	if err := conn.Call(h.t.Context(), method, params, &receipt); err != nil {
		h.t.Fatalf("%s: %v", method, err)
	}
	return receipt
}

// check opens a check with the fence that fits now.
func (h *fakeHub) check(p *demo.Pi, id string) control.Receipt {
	h.t.Helper()
	f := p.State().Facts
	return h.call(control.SendCheck, control.CheckParams{
		Record: watchdog.Check{ID: id, N: 1, Max: 50, Reason: "test"}, Text: "check " + id, Fence: control.Fence{Settle: f.Settle, Leaf: f.Leaf},
	})
}

func (h *fakeHub) sendWork(p *demo.Pi, id string) control.Receipt {
	h.t.Helper()
	f := p.State().Facts
	return h.call(control.SendWork, control.WorkParams{Check: id, Text: "work", Fence: control.Fence{Settle: f.Settle, Leaf: f.Leaf}})
}

// outcome waits for the n-th closed check.
func (h *fakeHub) outcome(n int) watchdog.Outcome {
	h.t.Helper()
	return decode[control.CheckClosedEvent](h.t, h.await(control.CheckClosed, n).params).Outcome
}

func decode[T any](t *testing.T, raw json.RawMessage) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Errorf("%s: %v", raw, err)
	}
	return v
}

// start starts a stand-in at the hub and waits until it is connected.
func start(t *testing.T, h *fakeHub, setup demo.Setup) *demo.Pi {
	t.Helper()
	if h != nil {
		setup.Socket = h.socket
	}
	if setup.Sessions == "" && setup.Resume == nil {
		setup.Sessions = t.TempDir()
	}
	setup.Cwd = "/home/dev/project"
	p, err := demo.New(context.Background(), setup)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Errorf("session file: %v", err)
		}
	})
	if h != nil {
		wait(t, p, "connected", func(s demo.State) bool { return s.Connected })
	}
	return p
}

func wait(t *testing.T, p *demo.Pi, what string, wanted func(demo.State) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := p.Wait(ctx, wanted); err != nil {
		t.Fatalf("not %s: %v; state %+v", what, err, p.State())
	}
}

func settled(t *testing.T, p *demo.Pi, n int) {
	t.Helper()
	wait(t, p, "settled", demo.Settled(n))
}

// held waits until the run is held at a moment.
func held(t *testing.T, p *demo.Pi, at demo.Moment) {
	t.Helper()
	wait(t, p, "held at "+string(at), func(s demo.State) bool {
		return s.Moment == at && (s.Held || at == demo.InDecide)
	})
}
