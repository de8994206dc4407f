package demo_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"piwatch/internal/control"
	"piwatch/internal/demo"
	"piwatch/internal/watchdog"
)

var epoch = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// A check is void at once, whatever ends it and wherever its turn is: nothing
// of it stays in the context, its answer counts for nothing, tools are free.
func TestVoid(t *testing.T) {
	causes := []struct {
		name string
		why  string
		do   func(*testing.T, *demo.Pi, *fakeHub)
		user bool // a message of the user follows
	}{
		{"the user steers", "the user spoke", func(_ *testing.T, p *demo.Pi, _ *fakeHub) { p.Prompt("use the tool") }, true},
		{"the user queues", "the user spoke", func(_ *testing.T, p *demo.Pi, _ *fakeHub) { p.FollowUp("use the tool") }, true},
		{"Esc", "interrupted by the user", func(_ *testing.T, p *demo.Pi, _ *fakeHub) { p.Esc() }, false},
		{"the hub voids", "stopped", func(t *testing.T, _ *demo.Pi, h *fakeHub) {
			same(t, "receipt", h.call(control.Void, control.VoidParams{Check: "c1", Why: "stopped"}).Result, control.Sent)
		}, false},
		{"the hub aborts", "stopped", func(t *testing.T, _ *demo.Pi, h *fakeHub) {
			same(t, "receipt", h.call(control.Void, control.VoidParams{Check: "c1", Why: "stopped", Abort: true}).Result, control.Sent)
		}, false},
		{"the hub goes away", "piwatch went away", func(t *testing.T, p *demo.Pi, h *fakeHub) {
			h.stop()
			wait(t, p, "lost", func(s demo.State) bool { return !s.Connected })
		}, false},
	}
	bash := demo.Bash("ls", "files", 0)
	for _, moment := range []demo.Moment{demo.BeforeAnswer, demo.InThinking, demo.InText, demo.InArguments, demo.InDecide} {
		for _, cause := range causes {
			for _, blocked := range []bool{false, true} {
				if blocked && moment == demo.InDecide {
					continue
				}
				t.Run(fmt.Sprintf("%s in %s, blocked %v", cause.name, moment, blocked), func(t *testing.T) {
					h := newFakeHub(t)
					if moment == demo.InDecide {
						h.hold = make(chan struct{})
					}
					checkAnswer := demo.Answer{Thinking: "hm", Text: "well", Calls: []demo.ToolCall{demo.DecideCall("done", "x")}, Hold: moment}
					if blocked {
						checkAnswer.Calls = []demo.ToolCall{bash}
					}
					p := start(t, h, demo.Setup{Script: func(r demo.Request) demo.Answer {
						switch r.N {
						case 1:
							return demo.Say("hello")
						case 2:
							return checkAnswer
						case 3:
							return demo.Use(bash)
						}
						return demo.Say("that was it")
					}})
					p.Prompt("go")
					h.await(control.Settled, 1)
					before := contextOf(t, p)
					h.check(p, "c1")
					held(t, p, moment)
					cause.do(t, p, h)
					if moment == demo.InDecide {
						close(h.hold)
					}
					p.Release() // not held any more when it was aborted
					settled(t, p, 2)

					o := lastOutcome(t, p)
					same(t, "outcome", []any{o.Check, o.End, o.Why}, []any{"c1", watchdog.EndVoid, cause.why})
					same(t, "aborted by the user", p.State().Facts.Aborted, cause.name == "Esc")
					if !cause.user {
						same(t, "context", contextOf(t, p), before)
						same(t, "requests", len(p.Requests()), 2)
						p.Prompt("use the tool")
						settled(t, p, 3)
					}
					// The user's request sees nothing of the check, and its tool runs.
					requests := p.Requests()
					same(t, "requests", len(requests), 4)
					third := requests[2].Messages
					same(t, "history of the user's request", third[:len(third)-1], before)
					if !bytes.Contains(third[len(third)-1].Content, []byte("use the tool")) {
						t.Errorf("the request ends with %s", third[len(third)-1].Content)
					}
					last := requests[3].Messages
					if !bytes.Contains(last[len(last)-1].Content, []byte("files")) {
						t.Errorf("the user's tool was not run: %s", last[len(last)-1].Content)
					}
					if f := p.State().Facts; f.Check != "" {
						t.Errorf("the check %q is still open", f.Check)
					}
				})
			}
		}
	}
}

func lastOutcome(t *testing.T, p *demo.Pi) watchdog.Outcome {
	t.Helper()
	var last watchdog.Outcome
	ctx, done := cancelled(t)
	defer done()
	for e := range p.Events(ctx) {
		if e.Kind == demo.Closed {
			last = e.Outcome
		}
	}
	return last
}

// A void of a check that is not open is stale and changes nothing.
func TestVoidOfAnotherCheck(t *testing.T) {
	h := newFakeHub(t)
	p := start(t, h, demo.Setup{Script: demo.Answers(demo.Say("a"), demo.Answer{Calls: []demo.ToolCall{demo.DecideCall("done", "")}, Hold: demo.InText})})
	p.Prompt("go")
	h.await(control.Settled, 1)
	same(t, "no check", h.call(control.Void, control.VoidParams{Check: "c1", Why: "w"}).Result, control.Stale)
	h.check(p, "c1")
	held(t, p, demo.InText)
	same(t, "another check", h.call(control.Void, control.VoidParams{Check: "c2", Why: "w"}).Result, control.Stale)
	p.Release()
	same(t, "outcome", h.outcome(1).End, watchdog.EndAnswered)
}

// A message of another extension makes a check void too, but it is no person.
func TestVoidByExtension(t *testing.T) {
	h := newFakeHub(t)
	p := start(t, h, demo.Setup{Script: demo.Answers(demo.Say("a"), demo.Answer{Text: "t", Hold: demo.InText}, demo.Say("b"))})
	p.Prompt("go")
	h.await(control.Settled, 1)
	h.check(p, "c1")
	held(t, p, demo.InText)
	p.PromptFrom("extension", "hello from a subagent")
	p.Release()
	same(t, "outcome", h.outcome(1).Why, "another extension sent a message")
	same(t, "input", decode[control.InputEvent](t, h.await(control.Input, 2).params).Source, "extension")
}
