package e2e

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

const programName = "piwatch"

// Piwatch is the path of the piwatch program, built from this module, with the
// race detector if the test has it. It is built once in a test process, into
// the test cache, where go build leaves an up-to-date program alone.
func Piwatch(t testing.TB) string {
	t.Helper()
	path, err := buildOnce()
	if err != nil {
		t.Fatalf("build piwatch: %v", err)
	}
	return path
}

var buildOnce = sync.OnceValues(build)

func build() (string, error) {
	root, err := ModuleRoot()
	if err != nil {
		return "", err
	}
	cache, err := CacheDir()
	if err != nil {
		return "", err
	}
	// Work trees of the module share the cache and must not share the program.
	sum := sha256.Sum256([]byte(root))
	folder := "bin-" + hex.EncodeToString(sum[:6])
	args := []string{"build"}
	if raceEnabled {
		folder += "-race"
		args = append(args, "-race")
	}
	dir := filepath.Join(cache, folder)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	unlock, err := lockFile(dir + ".lock")
	if err != nil {
		return "", err
	}
	defer unlock()
	path := filepath.Join(dir, programName)
	cmd := exec.Command("go", append(args, "-o", path, "./cmd/"+programName)...)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, strings.TrimSpace(string(out)))
	}
	return path, nil
}

// ModuleRoot is the folder of this module's go.mod, from where the test runs.
func ModuleRoot() (string, error) {
	out, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("find the module: %w", err)
	}
	mod := strings.TrimSpace(string(out))
	if mod == "" || mod == os.DevNull {
		return "", errors.New("find the module: the test does not run inside it")
	}
	return filepath.Dir(mod), nil
}

// RunPiwatch runs the piwatch program in the home to its end and returns what it
// wrote and its exit status.
func (h *Home) RunPiwatch(args ...string) PrintResult {
	h.t.Helper()
	return h.StartPiwatch(args...).Wait()
}

// StartPiwatch starts the piwatch program in the home.
func (h *Home) StartPiwatch(args ...string) *PrintRun {
	h.t.Helper()
	argv := append([]string{Piwatch(h.t)}, args...)
	return h.startProgram(strings.Join(append([]string{programName}, args...), " "), h.command(Launch{}, argv))
}
