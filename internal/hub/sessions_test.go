package hub_test

import (
	"encoding/json"
	"slices"
	"testing"

	"piwatch/internal/control"
	"piwatch/internal/watchdog"
)

func childOf(parent string) func(*control.BridgeHello) {
	return func(h *control.BridgeHello) {
		h.Parent, h.Pid = &control.Parent{Session: parent, Pid: 1000}, 2000
	}
}

// A parent does not count down while a child of it runs.
func TestChildren(t *testing.T) {
	h, c, parent := counting(t)
	child := h.join(hello("child", childOf("s1")))
	if s := c.session("child"); s.Parent == nil || s.Parent.Session != "s1" {
		t.Errorf("the child is %+v", s)
	}
	child.run(false)
	parent.wants("status ⏱▶ 0/3")
	if why := c.session("s1").Watch.Why; why != "a child session is running" {
		t.Errorf("the parent waits since: %s", why)
	}
	second := h.join(hello("second", childOf("s1"), func(h *control.BridgeHello) { h.Facts.Idle, h.Pid = false, 2001 }))
	child.settle()
	if why := c.session("s1").Watch.Why; why != "a child session is running" {
		t.Errorf("with one of two children running: %s", why)
	}
	second.leave() // a child that was killed runs no more
	parent.wants("status ⏱2s 0/3")
	child.tell(control.Compaction, control.CompactionEvent{On: true})
	parent.wants("status ⏱▶ 0/3")
	child.tell(control.Bye, control.ByeEvent{Reason: "quit"})
	parent.wants("status ⏱2s 0/3")
}

// The child was there first, or the parent came back while it runs.
func TestParentJoinsWhileChildRuns(t *testing.T) {
	started := record(watchdog.RecordStart, watchdog.Start{By: "cli", Settings: watchdog.Settings{Timeout: 2, Max: 3, Mode: watchdog.Once}, Instance: "one"})
	watched := hello("s1", func(h *control.BridgeHello) { h.Records = append(h.Records, started) })
	h := start(t)
	c := h.client()
	child := h.join(hello("child", childOf("s1"), func(h *control.BridgeHello) { h.Facts.Idle = false }))
	first := h.join(watched)
	if why := c.session("s1").Watch.Why; why != "a child session is running" {
		t.Errorf("joined after its child: %s", why)
	}
	again := h.join(watched) // the old connection is not noticed dead yet
	if why := c.session("s1").Watch.Why; why != "a child session is running" {
		t.Errorf("joined again: %s", why)
	}
	again.wants("tool", "status ⏱2s 0/3", "status ⏱▶ 0/3")
	child.settle()
	again.wants("status ⏱2s 0/3")
	first.leave()
	if v := c.session("s1").Watch; v.Phase != watchdog.Counting {
		t.Errorf("the end of the old connection: %+v", v)
	}
}

// Two Pis with one session: the first drives, the other takes over.
func TestTwoBridges(t *testing.T) {
	const warning = "warning: piwatch: another Pi has this session open and is watched; this one is not."
	h, c, first := counting(t)
	other := func(h *control.BridgeHello) { h.Pid, h.Instance = 3000, "other" }
	second := h.join(hello("s1", other))
	second.wants(warning)
	if second.welcome.On {
		t.Error("the second bridge is told that it is watched")
	}
	// Nothing that the second tells changes anything.
	second.run(false)
	second.tell(control.Input, control.InputEvent{Source: "interactive"})
	if r := second.command("stop"); r.Level != "error" {
		t.Errorf("/watchdog in the second: %+v", r)
	}
	if r := second.decide("", "done", ""); r.Accepted || r.Text != watchdog.AnswerOff {
		t.Errorf("the tool in the second: %+v", r)
	}
	second.settle()
	if v := c.session("s1"); v.Watch.Phase != watchdog.Counting || v.Pid != 1000 || len(c.sessions()) != 1 {
		t.Errorf("with two bridges: %+v", v)
	}
	h.clock.advance(2 * sec)
	first.wants("status ⏱1s 0/3", "check 1/3 at 1 leaf1", "status ⏱▶ 1/3")
	// The first dies: the second is asked to come again, and drives.
	first.leave()
	select {
	case <-second.conn.Done():
	case <-h.ctx.Done():
		t.Fatal("the second bridge was not asked to come again")
	}
	records := []json.RawMessage{
		userRow(),
		record(watchdog.RecordStart, watchdog.Start{By: "cli", Settings: watchdog.Settings{Timeout: 2, Max: 3, Mode: watchdog.Once}, Instance: "one"}),
		record(watchdog.RecordCheck, watchdog.Check{ID: "c1", N: 1, Max: 3}),
	}
	back := h.join(hello("s1", other, func(h *control.BridgeHello) { h.Reason, h.Records = "reconnect", records }))
	if !back.welcome.On {
		t.Error("the second bridge is not told that it is watched")
	}
	back.wants("tool", "status ⏱2s 1/3")
	if v := c.session("s1"); v.Pid != 3000 || v.Watch.Count != 1 {
		t.Errorf("taken over: %+v", v)
	}
	h.clock.advance(2 * sec)
	back.wants("status ⏱1s 1/3", "check 2/3 at 1 leaf1")
}

