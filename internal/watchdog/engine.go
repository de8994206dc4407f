package watchdog

import (
	"fmt"
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

// owedWork is a work message that a decision continue is owed.
type owedWork struct {
	check  string
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
		interrupted: s.Interrupted,
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
	case RunStarted, Settled, Activity, DialogChanged, Spoken, CompactionChanged, TreeMoved, Closed:
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
	case TreeMoved:
		e.see(ev.Facts)
		e.dropWork()
		e.deadline, e.left = time.Time{}, 0
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
	e.interrupted = ev.Facts.Aborted
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
	e.deadline, e.left = time.Time{}, 0
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
	e.facts.Aborted = false
	e.deadline, e.left = time.Time{}, 0
	return out
}

func (e *Engine) onClosed(ev Closed) []Effect {
	o := ev.Outcome
	if o.Check == "" {
		return e.stoppedItself(o)
	}
	if e.check == nil || e.check.id != o.Check {
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
	if known || !e.on || e.suspended || o.End != EndAnswered || o.Decision == Continue || !o.Decision.Valid() {
		return nil
	}
	return e.end(o.Decision, o.Note)
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
		if e.work.void {
			e.work = nil
			return []Effect{Log{"info", what + ev.Reason}}
		}
		e.work.asked = false
		if e.refused+1 >= refusalsPerSettle {
			e.work = nil
		}
	}
	e.refused++
	e.refusal = ev.Reason
	return []Effect{Log{"warning", what + ev.Reason}}
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
	return e.ask(now, fmt.Sprintf("idle for %d s", int(e.grace().Seconds())))
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
	waited := now.Sub(e.idleSince).Round(100 * time.Millisecond).Seconds()
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

// hindrance says why nothing may be sent or counted now, "" when nothing is in
// the way. resumes: a countdown goes on afterwards with the time that was left.
func (e *Engine) hindrance() (why string, resumes bool) {
	for _, h := range hindrances {
		if h.is(e) {
			why := h.why
			if h.because != nil {
				why += h.because(e)
			}
			return why, h.resumes
		}
	}
	return "", false
}

// hindrances in the order in which they are told. Each is a state in which
// piwatch sends nothing.
var hindrances = []struct {
	why     string
	because func(*Engine) string
	phase   Phase
	resumes bool
	is      func(*Engine) bool
}{
	{why: "off", because: func(e *Engine) string {
		if e.offWhy == "" {
			return ""
		}
		return ": " + e.offWhy
	}, phase: Off, is: func(e *Engine) bool { return !e.on }},
	{why: "no bridge is connected", phase: Lost, is: func(e *Engine) bool { return !e.joined }},
	{why: "suspended after ", because: func(e *Engine) string { return string(e.last) + "; the user's next message resumes it" },
		phase: Suspended, is: func(e *Engine) bool { return e.suspended }},
	{why: "paused by hand", phase: Paused, resumes: true, is: func(e *Engine) bool { return e.paused }},
	{why: "interrupted; waits for the user's next message", phase: Interrupted,
		is: func(e *Engine) bool { return e.interrupted }},
	{why: "a check is open", phase: Checking, is: func(e *Engine) bool { return e.check != nil }},
	{why: "an exchange is rolled back", phase: Working, is: func(e *Engine) bool { return e.undo != nil && e.undo.asked }},
	{why: "Pi is compacting", phase: Working, is: func(e *Engine) bool { return e.facts.Compacting }},
	{why: "the agent is working", phase: Working, is: func(e *Engine) bool { return !e.facts.Idle }},
	{why: "a message was submitted; its run starts", phase: Working, is: func(e *Engine) bool { return !e.submitted.IsZero() }},
	{why: "a message is queued", phase: Working, is: func(e *Engine) bool { return e.facts.Queued }},
	{why: "a dialog is open in Pi", phase: Typing, resumes: true, is: func(e *Engine) bool { return e.facts.Dialog }},
	{why: "a child session is running", phase: Working, is: func(e *Engine) bool { return e.children > 0 }},
	{why: "the session has no message of the user yet", phase: Working, is: func(e *Engine) bool { return !e.human }},
	{why: "no run has finished in this process yet", phase: Working,
		is: func(e *Engine) bool { return e.facts.Runs == 0 && !e.byHand }},
	{why: "the editor holds a draft", phase: Typing, resumes: true, is: func(e *Engine) bool { return e.facts.Draft }},
	{why: "keys were pressed", phase: Typing, resumes: true, is: func(e *Engine) bool { return !e.lastKey.IsZero() }},
	{why: "this check was skipped by hand; waits for the next settle", phase: Working,
		is: func(e *Engine) bool { return e.skipped }},
	{why: "refused: ", because: func(e *Engine) string { return e.refusal + "; waits for the next settle" }, phase: Working,
		is: func(e *Engine) bool { return e.refused >= refusalsPerSettle }},
}

// onItsWay is said while a work message is with the bridge.
const onItsWay = "the work message is on its way"

// View is what people see at that time.
func (e *Engine) View(now time.Time) View {
	v := View{
		Count: e.count, Settings: e.settings, Deadline: e.deadline, Left: e.left,
		Last: e.last, Note: e.note, Exchange: e.exchange, Phase: Counting,
	}
	if e.check != nil {
		v.Check = e.check.id
	}
	for _, h := range hindrances {
		if h.is(e) {
			v.Phase = h.phase
			break
		}
	}
	v.Why, _ = e.hindrance()
	if v.Phase == Counting && e.deadline.IsZero() {
		v.Phase, v.Why = Working, onItsWay
	}
	return v
}

// Busy reports whether the session runs: a run, a compaction or a check.
func (e *Engine) Busy() bool {
	return e.joined && (!e.facts.Idle || e.facts.Compacting || e.check != nil)
}

// Facts are what is known of the session.
func (e *Engine) Facts() Facts { return e.facts }
