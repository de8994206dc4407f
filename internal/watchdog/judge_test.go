package watchdog

import (
	"time"
)

// after judges the state that an event leads to.
func (c *contract) after(w *world, ev Event) {
	e := w.e
	if e.on != c.on || e.paused != c.paused || e.suspended != c.suspended || e.count != c.count || e.settings != c.settings {
		c.breach(ruleCount, "on %v paused %v suspended %v count %d settings %s; by the contract on %v paused %v suspended %v count %d settings %s",
			e.on, e.paused, e.suspended, e.count, e.settings, c.on, c.paused, c.suspended, c.count, c.settings)
	}
	c.replies(w, ev)
	c.view(w)
	c.stopped(w, ev)
	if wake, any := w.wake(); any && !wake.After(w.now) {
		c.breach(ruleSpin, "it is due %s ago", w.now.Sub(wake))
	}
	if !w.quiet() {
		return
	}
	if (e.check != nil) != (w.pi.check != "") || e.check != nil && e.check.id != w.pi.check {
		c.breach(ruleInStep, "the engine has %v, the bridge %q", e.check, w.pi.check)
	}
}

// quiet is whether nothing is on its way between hub and bridge.
func (w *world) quiet() bool { return w.pi.joined && len(w.queue) == 0 && w.receipt == nil }

func (c *contract) replies(w *world, ev Event) {
	want := 0
	switch ev.(type) {
	case Decided, StartWatch, StopWatch, PauseWatch, ChangeSettings, NudgeNow, SkipCheck, ExtendCountdown:
		want = 1
	}
	if len(w.reply) != want {
		c.breach(ruleReply, "%T got %d", ev, len(w.reply))
	}
}

// stopped judges what comes after a stop: the check that was open is made
// void, and nothing else is ever wanted.
func (c *contract) stopped(w *world, ev Event) {
	if c.on {
		return
	}
	if !w.e.deadline.IsZero() || w.e.left > 0 {
		c.breach(ruleStopped, "a countdown is left")
	}
	for _, r := range w.queue {
		switch r.effect.(type) {
		case AskCheck, SendWork:
			// It was on its way before. The bridge gets to void it.
			if w.e.work != nil && !w.e.work.void {
				c.breach(ruleStopped, "a work message is owed")
			}
		}
	}
	if w.e.check != nil && !w.e.check.void {
		c.breach(ruleStopped, "the check %s is not void", w.e.check.id)
	}
}

func (c *contract) view(w *world) {
	v := w.e.View(w.now)
	counting := v.Phase == Counting
	switch {
	case counting && (v.Why != "" || !v.Deadline.After(w.now)):
		c.breach(ruleWhy, "it counts to %v at %v: %q", v.Deadline, w.now, v.Why)
	case !counting && (v.Why == "" || !v.Deadline.IsZero()):
		c.breach(ruleWhy, "%s, why %q, deadline %v", v.Phase, v.Why, v.Deadline)
	case (v.Status(w.now, ASCII) == "") != (v.Phase == Off), (v.Phase == Off) == c.on:
		c.breach(ruleWhy, "%s shows %q", v.Phase, v.Status(w.now, ASCII))
	}
}

// record judges whether the engine could be rebuilt from the file: called
// where an action of the world is complete.
func (c *contract) record(w *world) {
	p, e := &w.pi, w.e
	if !w.quiet() || c.unlike || p.waits != nobody || p.steers != nobody || p.ownStop != "" {
		return
	}
	s := w.file
	owed := ""
	if e.work != nil && !e.work.asked {
		owed = e.work.check
	}
	if c.dropped {
		owed = s.Owed
	}
	if s.On != e.on || s.Count != e.count || s.Settings != e.settings || s.Suspended != e.suspended || s.Paused != e.paused || s.Owed != owed {
		c.breach(ruleRecord, "rebuilt: on %v count %d %s suspended %v paused %v owed %q; the engine: on %v count %d %s suspended %v paused %v owed %q",
			s.On, s.Count, s.Settings, s.Suspended, s.Paused, s.Owed, e.on, e.count, e.settings, e.suspended, e.paused, owed)
	}
}

// stuck judges whether time alone leads to a check, where nothing is in the
// way. A refusal twice, and a skip, wait for the next settle by design.
func (c *contract) stuck(w *world) {
	p := &w.pi
	if !w.quiet() || !c.on || c.paused || c.suspended || c.interrupted || c.skipped || c.refusals >= refusalsPerSettle ||
		p.running || p.compacting || p.draft || p.dialog || c.children > 0 || !c.human || p.runs == 0 && !c.byHand || p.own || p.check != "" {
		return
	}
	later := w.clone()
	for range 6 {
		if later.sending() || !later.spec.on {
			return
		}
		later.tick(0)
	}
	if !later.sending() && later.spec.on {
		v := later.e.View(later.now)
		c.breach(ruleStuck, "after %s it is %s: %s", later.now.Sub(w.now).Round(time.Second), v.Phase, v.Why)
	}
}