// A bridge that comes back to another hub brings what is on its branch: the
// count is right, and nothing is doubled.
func TestReconnect(t *testing.T) {
	started := func(instance string) json.RawMessage {
		return record(watchdog.RecordStart, watchdog.Start{By: "tui", Settings: watchdog.Settings{Timeout: 2, Max: 3, Mode: watchdog.Keep}, Instance: instance})
	}
	check := func(id string, n int) json.RawMessage {
		return record(watchdog.RecordCheck, watchdog.Check{ID: id, N: n, Max: 3})
	}
	answered := func(id string, d watchdog.Decision) json.RawMessage {
		return record(watchdog.RecordOutcome, watchdog.Outcome{Check: id, End: watchdog.EndAnswered, Decision: d})
	}
	work := json.RawMessage(`{"type":"custom_message","id":"w","customType":"piwatch.work","content":""}`)
	for _, c := range []struct {
		name    string
		records []json.RawMessage
		facts   func(*control.Facts)
		wants   []string
		view    func(watchdog.View) bool
	}{
		{"never watched", nil, nil, nil, func(v watchdog.View) bool { return v.Phase == watchdog.Off }},
		{"counting", []json.RawMessage{started("one"), check("c1", 1), answered("c1", "continue"), work}, nil,
			[]string{"tool", "status ⏱2s 1/3 keep"}, func(v watchdog.View) bool { return v.Phase == watchdog.Counting && v.Count == 1 }},
		{"the work message is owed", []json.RawMessage{started("one"), check("c1", 1), answered("c1", "continue")}, nil,
			[]string{"tool", "work at 1 leaf1", "status ⏱▶ 1/3 keep"}, func(v watchdog.View) bool { return v.Phase == watchdog.Working }},
		{"suspended", []json.RawMessage{started("one"), check("c1", 1), answered("c1", "done")}, nil,
			[]string{"tool", "status ⏱⏸ 1/3 keep"}, func(v watchdog.View) bool { return v.Phase == watchdog.Suspended }},
		{"stopped", []json.RawMessage{started("one"), record(watchdog.RecordStop, watchdog.Stop{By: "tui", Reason: watchdog.StopByHand})}, nil,
			nil, func(v watchdog.View) bool { return v.Phase == watchdog.Off && v.Why == "off: stopped by hand" }},
		{"the cap was reached as the hub died", []json.RawMessage{started("one"), check("c3", 3)}, nil,
			[]string{"tool", `record stop {"by":"piwatch","reason":"max"}`},
			func(v watchdog.View) bool { return v.Phase == watchdog.Off }},
		{"a check is open", []json.RawMessage{started("one"), check("c1", 1)}, func(f *control.Facts) { f.Check, f.Idle = "c1", false },
			[]string{"tool", "status ⏱▶ 1/3 keep"}, func(v watchdog.View) bool { return v.Phase == watchdog.Working && v.Check == "c1" }},
		{"in another load of the bridge", []json.RawMessage{started("zero")}, func(f *control.Facts) { f.Runs = 0 },
			[]string{"tool", "status ⏱▶ 0/3 keep"}, func(v watchdog.View) bool { return v.Phase == watchdog.Waiting }},
		{"interrupted", []json.RawMessage{started("one")}, func(f *control.Facts) { f.Aborted = true },
			[]string{"tool", "status ⏱⏹ 0/3 keep"}, func(v watchdog.View) bool { return v.Phase == watchdog.Interrupted }},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := start(t)
			cl := h.client()
			b := h.join(hello("s1", func(h *control.BridgeHello) {
				h.Reason, h.Records = "reconnect", append(h.Records, c.records...)
				if c.facts != nil {
					c.facts(&h.Facts)
				}
			}))
			b.wants(c.wants...)
			s := cl.session("s1")
			if !c.view(s.Watch) {
				t.Errorf("rebuilt %+v", s.Watch)
			}
			if want := s.Watch.Phase != watchdog.Off; b.welcome.On != want {
				t.Errorf("the welcome says on: %v", b.welcome.On)
			}
		})
	}
}

