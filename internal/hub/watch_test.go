package hub_test

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"piwatch/internal/control"
	"piwatch/internal/watchdog"
)

const sec = time.Second

// startRecord is the record of a start by a client named cli.
func startRecord(settings string) string {
	return `record start {"by":"cli","settings":{` + settings + `},"instance":"one"}`
}

const threeChecks = `"timeout":2,"max":3,"mode":"once"`

// counting is a session that a client started: 2 s, 3 checks.
func counting(t *testing.T) (*testHub, *client, *bridge) {
	t.Helper()
	h := start(t)
	c := h.client()
	b := h.join(hello("s1"))
	c.start("s1", "timeout=2 max=3")
	b.wants("tool", startRecord(threeChecks), "status ⏱2s 0/3")
	return h, c, b
}

// A whole check: countdown, check, decision, work, and the next countdown.
func TestCheckAndWork(t *testing.T) {
	h, c, b := counting(t)
	w := c.watch()
	h.clock.advance(2 * sec)
	b.wants("status ⏱1s 0/3")
	check := b.check("check 1/3 at 1 leaf1")
	b.wants("status ⏱▶ 1/3")
	b.run(true)
	if got := b.decide(check, "perhaps", ""); got != (control.DecideReply{Text: watchdog.AnswerBad}) {
		t.Errorf("a bad value: %+v", got)
	}
	if got := b.decide(check, "continue", "tests"); got != (control.DecideReply{Text: watchdog.AnswerContinue, Accepted: true, Terminate: true}) {
		t.Errorf("continue: %+v", got)
	}
	if got := b.decide(check, "done", ""); got != (control.DecideReply{Text: watchdog.AnswerTwice, Terminate: true}) {
		t.Errorf("a second answer: %+v", got)
	}
	b.closed(watchdog.Outcome{Check: check, End: watchdog.EndAnswered, Decision: watchdog.Continue, Note: "tests"})
	b.settle()
	b.wants("work at 2 leaf2")
	b.run(true)
	if v := c.session("s1").Watch; v.Last != watchdog.Continue || v.Note != "tests" || v.Phase != watchdog.Working {
		t.Errorf("at work: %+v", v)
	}
	b.settle()
	b.wants("status ⏱2s 1/3")
	w.notice("answered continue: tests")
	h.clock.advance(2 * sec)
	b.wants("status ⏱1s 1/3")
	b.check("check 2/3 at 3 leaf3")
}

func TestDoneEnds(t *testing.T) {
	h, c, b := counting(t)
	h.clock.advance(2 * sec)
	b.wants("status ⏱1s 0/3")
	check := b.check("check 1/3 at 1 leaf1")
	b.wants("status ⏱▶ 1/3")
	b.run(true)
	if got := b.decide(check, "done", "all green"); !got.Accepted || !got.Terminate || got.Text != watchdog.AnswerStop {
		t.Errorf("done: %+v", got)
	}
	b.closed(watchdog.Outcome{Check: check, End: watchdog.EndAnswered, Decision: watchdog.Done, Note: "all green"})
	b.wants("status empty")
	b.settle()
	if v := c.session("s1").Watch; v.Phase != watchdog.Off || v.Why != "off: the agent answered done" || v.Note != "all green" {
		t.Errorf("after done: %+v", v)
	}
	if n := h.clock.waiting(); n != 0 {
		t.Errorf("%d timers are left", n)
	}
}

// Pi's footer changes once a second while it counts, and not otherwise.
func TestStatusOnceASecond(t *testing.T) {
	h := start(t)
	c := h.client()
	b := h.join(hello("s1"))
	c.start("s1", "timeout=60 max=3")
	b.wants("tool", startRecord(`"timeout":60,"max":3,"mode":"once"`), "status ⏱60s 0/3")
	for _, want := range []string{"59", "58", "57"} {
		h.clock.advance(sec)
		b.wants("status ⏱" + want + "s 0/3")
	}
	h.clock.advance(400 * time.Millisecond)
	h.clock.advance(500 * time.Millisecond)
	h.clock.advance(100 * time.Millisecond)
	b.wants("status ⏱56s 0/3")
	b.run(false)
	b.wants("status ⏱▶ 0/3")
	h.settleDown(c)
	if n := h.clock.waiting(); n != 0 {
		t.Errorf("%d timers wait while the agent works", n)
	}
	h.clock.advance(time.Hour)
	b.settle()
	b.wants("status ⏱60s 0/3")
	c.steer(control.Pause, control.SteerParams{Session: "s1"}, "info: Watchdog paused.")
	b.wants(`record pause {"by":"cli","on":true}`, "status ⏱⏸ 0/3")
	h.clock.advance(time.Hour)
	c.steer(control.Resume, control.SteerParams{Session: "s1"}, "info: Watchdog resumed.")
	b.wants(`record pause {"by":"cli","on":false}`, "status ⏱60s 0/3")
}

