package gateway

import (
	"hash/maphash"
	"math/rand/v2"
	"sync"
	"time"
)

// maxRetries is how often a request is tried again.
const maxRetries = 3

// fullJitter is the wait before the n-th retry, from 1 on: anything from 1 s to
// 2, 4 and 8 s.
func fullJitter(n int) time.Duration {
	ceiling := time.Second << min(n, 3)
	return time.Second + rand.N(ceiling-time.Second+1)
}

// spentFor is how long the gateway knows a request again that it has spent
// retries on. Pi repeats within a minute.
const spentFor = 5 * time.Minute

// maxSpent is how many such requests are known at a time.
const maxSpent = 1024

// spent remembers which requests have had retries, so that Pi's repeats of them
// do not have as many again.
type spent struct {
	seed maphash.Seed
	mu   sync.Mutex
	seen map[uint64]spending
}

type spending struct {
	retries int
	last    time.Time
}

func newSpent() *spent { return &spent{seed: maphash.MakeSeed(), seen: map[uint64]spending{}} }

// fingerprint tells requests apart; it is made only when it is needed.
type fingerprint struct {
	route  Route
	method string
	path   string
	body   []byte
	sum    uint64 // 0: not made yet
}

func (s *spent) sum(f *fingerprint) uint64 {
	if f.sum != 0 {
		return f.sum
	}
	var h maphash.Hash
	h.SetSeed(s.seed)
	for _, part := range []string{f.route.Session, f.route.Upstream, f.method, f.path} {
		_, _ = h.WriteString(part)
		_ = h.WriteByte(0)
	}
	_, _ = h.Write(f.body)
	f.sum = max(h.Sum64(), 1)
	return f.sum
}

// left is how many retries a request still has.
func (s *spent) left(f *fingerprint, now time.Time) int {
	if s.empty() {
		return maxRetries
	}
	sum := s.sum(f)
	s.mu.Lock()
	defer s.mu.Unlock()
	before, known := s.seen[sum]
	if !known || now.Sub(before.last) > spentFor {
		return maxRetries
	}
	return max(maxRetries-before.retries, 0)
}

// spend notes retries of a request that has not come to a good end.
func (s *spent) spend(f *fingerprint, retries int, now time.Time) {
	sum := s.sum(f)
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.seen[sum]
	if now.Sub(before.last) > spentFor {
		before.retries = 0
	}
	if len(s.seen) >= maxSpent {
		s.drop(now)
	}
	s.seen[sum] = spending{before.retries + retries, now}
}

// drop forgets what is over, and if nothing is, the oldest; the caller holds mu.
func (s *spent) drop(now time.Time) {
	var oldest uint64
	at := now
	for sum, one := range s.seen {
		if now.Sub(one.last) > spentFor {
			delete(s.seen, sum)
		} else if !one.last.After(at) {
			oldest, at = sum, one.last
		}
	}
	if len(s.seen) >= maxSpent {
		delete(s.seen, oldest)
	}
}

// done gives a request its retries back.
func (s *spent) done(f *fingerprint) {
	if s.empty() {
		return
	}
	sum := s.sum(f)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.seen, sum)
}

func (s *spent) empty() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.seen) == 0
}

// breakerLimit is how many requests in a row have to fail for a breaker to
// open, and breakerOpen how long it then stays open.
const (
	breakerLimit = 3
	breakerOpen  = time.Minute
)

// breaker ends the retries of an upstream that does not come back.
type breaker struct {
	failed int // in a row
	until  time.Time
}

func (b *breaker) open(now time.Time) bool { return b.failed >= breakerLimit && now.Before(b.until) }

// result notes how a request ended.
func (b *breaker) result(good bool, now time.Time) {
	if good {
		*b = breaker{}
		return
	}
	if b.failed++; b.failed >= breakerLimit && !now.Before(b.until) {
		b.until = now.Add(breakerOpen)
	}
}
