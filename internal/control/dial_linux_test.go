package control

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
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

// hungSocket is a hub that hangs: its queue of connections is full.
func hungSocket(t *testing.T, path string) {
	t.Helper()
	socket := func() int {
		fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = unix.Close(fd) })
		return fd
	}
	hub := socket()
	if err := unix.Bind(hub, &unix.SockaddrUnix{Name: path}); err != nil {
		t.Fatal(err)
	}
	if err := unix.Listen(hub, 0); err != nil {
		t.Fatal(err)
	}
	for range 100 {
		if unix.Connect(socket(), &unix.SockaddrUnix{Name: path}) == unix.EAGAIN {
			return
		}
	}
	t.Fatal("the queue of the socket does not fill")
}

func TestDialAHubWithAFullQueue(t *testing.T) {
	path := filepath.Join(socketDir(t), "hub.sock")
	hungSocket(t, path)
	assertClass(t, dialFails(t, path), ErrTimeout, path)
}

func TestDialWithoutPermission(t *testing.T) {
	dir := socketDir(t)
	path := filepath.Join(dir, "hub.sock")
	startFakeHub(t, path, "1.0.0")
	if err := os.Chmod(dir, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(dir, 0o700) })
	err := withoutPrivileges(func() error {
		c, err := Dial(context.Background(), path, nil)
		if err == nil {
			_ = c.Close()
		}
		return err
	})
	assertClass(t, err, ErrForbidden, path)
}

func TestListenLeavesAHubThatHangsAlone(t *testing.T) {
	t.Parallel() // waits for an answer
	assertLeftAlone(t, hungSocket, ErrTimeout)
}
