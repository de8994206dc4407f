package hub

import (
	"testing"
	"time"
)

func TestJumps(t *testing.T) {
	start := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		name         string
		passed, wall time.Duration
		want         bool
	}{
		{"time passes", time.Hour, time.Hour, false},
		{"a slow clock", time.Minute, time.Minute - 2*time.Second, false},
		{"the machine slept", time.Second, time.Hour, true},
		{"the clock was set back", time.Minute, -time.Hour, true},
		{"the clock was set forward", time.Minute, time.Minute + 3*time.Second, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			var j jumps
			if j.look(start, start) {
				t.Error("the first look is a jump")
			}
			if got := j.look(start.Add(test.passed), start.Add(test.wall)); got != test.want {
				t.Errorf("jump %v, want %v", got, test.want)
			}
			if j.look(start.Add(test.passed+time.Second), start.Add(test.wall+time.Second)) {
				t.Error("the same jump is seen twice")
			}
		})
	}
}
