package e2e

import (
	"bufio"
	"encoding/json"
	"net"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// wire stands between the bridge and the hub and can hold back one line, so
// that a test decides which of two things comes first.
type wire struct {
	home     *Home
	path     string
	listener net.Listener

	mu    sync.Mutex
	conns map[net.Conn]struct{}
	holds []*held
}

// held is a line that a wire holds back, or will.
type held struct {
	what     string
	match    func(wireLine) bool
	used     bool // under the wire's mutex
	home     *Home
	reached  chan struct{}
	released chan struct{}
	release  sync.Once
}

// wireLine is one message as it passes the wire.
type wireLine struct {
	fromHub bool
	method  string // of the request; of an answer, what it answers
	answer  bool
}

// newWire listens beside the hub's socket; Pi reaches it by wire.env.
func newWire(t *testing.T, h *Home) *wire {
	t.Helper()
	w := &wire{home: h, path: filepath.Join(h.Run, "wire.sock"), conns: map[net.Conn]struct{}{}}
	var err error
	if w.listener, err = net.Listen("unix", w.path); err != nil {
		t.Fatal(err)
	}
	hub := hubSocket(t, h)
	var open sync.WaitGroup
	open.Go(func() {
		for {
			pi, err := w.listener.Accept()
			if err != nil {
				return
			}
			hub, err := net.Dial("unix", hub)
			if err != nil {
				_ = pi.Close()
				continue
			}
			asked := map[bool]*sync.Map{true: {}, false: {}} // by the hub? → id of a request → its method
			open.Go(func() { w.pass(pi, hub, false, asked) })
			open.Go(func() { w.pass(hub, pi, true, asked) })
		}
	})
	t.Cleanup(func() {
		_ = w.listener.Close()
		w.mu.Lock()
		for conn := range w.conns {
			_ = conn.Close()
		}
		for _, h := range w.holds {
			h.Release()
		}
		w.mu.Unlock()
		open.Wait()
	})
	return w
}

// env makes a Pi use the wire.
func (w *wire) env() string { return "PIWATCH_SOCKET=" + w.path }

// hold keeps back the next line that matches; lines after it pass.
func (w *wire) hold(what string, match func(wireLine) bool) *held {
	h := &held{what: what, match: match, home: w.home, reached: make(chan struct{}), released: make(chan struct{})}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.holds = append(w.holds, h)
	return h
}

// WaitReached blocks until the line is held.
func (h *held) WaitReached() {
	h.home.t.Helper()
	timer := time.NewTimer(Timeout())
	defer timer.Stop()
	select {
	case <-h.reached:
	case <-timer.C:
		h.home.Fatalf("%s did not pass the wire within %v", h.what, Timeout())
	}
}

// Release lets the line go on.
func (h *held) Release() { h.release.Do(func() { close(h.released) }) }

func (w *wire) pass(from, to net.Conn, fromHub bool, asked map[bool]*sync.Map) {
	w.mu.Lock()
	w.conns[from] = struct{}{}
	w.mu.Unlock()
	var writing sync.Mutex
	var late sync.WaitGroup
	defer func() {
		_ = from.Close()
		_ = to.Close()
		late.Wait()
	}()
	write := func(line []byte) {
		writing.Lock()
		defer writing.Unlock()
		_, _ = to.Write(line)
	}
	lines := bufio.NewReader(from)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		if held := w.take(readWire(line, fromHub, asked)); held != nil {
			late.Go(func() {
				close(held.reached)
				<-held.released
				write(line)
			})
			continue
		}
		write(line)
	}
}

func readWire(line []byte, fromHub bool, asked map[bool]*sync.Map) wireLine {
	var message struct {
		ID     *int   `json:"id"`
		Method string `json:"method"`
	}
	_ = json.Unmarshal(line, &message)
	l := wireLine{fromHub: fromHub, method: message.Method, answer: message.Method == ""}
	switch {
	case message.ID == nil:
	case !l.answer:
		asked[fromHub].Store(*message.ID, l.method)
	default:
		if method, ok := asked[!fromHub].LoadAndDelete(*message.ID); ok {
			l.method = method.(string)
		}
	}
	return l
}

// take returns the hold that a line falls under, which is used up by it.
func (w *wire) take(line wireLine) *held {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, h := range w.holds {
		if !h.used && h.match(line) {
			h.used = true
			return h
		}
	}
	return nil
}