// Keys pause the countdown, and a tick goes on with it.
func TestKeys(t *testing.T) {
	h, c, b := counting(t)
	b.tell(control.Activity, control.ActivityEvent{Key: true})
	b.wants("status ⏱✍ 0/3")
	h.settleDown(c)
	h.clock.advance(1900 * time.Millisecond)
	b.tell(control.Activity, control.ActivityEvent{Key: true, Draft: true})
	b.tell(control.Activity, control.ActivityEvent{Draft: false})
	h.settleDown(c)
	h.clock.advance(1900 * time.Millisecond)
	h.clock.advance(100 * time.Millisecond)
	b.wants("status ⏱2s 0/3")
	b.tell(control.Dialog, control.DialogEvent{Open: true})
	b.wants("status ⏱✍ 0/3")
	b.tell(control.Dialog, control.DialogEvent{Open: false})
	b.wants("status ⏱2s 0/3")
	b.tell(control.Compaction, control.CompactionEvent{On: true})
	b.wants("status ⏱▶ 0/3")
	b.tell(control.Compaction, control.CompactionEvent{On: false})
	b.wants("status ⏱2s 0/3")
}

// On another branch the watchdog stands where the record of that branch says;
// on one without a start it is off.
func TestTree(t *testing.T) {
	h, c, b := counting(t)
	started := record(watchdog.RecordStart, watchdog.Start{By: "cli", Settings: watchdog.Settings{Timeout: 2, Max: 3, Mode: watchdog.Once}})
	asked := record(watchdog.RecordCheck, watchdog.Check{ID: "c1", N: 1, Max: 3})
	answered := record(watchdog.RecordOutcome, watchdog.Outcome{Check: "c1", End: watchdog.EndNoAnswer})
	b.facts.Leaf = "elsewhere"
	b.tell(control.Tree, control.TreeEvent{Facts: b.facts, Records: []json.RawMessage{userRow(), started, asked, answered}})
	b.wants("tool", "status ⏱2s 1/3")
	h.settleDown(c)
	h.clock.advance(2 * sec)
	b.wants("status ⏱1s 1/3", "check 2/3 at 1 elsewhere", "status ⏱▶ 2/3")
	b.facts.Leaf = "before the start"
	b.tell(control.Tree, control.TreeEvent{Facts: b.facts, Records: []json.RawMessage{userRow()}})
	b.wants("status empty")
	if got := c.sessions()[0].Watch.Phase; got != watchdog.Off {
		t.Errorf("on a branch without a start the watchdog is %s", got)
	}
}

// A refusal is logged, corrects the hub, and is retried once.
func TestRefusal(t *testing.T) {
	h, c, b := counting(t)
	w := c.watch()
	for _, result := range []string{control.Refused, control.Stale} {
		b.answer(control.SendCheck, control.Receipt{Result: result, Reason: "the session moved on since"})
	}
	h.clock.advance(2 * sec)
	b.wants("status ⏱1s 0/3", "check 1/3 at 1 leaf1", "status ⏱▶ 1/3", "status ⏱2s 0/3")
	if n := w.notice("the check was not sent: the session moved on since"); n.Level != "warning" || n.Session != "s1" || n.Time != begin.Add(2*sec).UnixMilli() {
		t.Errorf("notice %+v", n)
	}
	h.settleDown(c)
	h.clock.advance(2 * sec)
	b.wants("status ⏱1s 0/3", "check 1/3 at 1 leaf1", "status ⏱▶ 1/3", "status ⏱▶ 0/3")
	h.settleDown(c)
	if why := c.session("s1").Watch.Why; why != "refused: the session moved on since; waits for the next settle" {
		t.Errorf("after two refusals: %s", why)
	}
	h.clock.advance(time.Hour)
	b.settle()
	b.wants("status ⏱2s 0/3")
	b.facts.Draft = true
	b.refuse(control.SendCheck, "the editor holds a draft")
	h.settleDown(c)
	h.clock.advance(2 * sec)
	b.wants("status ⏱1s 0/3", "check 1/3 at 2 leaf2", "status ⏱▶ 1/3", "status ⏱✍ 0/3")
}

