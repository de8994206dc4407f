package hub_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"piwatch/internal/control"
	"piwatch/internal/hub"
)

// A hub that nobody uses ends after a minute, not before.
func TestIdleExit(t *testing.T) {
	h := start(t)
	h.clock.advance(59 * sec)
	c := h.client() // it is there, and stops the minute
	if n := h.clock.waiting(); n != 0 {
		t.Errorf("%d timers run while a client is there", n)
	}
	h.clock.advance(time.Hour)
	b := h.join(hello("s1"))
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	h.clock.advance(time.Hour)
	b.settle() // a bridge is enough
	b.leave()
	h.awaitTimer()
	h.clock.advance(59 * sec)
	if n := h.clock.waiting(); n != 1 {
		t.Errorf("%d timers wait a second before the end", n)
	}
	h.clock.advance(1 * sec)
	h.waitEnd()
	if _, err := os.Lstat(h.socket); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the socket is still there: %v", err)
	}
}

// awaitTimer returns when the hub waits for a time.
func (h *testHub) awaitTimer() {
	h.t.Helper()
	select {
	case <-h.clock.timerSet():
	case <-h.ctx.Done():
		h.t.Fatal("the hub waits for no time")
	}
}

func TestIdleExitCanBeTurnedOff(t *testing.T) {
	h := start(t, func(o *hub.Options) { o.IdleExit = -1 })
	if n := h.clock.waiting(); n != 0 {
		t.Errorf("%d timers wait", n)
	}
}

func TestStopHub(t *testing.T) {
	h := start(t)
	c := h.client()
	b := h.join(hello("s1"))
	c.start("s1", "timeout=60")
	if err := c.StopHub(h.ctx, "a test"); err != nil {
		t.Fatal(err)
	}
	h.waitEnd()
	select {
	case <-b.conn.Done():
	case <-h.ctx.Done():
		t.Error("the bridge is still connected")
	}
	if n := h.clock.waiting(); n != 0 {
		t.Errorf("%d timers are left", n)
	}
}

func TestEndOfContext(t *testing.T) {
	h := start(t)
	b := h.join(hello("s1"))
	h.end()
	h.waitEnd()
	<-b.conn.Done()
}

// One hub per user: a second one is refused, and the first is unharmed.
func TestSecondHub(t *testing.T) {
	h := start(t)
	err := hub.Run(h.ctx, hub.Options{Socket: h.socket})
	if !errors.Is(err, control.ErrHubRunning) {
		t.Errorf("a second hub: %v", err)
	}
	h.client().sessions()
}

// A hub that ended leaves the place to the next one.
func TestNextHub(t *testing.T) {
	h := start(t)
	if err := h.client().StopHub(h.ctx, "a test"); err != nil {
		t.Fatal(err)
	}
	h.waitEnd()
	ctx, cancel := context.WithCancel(h.ctx)
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- hub.Run(ctx, hub.Options{Socket: h.socket, Version: "2", Ready: ready}) }()
	select {
	case <-ready:
	case err := <-ended:
		t.Fatal(err)
	}
	if c := h.client(); c.Hub.Hub != "2" {
		t.Errorf("the next hub is %+v", c.Hub)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestSocketModes(t *testing.T) {
	h := start(t)
	for path, want := range map[string]fs.FileMode{
		h.socket: fs.ModeSocket | 0o600, filepath.Dir(h.socket): fs.ModeDir | 0o700, h.socket + ".lock": 0o600,
	} {
		info, err := os.Lstat(path)
		if err != nil {
			t.Error(err)
		} else if info.Mode() != want {
			t.Errorf("%s has mode %v, want %v", path, info.Mode(), want)
		}
	}
}
