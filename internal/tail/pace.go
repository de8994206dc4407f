package tail

import "time"

// QuietPoll is the time between two polls where the file system tells of every
// change by itself: they are for what nobody is told of, as a folder further
// up that is given another name.
const QuietPoll = 5 * time.Minute

// pace says when to poll next, without a hint.
type pace struct {
	ticks <-chan time.Time // from outside
	timer *time.Timer      // its own
	busy  time.Duration
	last  time.Time // the last tick
}

func newPace(o Options, standard time.Duration) *pace {
	p := &pace{ticks: o.Ticks, busy: o.Poll, last: time.Now()}
	if p.busy <= 0 {
		p.busy = standard
	}
	if p.ticks == nil {
		p.timer = time.NewTimer(p.busy)
	}
	return p
}

// next is the tick to wait for. Hints do not put it off.
func (p *pace) next(quiet bool) <-chan time.Time {
	if p.timer == nil {
		return p.ticks
	}
	p.timer.Reset(time.Until(p.last.Add(p.wait(quiet))))
	return p.timer.C
}

func (p *pace) wait(quiet bool) time.Duration {
	if quiet {
		return max(QuietPoll, p.busy)
	}
	return p.busy
}

// ticked says that the tick came.
func (p *pace) ticked() { p.last = time.Now() }

func (p *pace) stop() {
	if p.timer != nil {
		p.timer.Stop()
	}
}
