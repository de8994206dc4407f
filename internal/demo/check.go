package demo

import (
	"errors"
	"slices"
	"strings"

	"piwatch/internal/control"
	"piwatch/internal/pi"
	"piwatch/internal/watchdog"
)

// wrongLimit is how many turns of wrong answers end a check without an answer.
const wrongLimit = 3

// Why a check is void: its turn was aborted, the hub is gone.
const (
	interrupted = "interrupted by the user"
	wentAway    = "piwatch went away"
)

// check is an open check. Once it is void its answer changes nothing; tools
// stay blocked until its turn has ended, so that no late call of the check
// runs.
type check struct {
	id       string
	decision watchdog.Decision // "" until the hub accepted one
	note     string
	void     string // the cause, "" while it is valid
	wrong    int
	err      string // of the provider, in the last turn
	// decideInBatch: the last row calls the tool, so a call beside it must not
	// lead to another request.
	decideInBatch bool
	blocked       []string // ids of the calls that were blocked
}

// selfStop is a decision outside a check that the hub accepted.
type selfStop struct {
	call     string
	decision watchdog.Decision
	note     string
}

func (c *check) makeVoid(why string) {
	if c.void == "" {
		c.void = why
	}
}

func (c *check) over() bool { return c.void != "" || c.decision != "" }

// block refuses a call of a tool while a check is open; nil outside one.
func (p *Pi) block(call ToolCall) *result {
	if p.check == nil {
		return nil
	}
	p.check.blocked = append(p.check.blocked, call.ID)
	res := failed(p.welcome.Texts.Blocked)
	res.terminate = p.check.over() || p.check.decideInBatch || p.check.wrong+1 >= wrongLimit
	return res
}

// decide asks the hub what the tool answers. The caller holds mu, which is
// given up meanwhile.
func (p *Pi) decide(c ToolCall) *result {
	open := p.check
	if open != nil && open.void != "" {
		open = nil
	}
	decision, _ := c.Args["decision"].(string)
	note, _ := c.Args["note"].(string)
	params := control.DecideParams{Call: c.ID, Decision: decision, Note: strings.TrimSpace(note)}
	if open != nil {
		params.Check = open.id
	}
	var reply control.DecideReply
	asked := p.call(control.Decide, params, &reply)
	p.moment = InDecide
	p.bump()
	p.mu.Unlock()
	err := <-asked
	p.mu.Lock()
	p.moment = NoMoment
	p.bump()
	if err != nil {
		reply = control.DecideReply{Text: p.welcome.Texts.Gone, Terminate: true}
		if p.check != nil && errors.Is(err, control.ErrClosed) {
			p.check.makeVoid(wentAway) // in the bridge one tick, here maybe before the link has ended
		}
	}
	switch {
	case !reply.Accepted:
		if open != nil && reply.Terminate && open.decision == "" {
			open.makeVoid("it was ended before it was answered")
		}
	case open != nil && p.check == open && !open.over():
		open.decision, open.note = watchdog.Decision(decision), params.Note
	case open == nil && p.check == nil && p.selfStop == nil:
		p.selfStop = &selfStop{c.ID, watchdog.Decision(decision), params.Note}
	}
	return &result{
		text: reply.Text, terminate: reply.Terminate || p.check != nil && p.check.over(),
		details: map[string]string{"line": strings.TrimSuffix(decision+": "+params.Note, ": ")},
	}
}

