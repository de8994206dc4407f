package hub_test

import (
	"sync/atomic"
	"testing"
	"time"

	"piwatch/internal/control"
	"piwatch/internal/hub"
	"piwatch/internal/watchdog"
)

// A wall clock that jumps restarts countdowns, whatever is heard of first
// afterwards: a tick, Pi, or a person.
func TestClockJump(t *testing.T) {
	for _, by := range []time.Duration{time.Hour, -time.Hour} {
		for name, next := range map[string]func(*testHub, *bridge){
			"a tick": func(h *testHub, _ *bridge) { h.clock.advance(1 * sec) },
			"Pi":     func(_ *testHub, b *bridge) { b.tell(control.Dialog, control.DialogEvent{}) },
			"a user": func(_ *testHub, b *bridge) { b.command("pause"); b.command("resume") },
		} {
			t.Run(by.String()+", then "+name, func(t *testing.T) {
				var apart atomic.Int64
				h := start(t, func(o *hub.Options) {
					clock := o.Clock
					o.Wall = func() time.Time { return clock.Now().Add(time.Duration(apart.Load())) }
				})
				c := h.client()
				w := c.watch()
				b := h.join(hello("s1"))
				c.start("s1", "timeout=10")
				b.wants("tool", startRecord(`"timeout":10,"max":50,"mode":"once"`), "status ⏱10s 0/50")
				h.clock.advance(7 * sec)
				apart.Store(int64(by))
				next(h, b)
				w.notice("the countdown starts anew")
				if v := c.session("s1").Watch; v.Phase != watchdog.Counting || v.Deadline.Sub(h.clock.Now()) != 10*sec {
					t.Errorf("after the jump %+v", v)
				}
			})
		}
	}
}
