package e2e

import (
	"context"
	"os"
	"strconv"
	"time"
)

// TimeoutVar names the environment variable that sets the deadline of every
// wait: a Go duration ("45s") or a number of seconds.
const TimeoutVar = "PIWATCH_TEST_TIMEOUT"

const defaultTimeout = 60 * time.Second

// pollEvery is the pace at which states are read that nothing announces: the
// screen of a terminal, a session file, the end of a foreign process.
const pollEvery = 15 * time.Millisecond

// Timeout is how long a wait may take before it fails the test: 60 s, or what
// PIWATCH_TEST_TIMEOUT says.
func Timeout() time.Duration {
	value := os.Getenv(TimeoutVar)
	if d, err := time.ParseDuration(value); err == nil && d > 0 {
		return d
	}
	if n, err := strconv.Atoi(value); err == nil && n > 0 {
		return time.Duration(n) * time.Second
	}
	return defaultTimeout
}

// poll asks done at once and then every pollEvery until it says true; it
// reports false when the deadline passed first.
func poll(timeout time.Duration, done func() bool) bool {
	if done() {
		return true
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			if done() {
				return true
			}
		case <-ctx.Done():
			return done()
		}
	}
}
