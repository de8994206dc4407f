package demo_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"piwatch/internal/control"
	"piwatch/internal/demo"
	"piwatch/internal/pi"
	"piwatch/internal/watchdog"
)

// kinds are the entries of a session file in short, from the first user row on.
func kinds(t *testing.T, path string) []string {
	t.Helper()
	f, err := pi.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if f.Damage.Total() != 0 {
		t.Errorf("%s is damaged: %+v", path, f.Damage)
	}
	var kinds []string
	for e := range f.Tree.All() {
		switch {
		case e.Message != nil && e.Message.Role == pi.RoleSystem:
			kinds = append(kinds, "system")
		case e.Message != nil:
			kinds = append(kinds, e.Message.Role)
		case e.Custom != nil:
			kinds = append(kinds, e.Custom.CustomType)
		case e.CustomMessage != nil:
			kinds = append(kinds, e.CustomMessage.CustomType)
		default:
			kinds = append(kinds, e.Type)
		}
	}
	return kinds
}

func contextOf(t *testing.T, p *demo.Pi) []demo.Message {
	t.Helper()
	m, err := p.Context()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	g, err := json.MarshalIndent(got, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	w, err := json.MarshalIndent(want, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	if string(g) != string(w) {
		t.Errorf("%s\n got %s\nwant %s", what, g, w)
	}
}

func TestCheckThatContinues(t *testing.T) {
	ls := demo.Bash("ls", "a\nb\n", 0)
	ls.ID = "ls"
	work := demo.Answer{Thinking: "go on", Text: "working", Calls: []demo.ToolCall{ls}}
	h := newFakeHub(t)
	p := start(t, h, demo.Setup{Script: demo.Answers(demo.Say("first part is done"), demo.Decide("continue", "part two"), work, demo.Say("all done"))})
	bare := start(t, nil, demo.Setup{Script: demo.Answers(demo.Say("first part is done"), work, demo.Say("all done"))})
	_ = bare

	p.Prompt("do both parts")
	h.await(control.Settled, 1)
	if r := h.check(p, "c1"); r.Result != control.Sent {
		t.Fatalf("check: %+v", r)
	}
	outcome := h.outcome(1)
	h.await(control.Settled, 2)
	same(t, "outcome", []any{outcome.Check, outcome.End, outcome.Decision, outcome.Note, outcome.Fold, len(outcome.Rows), outcome.Tokens > 0},
		[]any{"c1", watchdog.EndAnswered, watchdog.Continue, "part two", watchdog.FoldEdit, 3, true})
	if r := h.sendWork(p, "c1"); r.Result != control.Sent {
		t.Fatalf("work: %+v", r)
	}
	h.await(control.Settled, 3)

	same(t, "entries", kinds(t, p.File()), []string{
		"model_change", "thinking_level_change", watchdog.RecordTool, "system", "user", "assistant",
		watchdog.RecordCheck, watchdog.MessageCheck, "assistant", "toolResult", "context_edit", "context_edit", "context_edit", watchdog.RecordOutcome,
		watchdog.MessageWork, "assistant", "toolResult", "assistant",
	})
	runs := []control.RunEvent{decode[control.RunEvent](t, h.await(control.Run, 1).params), decode[control.RunEvent](t, h.await(control.Run, 2).params), decode[control.RunEvent](t, h.await(control.Run, 3).params)}
	same(t, "runs", runs, []control.RunEvent{{Own: false}, {Own: true}, {Own: true}})

	// The same session without the check: only the work message differs, and
	// the user of it is a person.
	bare.Prompt("do both parts")
	settled(t, bare, 1)
	bare.Prompt("work")
	settled(t, bare, 2)
	same(t, "context", contextOf(t, p), contextOf(t, bare))
	requests := p.Requests()
	same(t, "request of the work turn", requests[2].Messages, bare.Requests()[1].Messages)
	if requests[1].Check != "c1" || requests[2].Check != "" {
		t.Errorf("checks of the requests: %q, %q", requests[1].Check, requests[2].Check)
	}
	if !slices.Contains(requests[1].Tools, watchdog.ToolName) {
		t.Errorf("the tool is not declared: %v", requests[1].Tools)
	}
}

// Answers of a check that are wrong in some way, and what becomes of it.
func TestWrongAnswers(t *testing.T) {
	bash := demo.Bash("rm -rf x", "removed", 0)
	accepted := demo.DecideCall("done", "")
	for _, c := range []struct {
		name     string
		answers  []demo.Answer
		end      watchdog.End
		decision watchdog.Decision
		wrong    int
		requests int
		result   string // of the first tool result
	}{
		{"text only", []demo.Answer{demo.Say("I am done.")}, watchdog.EndNoAnswer, "", 0, 1, ""},
		{"thinking only", []demo.Answer{demo.Think("hm")}, watchdog.EndNoAnswer, "", 0, 1, ""},
		{"a blocked tool, then the answer", []demo.Answer{demo.Use(bash), demo.Decide("done", "")}, watchdog.EndAnswered, watchdog.Done, 1, 2, "BLOCKED"},
		{"a blocked tool, then text", []demo.Answer{demo.Use(bash), demo.Say("ok")}, watchdog.EndNoAnswer, "", 1, 2, "BLOCKED"},
		{"blocked tools only", []demo.Answer{demo.Use(bash), demo.Use(bash), demo.Use(bash)}, watchdog.EndNoAnswer, "", 3, 3, "BLOCKED"},
		{"a value outside the three", []demo.Answer{demo.Decide("maybe", ""), demo.Decide("wait_user", "x")}, watchdog.EndAnswered, watchdog.WaitUser, 1, 2, "Validation failed"},
		{"no value", []demo.Answer{demo.Use(demo.ToolCall{Name: watchdog.ToolName}), demo.Decide("done", "")}, watchdog.EndAnswered, watchdog.Done, 1, 2, "Validation failed"},
		{"two calls", []demo.Answer{demo.Use(accepted, demo.DecideCall("continue", ""))}, watchdog.EndAnswered, watchdog.Done, 0, 1, "noted"},
		{"a tool beside the call", []demo.Answer{demo.Use(bash, accepted)}, watchdog.EndAnswered, watchdog.Done, 0, 1, "BLOCKED"},
		{"a tool nobody has", []demo.Answer{demo.Use(demo.ToolCall{Name: "nope"}), demo.Decide("done", "")}, watchdog.EndAnswered, watchdog.Done, 1, 2, "Tool nope not found"},
		{"the provider fails", []demo.Answer{demo.Fail("529 overloaded")}, watchdog.EndError, "", 0, 1, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newFakeHub(t)
			var answered bool
			h.decide = func(control.DecideParams) control.DecideReply {
				if answered {
					return control.DecideReply{Text: "twice", Terminate: true}
				}
				answered = true
				return control.DecideReply{Text: "noted", Accepted: true, Terminate: true}
			}
			p := start(t, h, demo.Setup{Script: demo.Answers(append([]demo.Answer{demo.Say("hello")}, c.answers...)...)})
			p.Prompt("go")
			h.await(control.Settled, 1)
			before := contextOf(t, p)
			h.check(p, "c1")
			h.await(control.Settled, 2)
			o := h.outcome(1)
			same(t, "outcome", []any{o.End, o.Decision, o.Wrong, len(p.Requests()) - 1}, []any{c.end, c.decision, c.wrong, c.requests})
			same(t, "context after the check", contextOf(t, p), before)
			if c.end == watchdog.EndError && o.Why != "529 overloaded" {
				t.Errorf("why = %q", o.Why)
			}
			if c.result != "" && !strings.HasPrefix(firstResult(t, p.File()), c.result) {
				t.Errorf("first tool result = %q, want %q", firstResult(t, p.File()), c.result)
			}
		})
	}
}

func firstResult(t *testing.T, path string) string {
	t.Helper()
	f, err := pi.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	for e := range f.Tree.All() {
		if e.Message != nil && e.Message.Role == pi.RoleToolResult {
			return e.Message.Text()
		}
	}
	return ""
}

// The agent stops by itself: its report stays, the call goes.
func TestSelfStop(t *testing.T) {
	stop := demo.DecideCall("done", "finished")
	ls := demo.Bash("ls", "a", 0)
	ls.ID = "ls"
	for _, c := range []struct {
		name  string
		with  []demo.Answer
		plain []demo.Answer
	}{
		{"with a report", []demo.Answer{{Text: "report", Calls: []demo.ToolCall{stop}}}, []demo.Answer{demo.Say("report")}},
		{"beside work", []demo.Answer{{Text: "report", Calls: []demo.ToolCall{ls, stop}}, demo.Say("end")}, []demo.Answer{{Text: "report", Calls: []demo.ToolCall{ls}}, demo.Say("end")}},
		{"the call alone", []demo.Answer{demo.Say("x"), demo.Use(stop)}, []demo.Answer{demo.Say("x")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newFakeHub(t)
			p := start(t, h, demo.Setup{Script: demo.Answers(c.with...)})
			bare := start(t, nil, demo.Setup{Script: demo.Answers(c.plain...)})
			prompts := []string{"go"}
			p.Prompt(prompts[0])
			settled(t, p, 1)
			bare.Prompt(prompts[0])
			settled(t, bare, 1)
			if c.name == "the call alone" { // in a run of its own, which leaves only its prompt
				p.Prompt("more")
				settled(t, p, 2)
			}
			o := h.outcome(1)
			same(t, "outcome", []any{o.Check, o.End, o.Decision, o.Note}, []any{"", watchdog.EndAnswered, watchdog.Done, "finished"})
			got := contextOf(t, p)
			if c.name == "the call alone" {
				got = got[:len(got)-1]
			}
			same(t, "context", got, contextOf(t, bare))
		})
	}
}

func TestFence(t *testing.T) {
	ok := func(f control.Facts) control.Fence { return control.Fence{Settle: f.Settle, Leaf: f.Leaf} }
	for _, c := range []struct {
		name   string
		do     func(*testing.T, *demo.Pi, *fakeHub)
		fence  func(control.Facts) control.Fence
		result string
		reason string
		undo   func(*demo.Pi)
	}{
		{"fits", nil, ok, control.Sent, "", nil},
		{"another settle", nil, func(f control.Facts) control.Fence { return control.Fence{Settle: f.Settle - 1, Leaf: f.Leaf} }, control.Stale, "settled again", nil},
		{"another leaf", nil, func(f control.Facts) control.Fence { return control.Fence{Settle: f.Settle, Leaf: "nope"} }, control.Stale, "moved on", nil},
		{"a record is no leaf", func(_ *testing.T, _ *demo.Pi, h *fakeHub) {
			h.call(control.Record, control.RecordParams{Type: watchdog.RecordSet, Data: json.RawMessage(`{}`)})
		}, ok, control.Sent, "", nil},
		{"a draft", func(_ *testing.T, p *demo.Pi, _ *fakeHub) { p.Type("half a sen") }, ok, control.Refused, "draft", (*demo.Pi).ClearDraft},
		{"a blank draft", func(_ *testing.T, p *demo.Pi, _ *fakeHub) { p.Type(" \n") }, ok, control.Sent, "", nil},
		{"a dialog", func(_ *testing.T, p *demo.Pi, _ *fakeHub) { p.OpenDialog() }, ok, control.Refused, "dialog", (*demo.Pi).CloseDialog},
		{"running", func(t *testing.T, p *demo.Pi, _ *fakeHub) { p.Prompt("hold"); held(t, p, demo.InText) }, ok, control.Refused, "running", nil},
		{"compacting", func(t *testing.T, p *demo.Pi, _ *fakeHub) {
			if err := p.Compact(1e9, 1); err != nil {
				t.Fatal(err)
			}
		}, ok, control.Refused, "compacting", nil},
		{"a check is open", func(t *testing.T, p *demo.Pi, h *fakeHub) { h.check(p, "c0"); held(t, p, demo.InText) }, ok, control.Refused, "a check is open", nil},
		{"the tree moved", func(t *testing.T, p *demo.Pi, h *fakeHub) {
			settle := decode[control.SettledEvent](t, h.await(control.Settled, 1).params)
			p.Prompt("again")
			held(t, p, demo.InText)
			p.Release()
			settled(t, p, 2)
			if err := p.Tree(settle.Facts.Leaf); err != nil {
				t.Fatal(err)
			}
			moved := decode[control.TreeEvent](t, h.await(control.Tree, 1).params)
			if moved.Facts.Leaf != settle.Facts.Leaf || moved.Facts.Settle != 3 {
				t.Errorf("tree: %+v", moved)
			}
		}, ok, control.Sent, "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newFakeHub(t)
			script := func(r demo.Request) demo.Answer {
				if r.N == 1 {
					return demo.Say("hello")
				}
				return demo.Answer{Text: "held", Hold: demo.InText}
			}
			p := start(t, h, demo.Setup{Script: script, Clock: demo.NewManualClock(epoch)})
			p.Prompt("go")
			h.await(control.Settled, 1)
			if c.do != nil {
				c.do(t, p, h)
			}
			before := len(kinds(t, p.File()))
			facts := p.State().Facts
			for method, params := range map[string]any{
				control.SendCheck: control.CheckParams{Record: watchdog.Check{ID: "c1"}, Text: "check", Fence: c.fence(facts)},
				control.SendWork:  control.WorkParams{Check: "c1", Text: "work", Fence: c.fence(facts)},
			} {
				if c.result == control.Sent && method == control.SendWork {
					continue // one send moves the session on
				}
				r := h.call(method, params)
				if r.Result != c.result || !strings.Contains(r.Reason, c.reason) {
					t.Errorf("%s: %+v, want %s because of %q", method, r, c.result, c.reason)
				}
				if c.result != control.Sent && (r.Facts == nil || *r.Facts != facts) {
					t.Errorf("%s: a refusal corrects the hub: %+v, want %+v", method, r.Facts, facts)
				}
			}
			if c.result != control.Sent {
				if after := len(kinds(t, p.File())); after != before {
					t.Errorf("a refusal wrote %d entries", after-before)
				}
			}
			if c.undo == nil {
				return
			}
			c.undo(p)
			if r := h.check(p, "c2"); r.Result != control.Sent {
				t.Errorf("afterwards: %+v", r)
			}
		})
	}
}
