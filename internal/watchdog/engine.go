package watchdog

import (
	"time"
)

// Times of the countdown.
const (
	// keyQuiet is how long the keyboard must rest before a countdown goes on.
	keyQuiet = 2 * time.Second
	// leastLeft is the least a countdown resumes with, unless its timeout is
	// shorter.
	leastLeft = 5 * time.Second
	// lateTick is how late a tick may be before it means that the machine
	// slept, and idle time starts anew.
	lateTick = 5 * time.Second
	// confirmWithin is how long Pi may take to start a run that was sent.
	confirmWithin = 10 * time.Second
	// refusalsPerSettle is how often a send may be refused before the next
	// settle is waited for.
	refusalsPerSettle = 2
)

// Engine is the watchdog of one session: a pure function of events and time.
// It has no clock, does no I/O and starts no goroutine, so it can be explored
// exhaustively and replayed over old sessions. Not safe for concurrent use.
type Engine struct {
	newID func() string

	on          bool
	settings    Settings
	count       int // checks since the last real user message
	paused      bool
	suspended   bool
	byHand      bool   // started by hand in this process: may count before a run
	human       bool   // the session holds a message of the user
	offWhy      string // why it is off
	last        Decision
	note        string
	wrongAnswer bool // the last check got no valid answer

	joined      bool
	headless    bool
	instance    string
	facts       Facts
	running     bool // a run started and has not settled
	selfStop    bool // the agent stopped it outside a check; the outcome is to come
	heard       bool // Pi told something since the last send
	interrupted bool
	said        string // how the user's last message begins
	children    int

	deadline  time.Time     // of the countdown; zero when nothing counts
	left      time.Duration // of a countdown that is paused
	idleSince time.Time
	lastKey   time.Time
	submitted time.Time // a message was submitted whose run has not started yet
	skipped   bool      // the user wants no check before the next settle
	refused   int       // sends refused since the last settle
	refusal   string

	check    *openCheck
	work     *owedWork
	rollback bool // ended exchanges are rolled back
	undo     *owedRollback
	exchange string // id of the last check that was closed
}

// owedRollback is a rollback that an ended exchange is owed.
type owedRollback struct {
	check string
	asked bool // it is with the bridge
}

// openCheck is a check from the moment it is sent to the bridge until the
// bridge closed it.
type openCheck struct {
	id       string
	void     bool
	answered bool
	unsure   time.Time // until then the run of a sent check must have started; zero once it has
}

// owedWork is a work message that a decision continue is owed, or one that was
// sent without a check.
type owedWork struct {
	check  string
	onward bool      // without a check: it is not owed, and counts like one
	asked  bool      // it is with the bridge
	void   bool      // what it was owed for is over; the bridge may have sent it all the same
	unsure time.Time // as in openCheck
}

// New gives an engine that continues from a rebuilt state; the zero State is a
// session that was never watched. newID makes ids of checks, unique within the
// session file.
func New(s State, newID func() string) *Engine {
	e := &Engine{
		newID: newID, on: s.On, settings: s.Settings, count: s.Count, paused: s.Paused, suspended: s.Suspended,
		human: s.Human, offWhy: s.OffWhy, last: s.Last, note: s.Note, wrongAnswer: s.Wrong, instance: s.Instance,
		interrupted: s.Interrupted, said: s.Said,
	}
	if !e.on && e.settings == (Settings{}) {
		e.settings = Defaults()
	}
	if s.Owed != "" {
		e.work = &owedWork{check: s.Owed}
	}
	return e
}

// Step takes one event at one time and says what is to be done for it.
func (e *Engine) Step(now time.Time, ev Event) []Effect {
	out := e.passTime(now)
	return append(append(out, e.take(now, ev)...), e.reconcile(now)...)
}

func (e *Engine) take(now time.Time, ev Event) []Effect {
	var out []Effect
	switch ev.(type) {
	case RunStarted, Settled, Activity, DialogChanged, Spoken, CompactionChanged, Closed:
		e.heard = true
	}
	switch ev := ev.(type) {
	case Joined:
		out = e.onJoined(ev)
	case Left:
		e.joined, e.check, e.undo, e.children = false, nil, nil, 0
		if e.work != nil && e.work.asked {
			e.work = nil // whether it arrived is in the record, which the next Joined rebuilds from
		}
	case RunStarted:
		e.running, e.facts.Idle, e.submitted = true, false, time.Time{}
		if e.check != nil {
			e.check.unsure = time.Time{}
		}
		if ev.Own && e.work != nil && e.work.asked {
			e.work = nil
		}
	case Settled:
		e.onSettled(ev)
	case Activity:
		e.facts.Draft = ev.Draft
		if ev.Key {
			e.lastKey = now
		}
	case DialogChanged:
		e.facts.Dialog = ev.Open
	case Spoken:
		out = e.onSpoken(now, ev)
	case CompactionChanged:
		e.facts.Compacting = ev.On
	case Closed:
		out = e.onClosed(ev)
	case Decided:
		out = e.onDecided(ev)
	case Delivered:
		out = e.onDelivered(now, ev)
	case RolledBack:
		out = e.onRolledBack(ev)
	case ChildrenChanged:
		e.children = ev.Running
	case Tick:
		out = e.onTick(now)
	case ClockJumped:
		if !e.deadline.IsZero() {
			out = append(out, Log{"info", "the machine slept or its clock was set: the countdown starts anew"})
		}
		e.deadline, e.left, e.lastKey = time.Time{}, 0, time.Time{}
		e.waitAnew(now)
	default:
		out = e.onPerson(now, ev)
	}
	return out
}

