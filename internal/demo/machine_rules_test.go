package demo_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"piwatch/internal/control"
	"piwatch/internal/pi"
	"piwatch/internal/watchdog"
)

// The rules, by the names under which a history reports them.
const (
	ruleOne       = "at most one check or work message is outstanding"
	ruleOff       = "nothing is sent while it is off, after a stop nothing but clean-up"
	rulePaused    = "nothing is sent while it is paused"
	ruleSuspended = "nothing is sent while it is suspended"
	ruleEsc       = "nothing is sent while it is interrupted"
	ruleBusy      = "nothing is sent while the session is busy"
	ruleTyping    = "nothing is sent while the user types"
	ruleFirst     = "nothing is sent before the first run, unless started by hand"
	ruleCap       = "no more checks than max since the user spoke, whatever dies"
	ruleOwed      = "a work message is sent once, for the answer continue and nothing else"
	ruleView      = "what is shown is what happened"
	ruleOutcome   = "one outcome for each check"
	ruleTools     = "tools are blocked while a check is open, and only then"
	ruleFold      = "the model is sent nothing of a check that is closed"
	ruleContext   = "the model is sent what the session's rows say"
	ruleFile      = "the session file is whole"
	ruleRecord    = "what the file says is what the hub knows"
)

var allRules = []string{
	ruleOne, ruleOff, rulePaused, ruleSuspended, ruleEsc, ruleBusy, ruleTyping, ruleFirst, ruleCap, ruleOwed,
	ruleView, ruleOutcome, ruleTools, ruleFold, ruleContext, ruleFile, ruleRecord,
}

// keysRest is how long the keyboard must rest.
const keysRest = 2 * time.Second

// rules is what must hold of a hub, told independently of it from what Pi and
// the hub say to each other.
//
// Hub and Pi speak at the same time: a send is only wrong when what forbids it
// held already when all was quiet before.
type rules struct {
	now    func() time.Time
	mu     sync.Mutex
	broken []string // a rule and how
	names  map[string]bool
	trace  []string

	moment int            // how often all was quiet, from 1
	since  map[string]int // the moment in which something came to forbid a send; 0: nothing

	on, paused, suspended, interrupted bool
	byHand                             bool
	settings                           watchdog.Settings
	count                              int  // checks since the user spoke, as the hub must count
	spoke                              int  // checks since the user really spoke
	apart                              bool // the record may rightly count fewer
	owed                               string
	open                               string // the check that is asked or open
	void                               bool
	input                              int    // the moment of the last message
	work                               string // the work message whose run has not started
	selfStop                           bool   // the agent stopped it, the outcome is to come
	crossed                            bool   // the user spoke between a call of the agent and its answer
	nudged                             bool

	running, compacting, draft, dialog bool
	runs                               int
	instance                           string
	conn                               int // the connection in use
	lastKey                            time.Time
	begun                              int    // how often the hub began anew from the record
	asked                              string // the check without a receipt
}

func newRules(now func() time.Time) *rules {
	return &rules{now: now, moment: 1, since: map[string]int{}, names: map[string]bool{}, settings: watchdog.Defaults()}
}

func (r *rules) breach(rule, format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.wrong(rule, format, args...)
}

// wrong is breach for who holds mu.
func (r *rules) wrong(rule, format string, args ...any) {
	r.names[rule] = true
	r.broken = append(r.broken, rule+": "+fmt.Sprintf(format, args...))
}

// forbidden is what forbids a send now.
func (r *rules) forbidden() map[string]bool {
	return map[string]bool{
		ruleOff:       !r.on,
		rulePaused:    r.paused,
		ruleSuspended: r.suspended,
		ruleEsc:       r.interrupted,
		ruleBusy:      r.running || r.compacting,
		ruleTyping:    r.draft || r.dialog || !r.nudged && !r.lastKey.IsZero() && r.now().Sub(r.lastKey) < keysRest,
		ruleFirst:     r.runs == 0 && !r.byHand,
	}
}

func (r *rules) mark() {
	for rule, is := range r.forbidden() {
		switch {
		case !is:
			r.since[rule] = 0
		case r.since[rule] == 0:
			r.since[rule] = r.moment
		}
	}
}

// rest begins a new moment: all is quiet.
func (r *rules) rest() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.nudged = false
	r.mark()
	r.moment++
}

