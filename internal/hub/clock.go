package hub

import (
	"crypto/rand"
	"encoding/hex"
	"time"
)

// Clock is the hub's time. Tests bring their own.
type Clock interface {
	Now() time.Time
	// AfterFunc runs f in a goroutine of its own once d has passed.
	AfterFunc(d time.Duration, f func()) Timer
}

// Timer is a call that is still to come.
type Timer interface {
	// Stop reports whether it kept the call from happening.
	Stop() bool
}

// jumpTolerance is how far the clock on the wall may run apart from the time
// that passed before it counts as a jump: a machine that slept, since sleep is
// no time that passed, or a clock that was set.
const jumpTolerance = 2 * time.Second

// jumps compares two clocks between one look and the next.
type jumps struct {
	now, wall time.Time // at the last look
}

// look reports whether the clock on the wall jumped since the last look. now
// is time that passes, wall is the clock that people read.
func (j *jumps) look(now, wall time.Time) bool {
	before := *j
	j.now, j.wall = now, wall
	if before.now.IsZero() {
		return false
	}
	apart := wall.Sub(before.wall) - now.Sub(before.now)
	return apart.Abs() > jumpTolerance
}

type systemClock struct{}

func (systemClock) Now() time.Time                            { return time.Now() }
func (systemClock) AfterFunc(d time.Duration, f func()) Timer { return time.AfterFunc(d, f) }

func randomID() string {
	var b [6]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}