// Queued counts as sent.
func TestQueued(t *testing.T) {
	h, c, b := counting(t)
	b.answer(control.SendCheck, control.Receipt{Result: control.Queued})
	h.clock.advance(2 * sec)
	b.wants("status ⏱1s 0/3", "check 1/3 at 1 leaf1", "status ⏱▶ 1/3")
	if v := c.session("s1").Watch; v.Phase != watchdog.Checking || v.Count != 1 {
		t.Errorf("after a queued check: %+v", v)
	}
}

// The user speaks during a check.
func TestUserDuringCheck(t *testing.T) {
	h, c, b := counting(t)
	h.clock.advance(2 * sec)
	b.wants("status ⏱1s 0/3")
	check := b.check("check 1/3 at 1 leaf1")
	b.wants("status ⏱▶ 1/3")
	b.run(true)
	b.tell(control.Input, control.InputEvent{Source: "rpc"})
	b.wants("status ⏱▶ 0/3")
	if got := b.decide(check, "done", ""); got.Accepted || got.Text != watchdog.AnswerVoid {
		t.Errorf("an answer to a void check: %+v", got)
	}
	b.closed(watchdog.Outcome{Check: check, End: watchdog.EndVoid, Why: "the user spoke"})
	b.settle()
	b.wants("status ⏱2s 0/3")
	if v := c.session("s1").Watch; v.Phase != watchdog.Counting {
		t.Errorf("afterwards: %+v", v)
	}
}

// What another extension sends is no message of the user.
func TestExtensionSpeaks(t *testing.T) {
	h, c, b := counting(t)
	h.clock.advance(2 * sec)
	b.wants("status ⏱1s 0/3", "check 1/3 at 1 leaf1", "status ⏱▶ 1/3")
	b.tell(control.Input, control.InputEvent{Source: "extension"})
	h.settleDown(c)
	if v := c.session("s1").Watch; v.Count != 1 {
		t.Errorf("the count is %d, want 1", v.Count)
	}
}

func TestStopDuringCheck(t *testing.T) {
	h, c, b := counting(t)
	h.clock.advance(2 * sec)
	b.wants("status ⏱1s 0/3", "check 1/3 at 1 leaf1", "status ⏱▶ 1/3")
	b.run(true)
	c.steer(control.Stop, control.SteerParams{Session: "s1", By: "tui"}, "info: Watchdog stopped.")
	b.wants(`record stop {"by":"tui","reason":"stopped"}`, "void abort=true: stopped by hand", "status empty")
}

// settled is answered when all that it leads to is with Pi: a Pi in print mode
// ends afterwards.
func TestSettledWaits(t *testing.T) {
	h := start(t)
	c := h.client()
	b := h.join(hello("s1", env("PI_WATCHDOG", "timeout=60"), func(h *control.BridgeHello) { h.Mode, h.Facts.Runs = "print", 0 }))
	b.wants("tool", `record start {"by":"env","settings":{"timeout":60,"max":50,"mode":"once"}}`, "status ⏱▶ 0/50")
	b.user()
	release := b.block()
	answered := make(chan error, 1)
	b.facts.Settle, b.facts.Runs, b.facts.Idle, b.facts.Leaf = 2, 1, true, "leaf2"
	go func() { answered <- b.conn.Call(b.ctx, control.Settled, control.SettledEvent{Facts: b.facts}, nil) }()
	b.wants("check 1/50 at 2 leaf2")
	h.settleDown(c)
	select {
	case err := <-answered:
		t.Errorf("settled was answered before the check (%v)", err)
	default:
	}
	release()
	if err := <-answered; err != nil {
		t.Error(err)
	}
}

// A bridge that answers nothing is given up.
func TestBridgeThatDoesNotAnswer(t *testing.T) {
	h, c, b := counting(t)
	release := b.block()
	defer release()
	var steers sync.WaitGroup
	defer steers.Wait()
	for range 300 {
		steers.Go(func() { // each is answered when it is recorded, or the session gone
			_, _ = c.Steer(h.ctx, control.Set, control.SteerParams{Session: "s1", Line: "timeout=2"})
		})
	}
	select {
	case <-b.conn.Done():
	case <-h.ctx.Done():
		t.Error("the connection lives on")
	}
}