func (r *rules) send(what string) {
	for rule, is := range r.forbidden() {
		if since := r.since[rule]; is && since > 0 && since < r.moment {
			r.wrong(rule, "%s is sent", what)
		}
	}
	if r.work != "" || r.open != "" {
		r.wrong(ruleOne, "%s is sent, there is %q%q", what, r.open, r.work)
	}
}

// saw takes what one side said to the other.
func (r *rules) saw(w wire) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !w.probe() {
		r.trace = append(r.trace, w.String())
	}
	if w.method == control.Hello && w.toHub {
		r.conn = w.conn
	}
	if w.conn != r.conn {
		return // Pi has another by now, and obeys nothing that comes on this one
	}
	r.mark() // time may have passed
	switch {
	case w.answer && w.toHub:
		r.receipt(w)
	case w.answer:
		r.reply(w)
	case w.toHub:
		r.told(w)
	default:
		r.wanted(w)
	}
	r.mark()
}

func read[T any](raw json.RawMessage) T {
	var v T
	if len(raw) > 0 && json.Unmarshal(raw, &v) != nil {
		panic(fmt.Sprintf("%s is no %T", raw, v))
	}
	return v
}

// told takes what Pi tells.
func (r *rules) told(w wire) {
	switch w.method {
	case control.Hello:
		h := read[control.BridgeHello](w.params)
		r.instance = h.Instance
		r.begin(h.Facts, h.Records)
	case control.Tree:
		e := read[control.TreeEvent](w.params)
		r.begin(e.Facts, e.Records)
	case control.Run:
		r.running = true
		if read[control.RunEvent](w.params).Own {
			r.work = ""
		}
	case control.Settled:
		f := read[control.SettledEvent](w.params).Facts
		r.running, r.work = false, ""
		r.facts(f)
		if r.interrupted = r.interrupted || f.Aborted; r.interrupted {
			r.owed = ""
		}
	case control.Activity:
		e := read[control.ActivityEvent](w.params)
		if r.draft = e.Draft; e.Key {
			r.lastKey = r.now()
		}
	case control.Dialog:
		r.dialog = read[control.DialogEvent](w.params).Open
	case control.Compaction:
		r.compacting = read[control.CompactionEvent](w.params).On
	case control.Input:
		r.void, r.owed, r.input = true, "", r.moment
		if read[control.InputEvent](w.params).Source == "extension" {
			return
		}
		r.suspended, r.interrupted, r.count, r.crossed = false, false, 0, true
	case control.Decide:
		r.crossed = false
	case control.CheckClosed:
		r.closed(read[control.CheckClosedEvent](w.params).Outcome)
	}
}

// begin is a hub, or an engine in it, that stands where the record says.
func (r *rules) begin(f watchdog.Facts, records []json.RawMessage) {
	var parser pi.Parser
	var branch []pi.Entry
	for _, record := range records {
		branch = append(branch, parser.Add(record, 0)...)
	}
	s := watchdog.Rebuild(branch)
	r.on, r.paused, r.suspended, r.interrupted = s.On, s.Paused, s.Suspended, f.Aborted
	r.byHand = s.Instance != "" && s.Instance == r.instance
	r.settings, r.count, r.owed = s.Settings, s.Count, s.Owed
	if r.interrupted {
		r.owed = ""
	}
	r.open, r.void, r.work, r.selfStop = f.Check, true, "", false
	if r.asked != "" && !slices.ContainsFunc(records, func(raw json.RawMessage) bool { return bytes.Contains(raw, []byte(r.asked)) }) {
		r.spoke-- // it never came to Pi
	}
	r.asked = ""
	if r.apart {
		r.spoke = min(r.spoke, r.count)
	}
	r.running, r.lastKey = !f.Idle && !f.Compacting, time.Time{}
	r.facts(f)
	r.begun++
}

func (r *rules) facts(f watchdog.Facts) {
	r.compacting, r.dialog, r.draft, r.runs = f.Compacting, f.Dialog, f.Draft, f.Runs
}

func (r *rules) closed(o watchdog.Outcome) {
	if o.Check == "" {
		if !r.selfStop && r.on && !r.suspended {
			r.decided(o.Decision, "")
		}
		r.selfStop = false
		return
	}
	if o.Check != r.open {
		return // one that was left open by a Pi before this one
	}
	if o.End == watchdog.EndAnswered && !r.void && r.on {
		r.decided(o.Decision, o.Check)
	}
	r.open = ""
}

