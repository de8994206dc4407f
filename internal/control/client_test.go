package control

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
)

// client is a Client of a hub of its own.
func client(t *testing.T) (*Client, *fakeHub) {
	t.Helper()
	path := filepath.Join(socketDir(t), "hub.sock")
	hub := startFakeHub(t, path, "1.2.3")
	c, err := DialClient(testContext(t), path, "1.2.3", "cli")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c, hub
}

func TestClientSaysHello(t *testing.T) {
	c, _ := client(t)
	if c.Hub.Hub != "1.2.3" || c.Hub.Protocol != Protocol || c.Hub.Pid == 0 {
		t.Errorf("the hub said %+v", c.Hub)
	}
}

func TestClientOfAnotherProtocol(t *testing.T) {
	path := filepath.Join(socketDir(t), "hub.sock")
	startFakeHub(t, path, "9.0.0", func(h *fakeHub) { h.protocol = Protocol + 1 })
	c, err := DialClient(testContext(t), path, "1.2.3", "cli")
	var protocol *ProtocolError
	if c != nil || !errors.As(err, &protocol) || *protocol != (ProtocolError{Protocol + 1, Protocol, "9.0.0"}) {
		t.Errorf("got %v, %v", c, err)
	}
}

func TestClientListsAndSteers(t *testing.T) {
	c, hub := client(t)
	ctx := testContext(t)
	sessions, err := c.Sessions(ctx)
	if err != nil || len(sessions) != 2 || sessions[1].ID != "two" {
		t.Errorf("sessions: %+v, %v", sessions, err)
	}
	reply, err := c.Steer(ctx, Extend, SteerParams{Session: "one", By: "cli", Seconds: -30})
	if err != nil || reply.Text != "done" {
		t.Errorf("extend: %+v, %v", reply, err)
	}
	if got := <-hub.steered; got != `extend {"session":"one","by":"cli","seconds":-30}` {
		t.Errorf("the hub got %s", got)
	}
	if _, err := c.Steer(ctx, "dance", SteerParams{}); !errors.Is(err, ErrUnknownMethod) {
		t.Errorf("an unknown method: %v", err)
	}
}

func TestClientStopsTheHub(t *testing.T) {
	c, hub := client(t)
	if err := c.StopHub(testContext(t), "test"); err != nil {
		t.Fatal(err)
	}
	wait(t, "the hub", hub.stop)
	wait(t, "the connection", c.Done())
	if err := c.Err(); err != nil {
		t.Errorf("cause of the end: %v", err)
	}
}

func TestEndHubOfAnyProtocol(t *testing.T) {
	for _, protocol := range []int{Protocol - 1, Protocol, Protocol + 1} {
		path := filepath.Join(socketDir(t), "hub.sock")
		hub := startFakeHub(t, path, "1.2.3", func(h *fakeHub) { h.protocol = protocol })
		if err := EndHub(testContext(t), path, "1.2.3", "test"); err != nil {
			t.Errorf("protocol %d: %v", protocol, err)
		}
		wait(t, "the hub", hub.stop)
	}
	path := filepath.Join(socketDir(t), "hub.sock")
	if err := EndHub(testContext(t), path, "1.2.3", "test"); !errors.Is(err, ErrNoHub) {
		t.Errorf("no hub: %v", err)
	}
}

