package demo_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"piwatch/internal/control"
	"piwatch/internal/demo"
	"piwatch/internal/watchdog"
)

func TestHello(t *testing.T) {
	h := newFakeHub(t)
	parent := &control.Parent{Session: "p", Pid: 7}
	p := start(t, h, demo.Setup{Name: "n", Pid: 42, Parent: parent, Env: map[string]string{"PI_WATCHDOG": "1"}, Script: demo.Answers(demo.Say("a"))})
	hello := h.hellos[0]
	if hello.Instance == "" || hello.Session != p.Session() || hello.File != p.File() {
		t.Errorf("hello: %+v", hello)
	}
	same(t, "hello", []any{hello.Role, hello.Protocol, hello.Cwd, hello.Name, hello.Model, hello.Pid, hello.Mode, hello.Reason, hello.History, hello.Boundary, hello.Parent, hello.Env, hello.Facts.Idle, hello.Facts.Runs},
		[]any{"bridge", control.Protocol, "/home/dev/project", "n", "demo/stand-in-1", 42, "tui", "startup", false, true, parent, map[string]string{"PI_WATCHDOG": "1"}, true, 0})
	state := p.State()
	same(t, "state", []any{state.Status, state.Watching}, []any{"on", true})
	if err := p.Quit(); err != nil {
		t.Error(err)
	}
	same(t, "bye", decode[control.ByeEvent](t, h.await(control.Bye, 1).params).Reason, "quit")
}

// A hub that dies and comes back: the footer says so, the check is void, and
// the bridge says hello with what the hub needs to go on.
func TestReconnect(t *testing.T) {
	h := newFakeHub(t)
	clock := demo.NewManualClock(epoch)
	p := start(t, h, demo.Setup{Clock: clock, Script: demo.Answers(
		demo.Say("a"), demo.Decide("continue", "n"), demo.Say("b"),
		demo.Answer{Text: "t", Calls: []demo.ToolCall{demo.DecideCall("done", "")}, Hold: demo.InText}, demo.Say("c"))})
	h.call(control.Record, control.RecordParams{Type: watchdog.RecordStart, Data: []byte(`{"by":"pi"}`)})
	p.Prompt("secret words")
	h.await(control.Settled, 1)
	h.check(p, "c1")
	h.await(control.Settled, 2)
	h.sendWork(p, "c1")
	h.await(control.Settled, 3)
	h.check(p, "c2")
	held(t, p, demo.InText)

	h.stop()
	wait(t, p, "lost", func(s demo.State) bool { return s.Status == "LOST" })
	p.Release()
	settled(t, p, 4)
	same(t, "outcome", lastOutcome(t, p).Why, "piwatch went away")
	p.Prompt("without a hub")
	settled(t, p, 5)

	for try := 1; try <= 8; try++ { // it tries again and again, and waits longer each time
		if try == 8 {
			wait(t, p, "waiting", func(s demo.State) bool { return s.Waiting })
			h.listen()
		}
		retry(t, clock, p)
	}
	wait(t, p, "back", func(s demo.State) bool { return s.Connected && s.Status == "on" })
	hello := h.hellos[1]
	same(t, "hello", []any{hello.Reason, hello.Instance == h.hellos[0].Instance, hello.History, hello.Facts.Settle, hello.Facts.Runs, hello.Facts.Check}, []any{"reconnect", true, true, 5, 5, ""})
	var records []string
	for _, raw := range hello.Records {
		e := decode[struct {
			Type, CustomType string
			Content          string
		}](t, raw)
		records = append(records, e.Type+" "+e.CustomType)
		if strings.Contains(string(raw), "secret words") || e.Content != "" {
			t.Errorf("the words of a message left Pi: %s", raw)
		}
	}
	same(t, "records", records, []string{
		"custom " + watchdog.RecordStart,
		"custom_message " + watchdog.MessageWork, "custom " + watchdog.RecordCheck, "custom " + watchdog.RecordOutcome, "message ",
	})
	if err := p.Quit(); err != nil {
		t.Error(err)
	}
}

