package hub_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"piwatch/internal/control"
	"piwatch/internal/hub"
	"piwatch/internal/leaks"
)

func TestMain(m *testing.M) { leaks.Main(m) }

// patience is how long a test waits for what must happen.
const patience = time.Minute

// testHub is a hub that runs for the time of a test.
type testHub struct {
	t      testing.TB
	ctx    context.Context
	socket string
	clock  *clock
	end    context.CancelFunc
	ended  chan error
}

func start(t *testing.T, change ...func(*hub.Options)) *testHub {
	t.Helper()
	dir, err := os.MkdirTemp("", "hub")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return startOn(t, filepath.Join(dir, "run", "hub.sock"), change...)
}

// startOn is start with a socket of the test's choice.
func startOn(t testing.TB, socket string, change ...func(*hub.Options)) *testHub {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	h := &testHub{
		t: t, ctx: ctx, end: cancel, socket: socket, clock: &clock{now: begin}, ended: make(chan error, 1),
	}
	ready := make(chan struct{})
	// The numbers of processes in tests are made up: what the machine says of them means nothing.
	options := hub.Options{Socket: h.socket, Version: "1.2.3", Clock: h.clock, Ready: ready, Ancestors: func(int) []int { return nil }}
	for _, f := range change {
		f(&options)
	}
	go func() { h.ended <- hub.Run(ctx, options) }()
	select {
	case <-ready:
	case err := <-h.ended:
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		if err := <-h.ended; err != nil {
			t.Errorf("the hub ended: %v", err)
		}
	})
	return h
}

// waitEnd expects that the hub ends by itself.
func (h *testHub) waitEnd() {
	h.t.Helper()
	select {
	case err := <-h.ended:
		h.ended <- err // for the clean-up
	case <-time.After(patience):
		h.t.Fatal("the hub did not end")
	}
}

// settleDown returns when what the hub was told before has been dealt with.
func (h *testHub) settleDown(c *client) {
	h.t.Helper()
	c.sessions()
}

// client is a client of the hub that must succeed.
type client struct {
	t   testing.TB
	ctx context.Context
	*control.Client
}

func (h *testHub) client() *client {
	h.t.Helper()
	c, err := control.DialClient(h.ctx, h.socket, "1.2.3", "cli")
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = c.Close() })
	return &client{h.t, h.ctx, c}
}

func (c *client) sessions() []control.Session {
	c.t.Helper()
	list, err := c.Sessions(c.ctx)
	if err != nil {
		c.t.Fatal(err)
	}
	return list
}

// session is what the hub says of one session.
func (c *client) session(id string) control.Session {
	c.t.Helper()
	for _, s := range c.sessions() {
		if s.ID == id {
			return s
		}
	}
	c.t.Fatalf("the hub has no session %s", id)
	return control.Session{}
}

// steer expects this reply, level first.
func (c *client) steer(method string, p control.SteerParams, want string) {
	c.t.Helper()
	reply, err := c.Steer(c.ctx, method, p)
	if err != nil {
		c.t.Fatalf("%s: %v", method, err)
	}
	if got := reply.Level + ": " + reply.Text; got != want {
		c.t.Fatalf("%s %+v\n got %s\nwant %s", method, p, got, want)
	}
}

// refuses expects an error that is like this one, if any, and has this text.
func (c *client) refuses(method string, p control.SteerParams, like error, part string) {
	c.t.Helper()
	_, err := c.Steer(c.ctx, method, p)
	if err == nil || like != nil && !errors.Is(err, like) || !strings.Contains(err.Error(), part) {
		c.t.Fatalf("%s %+v: %v; want an error with %q", method, p, err, part)
	}
}

// start starts a session and expects that it is done.
func (c *client) start(session, line string) {
	c.t.Helper()
	reply, err := c.Steer(c.ctx, control.Start, control.SteerParams{Session: session, Line: line})
	if err != nil || reply.Level != "info" {
		c.t.Fatalf("start %s: %+v, %v", line, reply, err)
	}
}

// watcher collects what the hub pushes.
type watcher struct {
	t     testing.TB
	ctx   context.Context
	first []control.Session
	in    <-chan control.Push
}

func (c *client) watch() *watcher {
	c.t.Helper()
	first, in, err := c.Watch(c.ctx)
	if err != nil {
		c.t.Fatal(err)
	}
	return &watcher{c.t, c.ctx, first, in}
}

func (w *watcher) next() control.Push {
	w.t.Helper()
	select {
	case p, ok := <-w.in:
		if ok {
			return p
		}
	case <-w.ctx.Done():
	}
	w.t.Fatal("no push")
	return control.Push{}
}

// until takes pushes up to one that is wanted.
func (w *watcher) until(wanted func(control.Push) bool) control.Push {
	w.t.Helper()
	for {
		if p := w.next(); wanted(p) {
			return p
		}
	}
}

// notice takes pushes up to a notice with this text.
func (w *watcher) notice(part string) control.Notice {
	w.t.Helper()
	return *w.until(func(p control.Push) bool { return p.Notice != nil && strings.Contains(p.Notice.Text, part) }).Notice
}

func ids(sessions []control.Session) []string {
	var out []string
	for _, s := range sessions {
		out = append(out, s.ID)
	}
	slices.Sort(out)
	return out
}
