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

type systemClock struct{}

func (systemClock) Now() time.Time                            { return time.Now() }
func (systemClock) AfterFunc(d time.Duration, f func()) Timer { return time.AfterFunc(d, f) }

func randomID() string {
	var b [6]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}
