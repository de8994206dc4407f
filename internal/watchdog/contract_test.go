package watchdog

import (
	"fmt"
	"time"
)

// contract is what must hold of an engine, told independently of it: its own
// account of the session, and the rules that everything is judged by.
type contract struct {
	broken *breach

	on, paused, suspended, interrupted bool
	byHand, human, skipped, headless   bool
	settings                           Settings
	count                              int    // checks since the last message of the user
	refusals                           int    // since the last settle
	rolled                             string // the last check that was to be rolled back
	owed                               string // the check whose work message may be sent
	onward                             string // the work message without a check that was sent last
	open                               string // the check that is sent or open
	accepted                           bool   // an answer of it was accepted
	void                               bool
	selfStop                           bool // the agent stopped it outside a check; the outcome is to come
	lastKey                            time.Time
	submitted                          time.Time // a message that this engine was told of waits for its run
	children                           int
	// guessed: the bridge came during a compaction. Whether a run is on as well
	// nobody can tell then; the engine takes it that none is, and the bridge
	// refuses what is sent into one.
	guessed bool
	nudged  bool // this event is a nudge that may be obeyed
	// unlike: the file cannot say what the engine knows (documented where it is
	// set), so that they are not compared until the user speaks again.
	unlike bool
	// dropped: a work message that is owed by the file was given up.
	dropped bool
}

// breach is a rule that was broken.
type breach struct{ rule, how string }

// The rules, by the names under which a walk reports them.
const (
	ruleOne       = "at most one check or work message is outstanding"
	ruleOff       = "nothing is sent while it is off"
	rulePaused    = "nothing is sent while it is paused by hand"
	ruleSuspend   = "nothing is sent while it is suspended"
	ruleEsc       = "nothing is sent while it is interrupted"
	ruleBusy      = "nothing is sent while the session is busy"
	ruleSubmitted = "nothing is sent between a message and its run"
	ruleTyping    = "nothing is sent while the user types"
	ruleFirst     = "nothing is sent before the first run, unless started by hand"
	ruleHuman     = "nothing is sent before a person spoke"
	ruleSkip      = "a check that was skipped is not sent"
	ruleRefusals  = "a refusal is retried once, then the next settle is waited for"
	ruleCap       = "no more checks than max since the user spoke"
	ruleCount     = "the count and the state are those of the contract"
	ruleStopped   = "after a stop nothing but clean-up"
	ruleOutcome   = "one outcome for each check"
	ruleOwed      = "a work message is sent once, for the answer continue and nothing else"
	ruleCut       = "an answer that was cut, and nothing else, leads to a work message without a check"
	ruleReply     = "each question gets one reply"
	ruleWhy       = "the view says why when nothing counts"
	ruleSpin      = "a tick is never due at once"
	ruleStuck     = "what is idle and unhindered is asked in the end"
	ruleInStep    = "engine and bridge agree whether a check is open"
	ruleRollback  = "an exchange is rolled back once, while nothing else happens"
	ruleRecord    = "an engine rebuilt from the record agrees with the first"
)

// rules is all of them.
var rules = []string{
	ruleOne, ruleOff, rulePaused, ruleSuspend, ruleEsc, ruleBusy, ruleSubmitted, ruleTyping,
	ruleFirst, ruleHuman, ruleSkip, ruleRefusals, ruleCap, ruleCount, ruleStopped, ruleOutcome,
	ruleOwed, ruleCut, ruleReply, ruleWhy, ruleSpin, ruleStuck, ruleInStep, ruleRollback, ruleRecord,
}

func (c *contract) breach(rule, format string, args ...any) {
	if c.broken == nil {
		c.broken = &breach{rule, fmt.Sprintf(format, args...)}
	}
}

