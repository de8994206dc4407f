// Package leaks looks, when the tests of a package have run, for goroutines that
// they left.
package leaks

import (
	"time"

	"go.uber.org/goleak"
)

// Main runs the tests of a package and ends the process, for TestMain. Goroutines
// that are left are a failure. What was asked to end, a connection or a process,
// has patience for it: on a busy machine that takes longer than goleak waits.
func Main(m goleak.TestingM) { goleak.VerifyTestMain(patient{m, goleak.Find}) }

const patience = 15 * time.Second

type patient struct {
	goleak.TestingM
	find func(...goleak.Option) error
}

// Run does not look after tests that failed: they leave what they did not come to
// end.
func (m patient) Run() int {
	if code := m.TestingM.Run(); code != 0 {
		return code
	}
	for began := time.Now(); m.find() != nil && time.Since(began) < patience; {
	}
	return 0
}