// turnEnd is Pi's turn_end with the bridge's handler: the check is closed when
// its turn brought a decision, or nothing to wait for.
func (p *Pi) turnEnd(aborted bool, e *entry, results []*entry) {
	r := e.message
	if r.StopReason == pi.StopAborted || aborted {
		p.runAborted = true
	}
	c := p.check
	p.ending.check = c != nil || p.selfStop != nil
	if c == nil {
		if p.selfStop != nil {
			p.foldSelfStop(e, results)
		}
		return
	}
	if p.runAborted {
		c.makeVoid(interrupted)
	}
	goesOn := !p.runAborted && c.goesOn(results)
	if c.void != "" || c.decision != "" && r.StopReason != pi.StopError {
		// Pi asks the model again, before a queued message: its answer is of this
		// exchange.
		if goesOn {
			if c.wrong++; c.wrong < wrongLimit {
				return
			}
			if !p.facts().Queued {
				p.abortOwn()
			}
		}
		p.closeCheck()
		return
	}
	if r.StopReason == pi.StopError {
		c.err = r.ErrorMessage
		return
	}
	c.err = ""
	if len(results) > 0 {
		if c.wrong++; c.wrong < wrongLimit {
			return
		}
		if goesOn {
			p.abortOwn()
		}
	}
	p.closeCheck()
}

// goesOn says whether Pi asks the model again after these results: a call with
// a bad value never ends a run, a blocked one may.
func (c *check) goesOn(results []*entry) bool {
	return slices.ContainsFunc(results, func(e *entry) bool {
		return e.message.failed() && !slices.Contains(c.blocked, e.message.ToolCallID)
	})
}

// abortOwn ends a turn of a check: no act of the user, so it does not count as
// an interruption. The caller holds mu.
func (p *Pi) abortOwn() {
	p.ownAbort = true
	p.abort()
}

// beforeSettle is Pi's agent_before_settle. Pi leaves it out after an abort;
// the check is closed at the settle then.
func (p *Pi) beforeSettle() {
	if p.check != nil && !p.runAborted {
		p.closeCheck()
	}
}

// closeIdle closes a check that no turn closes any more.
func (p *Pi) closeIdle() {
	if p.check != nil {
		p.closeCheck()
	}
}

// closeCheck folds the exchange and writes how it ended.
func (p *Pi) closeCheck() {
	c := p.check
	p.check = nil
	outcome := c.outcome()
	rows := p.exchange(c)
	for _, e := range rows {
		outcome.Rows = append(outcome.Rows, e.id)
		if e.message != nil && e.message.Usage != nil {
			outcome.Tokens += e.message.Usage.Output
		}
	}
	if len(rows) > 0 {
		outcome.Fold = watchdog.FoldEdit
	}
	p.tell(control.CheckClosed, control.CheckClosedEvent{Outcome: outcome})
	for _, e := range rows {
		p.session.addEdit(e.id, nil, p.clock.Now())
	}
	e := p.session.addCustom(watchdog.RecordOutcome, outcome, p.clock.Now())
	p.note(Event{Kind: Closed, Entry: e.id, Outcome: outcome})
}

func (c *check) outcome() watchdog.Outcome {
	o := watchdog.Outcome{Check: c.id, Wrong: c.wrong, Decision: c.decision, Note: c.note}
	switch {
	case c.void != "":
		o.End, o.Why = watchdog.EndVoid, c.void
	case c.decision != "":
		o.End = watchdog.EndAnswered
	case c.err != "":
		o.End, o.Why = watchdog.EndError, c.err
	case c.wrong > 0:
		o.End, o.Why = watchdog.EndNoAnswer, "only blocked tools or bad values"
	default:
		o.End, o.Why = watchdog.EndNoAnswer, "no call of the tool"
	}
	return o
}

// closeOrphan closes a check without an end: its Pi was killed while it was
// open. The caller holds mu.
func (p *Pi) closeOrphan() {
	if p.check != nil {
		return
	}
	branch := p.session.branch()
	at := lastIndex(branch, func(e *entry) bool { return e.kind == pi.TypeCustomMessage && e.customType == watchdog.MessageCheck })
	if at < 0 || slices.ContainsFunc(branch, func(e *entry) bool {
		o, ok := e.data.(watchdog.Outcome)
		return ok && o.Check == branch[at].check
	}) {
		return
	}
	p.check = &check{id: branch[at].check, void: "the session was left"}
	if !p.running {
		p.closeIdle()
	}
}