// event takes what happened before the engine does.
func (c *contract) event(w *world, ev Event) {
	c.nudged = false
	if _, jump := ev.(ClockJumped); !jump && w.now.Sub(c.submitted) >= confirmWithin {
		c.submitted = time.Time{}
	}
	switch ev := ev.(type) {
	case Joined:
		f := w.file
		*c = contract{
			broken: c.broken, on: f.On, paused: f.Paused, suspended: f.Suspended, interrupted: ev.Facts.Aborted, headless: ev.Headless,
			byHand: f.Instance != "" && f.Instance == ev.Instance, human: f.Human, settings: f.Settings, count: f.Count, owed: f.Owed,
			open: ev.Facts.Check, void: true, unlike: c.unlike, guessed: ev.Facts.Compacting,
		}
	case Left:
		c.open, c.children = "", 0
	case Settled:
		c.guessed = false
		c.skipped, c.refusals, c.submitted = false, 0, time.Time{}
		if c.interrupted = c.interrupted || ev.Facts.Aborted; c.interrupted && c.owed != "" {
			c.owed, c.dropped = "", true
		}
	case RunStarted:
		c.submitted, c.guessed = time.Time{}, false
	case Activity:
		if ev.Key {
			c.lastKey = w.now
		}
	case ChildrenChanged:
		c.children = ev.Running
	case ClockJumped:
		c.lastKey = time.Time{}
		if !c.submitted.IsZero() {
			c.submitted = w.now
		}
	case Spoken:
		c.submitted = w.now
		c.void, c.dropped, c.owed = true, c.dropped || c.owed != "", ""
		if ev.Human {
			c.human, c.suspended, c.interrupted, c.count, c.refusals = true, false, false, 0, 0
		}
	case Closed:
		c.closed(ev.Outcome)
	case Delivered:
		if !ev.Sent {
			c.refused(ev)
		}
	default:
		c.person(ev)
	}
}

func (c *contract) closed(o Outcome) {
	if o.Check == "" {
		if !c.selfStop && c.on && !c.suspended {
			c.accepted = true // by an engine before this one
			c.decided(o.Decision, "")
		}
		c.selfStop = false
		return
	}
	if o.End == EndAnswered && !c.void && c.on {
		c.decided(o.Decision, o.Check)
	}
	c.open = ""
}

func (c *contract) decided(d Decision, check string) {
	switch {
	case d == Continue:
		c.owed, c.dropped = check, false
		return
	case c.settings.Mode == Keep:
		c.suspended = true
	default:
		c.on = false
	}
	c.dropped, c.owed = c.dropped || c.owed != "", ""
}

func (c *contract) refused(ev Delivered) {
	if !ev.Work && ev.Check == c.open {
		c.open = ""
		c.count = max(c.count-1, 0)
		c.refusals++
	}
	if ev.Work && ev.Check == c.onward {
		c.onward = ""
		c.count = max(c.count-1, 0)
		c.refusals++
	} else if ev.Work && ev.Check == c.owed {
		if c.refusals++; c.refusals >= refusalsPerSettle {
			c.owed, c.dropped = "", true
		}
	}
}

func (c *contract) person(ev Event) {
	switch ev := ev.(type) {
	case StartWatch:
		c.on, c.paused, c.suspended, c.interrupted, c.skipped, c.settings = true, false, false, false, false, ev.Settings
		c.refusals, c.owed, c.void = 0, "", true
		if c.byHand = ev.By != ByEnv; c.byHand {
			c.count = 0
		}
	case StopWatch:
		if c.on {
			c.on, c.paused, c.suspended, c.void, c.owed = false, false, false, true, ""
		}
	case PauseWatch:
		switch {
		case !c.on:
		case ev.On || c.paused:
			c.paused = ev.On
		default:
			c.suspended, c.interrupted, c.skipped = false, false, false
		}
	case ChangeSettings:
		if c.on {
			c.settings = ev.Settings
		}
	case NudgeNow:
		c.nudged = c.on
	}
}

// effect judges one thing the engine wants.
func (c *contract) effect(w *world, ev Event, effect Effect) {
	switch e := effect.(type) {
	case AskCheck:
		c.send(w)
		c.open, c.void, c.accepted = e.Record.ID, false, false
		c.counted(w, e.Record, false)
	case SendWork:
		c.send(w)
		switch {
		case e.Record != nil:
			c.onward = e.Record.ID
			c.counted(w, *e.Record, true)
		case e.Check != c.owed:
			c.breach(ruleOwed, "it is sent for %q, owed is %q", e.Check, c.owed)
		}
	case VoidCheck:
		if e.Check != c.open {
			c.breach(ruleOutcome, "%s is made void, open is %q", e.Check, c.open)
		}
		if _, tick := ev.(Tick); tick {
			c.refusals = refusalsPerSettle // Pi did not start it
		}
		c.void = true
	case Rollback:
		if p := &w.pi; p.running && !c.guessed || p.compacting || p.dialog || c.open != "" || w.sending() || !c.submitted.IsZero() {
			c.breach(ruleRollback, "%s is to be rolled back at the wrong time", e.Check)
		}
		if e.Check == c.rolled {
			c.breach(ruleRollback, "%s is to be rolled back again", e.Check)
		}
		c.rolled = e.Check
	case Ended:
		c.ended(ev, e)
	case Answer:
		c.answer(ev.(Decided), e)
	case Reply:
		if _, skip := ev.(SkipCheck); skip && e.Level == "info" {
			c.skipped = true
		}
		if _, nudge := ev.(NudgeNow); nudge && e.Level == "info" {
			c.skipped, c.refusals, c.lastKey = false, 0, time.Time{}
		}
	}
}