// passTime lets go of what has had its time before anything else is looked at.
func (e *Engine) passTime(now time.Time) []Effect {
	if !e.lastKey.IsZero() && now.Sub(e.lastKey) >= keyQuiet {
		e.lastKey = time.Time{}
	}
	if !e.deadline.IsZero() && now.Sub(e.deadline) > lateTick {
		e.deadline, e.left = time.Time{}, 0
		return []Effect{Log{"info", "the machine slept: the countdown starts anew"}}
	}
	return nil
}

// waitAnew gives what is waited for its whole time again.
func (e *Engine) waitAnew(now time.Time) {
	if !e.submitted.IsZero() {
		e.submitted = now
	}
	if e.check != nil && !e.check.unsure.IsZero() {
		e.check.unsure = now.Add(confirmWithin)
	}
	if e.work != nil && !e.work.unsure.IsZero() {
		e.work.unsure = now.Add(confirmWithin)
	}
}

// see takes what the bridge sees. It is not idle while Pi compacts, and a
// compaction never settles: whether a run is on is known from its events.
func (e *Engine) see(f Facts) {
	if f.Compacting {
		f.Idle = !e.running
	}
	e.facts = f
}

// Wake is when the next Tick is due; false when no time is waited for.
func (e *Engine) Wake() (time.Time, bool) {
	var wake time.Time
	earlier := func(t time.Time) {
		if !t.IsZero() && (wake.IsZero() || t.Before(wake)) {
			wake = t
		}
	}
	earlier(e.deadline)
	if e.on && !e.lastKey.IsZero() {
		earlier(e.lastKey.Add(keyQuiet))
	}
	if !e.submitted.IsZero() {
		earlier(e.submitted.Add(confirmWithin))
	}
	if e.check != nil {
		earlier(e.check.unsure)
	}
	if e.work != nil {
		earlier(e.work.unsure)
	}
	return wake, !wake.IsZero()
}

func (e *Engine) onJoined(ev Joined) []Effect {
	e.joined, e.headless, e.rollback = true, ev.Headless, ev.Rollback
	e.see(ev.Facts)
	e.byHand = e.instance != "" && e.instance == ev.Instance
	e.instance = ev.Instance
	if e.interrupted = ev.Facts.Aborted; e.interrupted {
		e.dropWork()
	}
	if ev.Facts.Check != "" {
		e.check = &openCheck{id: ev.Facts.Check, void: true}
	}
	if e.on {
		return []Effect{RegisterTool{}}
	}
	return nil
}

func (e *Engine) onSettled(ev Settled) {
	e.running = false
	e.see(ev.Facts)
	e.interrupted = e.interrupted || ev.Facts.Aborted
	e.refused, e.refusal, e.skipped, e.submitted = 0, "", false, time.Time{}
	e.deadline, e.left, e.idleSince = time.Time{}, 0, time.Time{}
	if e.work != nil && !e.work.unsure.IsZero() {
		e.work = nil
	}
	if e.interrupted {
		e.dropWork()
	}
}

func (e *Engine) onSpoken(now time.Time, ev Spoken) []Effect {
	if e.check != nil {
		e.check.void = true
	}
	e.dropWork()
	if e.undo != nil && !e.undo.asked {
		e.undo = nil
	}
	e.submitted = now
	if !ev.Human {
		return nil
	}
	var out []Effect
	if e.suspended {
		out = append(out, Log{"info", "the user spoke: monitoring goes on"})
	}
	e.human, e.interrupted, e.suspended, e.count, e.refused = true, false, false, 0, 0
	e.said = Beginning(ev.Said)
	e.last, e.note = "", "" // it was answered
	e.facts.Aborted = false
	e.deadline, e.left = time.Time{}, 0
	return out
}

func (e *Engine) onTick(now time.Time) []Effect {
	expired := func(t time.Time) bool { return !t.IsZero() && !now.Before(t) }
	if !e.submitted.IsZero() && expired(e.submitted.Add(confirmWithin)) {
		e.submitted = time.Time{} // another extension took the message: no run comes of it
	}
	var out []Effect
	if e.check != nil && expired(e.check.unsure) {
		out = append(out, VoidCheck{e.check.id, "Pi did not start it within 10 s", false}, Log{"warning", "the check is not confirmed: Pi did not start it within 10 s"})
		e.check.void, e.check.unsure = true, time.Time{}
		e.facts.Idle = true
		e.refused, e.refusal = refusalsPerSettle, "Pi did not start it"
	}
	if e.work != nil && expired(e.work.unsure) {
		out = append(out, Log{"warning", "the work message is not confirmed: Pi did not start it within 10 s"})
		e.work = nil
		e.facts.Idle = true
		e.refused, e.refusal = refusalsPerSettle, "Pi did not start it"
	}
	return out
}

// Busy reports whether the session runs: a run, a compaction or a check.
func (e *Engine) Busy() bool {
	return e.joined && (!e.facts.Idle || e.facts.Compacting || e.check != nil)
}

// Facts are what is known of the session.
func (e *Engine) Facts() Facts { return e.facts }
