package bridge

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// withoutPrivileges runs f without root's right to pass every permission. The
// file system's idea of the user belongs to a thread, so only f's thread
// changes, and it ends with f.
func withoutPrivileges(f func() error) error {
	if os.Geteuid() != 0 {
		return f()
	}
	result := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread is not used again
		if err := unix.Setfsuid(65534); err != nil {
			result <- err
			return
		}
		result <- f()
	}()
	return <-result
}

func TestReadOnlyFolder(t *testing.T) {
	// Not below the test's own folder, which other users cannot enter.
	dir, err := os.MkdirTemp("", "piwatch")
	if err != nil {
		t.Fatal(err)
	}
	extensions := filepath.Join(dir, "extensions")
	t.Cleanup(func() { _ = errors.Join(os.Chmod(extensions, 0o700), os.RemoveAll(dir)) })
	if err := errors.Join(os.Chmod(dir, 0o755), os.Mkdir(extensions, 0o755), os.Chmod(extensions, 0o555)); err != nil {
		t.Fatal(err)
	}
	err = withoutPrivileges(func() error {
		_, _, err := Install(dir, binary, version, false)
		return err
	})
	if !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), extensions) {
		t.Errorf("got %v", err)
	}
	assertState(t, dir, Missing)
	assertOnly(t, dir)
}