// counted judges what counts towards the cap: a check, or a work message without
// one.
func (c *contract) counted(w *world, r Check, onward bool) {
	if c.count++; c.count > c.settings.Max || r.N != c.count {
		c.breach(ruleCap, "check %d (by the contract %d) of %d", r.N, c.count, c.settings.Max)
	}
	if onward != w.pi.cut {
		c.breach(ruleCut, "sent without a check: %v, the answer was cut: %v", onward, w.pi.cut)
	}
}

// send judges a check or a work message.
func (c *contract) send(w *world) {
	p := &w.pi
	for _, r := range []struct {
		broken bool
		rule   string
	}{
		{!c.on, ruleOff},
		{c.paused, rulePaused},
		{c.suspended, ruleSuspend},
		{c.interrupted, ruleEsc},
		{!p.joined || p.running && !c.guessed || p.compacting || c.children > 0, ruleBusy},
		{!c.submitted.IsZero() && w.now.Sub(c.submitted) < confirmWithin, ruleSubmitted},
		{p.draft || p.dialog || !c.nudged && !c.lastKey.IsZero() && w.now.Sub(c.lastKey) < keyQuiet, ruleTyping},
		{p.runs == 0 && !c.byHand, ruleFirst},
		{!c.human, ruleHuman},
		{c.skipped && !c.nudged, ruleSkip},
		{c.refusals >= refusalsPerSettle && !c.nudged, ruleRefusals},
		{c.open != "" || w.sending(), ruleOne},
	} {
		if r.broken {
			c.breach(r.rule, "it was sent")
		}
	}
}

// sending is whether a check or a work message is on its way.
func (w *world) sending() bool {
	for _, r := range w.queue {
		switch r.effect.(type) {
		case AskCheck, SendWork, Rollback:
			return true
		}
	}
	return false
}

// recording is whether a record is on its way.
func (w *world) recording() bool {
	for _, r := range w.queue {
		if _, ok := r.effect.(Append); ok {
			return true
		}
	}
	return false
}

func (c *contract) ended(ev Event, e Ended) {
	if e.Event != "max" {
		// The decision was taken into account with its event.
		if _, outside := ev.(Decided); outside {
			if !c.on || c.suspended {
				c.breach(ruleOutcome, "%s ends what has ended", e.Event)
			}
			c.selfStop = true
			c.decided(Decision(e.Event), "")
		} else if c.on && !c.suspended || c.accepted == false {
			c.breach(ruleOutcome, "%s ends it without an accepted answer", e.Event)
		}
		c.accepted = false
		return
	}
	if !c.on || c.count < c.settings.Max {
		c.breach(ruleCap, "it ends at %d of %d checks", c.count, c.settings.Max)
	}
	c.on = false
}

func (c *contract) answer(ev Decided, a Answer) {
	if !a.Accepted {
		return
	}
	switch {
	case !ev.Decision.Valid():
		c.breach(ruleOutcome, "the answer %q was accepted", ev.Decision)
	case ev.Check == "":
		if c.open != "" || ev.Decision == Continue {
			c.breach(ruleOutcome, "%s was accepted outside a check", ev.Decision)
		}
	case c.void || ev.Check != c.open || c.accepted || !c.on:
		c.breach(ruleOutcome, "an answer to %q was accepted (open %q, void %v, answered %v)", ev.Check, c.open, c.void, c.accepted)
	default:
		c.accepted = true
	}
}

// checkSent takes a check that is in the file now. The user may have spoken
// since it was asked, without a run that would have kept it from being sent:
// the file then counts one more.
func (c *contract) checkSent(r Check) { c.unlike = c.unlike || r.N != c.count }

func (c *contract) workSent(w *world, check string) {
	if c.owed == check {
		c.owed = ""
	}
}

// spokenRow takes a row of role user. A message that another extension sends
// leaves a row that looks human, which only the running engine can tell apart.
// A row of the user comes after a suspension when the agent stopped by itself
// between the message and its row: the file then says that it goes on.
// And an engine that came between the two was told of neither.
func (c *contract) spokenRow(s speaker, unheard bool) {
	c.unlike = s != human || c.suspended || unheard
}

// unwritten takes a message that never became a row: the running engine heard
// it, the file cannot know.
func (c *contract) unwritten() { c.unlike = true }

// recorded takes a record that is in the file now.
func (c *contract) recorded(a Append) {
	if start, ok := a.Data.(Start); ok && start.By != ByEnv {
		c.unlike, c.dropped = false, false
	}
}