func TestWelcome(t *testing.T) {
	h := start(t)
	b := h.join(hello("s1", env("PI_WATCHDOG", "1")))
	w := b.welcome
	if w.Protocol != control.Protocol || w.Hub != "1.2.3" || !w.On || w.Status != "⏱60s 0/50" {
		t.Errorf("welcome %+v", w)
	}
	if w.Texts != (control.Texts{Blocked: watchdog.BlockedText, Gone: watchdog.GoneText, Lost: watchdog.LostStatus}) {
		t.Errorf("texts %+v", w.Texts)
	}
	if w.Tool.Name != watchdog.ToolName || w.Tool.Description != watchdog.ToolDescription || string(w.Tool.Parameters) != string(watchdog.ToolParameters()) {
		t.Errorf("tool %+v", w.Tool)
	}
}

// PI_WATCHDOG at a new session, in all its forms.
func TestEnvironment(t *testing.T) {
	for _, c := range []struct {
		value string
		wants []string
	}{
		{"", nil},
		{"0", nil},
		{"false", nil},
		{"1", []string{"tool", `record start {"by":"env","settings":{"timeout":60,"max":50,"mode":"once"}}`, "status ⏱60s 0/50"}},
		{"true", []string{"tool", `record start {"by":"env","settings":{"timeout":60,"max":50,"mode":"once"}}`, "status ⏱60s 0/50"}},
		{"timeout=5 mode=keep message=go  on", []string{
			"tool", `record start {"by":"env","settings":{"timeout":5,"max":50,"mode":"keep","message":"go  on"}}`, "status ⏱5s 0/50 keep",
		}},
		{"yes", []string{`error: PI_WATCHDOG: "yes": is not key=value. Usage: ` + watchdog.Usage + " The watchdog is not started."}},
		{"timeout=99999999", []string{
			`error: PI_WATCHDOG: "timeout=99999999": must be a whole number from 0 to 86400. Usage: ` + watchdog.Usage + " The watchdog is not started.",
		}},
	} {
		t.Run(c.value, func(t *testing.T) {
			h := start(t)
			cl := h.client()
			w := cl.watch()
			b := h.join(hello("s1", env("PI_WATCHDOG", c.value)))
			b.wants(c.wants...)
			if on := cl.session("s1").Watch.Phase != watchdog.Off; on != (len(c.wants) > 1) {
				t.Errorf("it is on: %v", on)
			}
			if len(c.wants) == 1 {
				if n := w.notice("PI_WATCHDOG"); n.Level != "error" {
					t.Errorf("the clients are told %+v", n)
				}
			}
		})
	}
}

// With history a start by the environment asks for no model call that nobody
// requested.
func TestEnvironmentWithHistory(t *testing.T) {
	h := start(t)
	b := h.join(hello("s1", env("PI_WATCHDOG", "timeout=0"), func(h *control.BridgeHello) { h.Facts.Runs = 0 }))
	b.wants("tool", `record start {"by":"env","settings":{"timeout":0,"max":50,"mode":"once"}}`, "status ⏱▶ 0/50")
	h.clock.advance(60 * 60 * sec)
	b.user()
	b.settle()
	b.wants("check 1/50 at 2 leaf2")
}

