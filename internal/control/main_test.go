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
	goleak.VerifyTestMain(m)
}
