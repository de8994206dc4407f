package cli

import (
	"sync"
	"time"
)

// keptFor is a function that reads anew only when its last answer is older than
// d: requests ask more often than a file changes.
func keptFor[T any](d time.Duration, read func() T) func() T {
	var mu sync.Mutex
	var last T
	var at time.Time
	return func() T {
		mu.Lock()
		defer mu.Unlock()
		if now := time.Now(); at.IsZero() || now.Sub(at) > d {
			last, at = read(), now
		}
		return last
	}
}
