package hub_test

import (
	"fmt"
	"sync"
	"testing"

	"piwatch/internal/control"
	"piwatch/internal/watchdog"
)

// Many sessions at once, each with its own state.
func TestManySessions(t *testing.T) {
	const sessions, events = 200, 20
	h := start(t)
	c := h.client()
	bridges := make([]*bridge, sessions)
	for i := range bridges {
		bridges[i] = h.join(hello(fmt.Sprint("s", i), env("PI_WATCHDOG", fmt.Sprintf("timeout=%d max=5", i%10+1)), func(h *control.BridgeHello) { h.Pid = i + 1 }))
	}
	var work sync.WaitGroup
	for _, b := range bridges {
		work.Go(func() {
			for n := range events {
				var err error
				switch n % 4 {
				case 0:
					err = b.conn.Notify(b.ctx, control.Input, control.InputEvent{Source: "interactive"})
				case 1:
					err = b.conn.Notify(b.ctx, control.Run, control.RunEvent{})
				case 2:
					err = b.conn.Notify(b.ctx, control.Renamed, control.RenamedEvent{Name: "n"})
				case 3:
					b.facts.Settle++
					err = b.conn.Call(b.ctx, control.Settled, control.SettledEvent{Facts: b.facts}, nil)
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	work.Wait()
	list := c.sessions()
	if len(list) != sessions {
		t.Fatalf("the hub has %d sessions, want %d", len(list), sessions)
	}
	for _, s := range list {
		var n int
		if _, err := fmt.Sscanf(s.ID, "s%d", &n); err != nil {
			t.Fatal(err)
		}
		v := s.Watch
		if v.Phase != watchdog.Counting || v.Settings.Timeout != n%10+1 || !v.Deadline.Equal(begin.Add(v.Settings.Grace())) || s.Facts.Settle != 1+events/4 {
			t.Errorf("%s: %+v, facts %+v", s.ID, v, s.Facts)
		}
	}
	// Each is asked at its own time.
	h.clock.advance(5 * sec)
	asked := 0
	for _, s := range c.sessions() {
		if s.Watch.Phase == watchdog.Checking {
			asked++
		}
	}
	if asked != 100 {
		t.Errorf("%d sessions were asked after 5 s, want 100", asked)
	}
}