// retry moves the time by 5 s, in which a bridge without a hub must try again.
func retry(t *testing.T, clock *demo.ManualClock, p *demo.Pi) {
	t.Helper()
	wait(t, p, "waiting", func(s demo.State) bool { return s.Waiting })
	tries := p.State().Tries
	if err := clock.AwaitTimers(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	clock.Advance(5 * time.Second)
	wait(t, p, "trying again", func(s demo.State) bool { return s.Tries > tries })
}

// The backoff never passes 5 s.
func TestBackoff(t *testing.T) {
	clock := demo.NewManualClock(epoch)
	p := start(t, nil, demo.Setup{Clock: clock, Socket: t.TempDir() + "/hub.sock", Script: demo.Answers()})
	for range 10 {
		retry(t, clock, p)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

// A hub of another protocol is as good as none.
func TestOtherProtocol(t *testing.T) {
	h := newFakeHub(t)
	h.refuse = &control.ProtocolError{Hub: 2, Peer: 1, Version: "9"}
	p, err := demo.New(t.Context(), demo.Setup{Socket: h.socket, Script: demo.Answers(demo.Say("a"))})
	if err != nil {
		t.Fatal(err)
	}
	for e := range p.Events(t.Context()) {
		if e.Kind == demo.Gone {
			same(t, "cause", e.Text, h.refuse.Error())
			break
		}
	}
	p.Prompt("go")
	settled(t, p, 1)
	if p.State().Connected {
		t.Error("connected")
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

// The hub dies while the tool waits for its answer.
func TestGoneInDecide(t *testing.T) {
	h := newFakeHub(t)
	h.hold = make(chan struct{})
	p := start(t, h, demo.Setup{Script: demo.Answers(demo.Say("a"), demo.Decide("continue", "x"))})
	p.Prompt("go")
	h.await(control.Settled, 1)
	h.check(p, "c1")
	held(t, p, demo.InDecide)
	h.stop()
	settled(t, p, 2)
	same(t, "result", firstResult(t, p.File()), "GONE")
	same(t, "outcome", lastOutcome(t, p).End, watchdog.EndVoid)
}

// A reload is a new bridge: it counts from the start, has the tool the session
// holds, and the old one answers nothing.
func TestReload(t *testing.T) {
	h := newFakeHub(t)
	p := start(t, h, demo.Setup{Script: demo.Answers(demo.Say("a"), demo.Say("b"))})
	p.Prompt("go")
	h.await(control.Settled, 1)
	h.mu.Lock()
	h.welcome.Tool.Description = "another text"
	h.mu.Unlock()
	if err := p.Reload(); err != nil {
		t.Fatal(err)
	}
	same(t, "bye", decode[control.ByeEvent](t, h.await(control.Bye, 1).params).Reason, "reload")
	h.await(control.Hello, 2)
	wait(t, p, "back", func(s demo.State) bool { return s.Connected })
	hello := h.hellos[1]
	same(t, "hello", []any{hello.Reason, hello.Instance != h.hellos[0].Instance, hello.History, hello.Facts.Settle, hello.Facts.Runs}, []any{"reload", true, true, 0, 0})
	p.Prompt("again")
	h.await(control.Settled, 2)
	count := 0
	for _, kind := range kinds(t, p.File()) {
		if kind == watchdog.RecordTool || kind == "system" {
			count++
		}
	}
	same(t, "tool records and system rows", count, 2)
}

// Resume goes on with the file of a Pi that was killed.
func TestResume(t *testing.T) {
	h := newFakeHub(t)
	first := start(t, h, demo.Setup{Script: demo.Answers(demo.Say("a"))})
	first.Prompt("go")
	h.await(control.Settled, 1)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	p := start(t, h, demo.Setup{Resume: first, Script: demo.Answers(demo.Say("b"))})
	hello := h.hellos[1]
	same(t, "hello", []any{hello.Reason, hello.History, hello.Session, hello.Facts.Runs}, []any{"resume", true, first.Session(), 0})
	p.Prompt("more")
	h.await(control.Settled, 2)
	same(t, "context", len(contextOf(t, p)), 4)
	if slices.Contains(h.methods(), control.Bye) {
		t.Error("a killed Pi said good-bye")
	}
}

func TestNeedsScript(t *testing.T) {
	if p, err := demo.New(t.Context(), demo.Setup{}); err == nil {
		t.Error(errors.Join(err, p.Close()))
	}
}
