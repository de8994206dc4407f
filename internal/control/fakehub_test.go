package control

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// testHub is the variable that makes the test program a hub; its value is the
// release that it plays.
const testHub = "PIWATCH_TEST_HUB"

// fakeHub answers clients as a hub does.
type fakeHub struct {
	version  string
	protocol int
	listener *Listener
	stop     chan struct{}
	once     sync.Once
	conns    sync.WaitGroup
	watcher  chan *Conn // who asked to watch
	steered  chan string
}

func newFakeHub(path, version string) (*fakeHub, error) {
	l, err := Listen(path)
	if err != nil {
		return nil, err
	}
	return &fakeHub{
		version: version, protocol: Protocol, listener: l,
		stop: make(chan struct{}), watcher: make(chan *Conn, 1), steered: make(chan string, 10),
	}, nil
}

// serve ends when the hub is stopped.
func (h *fakeHub) serve(ctx context.Context) {
	go func() {
		select {
		case <-h.stop:
		case <-ctx.Done():
		}
		_ = h.listener.Close()
	}()
	for {
		conn, err := h.listener.Accept()
		if err != nil {
			break
		}
		h.conns.Go(func() { h.talk(ctx, conn) })
	}
	h.conns.Wait()
}

func (h *fakeHub) talk(ctx context.Context, conn net.Conn) {
	c := NewConn(ctx, conn, h.handle)
	select {
	case <-h.stop:
		_ = c.Close()
	case <-c.Done():
	}
}

func (h *fakeHub) handle(_ context.Context, c *Conn, method string, params json.RawMessage) (any, error) {
	switch method {
	case Hello:
		var hello ClientHello
		if err := Decode(params, &hello); err != nil {
			return nil, err
		}
		if hello.Protocol != h.protocol {
			return nil, &ProtocolError{Hub: h.protocol, Peer: hello.Protocol, Version: h.version}
		}
		return ClientWelcome{Protocol: h.protocol, Hub: h.version, Pid: os.Getpid()}, nil
	case Sessions:
		return []Session{{ID: "one"}, {ID: "two"}}, nil
	case Watch:
		h.watcher <- c
		return []Session{{ID: "one"}}, nil
	case Nudge, Start, Extend:
		h.steered <- method + " " + string(params)
		return CommandReply{Text: "done", Level: "info"}, nil
	case StopHub:
		// The answer is queued before the connection is closed.
		h.end()
		return nil, nil
	}
	return nil, fmt.Errorf("%w: %s", ErrUnknownMethod, method)
}

func (h *fakeHub) end() { h.once.Do(func() { close(h.stop) }) }

// startFakeHub runs a hub for the time of a test.
func startFakeHub(t *testing.T, path, version string, change ...func(*fakeHub)) *fakeHub {
	t.Helper()
	h, err := newFakeHub(path, version)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range change {
		f(h)
	}
	ended := make(chan struct{})
	go func() { defer close(ended); h.serve(context.Background()) }()
	t.Cleanup(func() { h.end(); wait(t, "the hub", ended) })
	return h
}

// playHub is the whole of a hub's process.
func playHub(version string) int {
	if version == "broken" {
		fmt.Fprintln(os.Stderr, "this hub is broken")
		return 3
	}
	socket := os.Getenv("PIWATCH_SOCKET")
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if gone(socket) {
		return 0 // it was started, and not needed, by a test that is over
	}
	go func() {
		again := time.NewTicker(50 * time.Millisecond)
		defer again.Stop()
		for range again.C {
			if gone(socket) {
				cancel()
				return
			}
		}
	}()
	h, err := newFakeHub(socket, version)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	cwd, _ := os.Getwd()
	sid, _ := unix.Getsid(0)
	fmt.Printf("cwd %s leads its process session %v\n", cwd, sid == os.Getpid())
	h.serve(ctx)
	return 0
}

// gone says whether the folder of a test's socket was removed: the test is over.
func gone(socket string) bool {
	_, err := os.Stat(filepath.Dir(socket))
	return err != nil
}
