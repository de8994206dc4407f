package watchdog

import (
	"fmt"
	"time"
)

func (e *Engine) onClosed(ev Closed) []Effect {
	o := ev.Outcome
	if o.Check == "" {
		return e.stoppedItself(o)
	}
	if e.check == nil || e.check.id != o.Check {
		if o.End == EndVoid {
			return []Effect{Log{"info", closedText(o)}} // one that a Pi before this one left open
		}
		return []Effect{Log{"warning", "a check that is not open was closed: " + o.Check}}
	}
	void := e.check.void
	e.check, e.exchange = nil, o.Check
	if e.rollback && len(o.Rows) > 0 {
		e.undo = &owedRollback{check: o.Check}
	}
	e.wrongAnswer = o.End == EndNoAnswer
	if o.End != EndAnswered || void || !e.on {
		return []Effect{Log{"info", closedText(o)}}
	}
	out := []Effect{Log{"info", closedText(o)}}
	if o.Decision == Continue {
		e.last, e.note = o.Decision, o.Note
		e.work = &owedWork{check: o.Check}
		return out
	}
	return append(out, e.end(o.Decision, o.Note)...)
}

// stoppedItself takes the outcome of a stop by the agent itself. It took effect
// when it was decided, unless that was told to an engine before this one.
func (e *Engine) stoppedItself(o Outcome) []Effect {
	known := e.selfStop
	e.selfStop = false
	if known && e.on && !e.suspended {
		return e.restate()
	}
	if known || !e.on || e.suspended || o.End != EndAnswered || o.Decision == Continue || !o.Decision.Valid() {
		return nil
	}
	// An engine that begins in the midst of such a turn does not know of the stop,
	// and may have been asked for a check meanwhile.
	return append(e.end(o.Decision, o.Note), e.voidCheck("the agent stopped the watchdog")...)
}

// restate records where it stands after a stop by the agent that somebody
// overruled while its turn still ran: the outcome comes after what overruled it,
// and whoever rebuilds from the record would obey the stop.
func (e *Engine) restate() []Effect {
	record := Start{By: "piwatch", Settings: e.settings, Count: e.count}
	if e.byHand {
		record.Instance = e.instance
	}
	out := []Effect{Append{RecordStart, record}}
	if e.paused {
		out = append(out, Append{RecordPause, Pause{"piwatch", true}})
	}
	return out
}

func closedText(o Outcome) string {
	switch o.End {
	case EndAnswered:
		if o.Note != "" {
			return fmt.Sprintf("answered %s: %s", o.Decision, o.Note)
		}
		return fmt.Sprintf("answered %s", o.Decision)
	case EndVoid:
		return "the check is void: " + o.Why
	case EndError:
		return "the provider failed in the check: " + o.Why
	default:
		return "the check got no valid answer: " + o.Why
	}
}

// end applies a decision done or wait_user.
func (e *Engine) end(d Decision, note string) []Effect {
	e.last, e.note = d, note
	e.dropWork()
	if e.settings.Mode == Keep {
		e.suspended = true
	} else {
		e.on, e.offWhy = false, "the agent answered "+string(d)
	}
	return []Effect{Ended{string(d), note}}
}

func (e *Engine) onDecided(ev Decided) []Effect {
	if ev.Check == "" {
		return e.decidedOutside(ev)
	}
	switch {
	case e.check == nil || e.check.id != ev.Check || e.check.void || !e.on:
		return []Effect{Answer{AnswerVoid, false, true}}
	case !ev.Decision.Valid():
		return []Effect{Answer{AnswerBad, false, false}}
	case e.check.answered:
		return []Effect{Answer{AnswerTwice, false, true}}
	}
	e.check.answered = true
	if ev.Decision == Continue {
		return []Effect{Answer{AnswerContinue, true, true}}
	}
	return []Effect{Answer{AnswerStop, true, true}}
}

func (e *Engine) decidedOutside(ev Decided) []Effect {
	switch {
	case e.check != nil:
		return []Effect{Answer{AnswerVoid, false, true}}
	case !ev.Decision.Valid():
		return []Effect{Answer{AnswerBad, false, false}}
	case ev.Decision == Continue:
		return []Effect{Answer{AnswerNoCheck, false, false}}
	case !e.on || e.suspended:
		return []Effect{Answer{AnswerOff, false, false}}
	}
	e.selfStop = true
	return append(e.end(ev.Decision, ev.Note), Answer{AnswerStop, true, true})
}

func (e *Engine) onDelivered(now time.Time, ev Delivered) []Effect {
	if ev.Facts != nil && !e.heard { // a receipt may be read later than what Pi told after it
		e.see(*ev.Facts)
	}
	mine := !ev.Work && e.check != nil && e.check.id == ev.Check
	owed := ev.Work && e.work != nil && e.work.check == ev.Check && e.work.asked
	if !mine && !owed {
		return nil
	}
	if ev.Sent {
		// Sending is not progress: until its run starts it is not confirmed. The
		// run may also have started before the receipt was read.
		if mine && e.facts.Idle {
			e.check.unsure = now.Add(confirmWithin)
		}
		if owed {
			e.work.unsure = now.Add(confirmWithin)
		}
		e.facts.Idle = false
		return nil
	}
	what := "the check was not sent: "
	if mine {
		e.check = nil
		e.count = max(e.count-1, 0) // unless it was reset meanwhile
	} else {
		what = "the work message was not sent: "
		if e.work.onward { // as with a check, the countdown is rebuilt
			e.count = max(e.count-1, 0)
		}
		if e.work.void {
			e.work = nil
			return []Effect{Log{"info", what + ev.Reason}}
		}
		e.work.asked = false
		if e.work.onward || e.refused+1 >= refusalsPerSettle {
			e.work = nil
		}
	}
	e.refused++
	e.refusal = ev.Reason
	return []Effect{Log{"warning", what + ev.Reason}}
}

// mayRollBack: also when monitoring is off, since the exchange may have ended
// it.
func (e *Engine) mayRollBack() bool {
	f := e.facts
	return e.joined && f.Idle && !f.Compacting && !f.Queued && !f.Dialog && e.submitted.IsZero() && e.check == nil
}

func (e *Engine) onRolledBack(ev RolledBack) []Effect {
	if e.undo == nil || e.undo.check != ev.Check {
		return nil
	}
	e.undo = nil
	if ev.Facts != nil && !e.heard {
		e.see(*ev.Facts)
	}
	if ev.Done {
		return []Effect{Log{"info", "the exchange was rolled back"}}
	}
	return []Effect{Log{"warning", "the exchange was not rolled back: " + ev.Reason}}
}

// dropWork forgets a work message that was not sent yet: what it was owed for
// is over. One that is with the bridge is not sent again.
func (e *Engine) dropWork() {
	switch {
	case e.work == nil:
	case e.work.asked:
		e.work.void = true
	default:
		e.work = nil
	}
}
