package replay

import (
	"time"

	"piwatch/internal/pi"
	"piwatch/internal/watchdog"
)

// walk reads a branch row by row and tells the simulation what happened.
type walk struct {
	rows     []row
	recorded bool // the record starts and stops the watchdog
	sim      *sim
	totals   Totals

	running bool
	// inside: the rows are those of a check that piwatch really asked. They are
	// no run of the agent, and not part of the simulation: only the answer is.
	inside  bool
	aborted bool // an answer inside was aborted
}

func (w *walk) take(i int) {
	r := &w.rows[i]
	switch r.kind {
	case otherRow: // its time may be of another session: labels of a clone keep theirs
		return
	case userRow:
		w.sim.passTo(w.sim.submitted(r))
	default:
		w.sim.passTo(r.time())
	}
	switch r.kind {
	case userRow:
		w.inside = false
		w.sim.endIdle(w.next(r, ByUser))
		w.sim.step(watchdog.Spoken{Human: true})
		w.sim.passTo(r.time())
		w.start(i, false)
	case workRow:
		w.inside = false
		w.sim.endIdle(w.next(r, ByPiwatch))
		w.start(i, true)
	case askRow:
		w.inside, w.aborted = true, false
	case extRow:
		if next := w.follows(i, false); !w.inside && next != nil && next.kind == agentRow {
			w.sim.endIdle(w.next(r, ByExtension))
			w.start(i, false)
		}
	case agentRow, resultRow:
		w.answer(i)
	case recordRow:
		w.record(r)
	case leftRow:
		if !w.inside { // else it is an exchange that was folded off the branch
			w.sim.endIdle(&Next{By: ByBranch, Entry: r.ID, At: w.sim.at(w.sim.now)})
			w.running = true
			w.sim.runStarted(false)
		}
	case shellRow, choiceRow:
		if w.sim.idle != nil { // at its start Pi writes the choices that stand
			w.sim.step(watchdog.Activity{Key: true})
		}
	case compactionRow:
		w.sim.step(watchdog.CompactionChanged{On: true})
		w.sim.step(watchdog.CompactionChanged{On: false})
	}
}

func (w *walk) next(r *row, by By) *Next {
	return &Next{By: by, Entry: r.ID, At: w.sim.at(w.sim.now), Preview: r.preview()}
}

// start begins a run, or goes on with the one that is on.
func (w *walk) start(i int, own bool) {
	w.running = true
	w.sim.runStarted(own)
	w.endAfter(i)
}

// answer takes a row of the model or of a tool.
func (w *walk) answer(i int) {
	r := &w.rows[i]
	if w.inside {
		w.aborted = w.aborted || r.aborted()
		return
	}
	if r.kind == agentRow {
		w.count(r)
	}
	if !w.running {
		w.sim.endIdle(w.next(r, ByAgent))
		w.running = true
		w.sim.runStarted(false)
	}
	w.endAfter(i)
}

// count adds an answer to the totals.
func (w *walk) count(r *row) {
	switch m := r.Message; {
	case r.aborted():
		w.totals.Aborted++
	case m.StopReason == pi.StopError:
		w.totals.Errors++
	case m.StopReason == pi.StopLength:
		w.totals.Length++
	case m.StopReason == pi.StopStop:
		switch ShapeOf(m) {
		case Thinking:
			w.totals.ThinkingOnly++
		case Empty:
			w.totals.Empty++
		}
	}
}

// endAfter ends the run when row i is its last one.
func (w *walk) endAfter(i int) {
	r := &w.rows[i]
	stop, shape := r.stop()
	idle := &Idle{Stop: stop, Shape: shape}
	switch w.ending(i) {
	case settles:
		w.ownStop(i)
		w.running = false
		w.sim.settle(r, idle)
	case cutOff:
		idle.cut, idle.Why = true, "the run has no end on this branch: Pi or a tool ended it, or the branch was left"
		if w.follows(i, true) == nil {
			idle.Why = "the file ends in the run"
		}
		w.running = false
		w.sim.cutOff(r, idle)
	}
}

// ending says what becomes of the run after a row.
type ending int

const (
	goesOn ending = iota
	settles
	cutOff
)

func (w *walk) ending(i int) ending {
	r := &w.rows[i]
	if next := w.follows(i, r.open()); next != nil {
		switch next.kind {
		case agentRow, resultRow:
			return goesOn // among others: Pi retries an error, or goes on after it compacted
		case askRow, workRow, recordRow:
			return settles // piwatch only sends to a session that has settled
		case userRow:
			if !r.aborted() && waited(r, next) {
				return goesOn
			}
		}
	}
	if r.open() {
		return cutOff
	}
	return settles
}

// waited says whether a message was sent before a row was written, so that it
// waited in Pi's queue.
func waited(r, message *row) bool {
	sent, done := message.sent(), r.time()
	return !sent.IsZero() && !done.IsZero() && !sent.After(done)
}

// follows is the next row of the conversation, nil when there is none. A message
// of an extension starts a run or is a mere note; within a run it is looked
// through.
func (w *walk) follows(i int, through bool) *row {
	for i = w.nextRow(i); i >= 0; i = w.nextRow(i) {
		if r := &w.rows[i]; r.kind != extRow || !through {
			return r
		}
	}
	return nil
}

// nextRow finds the next row of the conversation, -1 when there is none. The
// record of a check stands for its message, which a fold can take off the
// branch.
func (w *walk) nextRow(i int) int {
	for i++; i < len(w.rows); i++ {
		r := &w.rows[i]
		if r.kind.converses() || r.kind == leftRow || r.kind == recordRow && r.Custom.CustomType == watchdog.RecordCheck {
			return i
		}
	}
	return -1
}

// ownStop finds the stop by the agent itself that is recorded after its row: it
// took effect before the run ended.
func (w *walk) ownStop(i int) {
	end := w.nextRow(i)
	if end < 0 {
		end = len(w.rows)
	}
	for _, r := range w.rows[i+1 : end] {
		if r.kind != recordRow || r.Custom.CustomType != watchdog.RecordOutcome {
			continue
		}
		if o, ok := read[watchdog.Outcome](r.Custom.Data); ok && o.Check == "" && !o.Again {
			w.sim.step(watchdog.Decided{Decision: o.Decision, Note: o.Note})
			w.sim.step(watchdog.Closed{Outcome: o})
		}
	}
}

// submitted is when the user sent a message: its row can be written later, after
// a compaction for one. A time that cannot be is not believed.
func (s *sim) submitted(r *row) time.Time {
	if sent, written := r.sent(), r.time(); !sent.IsZero() && sent.Before(written) && !sent.Before(s.real) {
		return sent
	}
	return r.time()
}
