package watchdog

import (
	"slices"
	"testing"
	"time"
)

// fault breaks an engine on purpose.
type fault struct {
	rule string // that must be found broken
	what string
	step func(e *Engine, now time.Time, ev Event) []Effect
	wake func(e *Engine) (time.Time, bool)
}

// forget lets the engine do its work and takes something from it afterwards.
func forget(take func(e *Engine, ev Event)) func(*Engine, time.Time, Event) []Effect {
	return func(e *Engine, now time.Time, ev Event) []Effect {
		out := e.Step(now, ev)
		take(e, ev)
		return out
	}
}

// deaf keeps events of one kind from the engine.
func deaf[E Event](e *Engine, now time.Time, ev Event) []Effect {
	if _, is := ev.(E); is {
		ev = ChildrenChanged{e.children}
	}
	return e.Step(now, ev)
}

// mute keeps effects from the world.
func mute(drop func(Effect) bool) func(*Engine, time.Time, Event) []Effect {
	return func(e *Engine, now time.Time, ev Event) []Effect {
		return slices.DeleteFunc(e.Step(now, ev), drop)
	}
}

// faults has one broken engine for each rule.
var faults = []fault{
	{rule: ruleOne, what: "a check is sent twice", step: func(e *Engine, now time.Time, ev Event) []Effect {
		out := e.Step(now, ev)
		for _, effect := range out {
			if ask, ok := effect.(AskCheck); ok {
				ask.Record.N++
				return append(out, ask)
			}
		}
		return out
	}},
	{rule: ruleOff, what: "a stop is said and not done", step: forget(func(e *Engine, ev Event) {
		if _, stop := ev.(StopWatch); stop {
			e.on = true
		}
	})},
	{rule: rulePaused, what: "the pause is forgotten", step: forget(func(e *Engine, _ Event) { e.paused = false })},
	{rule: ruleSuspend, what: "the suspension is forgotten", step: forget(func(e *Engine, _ Event) { e.suspended = false })},
	{rule: ruleEsc, what: "Esc is forgotten", step: forget(func(e *Engine, _ Event) { e.interrupted = false })},
	{rule: ruleBusy, what: "runs are not heard of", step: deaf[RunStarted]},
	{rule: ruleBusy, what: "compaction is not heard of", step: deaf[CompactionChanged]},
	{rule: ruleBusy, what: "children are not heard of", step: func(e *Engine, now time.Time, ev Event) []Effect {
		if _, is := ev.(ChildrenChanged); is {
			ev = ChildrenChanged{}
		}
		return e.Step(now, ev)
	}},
	{rule: ruleSubmitted, what: "a submitted message is forgotten", step: forget(func(e *Engine, _ Event) { e.submitted = time.Time{} })},
	{rule: ruleTyping, what: "keys are not heard of", step: deaf[Activity]},
	{rule: ruleTyping, what: "dialogs are not heard of", step: deaf[DialogChanged]},
	{rule: ruleFirst, what: "every start counts as by hand", step: forget(func(e *Engine, _ Event) { e.byHand = true })},
	{rule: ruleHuman, what: "a person is made up", step: forget(func(e *Engine, _ Event) { e.human = true })},
	{rule: ruleSkip, what: "the skip is forgotten", step: forget(func(e *Engine, _ Event) { e.skipped = false })},
	{rule: ruleRefusals, what: "refusals are forgotten", step: forget(func(e *Engine, _ Event) { e.refused = 0 })},
	{rule: ruleCap, what: "the count begins anew at a settle", step: forget(func(e *Engine, ev Event) {
		if _, settled := ev.(Settled); settled {
			e.count = 0
		}
	})},
	{rule: ruleCap, what: "there is no cap", step: func(e *Engine, now time.Time, ev Event) []Effect {
		n := e.settings.Max
		e.settings.Max = MaxChecks
		out := e.Step(now, ev)
		e.settings.Max = n
		return out
	}},
	{rule: ruleCount, what: "a message of the user does not reset the count", step: func(e *Engine, now time.Time, ev Event) []Effect {
		n := e.count
		out := e.Step(now, ev)
		if _, spoken := ev.(Spoken); spoken {
			e.count = n
		}
		return out
	}},
	{rule: ruleStopped, what: "a stop leaves the check valid", step: forget(func(e *Engine, ev Event) {
		if _, stop := ev.(StopWatch); stop && e.check != nil {
			e.check.void = false
		}
	})},
	{rule: ruleOutcome, what: "a check takes two answers", step: forget(func(e *Engine, _ Event) {
		if e.check != nil {
			e.check.answered = false
		}
	})},
	{rule: ruleOutcome, what: "a void check takes an answer", step: forget(func(e *Engine, _ Event) {
		if e.check != nil {
			e.check.void = false
		}
	})},
	{rule: ruleOutcome, what: "a stop by the agent itself counts twice", step: forget(func(e *Engine, _ Event) {
		if e.selfStop {
			e.on, e.suspended = true, false
		}
	})},
	{rule: ruleOwed, what: "a check without an answer leads to work", step: func(e *Engine, now time.Time, ev Event) []Effect {
		if c, ok := ev.(Closed); ok && c.Outcome.End == EndNoAnswer {
			c.Outcome.End, c.Outcome.Decision = EndAnswered, Continue
			ev = c
		}
		return e.Step(now, ev)
	}},
	{rule: ruleOwed, what: "a work message outlives the message of a user", step: func(e *Engine, now time.Time, ev Event) []Effect {
		work := e.work
		out := e.Step(now, ev)
		if _, spoken := ev.(Spoken); spoken {
			e.work = work
		}
		return out
	}},
	{rule: ruleCut, what: "an answer that was cut is asked about", step: forget(func(e *Engine, _ Event) { e.facts.Cut = false })},
	{rule: ruleCut, what: "every answer counts as cut", step: forget(func(e *Engine, _ Event) { e.facts.Cut = true })},
	{rule: ruleCap, what: "being sent on without a check does not count", step: func(e *Engine, now time.Time, ev Event) []Effect {
		out := e.Step(now, ev)
		for _, effect := range out {
			if work, ok := effect.(SendWork); ok && work.Record != nil {
				e.count--
				work.Record.N--
			}
		}
		return out
	}},
	{rule: ruleReply, what: "a person gets no reply", step: mute(func(effect Effect) bool { _, is := effect.(Reply); return is })},
	{rule: ruleReply, what: "the agent gets no answer", step: mute(func(effect Effect) bool { _, is := effect.(Answer); return is })},
	{rule: ruleWhy, what: "a countdown is shown while it is paused", step: func(e *Engine, now time.Time, ev Event) []Effect {
		out := e.Step(now, ev)
		if e.paused {
			e.deadline = now.Add(time.Second)
		}
		return out
	}},
	{rule: ruleSpin, what: "the tick after a key is always due", wake: func(e *Engine) (time.Time, bool) {
		if e.left > 0 {
			return begin, true
		}
		return e.Wake()
	}},
	{rule: ruleStuck, what: "nobody waits for the keyboard to rest", wake: func(e *Engine) (time.Time, bool) {
		return e.deadline, !e.deadline.IsZero()
	}},
	{rule: ruleStuck, what: "the end of a compaction is not heard of", step: func(e *Engine, now time.Time, ev Event) []Effect {
		if c, ok := ev.(CompactionChanged); ok && !c.On {
			ev = ChildrenChanged{e.children}
		}
		return e.Step(now, ev)
	}},
	{rule: ruleRollback, what: "an exchange is rolled back twice", step: func(e *Engine, now time.Time, ev Event) []Effect {
		if r, ok := ev.(RolledBack); ok {
			e.undo = &owedRollback{check: r.Check}
			ev = ChildrenChanged{e.children}
		}
		return e.Step(now, ev)
	}},
	{rule: ruleRollback, what: "an exchange is rolled back in a run", step: func(e *Engine, now time.Time, ev Event) []Effect {
		if _, closed := ev.(Closed); closed {
			e.facts.Idle = true
		}
		return e.Step(now, ev)
	}},
	{rule: ruleInStep, what: "the end of a check is not heard of", step: deaf[Closed]},
	{rule: ruleRecord, what: "pauses are not recorded", step: mute(func(effect Effect) bool {
		a, is := effect.(Append)
		return is && a.Type == RecordPause
	})},
	{rule: ruleRecord, what: "the end at the cap is not recorded", step: mute(func(effect Effect) bool {
		a, is := effect.(Append)
		return is && a.Type == RecordStop
	})},
}

// A walk that cannot find a broken engine proves nothing.
func TestWalkFindsFaults(t *testing.T) {
	t.Parallel()
	found := map[string]bool{}
	for i := range faults {
		f := &faults[i]
		t.Run(f.what, func(t *testing.T) {
			for _, k := range []*walk{{in: wide, depth: 3}, {in: core, depth: coreDepth}} {
				k.rule, k.fault = f.rule, f
				if k.run(); k.breach != nil {
					t.Logf("broken: %s: %s\nafter: %s", k.breach.rule, k.breach.how, k.at.path())
					found[f.rule] = true
					return
				}
			}
			t.Errorf("not found: %s", f.rule)
		})
	}
	for _, rule := range rules {
		if !found[rule] {
			t.Errorf("no fault was found for the rule: %s", rule)
		}
	}
}
