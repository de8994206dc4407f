package hub_test

import (
	"slices"
	"sync"
	"time"

	"piwatch/internal/hub"
)

var begin = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// clock stands still until a test moves it. The calls that are due are made
// by the test itself, one by one and in order, so that what they do has been
// done when advance returns.
type clock struct {
	mu     sync.Mutex
	now    time.Time
	timers []*timer
	armed  chan struct{} // closed at the next AfterFunc, when somebody waits for one
}

type timer struct {
	clock *clock
	at    time.Time
	call  func()
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) AfterFunc(d time.Duration, f func()) hub.Timer {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &timer{c, c.now.Add(d), f}
	c.timers = append(c.timers, t)
	if c.armed != nil {
		close(c.armed)
		c.armed = nil
	}
	return t
}

func (t *timer) Stop() bool {
	t.clock.mu.Lock()
	defer t.clock.mu.Unlock()
	i := slices.Index(t.clock.timers, t)
	if i >= 0 {
		t.clock.timers = slices.Delete(t.clock.timers, i, i+1)
	}
	return i >= 0
}

func (c *clock) advance(d time.Duration) {
	end := c.Now().Add(d)
	for {
		t := c.due(end)
		if t == nil {
			return
		}
		t.call()
	}
}

// due takes the next timer up to end and moves the clock to it, else to end.
func (c *clock) due(end time.Time) *timer {
	c.mu.Lock()
	defer c.mu.Unlock()
	slices.SortStableFunc(c.timers, func(a, b *timer) int { return a.at.Compare(b.at) })
	if len(c.timers) == 0 || c.timers[0].at.After(end) {
		c.now = end
		return nil
	}
	t := c.timers[0]
	c.timers = c.timers[1:]
	if t.at.After(c.now) {
		c.now = t.at
	}
	return t
}

// timerSet is closed when a call is to come.
func (c *clock) timerSet() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	set := make(chan struct{})
	if len(c.timers) > 0 {
		close(set)
	} else {
		c.armed = set
	}
	return set
}

// waiting is how many calls are to come.
func (c *clock) waiting() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.timers)
}
