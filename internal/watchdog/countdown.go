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
		return []Effect{SendWork{Check: e.work.check, Text: withTask(WorkText, e.settings), Settle: e.facts.Settle, Leaf: e.facts.Leaf}}
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

// ask opens a check, or sends the agent on at once where it is known that work
// is left.
func (e *Engine) ask(now time.Time, reason string) []Effect {
	e.count++
	e.heard = false
	e.deadline, e.left = time.Time{}, 0
	var waited float64
	if !e.idleSince.IsZero() { // else it never counted: asked by hand
		waited = now.Sub(e.idleSince).Round(100 * time.Millisecond).Seconds()
	}
	record := Check{ID: e.newID(), N: e.count, Max: e.settings.Max, Reason: reason, Waited: max(waited, 0)}
	if e.facts.Cut {
		record.Reason = cutReason
		e.work = &owedWork{check: record.ID, onward: true, asked: true}
		return []Effect{SendWork{Check: record.ID, Record: &record, Text: withTask(CutText, e.settings), Settle: e.facts.Settle, Leaf: e.facts.Leaf}}
	}
	e.check = &openCheck{id: record.ID}
	text := CheckText
	if e.wrongAnswer {
		text = WrongHint + CheckText
	}
	return []Effect{AskCheck{Record: record, Text: text, Settle: e.facts.Settle, Leaf: e.facts.Leaf}}
}

// cutReason is why the agent is sent on without a check.
const cutReason = "the answer was cut by the token limit"

// grace is the timeout; nobody can type where there is no user, so nothing is
// waited for in print and json mode.
func (e *Engine) grace() time.Duration {
	if e.headless {
		return 0
	}
	return e.settings.Grace()
}
