package replay

import (
	"cmp"
	"fmt"
	"time"

	"piwatch/internal/pi"
	"piwatch/internal/watchdog"
)

// clockSet is how far an entry must lie before the one above it to mean that the
// clock was set; less is disorder among rows that were written together.
const clockSet = time.Second

// sim is an engine, and the session around it as far as the file tells.
type sim struct {
	engine *watchdog.Engine
	// now is the simulation's time, which never runs backwards; real is the time
	// of the file at the moment base. Zero while no entry had a time.
	now, base, real time.Time
	ids             int
	settles, runs   int
	gone            bool // Pi was ended
	leaf            string
	cut             bool // the token limit cut the last answer

	steps    []Step
	idle     *Idle     // the idle time that is on
	began    time.Time // its begin
	deadline time.Time // of the countdown that was seen last

	check string            // the open check
	known *watchdog.Outcome // of a check that was really asked in this idle time
}

func newSim() *sim {
	s := &sim{now: time.Unix(0, 0).UTC()}
	s.base = s.now
	s.engine = watchdog.New(watchdog.State{}, func() string {
		s.ids++
		return fmt.Sprint("replay-", s.ids)
	})
	return s
}

func (s *sim) join() { s.step(watchdog.Joined{Facts: s.facts(false)}) }

// rejoin is Pi being there again after it was ended: before its first run is
// over nothing counts.
func (s *sim) rejoin() {
	if s.gone {
		s.gone = false
		s.join()
	}
}

func (s *sim) facts(aborted bool) watchdog.Facts {
	return watchdog.Facts{Idle: true, Settle: s.settles, Runs: s.runs, Leaf: s.leaf, Aborted: aborted, Cut: s.cut}
}

// at is a moment of the simulation in the time of the file.
func (s *sim) at(moment time.Time) time.Time {
	if s.real.IsZero() {
		return time.Time{}
	}
	return s.real.Add(moment.Sub(s.base))
}

// passTo lets time pass up to a time of the file. A time that is unknown passes
// none.
func (s *sim) passTo(t time.Time) {
	switch d := t.Sub(s.real); {
	case t.IsZero():
		return
	case s.real.IsZero():
	case d <= -clockSet:
		s.base, s.real, s.deadline = s.now, t, time.Time{}
		s.step(watchdog.ClockJumped{})
		return
	case d < 0:
		return
	default:
		s.advance(s.now.Add(d))
	}
	s.base, s.real = s.now, t
}

// advance lets time pass, and the engine act when its time has come.
func (s *sim) advance(to time.Time) {
	for {
		wake, any := s.engine.Wake()
		if !any || !wake.Before(to) {
			break
		}
		if wake.After(s.now) {
			s.now = wake
		}
		s.step(watchdog.Tick{})
	}
	s.now = to
}

// step tells the engine something and does what it wants done.
func (s *sim) step(ev watchdog.Event) {
	for _, effect := range s.engine.Step(s.now, ev) {
		s.do(effect)
	}
	if s.idle == nil {
		return
	}
	if v := s.engine.View(s.now); v.Phase == watchdog.Counting && !v.Deadline.Equal(s.deadline) {
		s.deadline, s.idle.CountsFrom = v.Deadline, s.at(s.now)
	}
}

func (s *sim) do(effect watchdog.Effect) {
	switch e := effect.(type) {
	case watchdog.AskCheck:
		s.check = e.Record.ID
		s.asks(e.Record)
		s.step(watchdog.Delivered{Check: s.check, Sent: true})
		s.step(watchdog.RunStarted{Own: true})
		if o := s.known; o != nil {
			s.known = nil
			s.answered(*o, false)
		}
	case watchdog.SendWork:
		if e.Record != nil {
			s.asks(*e.Record)
		}
		s.step(watchdog.Delivered{Check: e.Check, Work: true, Sent: true})
		s.step(watchdog.RunStarted{Own: true})
	case watchdog.VoidCheck:
		if s.check == e.Check {
			s.answered(watchdog.Outcome{End: watchdog.EndVoid, Why: e.Why}, false)
		}
	case watchdog.Ended:
		if s.idle != nil {
			s.idle.Ended = e.Event
		}
	}
}

