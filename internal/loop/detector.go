package loop

import (
	"slices"
	"time"
)

// Detector watches one session. It is not safe for concurrent use.
type Detector struct {
	config Config
	calls  repeats
	input  streak
	output streak
	idle   idle

	open    []openCall // calls without a result, the oldest first
	ids     memory     // that results and the user mentioned
	changed memory     // calls that changed files since the user spoke

	standing []Evidence
	last     *Finding // nil when nothing stands
}

// New makes a detector for a session.
func New(c Config) *Detector {
	return &Detector{config: c, calls: newRepeats(), ids: newMemory(1024), changed: newMemory(128)}
}

// Configure changes the thresholds; what was counted stays.
func (d *Detector) Configure(c Config) { d.config = c }

// Standing is the finding that stands, nil when the session is not maybe stuck.
func (d *Detector) Standing() *Finding { return d.last }

// Due is when a Ticked must come, zero when time alone changes nothing.
func (d *Detector) Due() time.Time { return d.idle.due(d.config.IdleNoProgress) }

// Step takes an event and says what was found.
func (d *Detector) Step(now time.Time, ev Event) []Finding {
	var found []Finding
	if e, ok := d.idle.look(now, d.config.IdleNoProgress); ok {
		found = append(found, d.stand(now, e, hashStart))
	}
	switch ev := ev.(type) {
	case Spoken:
		d.mention(ev.Text)
		d.changed.clear()
		d.calls.forget()
		d.progress(now)
	case Began:
		d.idle.began(now)
	case Ended:
		d.open = d.open[:0]
		d.idle.ended()
		d.clearStanding()
	case Called:
		d.called(now, ev)
	case Returned:
		found = append(found, d.returned(now, ev)...)
	case Given:
		if in := ev.Input; in.n > 0 {
			found = append(found, d.row(now, &d.input, RepeatedInput, in.hash, in.text)...)
		}
	case Answered:
		if h, text, ok := digestAnswer(ev); ok {
			found = append(found, d.row(now, &d.output, RepeatedOutput, h, text)...)
		}
	case Children:
		d.idle.wait(now, ev.Working > 0)
	}
	return found
}

func (d *Detector) called(now time.Time, ev Called) {
	if len(d.open) == keepOpen { // its result is lost
		d.open = slices.Delete(d.open, 0, 1)
	}
	d.open = append(d.open, openCall{ev.ID, digestCall(ev.Tool, ev.Args, d.ids.has)})
	d.idle.called(now)
}

// openCall is a call that has not returned.
type openCall struct {
	id   string
	call call
}

// take finds the call of a result and takes it out. A result whose call is not
// known says nothing.
func (d *Detector) take(now time.Time, ev Returned) (call, bool) {
	for i := range d.open {
		if d.open[i].id == ev.ID {
			c := d.open[i].call
			d.open = slices.Delete(d.open, i, i+1)
			return c, true
		}
	}
	if len(ev.Args) == 0 {
		return call{}, false
	}
	d.idle.called(now)
	return digestCall(ev.Tool, ev.Args, d.ids.has), true
}

func (d *Detector) returned(now time.Time, ev Returned) []Finding {
	c, known := d.take(now, ev)
	if !known {
		return nil
	}
	r := digestResult(ev.Text, ev.Error, d.ids.add)
	if c.changes && !ev.Error && !d.changed.has(c.hash) {
		d.changed.add(c.hash)
		d.calls.forget()
		d.progress(now)
	}
	what, at := d.calls.take(c, r, ev.Text, d.config.PreviewLines)
	switch what {
	case resultChanged:
		d.calls.start(at)
		d.progress(now)
	case newCall:
		if d.calls.news >= clearAfter {
			d.settle()
		}
	case again:
		if e, key, ok := d.calls.judge(at); ok {
			d.calls.restart()
			return []Finding{d.stand(now, e, key)}
		}
	}
	return nil
}

// progress: what is counted beside the calls starts anew, and nothing stands.
func (d *Detector) progress(now time.Time) {
	d.idle.progress(now)
	d.settle()
}

// settle: the work goes on.
func (d *Detector) settle() {
	d.input, d.output = streak{}, streak{}
	d.clearStanding()
}

func (d *Detector) clearStanding() { d.standing, d.last = nil, nil }

// mention remembers the ids in what a human wrote.
func (d *Detector) mention(text string) {
	head, _, tail := ends(text)
	for _, part := range []string{head, tail} {
		erase(nil, part, func(k kind, s string) bool {
			d.ids.add(tokenHash(k, s))
			return true
		})
	}
}

// row counts one thing the model was given, or gave, in a row.
func (d *Detector) row(now time.Time, s *streak, rule Rule, h Hash, text string) []Finding {
	n := s.add(h)
	if d.config.LLMRepeat <= 0 || n < d.config.LLMRepeat {
		return nil
	}
	e := Evidence{Rule: rule, Count: n, Hash: h, Preview: preview(text, d.config.PreviewLines)}
	s.n = 0
	return []Finding{d.stand(now, e, h)}
}

// streak counts equal things in a row.
type streak struct {
	hash Hash
	n    int
}

func (s *streak) add(h Hash) int {
	if s.hash != h {
		*s = streak{hash: h}
	}
	s.n++
	return s.n
}
