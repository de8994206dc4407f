package demo_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"piwatch/internal/demo"
	"piwatch/internal/hub"
	"piwatch/internal/watchdog"
)

// hubClock lets a hub live in the time of a test.
type hubClock struct{ *demo.ManualClock }

func (c hubClock) AfterFunc(d time.Duration, f func()) hub.Timer {
	return c.ManualClock.AfterFunc(d, f)
}

// house is the real hub and one stand-in, in a time that the test moves.
type house struct {
	t      *testing.T
	socket string
	clock  *demo.ManualClock
	stop   func()
	pi     *demo.Pi
}

func newHouse(t *testing.T, setup demo.Setup) *house {
	t.Helper()
	dir, err := os.MkdirTemp("", "demo")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	h := &house{t: t, socket: filepath.Join(dir, "run", "hub.sock"), clock: demo.NewManualClock(epoch)}
	h.startHub()
	t.Cleanup(func() { h.stop() })
	setup.Socket, setup.Clock = h.socket, h.clock
	h.pi = start(t, nil, setup)
	wait(t, h.pi, "connected", func(s demo.State) bool { return s.Connected })
	return h
}

func (h *house) startHub() {
	h.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- hub.Run(ctx, hub.Options{Socket: h.socket, Version: "test", Ready: ready, Clock: hubClock{h.clock}, IdleExit: -1})
	}()
	select {
	case <-ready:
	case err := <-ended:
		h.t.Fatalf("hub: %v", err)
	}
	h.stop = func() {
		cancel()
		if err := <-ended; err != nil {
			h.t.Errorf("hub: %v", err)
		}
		h.stop = func() {}
	}
}

// restartHub replaces the hub, and waits until the bridge is with the new one.
func (h *house) restartHub() {
	h.t.Helper()
	h.stop()
	wait(h.t, h.pi, "lost", func(s demo.State) bool { return !s.Connected })
	h.startHub()
	for {
		wait(h.t, h.pi, "back, or waiting", func(s demo.State) bool { return s.Connected || s.Waiting })
		if h.pi.State().Connected {
			return
		}
		retry(h.t, h.clock, h.pi)
	}
}

// sync returns when the hub has taken all that the bridge told it.
func (h *house) sync() {
	h.t.Helper()
	if _, err := h.pi.Command(h.t.Context(), "/watchdog status"); err != nil {
		h.t.Fatal(err)
	}
}

// advance moves the time once the hub has nothing left to do in it.
func (h *house) advance(d time.Duration) {
	h.t.Helper()
	h.sync()
	h.clock.Advance(d)
}

func (h *house) watch(line string) {
	h.t.Helper()
	reply, err := h.pi.Command(h.t.Context(), "/watchdog "+line)
	if err != nil || reply.Level == "error" {
		h.t.Fatalf("/watchdog %s: %+v, %v", line, reply, err)
	}
}

// footer waits for a footer that begins so; "" is one that is empty.
func (h *house) footer(text string) {
	h.t.Helper()
	wait(h.t, h.pi, "showing "+text, func(s demo.State) bool {
		return strings.HasPrefix(s.Status, text) && (text == "") == (s.Status == "")
	})
}

// count is how often something happened so far.
func (h *house) count(kind demo.Kind) int {
	ctx, done := cancelled(h.t)
	defer done()
	n := 0
	for e := range h.pi.Events(ctx) {
		if e.Kind == kind {
			n++
		}
	}
	return n
}

// decider answers checks one after the other, and works in between.
func decider(decisions ...watchdog.Decision) demo.Script {
	return func(r demo.Request) demo.Answer {
		if r.Check == "" {
			return demo.Say("worked")
		}
		next := decisions[0]
		decisions = decisions[1:]
		return demo.Decide(string(next), "a note")
	}
}

func TestCountdown(t *testing.T) {
	h := newHouse(t, demo.Setup{Script: decider(watchdog.Continue, watchdog.Done)})
	h.watch("timeout=60 max=7")
	h.pi.Prompt("go")
	h.footer("⏱60s 0/7")
	h.advance(59 * time.Second)
	h.footer("⏱1s 0/7")
	same(t, "checks", h.count(demo.Asked), 0)
	h.advance(time.Second)
	h.footer("⏱60s 1/7") // asked, continued, worked, and counts again
	same(t, "checks and work", []int{h.count(demo.Asked), h.count(demo.Worked)}, []int{1, 1})
	h.advance(60 * time.Second)
	h.footer("")
	same(t, "checks and work", []int{h.count(demo.Asked), h.count(demo.Worked)}, []int{2, 1})
	h.advance(time.Hour)
	settled(t, h.pi, 4)
	same(t, "checks", h.count(demo.Asked), 2)
}

func TestDraftHoldsTheCountdown(t *testing.T) {
	h := newHouse(t, demo.Setup{Script: decider(watchdog.Done)})
	h.watch("timeout=60")
	h.pi.Prompt("go")
	h.footer("⏱60s 0/50")
	h.advance(30 * time.Second)
	h.footer("⏱30s 0/50")
	h.pi.Type("half a sen")
	h.footer("⏱✍ 0/50")
	h.advance(time.Hour)
	same(t, "checks", h.count(demo.Asked), 0)
	wait(t, h.pi, "quiet", func(s demo.State) bool { return !s.Reporting })
	h.pi.ClearDraft()
	h.advance(1900 * time.Millisecond) // the keyboard rests for less than 2 s
	h.sync()
	h.footer("⏱✍ 0/50")
	h.advance(100 * time.Millisecond)
	h.footer("⏱30s 0/50")
	h.advance(30 * time.Second)
	h.footer("")
}

