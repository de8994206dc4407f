package demo_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"piwatch/internal/control"
	"piwatch/internal/demo"
	"piwatch/internal/watchdog"
)

// change alters the messages of one method; requests alone, or answers alone.
func change[T any](method string, answer bool, alter func(*T)) func(wire) []wire {
	return func(w wire) []wire {
		if w.method != method || w.answer != answer {
			return []wire{w}
		}
		v := w.params
		if answer {
			v = w.result
		}
		t := read[T](v)
		alter(&t)
		return []wire{w.with(t)}
	}
}

// lose drops what Pi tells by one method.
func lose(method string) func(wire) []wire {
	return func(w wire) []wire {
		if w.method == method {
			return nil
		}
		return []wire{w}
	}
}

// repeat says one thing of the hub twice.
func repeat(method string) func(wire) []wire {
	return func(w wire) []wire {
		if w.method == method && !w.answer {
			return []wire{w, w}
		}
		return []wire{w}
	}
}

// misheard is a command that becomes one that does nothing.
func misheard(args string) func(wire) []wire {
	return change(control.Command, false, func(p *control.CommandParams) {
		if p.Args == args {
			p.Args = "status "
		}
	})
}

// forgetful is a Pi that remembers nothing of one kind.
func forgetful(kind string) func(wire) []wire {
	return change(control.Hello, false, func(h *control.BridgeHello) {
		h.Records = slices.DeleteFunc(h.Records, func(raw json.RawMessage) bool { return strings.Contains(string(raw), `"`+kind+`"`) })
	})
}

// firstInstance is a bridge that takes itself for the first one after a reload.
func firstInstance() func(wire) []wire {
	first := ""
	return change(control.Hello, false, func(h *control.BridgeHello) {
		if first == "" {
			first = h.Instance
		}
		h.Instance = first
	})
}

// twice is a Pi that writes an outcome again, in place of a footer.
func twice() func(wire) []wire {
	var last json.RawMessage
	return func(w wire) []wire {
		switch {
		case w.method == control.CheckClosed:
			e := read[struct{ Outcome json.RawMessage }](w.params)
			last = e.Outcome
		case w.method == control.Status && !w.answer && last != nil:
			again := w.with(control.RecordParams{Type: watchdog.RecordOutcome, Data: last}).as(control.Record)
			last = nil
			return []wire{again}
		}
		return []wire{w}
	}
}

// madeUpInput tells of a message of the user before each settle.
func madeUpInput(w wire) []wire {
	if w.method != control.Settled || w.answer {
		return []wire{w}
	}
	input := w.with(control.InputEvent{Source: "interactive"}).as(control.Input)
	delete(input.frame, "id")
	run := w.with(control.RunEvent{}).as(control.Run)
	delete(run.frame, "id")
	return []wire{input, run, w}
}

// lateClosed are events in which checks end before what is blocked in them.
func lateClosed(events []demo.Event) []demo.Event {
	var all, blocked []demo.Event
	for _, e := range events {
		if e.Kind == demo.Blocked {
			blocked = append(blocked, e)
			continue
		}
		all = append(all, e)
		if e.Kind == demo.Closed {
			all = append(all, blocked...)
		}
	}
	return all
}

// machineFault is what must break a rule, with a way to it.
type machineFault struct {
	rule, what string
	fault      fault
	way        string // acts and commands
	checks     string // how the agent answers checks
}

