package control

import (
	"os"
	"testing"

	"piwatch/internal/leaks"
)

// TestMain also plays the hub that EnsureHub starts: the test program started
// again with testHub in its environment.
func TestMain(m *testing.M) {
	if version := os.Getenv(testHub); version != "" {
		os.Exit(playHub(version))
	}
	leaks.Main(m)
}
