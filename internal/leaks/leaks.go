// Package leaks looks, when the tests of a package have run, for goroutines that
// they left.
package leaks

import "go.uber.org/goleak"

// Main runs the tests of a package and ends the process, for TestMain. Goroutines
// that are left are a failure. What was asked to end, a connection or a process,
// has some 15 s for it: on a busy machine that takes longer than goleak waits.
func Main(m goleak.TestingM) { goleak.VerifyTestMain(patient{m}) }

// looks is how often it is looked again, each time for about half a second.
const looks = 30

type patient struct{ goleak.TestingM }

func (m patient) Run() int {
	code := m.TestingM.Run()
	for range looks {
		if goleak.Find() == nil {
			break
		}
	}
	return code
}
