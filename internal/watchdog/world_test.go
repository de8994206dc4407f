package watchdog

import (
	"encoding/json"
	"fmt"
	"maps"
	"time"

	"piwatch/internal/pi"
)

// world is a session with everything around its engine: Pi with the bridge in
// it, the channel between bridge and hub, the session file, and the contract
// that judges what the engine does.
//
// What a correct bridge guarantees, and the world therefore never breaks:
//   - What the bridge tells arrives in order and at once. What the hub asks
//     for waits in a queue, is carried out in order, and one by one: the next
//     request waits until the receipt of the one before is read. Receipts may
//     be read later than what the bridge told after it gave them.
//   - A send is carried out only if the fence matches and Pi is idle in every
//     respect at that moment; else the receipt refuses it and holds the facts.
//   - Every check that was sent is closed exactly once, before the settle of
//     its run; void when the user spoke, pressed Esc, or the hub asked for it.
//   - A tool call of an agent only comes in a run. A record that is asked for
//     is written before the agent's next step: a model takes longer than a
//     socket.
//   - The record of a check, its outcome and the rows of messages are in the
//     session file in the order in which they came to be.
//   - A rollback takes nothing but the exchange off the branch: no record that
//     came after its check is lost.
//   - A bridge that lost its hub voids its open check.
//   - A connection may break at any time; the requests in the queue are lost.
type world struct {
	e     *Engine
	now   time.Time
	ids   int
	pi    piModel
	queue []request
	// receipt is given by the bridge and not read by the hub.
	receipt Event
	file    State               // the session file, as it is rebuilt
	lines   map[string]pi.Entry // by line, what the parser made of it: the same few come again and again
	spec    contract
	wrote   func(row map[string]any) // told of every row; nil: nobody
	fault   *fault
	reply   []Effect // for the one who asked
}

// piModel is Pi and its bridge.
type piModel struct {
	joined, headless    bool
	rollback            bool // exchanges are rolled back
	instance            int
	running, compacting bool
	draft, dialog       bool
	settle, runs, leaf  int
	aborted, ownEnd     bool
	cut                 bool      // the last answer outside a check was cut by the token limit
	checked             bool      // the run that is on is that of a check
	submitted           time.Time // a message waits for its run
	waits               speaker   // whose message it is
	steers              speaker   // whose message waits within the run
	unheard             bool      // the engine that is there now was not told of it
	own                 bool      // a message of piwatch was sent, its run has not started
	check               string
	checkVoid           bool
	answer, ownStop     Decision
}

// speaker is who wrote a message.
type speaker int

const (
	nobody speaker = iota
	human
	extension
)

// request is what the hub wants of the bridge.
type request struct {
	effect Effect
}

func newWorld(f *fault, rec State, change ...func(*piModel)) *world {
	w := &world{now: begin, file: rec, fault: f, lines: map[string]pi.Entry{}}
	w.pi = piModel{joined: true, instance: 1}
	for _, change := range change {
		change(&w.pi)
	}
	w.e = New(rec, nil)
	w.join()
	return w
}

func (w *world) clone() *world {
	c := *w
	e := *w.e
	if e.check != nil {
		check := *e.check
		e.check = &check
	}
	if e.work != nil {
		work := *e.work
		e.work = &work
	}
	if e.undo != nil {
		undo := *e.undo
		e.undo = &undo
	}
	c.e = &e
	e.newID = c.newID
	c.queue = append([]request(nil), w.queue...)
	return &c
}

func (w *world) newID() string {
	w.ids++
	return fmt.Sprintf("c%d", w.ids)
}

// step tells the engine something and lets the contract judge what it does.
func (w *world) step(ev Event) {
	w.e.newID = w.newID
	w.spec.event(w, ev)
	effects := w.engineStep(ev)
	w.reply = nil
	for _, effect := range effects {
		w.spec.effect(w, ev, effect)
		switch effect.(type) {
		case AskCheck, SendWork, VoidCheck, Append, Rollback:
			if w.pi.joined {
				w.queue = append(w.queue, request{effect})
			}
		case Answer, Reply:
			w.reply = append(w.reply, effect)
		}
	}
	w.spec.after(w, ev)
}