// foldHere folds again what a move in the tree brought back: rows of exchanges
// whose folds are on another branch. The caller holds mu.
func (p *Pi) foldHere() {
	branch := p.session.branch()
	ends := map[string][]*entry{} // the outcomes of each exchange, by its last row
	var order []string
	for _, e := range p.session.entries {
		if o, ok := e.data.(watchdog.Outcome); ok && len(o.Rows) > 0 {
			last := o.Rows[len(o.Rows)-1]
			if ends[last] == nil {
				order = append(order, last)
			}
			ends[last] = append(ends[last], e)
		}
	}
	for _, last := range order {
		outcome := ends[last][len(ends[last])-1].data.(watchdog.Outcome)
		if outcome.Fold == watchdog.FoldNone || slices.ContainsFunc(ends[last], func(e *entry) bool { return slices.Contains(branch, e) }) {
			continue
		}
		if p.foldAgain(branch, outcome) {
			outcome.Again = true
			p.session.addCustom(watchdog.RecordOutcome, outcome, p.clock.Now())
		}
	}
}

// foldAgain edits the rows of an exchange that are on the branch, and reports
// whether there are any.
func (p *Pi) foldAgain(branch []*entry, o watchdog.Outcome) (any bool) {
	var calls []string
	for _, id := range o.Rows {
		if e := p.session.byID[id]; e != nil && e.message != nil {
			calls = append(calls, e.message.ToolCallID)
		}
	}
	for _, e := range branch {
		switch {
		case slices.Contains(o.Rows, e.id):
			p.session.addEdit(e.id, nil, p.clock.Now())
		case slices.Contains(o.Kept, e.id):
			rest := slices.DeleteFunc(slices.Clone(e.message.blocks()), func(b block) bool { return b.Type == "toolCall" && slices.Contains(calls, b.ID) })
			p.session.addEdit(e.id, &replacement{rest}, p.clock.Now())
		default:
			continue
		}
		any = true
	}
	return any
}

// exchange are the rows of a check on the branch: its message, and the answers
// and results after it. It is empty when a call among them did real work.
func (p *Pi) exchange(c *check) []*entry {
	branch := p.session.branch()
	at := -1
	for i, e := range branch {
		if e.kind == pi.TypeCustomMessage && e.customType == watchdog.MessageCheck && e.check == c.id {
			at = i
		}
	}
	if at < 0 {
		return nil
	}
	rows := branch[at : at+1 : at+1]
	for _, e := range branch[at+1:] {
		if e.message == nil {
			continue
		}
		switch r := e.message; r.Role {
		case pi.RoleToolResult:
			if r.ToolName != DecideTool && !r.failed() { // whether it is registered here by now or not
				return nil
			}
			rows = append(rows, e)
		case pi.RoleAssistant:
			rows = append(rows, e)
		}
	}
	return rows
}

// foldSelfStop takes the call of a stop by the agent itself out of the
// context. Its text and the calls beside it stay.
func (p *Pi) foldSelfStop(e *entry, results []*entry) {
	stop := p.selfStop
	p.selfStop = nil
	outcome := watchdog.Outcome{End: watchdog.EndAnswered, Decision: stop.decision, Note: stop.note, Fold: watchdog.FoldEdit}
	var rest []block
	keep := false
	for _, b := range e.message.blocks() {
		if b.ID != stop.call || b.Type != "toolCall" {
			rest = append(rest, b)
			keep = keep || b.Type == "toolCall" || strings.TrimSpace(b.Text) != ""
		}
	}
	if keep {
		p.session.addEdit(e.id, &replacement{rest}, p.clock.Now())
		outcome.Kept = []string{e.id}
	} else {
		p.session.addEdit(e.id, nil, p.clock.Now())
		outcome.Rows = []string{e.id}
	}
	for _, r := range results {
		if r.message.ToolCallID == stop.call {
			p.session.addEdit(r.id, nil, p.clock.Now())
			outcome.Rows = append(outcome.Rows, r.id)
		}
	}
	p.tell(control.CheckClosed, control.CheckClosedEvent{Outcome: outcome})
	rec := p.session.addCustom(watchdog.RecordOutcome, outcome, p.clock.Now())
	p.note(Event{Kind: Closed, Entry: rec.id, Outcome: outcome})
}
