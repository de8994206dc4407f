package e2e

import "sync"

// maxPis is how many Pis run at a time in one test process: each is a Node
// with 150 MB and a second of start-up work.
const maxPis = 2

// slots hands out the right to run Pis.
var slots = newSemaphore(maxPis)

type semaphore struct {
	taking sync.Mutex // one taker at a time: two halves of a pair never wait for each other
	free   chan struct{}
	size   int
}

func newSemaphore(size int) *semaphore {
	return &semaphore{free: make(chan struct{}, size), size: size}
}

// take waits for n slots (at most all there are) and returns what gives them back.
func (s *semaphore) take(n int) (release func()) {
	n = min(n, s.size)
	s.taking.Lock()
	defer s.taking.Unlock()
	for range n {
		s.free <- struct{}{}
	}
	return func() {
		for range n {
			<-s.free
		}
	}
}
