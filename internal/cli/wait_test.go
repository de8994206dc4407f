package cli

import (
	"testing"
	"time"

	"piwatch/internal/control"
	"piwatch/internal/watchdog"
)

// TestHearOfOneThatLeft: a session that was found live and left before the hub was
// watched is away, as one that leaves later.
func TestHearOfOneThatLeft(t *testing.T) {
	at := time.Unix(100, 0)
	live := &control.Session{ID: "here", Watch: watchdog.View{Phase: watchdog.Working}}
	for name, c := range map[string]struct {
		ev   hubEvent
		away bool
	}{
		"still listed":     {hubEvent{listed: []string{"other", "here"}}, false},
		"not listed":       {hubEvent{listed: []string{"other"}}, true},
		"nothing listed":   {hubEvent{listed: []string{}}, true},
		"another has gone": {hubEvent{push: control.Push{Gone: "other"}}, false},
		"it has gone":      {hubEvent{push: control.Push{Gone: "here"}}, true},
	} {
		w := &waited{target: target{ID: "here", Live: live}, view: &live.Watch}
		hear([]*waited{w}, c.ev, at)
		if (w.view == nil) != c.away || w.away.Equal(at) != c.away {
			t.Errorf("%s: away since %v, view %v", name, w.away, w.view)
		}
	}
}