// The agent stops the watchdog by itself; outside a check continue is refused.
func TestDecideOutside(t *testing.T) {
	_, _, b := counting(t)
	b.run(false)
	b.wants("status ⏱▶ 0/3")
	if got := b.decide("", "continue", ""); got != (control.DecideReply{Text: watchdog.AnswerNoCheck}) {
		t.Errorf("continue: %+v", got)
	}
	if got := b.decide("", "wait_user", "the password"); got != (control.DecideReply{Text: watchdog.AnswerStop, Accepted: true, Terminate: true}) {
		t.Errorf("wait_user: %+v", got)
	}
	b.wants("status empty")
}

func TestCommandsInPi(t *testing.T) {
	h := start(t)
	b := h.join(hello("s1"))
	reply := func(args, want string) {
		t.Helper()
		r := b.command(args)
		if got := r.Level + ": " + r.Text; got != want {
			t.Errorf("/watchdog %s\n got %s\nwant %s", args, got, want)
		}
	}
	reply("status", "info: Watchdog: off.")
	reply("resume", "error: The watchdog is off; start it first.")
	reply("pause", "info: Loop alerts of this session are held until they are resumed.") // there is no countdown to hold
	reply("resume", "info: Loop alerts of this session are told again.")
	reply("stop now", `error: Nothing changed: "now": nothing may follow this word. Usage: `+watchdog.Usage)
	reply("extend soon", `error: Nothing changed: "soon": extend takes seconds, as in extend 30 or extend -30. Usage: `+watchdog.Usage)
	reply("mode both", `error: Nothing changed: "mode=both": mode is once or keep. Usage: `+watchdog.Usage)
	reply("bogus", `error: Watchdog not started: "bogus": is not key=value. Usage: `+watchdog.Usage)
	reply("max=0", `error: Watchdog not started: "max=0": must be a whole number from 1 to 10000. Usage: `+watchdog.Usage)
	reply("timeout=9 message=  two words ", "info: Watchdog started: timeout=9 max=50 mode=once message=  two words ")
	b.wants("tool", `record start {"by":"pi","settings":{"timeout":9,"max":50,"mode":"once","message":"  two words "},"instance":"one"}`, "status ⏱9s 0/50")
	reply(" status ", "info: Watchdog: counting, 0 of 50 checks, timeout=9 max=50 mode=once message=  two words . Asks in 9 s.")
	reply("skip", "info: This check is skipped; the next one comes after the agent's next run.")
	reply("pause", "info: Watchdog paused.")
	reply("resume", "info: Watchdog resumed.")
	reply("resume", "info: Watchdog resumed.")
	reply("nudge", "info: Asking now.")
	reply("", "info: Watchdog started anew: timeout=60 max=50 mode=once")
	reply("stop", "info: Watchdog stopped.")
	var other control.CommandReply
	b.call(control.Command, control.CommandParams{Name: "other"}, &other)
	if other.Level != "error" || !strings.Contains(other.Text, "/other") {
		t.Errorf("/other: %+v", other)
	}
}

func TestRenamed(t *testing.T) {
	h := start(t)
	c := h.client()
	b := h.join(hello("s1"))
	b.tell(control.Renamed, control.RenamedEvent{Name: "the parser", Model: "a/b"})
	h.settleDown(c)
	b.settle() // what was told before is dealt with
	if s := c.session("s1"); s.Name != "the parser" || s.Model != "a/b" {
		t.Errorf("renamed: %+v", s)
	}
}

// What one client changes, the other clients and Pi are told. Of the same
// command from several clients at once one has an effect.
func TestEveryoneIsTold(t *testing.T) {
	h, c, b := counting(t)
	first, second := h.client().watch(), h.client().watch()
	var calls sync.WaitGroup
	var done atomic.Int32
	for range 8 {
		calls.Go(func() {
			reply, err := c.Steer(c.ctx, control.Stop, control.SteerParams{Session: "s1", By: "tui"})
			if err != nil {
				t.Error(err)
			}
			if reply.Level == "info" {
				done.Add(1)
			}
		})
	}
	calls.Wait()
	if done.Load() != 1 {
		t.Errorf("%d of 8 stops at once were done, want 1", done.Load())
	}
	for _, w := range []*watcher{first, second} {
		w.notice("tui: Watchdog stopped.")
	}
	b.wants(`record stop {"by":"tui","reason":"stopped"}`, "status empty")
	h.settleDown(c)
	b.mu.Lock()
	told := slices.Clone(b.byHand)
	b.mu.Unlock()
	if len(told) != 2 || told[1] != "Watchdog stopped. (tui)" {
		t.Errorf("Pi was told %q", told)
	}
}
