package leaks

import (
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"
)

// tests are those of a package, played.
type tests func() int

func (t tests) Run() int { return t() }

// TestWaitsForWhatEnds: what is about to end is waited for.
func TestWaitsForWhatEnds(t *testing.T) {
	var ended atomic.Bool
	code := patient{tests(func() int {
		looked := make(chan struct{})
		go func() {
			<-looked
			ended.Store(true)
		}()
		go func() {
			_, _ = goleak.Find(), goleak.Find() // longer than goleak has patience
			close(looked)
		}()
		return 0
	}), goleak.Find}.Run()
	if code != 0 {
		t.Errorf("the code is %d", code)
	}
	if err := goleak.Find(); err != nil || !ended.Load() {
		t.Errorf("it did not wait: %v", err)
	}
}

// TestFailed: after tests that failed nothing is looked for, and the code is theirs.
func TestFailed(t *testing.T) {
	code := patient{tests(func() int { return 7 }), func(...goleak.Option) error {
		t.Error("it looked")
		return nil
	}}.Run()
	if code != 7 {
		t.Errorf("the code is %d", code)
	}
}
