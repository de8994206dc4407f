package control

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain also plays the hub that EnsureHub starts: the test program started
// again with testHub in its environment.
func TestMain(m *testing.M) {
	if version := os.Getenv(testHub); version != "" {
		os.Exit(playHub(version))
	}
	goleak.VerifyTestMain(patient{m})
}

// patient waits until the hubs that were started and asked to stop have ended:
// a process with the race detector takes a second for that, as long as goleak
// has patience.
type patient struct{ *testing.M }

func (m patient) Run() int {
	code := m.M.Run()
	for range 30 {
		if goleak.Find() == nil {
			break
		}
	}
	return code
}