func (w *world) engineStep(ev Event) []Effect {
	if w.fault == nil || w.fault.step == nil {
		return w.e.Step(w.now, ev)
	}
	return w.fault.step(w.e, w.now, ev)
}

func (w *world) facts() Facts {
	p := &w.pi
	return Facts{
		Idle: !p.running && !p.compacting, Compacting: p.compacting, Dialog: p.dialog, Draft: p.draft,
		Settle: p.settle, Leaf: fmt.Sprint(p.leaf), Runs: p.runs, Aborted: p.aborted, Cut: p.cut, Check: p.check,
	}
}

func (w *world) join() {
	w.step(Joined{Facts: w.facts(), Headless: w.pi.headless, Rollback: w.pi.rollback, Instance: fmt.Sprint("i", w.pi.instance)})
}

// write appends a row to the session file.
func (w *world) write(row map[string]any) {
	if w.wrote != nil {
		w.wrote(maps.Clone(row))
	}
	line, err := json.Marshal(row)
	if err != nil {
		panic(err)
	}
	e, known := w.lines[string(line)]
	if !known {
		var parser pi.Parser
		e = parser.Add(line, 0)[0]
		w.lines[string(line)] = e
	}
	w.file.read(&e)
}

// handle carries out the first request of the hub.
func (w *world) handle() {
	r := w.queue[0]
	w.queue = w.queue[1:]
	p := &w.pi
	switch e := r.effect.(type) {
	case AskCheck:
		if w.refuse(e.Record.ID, false, e.Settle, e.Leaf) {
			return
		}
		w.write(recordRow(RecordCheck, Check{ID: e.Record.ID, N: e.Record.N}))
		p.check, p.checkVoid, p.answer, p.own, p.leaf = e.Record.ID, false, "", true, p.leaf+1
		w.spec.checkSent(e.Record)
		w.receipt = Delivered{Check: e.Record.ID, Sent: true}
	case SendWork:
		if w.refuse(e.Check, true, e.Settle, e.Leaf) {
			return
		}
		if e.Record != nil {
			w.write(recordRow(RecordOnward, Check{ID: e.Record.ID, N: e.Record.N}))
			w.spec.checkSent(*e.Record)
		}
		w.write(workRow(e.Check))
		p.own, p.leaf = true, p.leaf+1
		w.spec.workSent(w, e.Check)
		w.receipt = Delivered{Check: e.Check, Work: true, Sent: true}
	case VoidCheck:
		if p.check != e.Check {
			return
		}
		p.checkVoid = true
		switch {
		case !p.running:
			w.closeCheck(true)
		case e.Abort:
			p.ownEnd = true
		}
	case Rollback:
		now := w.facts()
		done := p.check == "" && now.Idle && !p.own
		if done {
			p.leaf++
			now = w.facts()
		}
		w.receipt = RolledBack{Check: e.Check, Done: done, Reason: "refused", Facts: &now}
	case Append:
		w.write(recordRow(e.Type, e.Data))
		w.spec.recorded(e)
	}
}

// refuse looks at everything again, as the bridge does in the tick of a send.
func (w *world) refuse(id string, work bool, settle int, leaf string) bool {
	p := &w.pi
	now := w.facts()
	if p.check == "" && now.Idle && !p.own && p.submitted.IsZero() && !now.Dialog && !now.Draft && settle == now.Settle && leaf == now.Leaf {
		return false
	}
	w.receipt = Delivered{Check: id, Work: work, Reason: "refused", Facts: &now}
	return true
}

// closeCheck ends the open check; told is false when no hub is connected.
func (w *world) closeCheck(told bool) {
	p := &w.pi
	o := Outcome{Check: p.check, End: EndNoAnswer}
	switch {
	case p.checkVoid:
		o.End, o.Decision = EndVoid, p.answer
	case p.answer != "":
		o.End, o.Decision = EndAnswered, p.answer
	}
	if p.rollback {
		o.Rows = []string{"row"}
	}
	p.check, p.checkVoid, p.answer = "", false, ""
	w.write(recordRow(RecordOutcome, o))
	if told {
		w.step(Closed{o})
	}
}

