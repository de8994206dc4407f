package demo_test

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"time"

	"piwatch/internal/control"
	"piwatch/internal/demo"
	"piwatch/internal/hub"
)

// waits is a manual clock that knows who waits on it, so that a test can tell
// whether everybody whose time has come is done.
type waits struct {
	*demo.ManualClock
	poke func()

	mu     sync.Mutex
	timers map[*waiter]struct{}
}

// waiter is a call of the hub that is to come or going on, or a sleeper in Pi.
type waiter struct {
	clock *waits
	at    time.Time
	sleep time.Duration // of a sleeper
	timer *demo.ManualTimer
}

func newWaits(poke func()) *waits {
	return &waits{ManualClock: demo.NewManualClock(epoch), poke: poke, timers: map[*waiter]struct{}{}}
}

// add has f called after d. What is seen to wait is on the clock.
func (c *waits) add(w *waiter, d time.Duration, f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	w.clock, w.at = c, c.Now().Add(d)
	c.timers[w] = struct{}{}
	w.timer = c.ManualClock.AfterFunc(d, f)
	c.poke()
}

func (c *waits) remove(w *waiter) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.timers, w)
	c.poke()
}

// Advance moves the clock and makes the calls whose time has come.
func (c *waits) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ManualClock.Advance(d)
}

// AfterFunc serves the hub.
func (c *waits) AfterFunc(d time.Duration, f func()) hub.Timer {
	w := &waiter{}
	c.add(w, d, func() {
		defer c.remove(w)
		f()
	})
	return w
}

// Stop reports whether it kept the call from happening.
func (w *waiter) Stop() bool {
	if !w.timer.Stop() {
		return false
	}
	w.clock.remove(w)
	return true
}

// Sleep serves Pi.
func (c *waits) Sleep(ctx context.Context, d time.Duration) error {
	awake := make(chan struct{})
	w := &waiter{sleep: d}
	c.add(w, d, func() { close(awake) })
	defer c.remove(w)
	select {
	case <-awake:
		return nil
	case <-ctx.Done():
		w.timer.Stop()
		return ctx.Err()
	}
}

// next is when the next one's time comes.
func (c *waits) next() (at time.Time, any bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for w := range c.timers {
		if at.IsZero() || w.at.Before(at) {
			at = w.at
		}
	}
	return at, !at.IsZero()
}

// sleeps says whether somebody sleeps for one of these times.
func (c *waits) sleeps(is func(time.Duration) bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for w := range c.timers {
		if w.sleep > 0 && is(w.sleep) {
			return true
		}
	}
	return false
}

// The times that Pi sleeps for.
const (
	reportPause    = 250 * time.Millisecond
	compactingTime = 7 * time.Second
)

func ofRetry(d time.Duration) bool   { return d != reportPause && d != compactingTime }
func ofReport(d time.Duration) bool  { return d == reportPause }
func ofCompact(d time.Duration) bool { return d == compactingTime }

// quiet returns when nothing more happens until somebody does something or time
// passes, and makes that the moment the rules judge from.
func (m *machine) quiet() {
	m.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	for !m.silent(ctx) {
		if ctx.Err() != nil {
			buf := make([]byte, 1<<18)
			m.t.Fatalf("it does not come to rest after %s\nstate %+v\n%s", m.history(), m.pi.State(), buf[:runtime.Stack(buf, true)])
		}
	}
	m.rules.rest()
}

// silent waits until nobody has anything to do, and then asks around whether
// that was so: what Pi told is taken by the hub when a command is answered, and
// what the hub wants is done by Pi when a fold that does not exist is refused.
// Then nothing more comes, if nothing came meanwhile.
func (m *machine) silent(ctx context.Context) bool {
	for !m.calm() {
		select {
		case <-m.poked:
		case <-ctx.Done():
			return false
		}
	}
	if m.relay == nil {
		return true
	}
	before, _ := m.relay.traffic()
	if !m.pi.State().Connected {
		sessions, err := m.client.Sessions(ctx)
		return err == nil && len(sessions) == 0 && m.calm()
	}
	if _, err := m.pi.Command(ctx, "/watchdog status"); err != nil {
		return false
	}
	if _, err := m.client.Steer(ctx, control.Fold, control.SteerParams{Session: m.pi.Session(), Check: "none"}); err != nil {
		return false
	}
	after, _ := m.relay.traffic()
	return before == after && m.calm()
}

// calm says whether everybody waits for somebody else. What is on its way
// between two of them is not seen.
func (m *machine) calm() bool {
	if at, any := m.clock.next(); any && !at.After(m.clock.Now()) {
		return false
	}
	s := m.pi.State()
	if s.Closed {
		return true
	}
	connected := false
	if m.relay != nil {
		_, connected = m.relay.traffic()
	}
	switch f := s.Facts; {
	case s.Connected != connected,
		!s.Connected && !(s.Waiting && m.clock.sleeps(ofRetry)),
		s.Reporting && !m.clock.sleeps(ofReport),
		f.Compacting && !m.clock.sleeps(ofCompact),
		!f.Compacting && !f.Idle && (!s.Held || m.aborting()):
		return false
	}
	return true
}

// aborting says whether a run was aborted that has not settled.
func (m *machine) aborting() bool {
	last := demo.Rest
	for _, e := range m.events() {
		if e.Kind == demo.Interrupt || e.Kind == demo.Rest {
			last = e.Kind
		}
	}
	return last == demo.Interrupt
}

// events are those of the Pi that runs now.
func (m *machine) events() []demo.Event {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var all []demo.Event
	for e := range m.pi.Events(ctx) {
		all = append(all, e)
	}
	return all
}

// What is on the clock is seen until it is over.
func TestWaits(t *testing.T) {
	c := newWaits(func() {})
	c.AfterFunc(time.Second, func() {}).Stop()
	if _, any := c.next(); any {
		t.Error("a timer that was stopped is waited for")
	}
	hold, done := make(chan struct{}), make(chan struct{})
	c.AfterFunc(time.Second, func() { <-hold; close(done) })
	c.Advance(time.Second)
	if at, any := c.next(); !any || at.After(c.Now()) {
		t.Error("a call that goes on is not seen")
	}
	close(hold)
	<-done
	for _, any := c.next(); any; _, any = c.next() {
		runtime.Gosched()
	}
}
