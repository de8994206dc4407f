package watchdog

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// fingerprint is all of a world that its future depends on, with times told
// from now, and ids and numbers told by what they are compared with.
func (w *world) fingerprint() string {
	p := printer{now: w.now}
	e, m := w.e, &w.pi
	p.flags(e.on, e.paused, e.suspended, e.byHand, e.human, e.wrongAnswer, e.joined, e.headless, e.running, e.heard, e.selfStop, e.interrupted, e.skipped)
	p.flags(e.facts.Idle, e.facts.Compacting, e.facts.Queued, e.facts.Dialog, e.facts.Draft, e.facts.Aborted, e.facts.Runs > 0)
	p.flags(e.facts.Cut, m.cut, m.checked)
	p.flags(e.facts.Settle == m.settle, e.facts.Leaf == fmt.Sprint(m.leaf))
	p.numbers(e.count, e.children, e.refused, e.settings.Timeout, e.settings.Max, int(e.left/time.Millisecond))
	p.words(string(e.settings.Mode), string(e.last), e.instance)
	p.times(e.deadline, e.lastKey, e.submitted)
	if e.check != nil {
		p.id(e.check.id)
		p.flags(e.check.void, e.check.answered)
		p.times(e.check.unsure)
	}
	p.words("|")
	if e.work != nil {
		p.id(e.work.check)
		p.flags(e.work.asked, e.work.void, e.work.onward)
		p.times(e.work.unsure)
	}
	p.words("|")
	if e.undo != nil {
		p.id(e.undo.check)
		p.flags(e.undo.asked)
	}
	p.words("|")
	p.flags(m.rollback, m.joined, m.running, m.compacting, m.draft, m.dialog, m.aborted, m.ownEnd, m.own, m.checkVoid, m.unheard, m.runs > 0)
	p.numbers(int(m.waits), int(m.steers), m.instance)
	p.times(m.submitted)
	p.id(m.check)
	p.words(string(m.answer), string(m.ownStop))
	for _, r := range w.queue {
		w.printRequest(&p, r)
	}
	switch r := w.receipt.(type) {
	case Delivered:
		p.words("receipt")
		p.id(r.Check)
		p.flags(r.Work, r.Sent)
		w.printFacts(&p, r.Facts)
	case RolledBack:
		p.words("rolled back")
		p.id(r.Check)
		p.flags(r.Done)
		w.printFacts(&p, r.Facts)
	}
	p.words("|")
	s, c := &w.file, &w.spec
	p.flags(s.On, s.Paused, s.Suspended, s.Human, s.Wrong, s.Started)
	p.numbers(s.Count, s.Settings.Timeout, s.Settings.Max)
	p.words(string(s.Settings.Mode), string(s.Last), s.Instance)
	p.id(s.Owed)
	p.id(s.Open)
	p.id(s.Void)
	p.flags(c.on, c.paused, c.suspended, c.interrupted, c.byHand, c.human, c.skipped, c.accepted, c.void, c.selfStop, c.unlike, c.dropped, c.guessed)
	p.numbers(c.count, c.refusals, c.children)
	p.times(c.lastKey, c.submitted)
	p.id(c.open)
	p.id(c.rolled)
	p.id(c.owed)
	p.id(c.onward)
	return p.String()
}

func (w *world) printFacts(p *printer, f *Facts) {
	if f != nil {
		p.flags(f.Idle, f.Compacting, f.Dialog, f.Draft, f.Aborted, f.Cut, f.Runs > 0, f.Settle == w.pi.settle, f.Leaf == fmt.Sprint(w.pi.leaf))
		p.id(f.Check)
	}
}

func (w *world) printRequest(p *printer, r request) {
	fence := func(settle int, leaf string) {
		p.flags(settle == w.pi.settle, leaf == fmt.Sprint(w.pi.leaf))
	}
	switch e := r.effect.(type) {
	case AskCheck:
		p.words("ask")
		p.id(e.Record.ID)
		p.numbers(e.Record.N)
		fence(e.Settle, e.Leaf)
	case SendWork:
		p.words("work")
		p.id(e.Check)
		if e.Record != nil {
			p.numbers(e.Record.N)
		}
		fence(e.Settle, e.Leaf)
	case VoidCheck:
		p.words("void")
		p.id(e.Check)
		p.flags(e.Abort)
	case Rollback:
		p.words("rollback")
		p.id(e.Check)
	case Append:
		p.words(fmt.Sprint(e.Type, e.Data))
	}
}

type printer struct {
	strings.Builder
	now time.Time
	ids []string
}

func (p *printer) flags(flags ...bool) {
	for _, f := range flags {
		if f {
			p.WriteByte('1')
		} else {
			p.WriteByte('0')
		}
	}
	p.WriteByte(' ')
}

func (p *printer) numbers(numbers ...int) {
	for _, n := range numbers {
		p.WriteString(strconv.Itoa(n))
		p.WriteByte(' ')
	}
}

func (p *printer) words(words ...string) {
	for _, w := range words {
		p.WriteString(w)
		p.WriteByte(' ')
	}
}

// times are told from now; what is long over is just over.
func (p *printer) times(times ...time.Time) {
	for _, t := range times {
		if t.IsZero() {
			p.WriteString("- ")
			continue
		}
		p.numbers(int(max(t.Sub(p.now), -confirmWithin) / time.Millisecond))
	}
}

// id tells an id by its first place.
func (p *printer) id(id string) {
	if id == "" {
		p.WriteString("- ")
		return
	}
	for i, known := range p.ids {
		if known == id {
			p.numbers(i)
			return
		}
	}
	p.ids = append(p.ids, id)
	p.numbers(len(p.ids) - 1)
}