// A reload or a broken channel is no new start; what the user stopped stays
// stopped. A new process starts again, and keeps count and state.
func TestEnvironmentAgain(t *testing.T) {
	const value = "timeout=5 max=3"
	five := watchdog.Settings{Timeout: 5, Max: 3, Mode: watchdog.Once}
	started := record(watchdog.RecordStart, watchdog.Start{By: watchdog.ByEnv, Settings: five})
	stopped := record(watchdog.RecordStop, watchdog.Stop{By: "pi", Reason: watchdog.StopByHand})
	check := record(watchdog.RecordCheck, watchdog.Check{ID: "c2", N: 2, Max: 3})
	start5 := `record start {"by":"env","settings":{"timeout":5,"max":3,"mode":"once"}}`
	for _, c := range []struct {
		name    string
		reason  string
		records []json.RawMessage
		wants   []string
		phase   watchdog.Phase
		count   int
	}{
		{"reload, stopped", "reload", []json.RawMessage{started, stopped}, nil, watchdog.Off, 0},
		{"reconnect, stopped", "reconnect", []json.RawMessage{started, stopped}, nil, watchdog.Off, 0},
		{"reload, on", "reload", []json.RawMessage{started, check}, []string{"tool", "status ⏱5s 2/3"}, watchdog.Counting, 2},
		{"reconnect, on", "reconnect", []json.RawMessage{started, check}, []string{"tool", "status ⏱5s 2/3"}, watchdog.Counting, 2},
		{"reconnect, the start was lost with the hub", "reconnect", nil, []string{"tool", start5, "status ⏱5s 0/3"}, watchdog.Counting, 0},
		{"resume, on", "resume", []json.RawMessage{started, check}, []string{"tool", "status ⏱5s 2/3"}, watchdog.Counting, 2},
		{"resume, stopped", "resume", []json.RawMessage{started, check, stopped}, []string{"tool", start5, "status ⏱5s 2/3"}, watchdog.Counting, 2},
		{"resume, on with other settings", "resume", []json.RawMessage{
			record(watchdog.RecordStart, watchdog.Start{By: "tui", Settings: watchdog.Settings{Timeout: 9, Max: 9, Mode: watchdog.Once}}), check,
		}, []string{"tool", "status ⏱9s 2/9", `record set {"by":"env","settings":{"timeout":5,"max":3,"mode":"once"}}`, "status ⏱5s 2/3"}, watchdog.Counting, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := start(t)
			cl := h.client()
			b := h.join(hello("s1", env("PI_WATCHDOG", value), func(h *control.BridgeHello) {
				h.Reason, h.Records = c.reason, append(h.Records, c.records...)
			}))
			b.wants(c.wants...)
			if v := cl.session("s1").Watch; v.Phase != c.phase || v.Count != c.count {
				t.Errorf("it is %+v", v)
			}
		})
	}
}

func TestOtherWatchdog(t *testing.T) {
	h := start(t)
	b := h.join(hello("s1", func(h *control.BridgeHello) { h.Other = "another extension has the command /watchdog" }))
	b.wants("warning: piwatch: another extension has the command /watchdog. Use one of the two.")
	if r := b.command("timeout=60"); r.Level != "info" {
		t.Errorf("a start by hand beside another watchdog: %+v", r)
	}
}

// Two watchdogs must not both ask: nothing starts by itself beside another.
func TestEnvironmentBesideAnotherWatchdog(t *testing.T) {
	h := start(t)
	c := h.client()
	w := c.watch()
	b := h.join(hello("s1", env("PI_WATCHDOG", "1"), func(h *control.BridgeHello) { h.Other = "the command is another's" }))
	const text = "PI_WATCHDOG: not started, so that two watchdogs do not both ask: the command is another's."
	b.wants("warning: "+text, "warning: piwatch: the command is another's. Use one of the two.")
	if n := w.notice("PI_WATCHDOG"); n.Text != text || n.Level != "warning" {
		t.Errorf("the clients are told %+v", n)
	}
	if v := c.session("s1").Watch; v.Phase != watchdog.Off || b.welcome.On {
		t.Errorf("it is %+v", v)
	}
}

// A session without a file says so.
func TestSessionWithoutAFile(t *testing.T) {
	h := start(t)
	c := h.client()
	h.join(hello("s1", func(h *control.BridgeHello) { h.File = "" }))
	c.steer(control.StatusText, control.SteerParams{Session: "s1"},
		"info: Watchdog: off. This session has no file: what piwatch knows of it lives in Pi only.")
}

// Damaged records from a bridge count as absent.
func TestDamagedRecords(t *testing.T) {
	h := start(t)
	c := h.client()
	h.join(hello("s1", func(h *control.BridgeHello) {
		h.Records = []json.RawMessage{json.RawMessage(`"text"`), json.RawMessage(`{}`), json.RawMessage(`[1]`), record(watchdog.RecordStart, 7)}
	}))
	if v := c.session("s1").Watch; v.Phase != watchdog.Off {
		t.Errorf("rebuilt %+v", v)
	}
}

func TestByeAndGone(t *testing.T) {
	h := start(t)
	c := h.client()
	b := h.join(hello("s1"))
	h.join(hello("s2", func(h *control.BridgeHello) { h.Pid = 2 }))
	w := c.watch()
	if got := ids(w.first); !slices.Equal(got, []string{"s1", "s2"}) {
		t.Errorf("watch begins with %v", got)
	}
	b.tell(control.Bye, control.ByeEvent{Reason: "new"})
	w.until(func(p control.Push) bool { return p.Gone == "s1" })
	if got := ids(c.sessions()); !slices.Equal(got, []string{"s2"}) {
		t.Errorf("afterwards %v", got)
	}
}