func (r *rules) decided(d watchdog.Decision, check string) {
	r.owed = ""
	switch {
	case d == watchdog.Continue:
		r.owed = check
	case r.settings.Mode == watchdog.Keep:
		r.suspended = true
	default:
		r.on = false
	}
}

// wanted takes what the hub wants of Pi.
func (r *rules) wanted(w wire) {
	switch w.method {
	case control.SendCheck:
		p := read[control.CheckParams](w.params)
		r.send("a check")
		r.count++
		r.spoke++
		if r.count > r.settings.Max || r.spoke > r.settings.Max {
			r.wrong(ruleCap, "check %d, %d since the user spoke, of %d", r.count, r.spoke, r.settings.Max)
		}
		if p.Record.N != r.count && r.input != r.moment { // else the user spoke meanwhile
			r.wrong(ruleCap, "check %d is called %d", r.count, p.Record.N)
		}
		r.open, r.void, r.asked = p.Record.ID, false, p.Record.ID
	case control.SendWork:
		p := read[control.WorkParams](w.params)
		r.send("work")
		if p.Check != r.owed && r.input != r.moment {
			r.wrong(ruleOwed, "work is sent for %q, owed is %q", p.Check, r.owed)
		}
		r.work = p.Check
	case control.Void:
		if read[control.VoidParams](w.params).Check == r.open {
			r.void = true
		}
	case control.Record:
		p := read[control.RecordParams](w.params)
		if p.Type != watchdog.RecordStop || read[watchdog.Stop](p.Data).Reason != watchdog.StopMax {
			return
		}
		if r.count < r.settings.Max {
			r.wrong(ruleCap, "it ends at %d of %d", r.count, r.settings.Max)
		}
		r.on, r.paused, r.suspended, r.owed = false, false, false, ""
	}
}

// receipt takes what became of what the hub wants. It may come after what Pi
// told of it.
func (r *rules) receipt(w wire) {
	result := read[control.Receipt](w.result).Result
	sent := result == control.Sent
	switch w.method {
	case control.SendCheck:
		r.asked = ""
		if id := read[control.CheckParams](w.params).Record.ID; !sent && id == r.open {
			r.open = ""
			r.count, r.spoke = max(r.count-1, 0), max(r.spoke-1, 0)
		}
	case control.SendWork:
		if id := read[control.WorkParams](w.params).Check; sent && id == r.owed {
			r.owed = ""
		} else if !sent && id == r.work {
			r.work = ""
		}
	}
}

// reply takes the hub's answer to Pi.
func (r *rules) reply(w wire) {
	if w.method != control.Decide {
		return
	}
	p, said := read[control.DecideParams](w.params), read[control.DecideReply](w.result)
	if said.Accepted && p.Check == "" {
		r.selfStop = true
		r.decided(watchdog.Decision(p.Decision), "")
		if r.crossed {
			r.suspended = false // the hub took the user's message after the call that it answers here
		}
	}
}

// person takes what a person wants, before the hub does it.
func (r *rules) person(method string, settings watchdog.Settings) {
	r.mu.Lock()
	defer r.mu.Unlock()
	defer r.mark()
	switch {
	case method == control.Start:
		r.on, r.paused, r.suspended, r.interrupted, r.settings = true, false, false, false, settings
		r.byHand, r.count, r.spoke, r.apart, r.owed, r.void = true, 0, 0, false, "", true
	case !r.on:
	case method == control.Stop:
		r.on, r.paused, r.suspended, r.void, r.owed = false, false, false, true, ""
	case method == control.Pause:
		r.paused = true
	case method == control.Resume && r.paused:
		r.paused = false
	case method == control.Resume:
		r.suspended, r.interrupted = false, false
	case method == control.Set:
		r.settings = settings
	case method == control.Nudge:
		r.nudged = true
	}
}

// said is the end of what Pi and the hub said to each other.
func (r *rules) said() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.trace[max(len(r.trace)-60, 0):], "\n")
}

// asks takes a nudge that was obeyed: the keys it was typed with are forgotten.
func (r *rules) asks() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lastKey = time.Time{}
}

// moves takes a move in the tree, to a branch with a count of its own.
func (r *rules) moves() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.apart = true
}

// speaks takes a message that somebody really submitted.
func (r *rules) speaks(human bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.apart = !human || r.apart // the row of an extension looks like one of the user
	if human {
		r.spoke, r.apart = 0, false
	}
}
