package watchdog

import (
	"fmt"
	"time"
)

// reconcile brings countdown and sends in line with what is known now.
func (e *Engine) reconcile(now time.Time) []Effect {
	var out []Effect
	if e.undo != nil && !e.undo.asked && e.mayRollBack() {
		// Before anything else is sent: the branch must still end with the exchange.
		e.undo.asked, e.heard = true, false
		out = []Effect{Rollback{e.undo.check}}
	}
	why, resumes := e.hindrance()
	if why != "" {
		if resumes && !e.deadline.IsZero() {
			e.left = max(e.deadline.Sub(now), 1)
		}
		if !resumes {
			e.left = 0
		}
		e.deadline = time.Time{}
		return out
	}
	if e.work != nil {
		if e.work.asked {
			return nil
		}
		e.work.asked, e.heard = true, false
		return []Effect{SendWork{e.work.check, workText(e.settings), e.facts.Settle, e.facts.Leaf}}
	}
	if e.count >= e.settings.Max {
		return e.stopAtCap()
	}
	if e.deadline.IsZero() {
		e.deadline = now.Add(e.grace())
		if e.left > 0 {
			e.deadline = now.Add(max(e.left, min(leastLeft, e.settings.Grace())))
		} else {
			e.idleSince = now
		}
		e.left = 0
	}
	if now.Before(e.deadline) {
		return nil
	}
	return e.ask(now, "the agent was idle")
}

func (e *Engine) stopAtCap() []Effect {
	e.on, e.offWhy = false, capReached(e.settings)
	e.deadline, e.left = time.Time{}, 0
	return []Effect{
		Append{RecordStop, Stop{"piwatch", StopMax}},
		Ended{"max", ""},
		Log{"warning", e.offWhy + ": the watchdog is off"},
	}
}

func capReached(s Settings) string { return fmt.Sprintf("the cap of %d checks was reached", s.Max) }

func (e *Engine) ask(now time.Time, reason string) []Effect {
	e.count++
	e.check, e.heard = &openCheck{id: e.newID()}, false
	e.deadline, e.left = time.Time{}, 0
	text := CheckText
	if e.wrongAnswer {
		text = WrongHint + CheckText
	}
	var waited float64
	if !e.idleSince.IsZero() { // else it never counted: asked by hand
		waited = now.Sub(e.idleSince).Round(100 * time.Millisecond).Seconds()
	}
	return []Effect{AskCheck{
		Record: Check{ID: e.check.id, N: e.count, Max: e.settings.Max, Reason: reason, Waited: max(waited, 0)},
		Text:   text, Settle: e.facts.Settle, Leaf: e.facts.Leaf,
	}}
}

// grace is the timeout; nobody can type where there is no user, so nothing is
// waited for in print and json mode.
func (e *Engine) grace() time.Duration {
	if e.headless {
		return 0
	}
	return e.settings.Grace()
}
