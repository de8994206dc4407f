package e2e

import (
	"context"
	"errors"
	"sync"
	"time"
)

var (
	errDeadline = errors.New("deadline passed")
	errClosed   = errors.New("nothing more will come")
)

// journal is a list that only grows, with waiting: what a source said, in
// order. Its zero value is empty and open.
type journal[T any] struct {
	mu      sync.Mutex
	items   []T
	closed  bool
	changed chan struct{}
}

func (j *journal[T]) add(item T) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.items = append(j.items, item)
	j.announce()
}

// close says that nothing more will come; waits that are not satisfied fail.
func (j *journal[T]) close() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.closed = true
	j.announce()
}

func (j *journal[T]) announce() {
	if j.changed != nil {
		close(j.changed)
		j.changed = nil
	}
}

// all returns the items so far.
func (j *journal[T]) all() []T {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.items[:len(j.items):len(j.items)]
}

// clear forgets the items and returns them.
func (j *journal[T]) clear() []T {
	j.mu.Lock()
	defer j.mu.Unlock()
	items := j.items
	j.items = nil
	return items
}

// wait blocks until cond holds for the items, and returns errDeadline or
// errClosed when it cannot.
func (j *journal[T]) wait(timeout time.Duration, cond func(items []T) bool) error {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	for {
		j.mu.Lock()
		items, closed := j.items[:len(j.items):len(j.items)], j.closed
		if j.changed == nil {
			j.changed = make(chan struct{})
		}
		changed := j.changed
		j.mu.Unlock()
		if cond(items) {
			return nil
		}
		if closed {
			return errClosed
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return errDeadline
		}
	}
}