// endTurn is the end of a turn: a check is closed, a stop by the agent itself
// is written, and a message that waited comes in.
func (w *world) endTurn() {
	p := &w.pi
	if p.check != "" {
		w.closeCheck(p.joined)
	}
	if p.ownStop != "" {
		w.write(recordRow(RecordOutcome, Outcome{End: EndAnswered, Decision: p.ownStop}))
		o := Outcome{End: EndAnswered, Decision: p.ownStop}
		p.ownStop = ""
		if p.joined {
			w.step(Closed{o})
		}
	}
	if p.steers != nobody {
		w.userRow(p.steers)
		p.steers, p.checked = nobody, false
	}
}

func (w *world) userRow(s speaker) {
	w.pi.leaf++
	w.write(userRow())
	w.spec.spokenRow(s, w.pi.unheard)
	w.pi.unheard = false
}

// settle ends the run; stop is why its last answer ended.
func (w *world) settle(stop string) {
	p := &w.pi
	aborted := stop == pi.StopAborted
	if aborted {
		if p.check != "" {
			p.checkVoid = true
		}
		if p.steers != nobody {
			p.steers = nobody // Pi puts it back into the editor
			w.spec.unwritten()
		}
	}
	w.write(assistantRow(stop))
	if !p.checked {
		p.cut = stop == pi.StopLength
	}
	w.endTurn()
	p.running, p.ownEnd = false, false
	p.settle, p.runs, p.leaf, p.aborted = p.settle+1, p.runs+1, p.leaf+1, aborted
	if p.joined {
		w.step(Settled{w.facts()})
	}
}

// startRun starts the run of a message that waits, or of another extension.
func (w *world) startRun(own bool) {
	p := &w.pi
	if own {
		p.own, p.steers = false, p.waits
	} else if p.waits != nobody {
		w.userRow(p.waits)
	}
	p.waits, p.submitted, p.running = nobody, time.Time{}, true
	if p.checked = own && p.check != ""; !p.checked {
		p.cut = false
	}
	if p.joined {
		w.step(RunStarted{Own: own})
	}
}

func (w *world) speak(s speaker) {
	p := &w.pi
	if p.check != "" {
		p.checkVoid = true
	}
	if s == human {
		p.aborted = false
	}
	if p.running {
		p.steers = s
	} else {
		p.waits, p.submitted = s, w.now
	}
	if p.joined {
		w.step(Spoken{Human: s == human})
	}
}

func (w *world) decide(d Decision) {
	p := &w.pi
	id := p.check
	if p.checkVoid {
		id = ""
	}
	w.step(Decided{Check: id, Decision: d})
	for _, r := range w.reply {
		if a, ok := r.(Answer); ok && a.Accepted {
			switch {
			case id != "" && p.answer == "":
				p.answer = d
			case id == "" && p.check == "":
				p.ownStop = d
			}
		}
	}
}

// lose breaks the channel; a reload also begins a new instance of the bridge.
func (w *world) lose(reload bool) {
	p := &w.pi
	p.joined = false
	if p.check != "" {
		p.checkVoid = true
		if !p.running {
			w.closeCheck(false)
		}
	}
	w.queue, w.receipt = nil, nil
	w.step(Left{})
	if reload {
		p.instance++
		p.settle, p.runs, p.aborted, p.own = 0, 0, false, false
		if p.waits != nobody {
			w.spec.unwritten()
		}
		p.waits, p.submitted = nobody, time.Time{}
	}
}

// rejoin is the bridge coming back to an engine that is rebuilt from the file.
func (w *world) rejoin() {
	w.pi.joined, w.pi.unheard = true, w.pi.waits != nobody || w.pi.steers != nobody
	w.e = New(w.file, w.newID)
	w.join()
}

// pass lets time pass.
func (w *world) pass(to time.Time) {
	w.now = to
	p := &w.pi
	if !p.submitted.IsZero() && w.now.Sub(p.submitted) >= confirmWithin {
		p.waits, p.submitted = nobody, time.Time{} // another extension took the message
		w.spec.unwritten()
	}
}

func (w *world) wake() (time.Time, bool) {
	if w.fault != nil && w.fault.wake != nil {
		return w.fault.wake(w.e)
	}
	return w.e.Wake()
}

// tick lets time pass up to the next tick, and late beyond it.
func (w *world) tick(late time.Duration) {
	wake, any := w.wake()
	if !any {
		return
	}
	w.pass(wake.Add(late))
	w.step(Tick{})
}
