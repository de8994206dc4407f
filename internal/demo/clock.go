package demo

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Clock is the time a stand-in lives in.
type Clock interface {
	Now() time.Time
	// Sleep returns after d, or with the context's error when that ends first.
	Sleep(ctx context.Context, d time.Duration) error
}

// RealClock is the time of the machine.
type RealClock struct{}

// Now is the time of the machine.
func (RealClock) Now() time.Time { return time.Now() }

// Sleep waits for d.
func (RealClock) Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// ManualClock stands still until a test moves it. It serves a stand-in and,
// by AfterFunc, a hub.
type ManualClock struct {
	mu      sync.Mutex
	now     time.Time
	timers  []*ManualTimer
	changed chan struct{}
}

// ManualTimer is a call that waits on a [ManualClock].
type ManualTimer struct {
	clock *ManualClock
	at    time.Time
	call  func()
}

// NewManualClock makes a clock that shows start.
func NewManualClock(start time.Time) *ManualClock {
	return &ManualClock{now: start, changed: make(chan struct{})}
}

// Now is the time the clock was moved to.
func (c *ManualClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// AfterFunc calls f in a goroutine of its own when the clock was moved by d.
func (c *ManualClock) AfterFunc(d time.Duration, f func()) *ManualTimer {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &ManualTimer{clock: c, at: c.now.Add(d), call: f}
	if d <= 0 {
		go f()
		return t
	}
	c.timers = append(c.timers, t)
	close(c.changed)
	c.changed = make(chan struct{})
	return t
}

// Stop reports whether it kept the call from happening.
func (t *ManualTimer) Stop() bool {
	t.clock.mu.Lock()
	defer t.clock.mu.Unlock()
	i := slices.Index(t.clock.timers, t)
	if i < 0 {
		return false
	}
	t.clock.timers = slices.Delete(t.clock.timers, i, i+1)
	return true
}

// Sleep waits until the clock was moved by d.
func (c *ManualClock) Sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	awake := make(chan struct{})
	t := c.AfterFunc(d, func() { close(awake) })
	defer t.Stop()
	select {
	case <-awake:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Advance moves the clock and makes the calls whose time has come.
func (c *ManualClock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	c.timers = slices.DeleteFunc(c.timers, func(t *ManualTimer) bool {
		due := !t.at.After(c.now)
		if due {
			go t.call()
		}
		return due
	})
}

// AwaitTimers returns when at least n calls or sleepers wait on the clock, or
// with the context's error.
func (c *ManualClock) AwaitTimers(ctx context.Context, n int) error {
	for {
		c.mu.Lock()
		count, changed := len(c.timers), c.changed
		c.mu.Unlock()
		if count >= n {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