// machineFaults has one at least for each rule.
func machineFaults() []machineFault {
	return []machineFault{
		{ruleOne, "a check comes twice", onWire(repeat(control.SendCheck)), "prompt, /timeout=5, deadline", "done"},
		{ruleOne, "work comes twice", onWire(repeat(control.SendWork)), "prompt, /timeout=5, deadline", "continue"},
		{ruleOff, "a stop is not heard", onWire(misheard("stop")), "prompt, /timeout=5, /stop, deadline", "done"},
		{rulePaused, "a pause is not heard", onWire(misheard("pause")), "prompt, /timeout=5, /pause, deadline", "done"},
		{ruleSuspended, "a suspension is not heard", onWire(change(control.CheckClosed, false, func(e *control.CheckClosedEvent) {
			e.Outcome.End = watchdog.EndNoAnswer
		})), "prompt, /timeout=5 mode=keep, deadline, deadline", "wait_user"},
		{ruleEsc, "Esc is not heard", onWire(change(control.Settled, false, func(e *control.SettledEvent) { e.Facts.Aborted = false })),
			"/timeout=5, hold, prompt, esc, 3s, deadline", "done"},
		{ruleBusy, "runs are not heard of", onWire(lose(control.Run)), "/timeout=5, prompt, 1s, hold, prompt, 10s, deadline", "done"},
		{ruleBusy, "compaction is not heard of", onWire(lose(control.Compaction)), "/timeout=5, prompt, compact, deadline", "done"},
		{ruleTyping, "keys are not heard of", onWire(lose(control.Activity)), "/timeout=5, prompt, type, 3s, deadline", "done"},
		{ruleTyping, "dialogs are not heard of", onWire(lose(control.Dialog)), "/timeout=5, prompt, dialog, deadline", "done"},
		{ruleFirst, "a reload is not seen", onWire(firstInstance()), "/timeout=5, prompt, reload, deadline", "done"},
		{ruleCap, "users are made up", onWire(madeUpInput), "/timeout=5 max=1, prompt, deadline, deadline, deadline", "text"},
		{ruleCap, "checks are forgotten with the hub", onWire(forgetful(watchdog.RecordCheck)),
			"/timeout=5 max=2, prompt, deadline, hub dies, hub starts, retry, deadline, deadline", "text"},
		{ruleOwed, "a check without an answer leads to work", onWire(change(control.CheckClosed, false, func(e *control.CheckClosedEvent) {
			e.Outcome.End, e.Outcome.Decision = watchdog.EndAnswered, watchdog.Continue
		})), "/timeout=5, prompt, deadline", "text"},
		{ruleView, "a setting is not heard", onWire(misheard("set max=4")), "/timeout=5 max=2, prompt, /set max=4", "done"},
		{ruleOutcome, "an outcome is written again", onWire(twice()), "/timeout=5, prompt, deadline, key", "text"},
		{ruleTools, "tools are blocked after the check", fault{events: lateClosed}, "/timeout=5, prompt, deadline", "blocked tool"},
		{ruleFold, "a check stays in the context", fault{request: func(r *demo.Request) {
			r.Messages = append(slices.Clip(r.Messages), demo.Message{Role: "user", Content: json.RawMessage(`[{"type":"text","text":"` + watchdog.CheckText + `"}]`)})
		}}, "prompt", "done"},
		{ruleContext, "a row is left out", fault{request: func(r *demo.Request) { r.Messages = r.Messages[:len(r.Messages)-1] }}, "prompt", "done"},
		{ruleFile, "a line is torn", fault{}, "prompt, tear, prompt", "done"},
		{ruleRecord, "a pause is not written", onWire(change(control.Record, false, func(p *control.RecordParams) {
			if p.Type == watchdog.RecordPause {
				p.Type, p.Data = watchdog.RecordHook, json.RawMessage(`{}`)
			}
		})), "/timeout=5, prompt, /pause", "done"},
	}
}

func onWire(tamper func(wire) []wire) fault { return fault{wire: tamper} }

// way takes a machine along a way and returns what rules it broke.
func way(t *testing.T, path, checks string, f fault) map[string]bool {
	hold := demo.NoMoment
	work := workAnswers["text"]
	m := newMachine(t, nil, f)
	defer m.close()
	m.answer = func(r demo.Request) demo.Answer {
		if r.Check != "" {
			return checkAnswers[checks]
		}
		work.Hold = hold
		return work
	}
	m.quiet()
	for _, name := range strings.Split(path, ", ") {
		var do func()
		line, command := strings.CutPrefix(name, "/")
		verb, rest, _ := strings.Cut(line, " ")
		d, err := time.ParseDuration(name)
		act, plain := m.plain(name)
		switch {
		case command && verb == control.Set:
			do = func() { m.steer(true, verb, control.SteerParams{Line: rest}) }
		case command && strings.Contains(line, "="):
			do = func() { m.steer(true, control.Start, control.SteerParams{Line: line}) }
		case command:
			do = func() { m.steer(true, verb, control.SteerParams{}) }
		case err == nil:
			do = func() { m.advance(d) }
		case name == "hold":
			do = func() { hold = demo.InText }
		case name == "compact":
			do = func() { _ = m.pi.Compact(compactingTime, 1) }
		case name == "retry":
			do = func() {
				for !m.pi.State().Connected {
					m.advance(time.Second)
				}
			}
		case name == "tear":
			do = func() { tear(t, m.pi.File()) }
		case plain:
			do = act.do
		default:
			t.Fatalf("no act %q", name)
		}
		m.step(name, do)
	}
	return m.rules.names
}

// tear writes half a line.
func tear(t *testing.T, path string) {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("{\"type\":\"mess\n"); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// Rules that cannot be broken prove nothing: each fault breaks its rule, and
// the same way without the fault breaks none.
func TestMachineFindsFaults(t *testing.T) {
	found := map[string]bool{}
	for _, f := range machineFaults() {
		t.Run(f.what, func(t *testing.T) {
			if broken := way(t, strings.ReplaceAll(f.way, "tear, ", ""), f.checks, fault{}); len(broken) > 0 {
				t.Errorf("broken without the fault: %v", broken)
			}
			if broken := way(t, f.way, f.checks, f.fault); !broken[f.rule] {
				t.Errorf("not found: %s; found: %v", f.rule, broken)
			} else {
				found[f.rule] = true
			}
		})
	}
	for _, rule := range allRules {
		if !found[rule] {
			t.Errorf("no fault for the rule: %s", rule)
		}
	}
}
