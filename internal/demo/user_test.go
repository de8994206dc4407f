package demo_test

import (
	"context"
	"testing"
	"time"

	"piwatch/internal/control"
	"piwatch/internal/demo"
)

// Keys are reported at once and then at most four times a second, with the
// draft as it is then.
func TestActivity(t *testing.T) {
	h := newFakeHub(t)
	clock := demo.NewManualClock(epoch)
	p := start(t, h, demo.Setup{Clock: clock, Script: demo.Answers(demo.Say("a"))})
	report := func(n int) control.ActivityEvent {
		return decode[control.ActivityEvent](t, h.await(control.Activity, n).params)
	}
	later := func() {
		t.Helper()
		if err := clock.AwaitTimers(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		clock.Advance(250 * time.Millisecond)
	}
	p.Type("h")
	same(t, "first key", report(1), control.ActivityEvent{Key: true, Draft: true})
	p.Type("ello")
	p.ClearDraft()
	later()
	same(t, "the rest of them", report(2), control.ActivityEvent{Key: true, Draft: false})
	wait(t, p, "quiet", func(s demo.State) bool { return s.Draft == "" })
	p.Prompt("go")
	h.await(control.Settled, 1)
	count := 0
	for _, m := range h.methods() {
		if m == control.Activity {
			count++
		}
	}
	same(t, "reports", count, 2)
}

// What the user types while the agent runs: steering after the turn, the
// follow-up at the end, each delivered once.
func TestQueues(t *testing.T) {
	h := newFakeHub(t)
	p := start(t, h, demo.Setup{Script: demo.Answers(
		demo.Answer{Calls: []demo.ToolCall{demo.Bash("ls", "x", 0)}, Hold: demo.InTool},
		demo.Say("steered"), demo.Say("steered again"), demo.Say("followed"))})
	p.Prompt("go")
	held(t, p, demo.InTool)
	p.FollowUp("at the end")
	p.Prompt("steer 1")
	p.Prompt("steer 2")
	if f := p.State().Facts; !f.Queued || f.Idle {
		t.Errorf("facts: %+v", f)
	}
	p.Release()
	h.await(control.Settled, 1)
	var texts []string
	for _, m := range contextOf(t, p) {
		texts = append(texts, m.Role+" "+string(m.Content))
	}
	same(t, "order", texts, []string{
		`user [{"type":"text","text":"go"}]`,
		texts[1],
		`toolResult [{"type":"text","text":"x"}]`,
		`user [{"type":"text","text":"steer 1"}]`,
		`assistant [{"type":"text","text":"steered"}]`,
		`user [{"type":"text","text":"steer 2"}]`,
		`assistant [{"type":"text","text":"steered again"}]`,
		`user [{"type":"text","text":"at the end"}]`,
		`assistant [{"type":"text","text":"followed"}]`,
	})
}

// Esc ends the run at every moment, puts the queue into the editor, and the
// facts say aborted until the user speaks again.
func TestEsc(t *testing.T) {
	for _, moment := range []demo.Moment{demo.BeforeAnswer, demo.InThinking, demo.InText, demo.InArguments, demo.InTool} {
		t.Run(string(moment), func(t *testing.T) {
			h := newFakeHub(t)
			p := start(t, h, demo.Setup{Script: demo.Answers(
				demo.Answer{Thinking: "t", Text: "x", Calls: []demo.ToolCall{demo.Bash("sleep 9", "", 0)}, Hold: moment}, demo.Say("b"))})
			p.Prompt("go")
			held(t, p, moment)
			p.Type("a draft")
			p.Prompt("queued")
			p.Esc()
			h.await(control.Settled, 1)
			facts := decode[control.SettledEvent](t, h.await(control.Settled, 1).params).Facts
			if !facts.Aborted || !facts.Idle || facts.Queued || !facts.Draft {
				t.Errorf("facts: %+v", facts)
			}
			same(t, "editor", p.State().Draft, "queued\n\na draft")
			got := kinds(t, p.File())
			if last := got[len(got)-1]; last != "assistant" {
				t.Errorf("the file ends on %s", last)
			}
			p.Enter()
			h.await(control.Settled, 2)
			if p.State().Facts.Aborted {
				t.Error("the user spoke, and it is still aborted")
			}
			requests := p.Requests()
			for _, m := range requests[len(requests)-1].Messages[1:] { // a broken off row is never sent again
				if m.Role == "assistant" && moment != demo.InTool {
					t.Errorf("the model is sent %s", m.Content)
				}
			}
		})
	}
}

// A compaction holds back what the user says, and what follows sees its
// summary and what it kept.
func TestCompaction(t *testing.T) {
	h := newFakeHub(t)
	clock := demo.NewManualClock(epoch)
	p := start(t, h, demo.Setup{Clock: clock, Script: demo.Answers(demo.Say("a"), demo.Say("b"), demo.Say("c"))})
	p.Prompt("one")
	settled(t, p, 1)
	p.Prompt("two")
	settled(t, p, 2)
	if err := p.Compact(time.Minute, 2); err != nil {
		t.Fatal(err)
	}
	h.await(control.Compaction, 1)
	if p.Compact(time.Minute, 2) == nil || p.Tree("x") == nil || p.Reload() == nil {
		t.Error("Pi is busy, and does it all the same")
	}
	p.Prompt("three")
	same(t, "facts", p.State().Facts.Queued, true)
	if err := clock.AwaitTimers(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	clock.Advance(time.Minute)
	settled(t, p, 3)
	same(t, "compaction events", []bool{
		decode[control.CompactionEvent](t, h.await(control.Compaction, 1).params).On,
		decode[control.CompactionEvent](t, h.await(control.Compaction, 2).params).On,
	}, []bool{true, false})
	r := p.Requests()[2]
	same(t, "messages", len(r.Messages), 4) // the summary, two, b, three
}

func TestDialogsNamesAndCommands(t *testing.T) {
	h := newFakeHub(t)
	p := start(t, h, demo.Setup{Script: demo.Answers(demo.Say("a"))})
	p.OpenDialog()
	p.OpenDialog()
	p.CloseDialog()
	p.CloseDialog()
	same(t, "dialogs", []bool{
		decode[control.DialogEvent](t, h.await(control.Dialog, 3).params).Open,
		decode[control.DialogEvent](t, h.await(control.Dialog, 4).params).Open,
	}, []bool{true, false})
	p.Rename("new name")
	same(t, "renamed", decode[control.RenamedEvent](t, h.await(control.Renamed, 1).params), control.RenamedEvent{Name: "new name", Model: "demo/stand-in-1"})
	reply, err := p.Command(t.Context(), "/watchdog timeout=5  message=a  b")
	if err != nil {
		t.Fatal(err)
	}
	same(t, "command", reply.Text, "watchdog|timeout=5  message=a  b")
	h.call(control.Status, control.StatusParams{Text: "⏱▶ 0/50"})
	same(t, "footer", p.State().Status, "⏱▶ 0/50")
	h.call(control.Status, control.StatusParams{})
	same(t, "footer", []any{p.State().Status, p.State().Watching}, []any{"", false})
	h.call(control.Notify, control.NotifyParams{Text: "hello", Level: "info"})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for e := range p.Events(ctx) {
		if e.Kind == demo.Shown {
			same(t, "notice", e.Text, "hello")
			break
		}
	}
	same(t, "unknown", h.call("gateway", struct{}{}).Result, control.Refused)
}

// A row that the provider broke off is never sent again.
func TestFailedRow(t *testing.T) {
	p := start(t, nil, demo.Setup{Script: demo.Answers(demo.Answer{Text: "part", Error: "502"}, demo.Say("b"))})
	p.Prompt("one")
	settled(t, p, 1)
	p.Prompt("two")
	settled(t, p, 2)
	same(t, "messages", len(p.Requests()[1].Messages), 2)
}

// What was queued when the provider failed is delivered in a further run,
// before Pi settles.
func TestQueueAfterFailure(t *testing.T) {
	h := newFakeHub(t)
	p := start(t, h, demo.Setup{Script: demo.Answers(demo.Answer{Text: "part", Error: "502", Hold: demo.InText}, demo.Say("b"), demo.Say("c"))})
	p.Prompt("one")
	held(t, p, demo.InText)
	p.FollowUp("three")
	p.Prompt("two")
	p.Release()
	h.await(control.Settled, 1)
	h.await(control.Run, 2)
	same(t, "facts", []int{p.State().Facts.Settle, p.State().Requests}, []int{1, 3})
	same(t, "context", len(contextOf(t, p)), 5) // one, two, b, three, c
}
