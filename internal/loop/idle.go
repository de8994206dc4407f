package loop

import "time"

// idle is the time a run goes on with tools and without progress.
type idle struct {
	running bool
	waits   bool // for a child that works
	since   time.Time
	calls   int // since then
}

func (i *idle) began(now time.Time) {
	if !i.running {
		*i = idle{running: true, waits: i.waits, since: now}
	}
}

func (i *idle) ended() { *i = idle{waits: i.waits} }

func (i *idle) called(now time.Time) {
	if !i.running {
		i.began(now)
	}
	i.calls++
}

func (i *idle) progress(now time.Time) { i.since, i.calls = now, 0 }

// wait: time in which a child works does not count.
func (i *idle) wait(now time.Time, on bool) {
	if i.waits && !on {
		i.since = now
	}
	i.waits = on
}

// due is when the rule would find something.
func (i *idle) due(limit time.Duration) time.Time {
	if limit <= 0 || !i.running || i.waits || i.calls == 0 {
		return time.Time{}
	}
	return i.since.Add(limit)
}

func (i *idle) look(now time.Time, limit time.Duration) (Evidence, bool) {
	due := i.due(limit)
	if due.IsZero() || now.Before(due) {
		return Evidence{}, false
	}
	e := Evidence{Rule: IdleNoProgress, Count: i.calls, Seconds: int(now.Sub(i.since).Seconds()), Hash: hashStart}
	i.since = now // the time counts anew; the calls go on
	return e, true
}