func TestWatch(t *testing.T) {
	c, hub := client(t)
	ctx := testContext(t)
	sessions, pushes, err := c.Watch(ctx)
	if err != nil || len(sessions) != 1 {
		t.Fatalf("watch: %+v, %v", sessions, err)
	}
	if _, _, err := c.Watch(ctx); err == nil {
		t.Error("a second watch of one client is accepted")
	}
	conn := <-hub.watcher
	for _, push := range []struct {
		method string
		params any
	}{
		{SessionPush, Session{ID: "three", Name: "n"}},
		{"future", struct{}{}},
		{SessionPush, "not a session"},
		{NoticePush, Notice{Session: "three", Text: "why not"}},
		{GonePush, GoneEvent{ID: "one"}},
	} {
		if err := conn.Notify(ctx, push.method, push.params); err != nil {
			t.Fatal(err)
		}
	}
	if p := <-pushes; p.Session == nil || p.Session.ID != "three" || p.Session.Name != "n" {
		t.Errorf("first push: %+v", p)
	}
	if p := <-pushes; p.Notice == nil || p.Notice.Text != "why not" {
		t.Errorf("second push: %+v", p)
	}
	if p := <-pushes; p.Gone != "one" {
		t.Errorf("third push: %+v", p)
	}
	hub.end()
	if p, open := <-pushes; open {
		t.Errorf("after the end: %+v", p)
	}
}

func TestWatchEndsWithItsContext(t *testing.T) {
	c, _ := client(t)
	ctx, cancel := context.WithCancel(t.Context())
	_, pushes, err := c.Watch(ctx)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if p, open := <-pushes; open {
		t.Errorf("after the end: %+v", p)
	}
	if _, err := c.Sessions(testContext(t)); err != nil {
		t.Errorf("the connection ended too: %v", err)
	}
}

func TestSlowReaderDoesNotHoldTheConnection(t *testing.T) {
	c, hub := client(t)
	ctx := testContext(t)
	_, pushes, err := c.Watch(ctx)
	if err != nil {
		t.Fatal(err)
	}
	conn := <-hub.watcher
	const rounds = 400
	for i := range rounds {
		for _, id := range []string{"a", "b"} {
			if err := conn.Notify(ctx, SessionPush, Session{ID: id, Pid: i}); err != nil {
				t.Fatal(err)
			}
		}
		if err := conn.Notify(ctx, NoticePush, Notice{Text: fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
	}
	// The answer comes behind all of them, with no push read yet.
	if _, err := c.Sessions(ctx); err != nil {
		t.Fatal(err)
	}
	hub.end()
	newest := map[string]int{}
	var count int
	for p := range pushes {
		count++
		if p.Session != nil {
			newest[p.Session.ID] = p.Session.Pid
		}
	}
	if newest["a"] != rounds-1 || newest["b"] != rounds-1 {
		t.Errorf("the newest of each session: %v", newest)
	}
	if most := maxNotices + 2*2; count > most {
		t.Errorf("%d pushes waited, %d at most should", count, most)
	}
}

func TestPushesCoalesceBySession(t *testing.T) {
	p := newPushes()
	p.put("session a", Push{Gone: "before the watch"})
	if !p.begin() || p.begin() {
		t.Fatal("begin is not once only")
	}
	p.put("session a", Push{Session: &Session{ID: "a", Pid: 1}})
	p.put("session b", Push{Session: &Session{ID: "b"}})
	p.put("session a", Push{Gone: "a"})
	for i := range maxNotices + 2 {
		p.put("", Push{Notice: &Notice{Time: int64(i)}})
	}
	p.put("session b", Push{Session: &Session{ID: "b", Pid: 2}})
	var got []string
	for {
		push, ok := p.take()
		if !ok {
			break
		}
		switch {
		case push.Session != nil:
			got = append(got, fmt.Sprintf("%s%d", push.Session.ID, push.Session.Pid))
		case push.Notice != nil:
			got = append(got, fmt.Sprint(push.Notice.Time))
		default:
			got = append(got, "gone "+push.Gone)
		}
	}
	if len(got) != maxNotices+2 || !slices.Equal(got[:3], []string{"gone a", "b2", "2"}) || got[len(got)-1] != fmt.Sprint(maxNotices+1) {
		t.Errorf("%d pushes: %v … %v", len(got), got[:3], got[len(got)-1])
	}
	if len(p.latest) != 0 || p.notices != 0 {
		t.Errorf("left: %v, %d notices", p.latest, p.notices)
	}
}
