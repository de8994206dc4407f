package watchdog

import (
	"fmt"
	"time"
)

// onPerson takes what people want. Each answers with one Reply.
func (e *Engine) onPerson(now time.Time, ev Event) []Effect {
	switch ev := ev.(type) {
	case StartWatch:
		return e.start(ev)
	case StopWatch:
		return e.stop(ev)
	}
	if !e.on {
		return []Effect{Reply{"error", "The watchdog is off; start it first."}}
	}
	switch ev := ev.(type) {
	case PauseWatch:
		return e.pause(ev)
	case ChangeSettings:
		return e.change(ev)
	case NudgeNow:
		return e.nudge(now)
	case SkipCheck:
		if e.deadline.IsZero() && e.left == 0 {
			why, _ := e.hindrance()
			return []Effect{Reply{"error", "Nothing counts down: " + why + "."}}
		}
		e.skipped = true
		return []Effect{Reply{"info", "This check is skipped; the next one comes after the agent's next run."}}
	case ExtendCountdown:
		return e.extend(now, ev.D)
	}
	return nil
}

func (e *Engine) start(ev StartWatch) []Effect {
	if ev.By != ByEnv && !ev.Sure && asksToWait(e.said) {
		return []Effect{Reply{"confirm", fmt.Sprintf("Your last message says to wait: %q. Start the watchdog all the same?", e.said)}}
	}
	again := e.on
	e.on, e.settings, e.paused, e.suspended, e.interrupted = true, ev.Settings, false, false, false
	e.offWhy, e.last, e.note, e.wrongAnswer = "", "", "", false
	e.skipped, e.refused, e.refusal = false, 0, ""
	e.dropWork()
	e.deadline, e.left = time.Time{}, 0
	record := Start{By: ev.By, Settings: ev.Settings}
	if e.byHand = ev.By != ByEnv; e.byHand {
		e.count = 0 // a start that nobody asked for resets no limit
		record.Instance = e.instance
	}
	text := "Watchdog started: "
	if again {
		text = "Watchdog started anew: "
	}
	return append([]Effect{
		RegisterTool{},
		Append{RecordStart, record},
		Reply{"info", text + ev.Settings.String()},
	}, e.voidCheck("started anew")...)
}

// voidCheck ends the open check: it was asked for what is over now.
func (e *Engine) voidCheck(why string) []Effect {
	if e.check == nil || e.check.void {
		return nil
	}
	e.check.void = true
	return []Effect{VoidCheck{e.check.id, why, true}}
}

func (e *Engine) stop(ev StopWatch) []Effect {
	if !e.on {
		return []Effect{Reply{"warning", "The watchdog was not running."}}
	}
	e.on, e.suspended, e.paused, e.offWhy = false, false, false, "stopped by hand"
	e.dropWork()
	out := []Effect{Append{RecordStop, Stop{ev.By, StopByHand}}, Reply{"info", "Watchdog stopped."}}
	return append(out, e.voidCheck("stopped by hand")...)
}

func (e *Engine) pause(ev PauseWatch) []Effect {
	if e.paused == ev.On {
		if ev.On {
			return []Effect{Reply{"warning", "The watchdog is paused already."}}
		}
		return e.resumeUnpaused(ev)
	}
	e.paused = ev.On
	text := "Watchdog resumed."
	if ev.On {
		text = "Watchdog paused."
	}
	return []Effect{Append{RecordPause, Pause(ev)}, Reply{"info", text}}
}

// resumeUnpaused lifts by hand what else keeps it from counting.
func (e *Engine) resumeUnpaused(ev PauseWatch) []Effect {
	if !e.suspended && !e.interrupted && !e.skipped {
		return []Effect{Reply{"warning", "The watchdog is not paused."}}
	}
	e.suspended, e.interrupted, e.skipped = false, false, false
	e.facts.Aborted = false
	return []Effect{Append{RecordPause, Pause(ev)}, Reply{"info", "Watchdog resumed."}}
}

func (e *Engine) change(ev ChangeSettings) []Effect {
	if ev.Settings.Timeout != e.settings.Timeout {
		e.deadline, e.left = time.Time{}, 0
	}
	e.settings = ev.Settings
	return []Effect{Append{RecordSet, Set(ev)}, Reply{"info", "Watchdog set: " + ev.Settings.String()}}
}

func (e *Engine) nudge(now time.Time) []Effect {
	// It is meant now: neither an earlier skip or refusal nor the keys with which
	// it was typed are in its way.
	skipped, refused, lastKey := e.skipped, e.refused, e.lastKey
	e.skipped, e.refused, e.lastKey = false, 0, time.Time{}
	why, _ := e.hindrance()
	if why == "" && e.work != nil {
		why = onItsWay
	}
	switch {
	case why != "":
		e.skipped, e.refused, e.lastKey = skipped, refused, lastKey
		return []Effect{Reply{"error", "Not asked: " + why + "."}}
	case e.count >= e.settings.Max:
		e.lastKey = lastKey
		return append(e.stopAtCap(), Reply{"error", "Not asked: " + e.offWhy + "."})
	}
	text := "Asking now."
	if e.facts.Cut {
		text = "Sending it on now, without a check: its answer was cut."
	}
	return append([]Effect{Reply{"info", text}}, e.ask(now, "asked by hand")...)
}

func (e *Engine) extend(now time.Time, d time.Duration) []Effect {
	left := e.left
	if !e.deadline.IsZero() {
		left = e.deadline.Sub(now)
	}
	if left <= 0 {
		why, _ := e.hindrance()
		return []Effect{Reply{"error", "Nothing counts down: " + why + "."}}
	}
	left = max(left+d, 0)
	if d > 0 && left > MaxTimeout*time.Second {
		return []Effect{Reply{"error", fmt.Sprintf("Countdown not moved: more than %d s would be left.", MaxTimeout)}}
	}
	if e.deadline.IsZero() {
		e.left = max(left, 1) // zero would be a countdown that begins anew
	} else {
		e.deadline = now.Add(left)
	}
	return []Effect{Reply{"info", fmt.Sprintf("Countdown moved: %d s are left.", int64((left+time.Second-1)/time.Second))}}
}

// StatusText is the answer to /watchdog status: phase, counts, settings and,
// when nothing counts down, why not.
func (v View) StatusText(now time.Time) string {
	if v.Phase == Off {
		text := "Watchdog: " + v.Why + "."
		if v.Note != "" {
			text += " Note: " + v.Note
		}
		return text
	}
	text := fmt.Sprintf("Watchdog: %s, %d of %d checks, %s", v.Phase, v.Count, v.Settings.Max, v.Settings)
	if v.Phase == Counting {
		return text + fmt.Sprintf(". Asks in %d s.", int64((v.Deadline.Sub(now)+time.Second-1)/time.Second))
	}
	return text + ". Not counting: " + v.Why + "."
}