func TestEscStopsTheCountdown(t *testing.T) {
	script := decider(watchdog.Done)
	h := newHouse(t, demo.Setup{Script: func(r demo.Request) demo.Answer {
		if r.N == 1 {
			return demo.Answer{Text: "long", Hold: demo.InText}
		}
		return script(r)
	}})
	h.watch("timeout=0")
	h.pi.Prompt("go")
	held(t, h.pi, demo.InText)
	h.pi.Esc()
	h.footer("⏱⏹ 0/50")
	h.advance(time.Hour)
	h.watch("timeout=5")
	same(t, "checks", h.count(demo.Asked), 0)
	h.pi.Prompt("go on")
	h.footer("⏱5s 0/50")
}

func TestKeepResumesForAPersonOnly(t *testing.T) {
	h := newHouse(t, demo.Setup{Script: decider(watchdog.WaitUser, watchdog.Done)})
	h.watch("timeout=5 mode=keep")
	h.pi.Prompt("go")
	h.footer("⏱5s 0/50")
	h.advance(5 * time.Second)
	h.footer("⏱⏸ 1/50")
	h.pi.PromptFrom("extension", "a subagent is done")
	settled(t, h.pi, 3)
	h.footer("⏱⏸ 1/50")
	h.pi.Prompt("1.2.0")
	h.footer("⏱5s 0/50")
}

// The user speaks in a check: no answer, no work, and the count begins anew.
func TestUserInCheck(t *testing.T) {
	script := decider()
	h := newHouse(t, demo.Setup{Script: func(r demo.Request) demo.Answer {
		if r.Check != "" {
			a := demo.Decide("done", "x")
			a.Hold = demo.InArguments
			return a
		}
		return script(r)
	}})
	h.watch("timeout=5")
	h.pi.Prompt("go")
	h.footer("⏱5s 0/50")
	h.advance(5 * time.Second)
	held(t, h.pi, demo.InArguments)
	h.footer("⏱▶ 1/50")
	h.pi.Prompt("wait, something else")
	h.pi.Release()
	h.footer("⏱5s 0/50")
	same(t, "work", h.count(demo.Worked), 0)
	same(t, "outcome", []any{lastOutcome(t, h.pi).End, lastOutcome(t, h.pi).Why}, []any{watchdog.EndVoid, "the user spoke"})
}

// A hub that dies at any place loses nothing and doubles nothing.
func TestHubRestart(t *testing.T) {
	h := newHouse(t, demo.Setup{Script: decider(watchdog.Continue, watchdog.Continue, watchdog.Continue)})
	h.watch("timeout=5 max=2")
	h.pi.Prompt("go")
	h.footer("⏱5s 0/2")
	h.restartHub()
	h.footer("⏱5s 0/2")
	h.advance(5 * time.Second)
	h.footer("⏱5s 1/2")
	h.restartHub()
	h.footer("⏱5s 1/2")
	same(t, "checks and work", []int{h.count(demo.Asked), h.count(demo.Worked)}, []int{1, 1})
	h.advance(5 * time.Second)
	h.footer("")
	same(t, "checks and work", []int{h.count(demo.Asked), h.count(demo.Worked)}, []int{2, 2})
	h.restartHub()
	h.advance(time.Hour)
	h.footer("")
	same(t, "checks and work", []int{h.count(demo.Asked), h.count(demo.Worked)}, []int{2, 2})
}

func TestHubDiesInCheck(t *testing.T) {
	script := decider(watchdog.Done)
	h := newHouse(t, demo.Setup{Script: func(r demo.Request) demo.Answer {
		if r.N == 2 {
			return demo.Answer{Calls: []demo.ToolCall{demo.DecideCall("done", "late")}, Hold: demo.InArguments}
		}
		return script(r)
	}})
	h.watch("timeout=5")
	h.pi.Prompt("go")
	h.footer("⏱5s 0/50")
	h.advance(5 * time.Second)
	held(t, h.pi, demo.InArguments)
	h.restartHub()
	h.pi.Release()
	h.footer("⏱5s 1/50")
	same(t, "outcome", lastOutcome(t, h.pi).End, watchdog.EndVoid)
	h.advance(5 * time.Second)
	h.footer("")
	same(t, "outcome", lastOutcome(t, h.pi).End, watchdog.EndAnswered)
}

// A reload is no run: nothing counts before this bridge saw one, unless the
// watch was started by hand in it.
func TestReloadOfAWatchedSession(t *testing.T) {
	h := newHouse(t, demo.Setup{Script: decider(watchdog.Done)})
	h.watch("timeout=5")
	h.pi.Prompt("go")
	h.footer("⏱5s 0/50")
	if err := h.pi.Reload(); err != nil {
		t.Fatal(err)
	}
	h.footer("⏱▶ 0/50")
	h.advance(time.Hour)
	same(t, "checks", h.count(demo.Asked), 0)
	h.pi.Prompt("more")
	h.footer("⏱5s 0/50")
}

// PI_WATCHDOG starts it with the session.
func TestEnvironment(t *testing.T) {
	h := newHouse(t, demo.Setup{Env: map[string]string{"PI_WATCHDOG": "timeout=5 max=3"}, Script: decider(watchdog.Done)})
	h.footer("⏱▶ 0/3")
	h.pi.Prompt("go")
	h.footer("⏱5s 0/3")
	h.advance(5 * time.Second)
	h.footer("")
}