// asks notes a check, or a work message without one.
func (s *sim) asks(r watchdog.Check) {
	if s.idle == nil {
		return
	}
	s.idle.Asks = append(s.idle.Asks, Ask{At: s.at(s.now), N: r.N, Max: r.Max, Reason: r.Reason, Answer: AnswerUnknown, moment: s.now})
	if s.idle.CountsFrom.IsZero() { // no grace: it asks at once
		s.idle.CountsFrom = s.at(s.now)
	}
}

// answered closes the open check; aborted: the user pressed Esc in it. Without
// one, the answer is kept for the check that the simulation comes to later in
// this idle time.
func (s *sim) answered(o watchdog.Outcome, aborted bool) {
	if s.check == "" {
		if o.End == watchdog.EndAnswered {
			s.known = &o
		}
		return
	}
	s.close(o)
	s.settles, s.runs = s.settles+1, s.runs+1
	s.step(watchdog.Settled{Facts: s.facts(aborted)})
}

// close ends the open check within its run.
func (s *sim) close(o watchdog.Outcome) {
	o.Check = s.check
	s.check = ""
	if s.idle != nil && len(s.idle.Asks) > 0 {
		ask := &s.idle.Asks[len(s.idle.Asks)-1]
		ask.Answer, ask.Note = string(o.End), cmp.Or(o.Note, o.Why)
		if o.End == watchdog.EndAnswered {
			ask.Answer = string(o.Decision)
		}
	}
	s.step(watchdog.Closed{Outcome: o})
}

// runStarted is a run that began, or a message within one. The answer of a check
// that is open stays unknown: it is void, as if the user had spoken.
func (s *sim) runStarted(own bool) {
	s.rejoin()
	if s.check != "" {
		s.close(watchdog.Outcome{End: watchdog.EndVoid, Why: "the replay does not know its answer"})
	}
	s.step(watchdog.RunStarted{Own: own})
}

// settle ends a run: from here the agent is idle.
func (s *sim) settle(r *row, idle *Idle) {
	s.beginIdle(r, idle)
	s.settles, s.runs = s.settles+1, s.runs+1
	s.cut = idle.Stop == pi.StopLength && idle.Shape != Call
	s.step(watchdog.Settled{Facts: s.facts(r.aborted())})
}

// cutOff is Pi being ended in a run.
func (s *sim) cutOff(r *row, idle *Idle) {
	s.beginIdle(r, idle)
	s.gone, s.runs, s.check = true, 0, ""
	s.step(watchdog.Left{})
}

func (s *sim) beginIdle(r *row, idle *Idle) {
	s.idle, s.began, s.deadline, s.known, s.leaf = idle, s.now, time.Time{}, nil, r.ID
	s.steps = append(s.steps, Step{Kind: StepIdle, Entry: r.ID, Line: r.Line, At: s.at(s.now), Idle: idle})
}

// endIdle ends idle time, before what came next is told; nil: the file ends.
func (s *sim) endIdle(next *Next) {
	idle := s.idle
	if idle == nil {
		return
	}
	s.idle = nil
	if idle.Next = next; next != nil {
		idle.Seconds = s.now.Sub(s.began).Seconds()
		if len(idle.Asks) > 0 {
			next.AfterAsk = s.now.Sub(idle.Asks[0].moment).Seconds()
		}
	}
	v := s.engine.View(s.now)
	switch {
	case len(idle.Asks) > 0:
		idle.Verdict, idle.Why = Asked, ""
		return
	case idle.cut:
		idle.Verdict = CutOff
	case v.Phase == watchdog.Counting, v.Phase == watchdog.Typing:
		if !v.Deadline.IsZero() {
			idle.Due = s.at(v.Deadline)
		}
		idle.Verdict, idle.Why = Short, sooner(next)+BeforeDue
		if next == nil {
			idle.Verdict = Ends
		}
	default:
		idle.Why = v.Why
		idle.Verdict = cmp.Or(verdicts[v.Phase], Held)
	}
}

// sooner says what came before the countdown was over.
func sooner(next *Next) string {
	switch {
	case next == nil:
		return "the file ends"
	case next.By == ByUser:
		return "the user wrote"
	case next.By == ByPiwatch:
		return "piwatch sent it back to work"
	case next.By == ByExtension:
		return "an extension sent a message"
	case next.By == ByBranch:
		return "the branch was left"
	}
	return "the agent went on by itself"
}

// show adds a record to the steps.
func (s *sim) show(r *row, record Record) {
	s.steps = append(s.steps, Step{Kind: StepRecord, Entry: r.ID, Line: r.Line, At: s.at(s.now), Record: &record})
}
