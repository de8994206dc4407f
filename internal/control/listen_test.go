package control

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// socketDir is a folder with a short name: the test's own may be too long.
func socketDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "pw")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func mode(t *testing.T, path string) fs.FileMode {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Perm()
}

func TestListenIgnoresTheUmask(t *testing.T) {
	for _, umask := range []int{0o000, 0o022, 0o777} {
		top := socketDir(t)
		path := filepath.Join(top, "a", "b", "hub.sock")
		was := syscall.Umask(umask)
		l, err := Listen(path)
		syscall.Umask(was)
		if err != nil {
			t.Fatalf("umask %04o: %v", umask, err)
		}
		for name, want := range map[string]fs.FileMode{"a": 0o700, "a/b": 0o700, "a/b/hub.sock": 0o600, "a/b/hub.sock.lock": 0o600} {
			if got := mode(t, filepath.Join(top, name)); got != want {
				t.Errorf("umask %04o: %s has mode %04o, want %04o", umask, name, got, want)
			}
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the socket is still there: %v", err)
		}
		if err := l.Close(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("a second Close: %v", err)
		}
	}
}

func TestListenRefusesAFolderThatIsNotSafe(t *testing.T) {
	dir := socketDir(t)
	open := filepath.Join(dir, "open")
	group := filepath.Join(dir, "group")
	file := filepath.Join(dir, "file")
	link := filepath.Join(dir, "link")
	if err := errors.Join(os.Mkdir(open, 0o700), os.Chmod(open, 0o702), os.Mkdir(group, 0o700), os.Chmod(group, 0o720),
		os.WriteFile(file, nil, 0o600), os.Symlink(dir, link)); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		open:  "can be written by others (mode 0702)",
		group: "can be written by others (mode 0720)",
		file:  "is not a folder of its own",
		link:  "is not a folder of its own",
	} {
		l, err := Listen(filepath.Join(path, "hub.sock"))
		if err == nil {
			_ = l.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
}

func TestListenRefusesAFolderOfAnotherUser(t *testing.T) {
	dir := socketDir(t)
	info, err := os.Lstat(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := checkDir(dir, info, os.Getuid()); err != nil {
		t.Errorf("our own folder: %v", err)
	}
	if err := checkDir(dir, info, os.Getuid()+1); err == nil || !strings.Contains(err.Error(), "belongs to user") {
		t.Errorf("the folder of another: %v", err)
	}
}

func TestOneHubForOneSocket(t *testing.T) {
	path := filepath.Join(socketDir(t), "hub.sock")
	startFakeHub(t, path, "1.0.0")
	if _, err := Listen(path); !errors.Is(err, ErrHubRunning) {
		t.Errorf("a second hub: %v", err)
	}
	if _, err := os.Lstat(path); err != nil {
		t.Errorf("the socket of the first hub: %v", err)
	}
}

func TestLockIsWaitedFor(t *testing.T) {
	path := filepath.Join(socketDir(t), "hub.sock")
	first, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	// A hub that is leaving: no socket any more, the lock still there.
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	second := make(chan error, 1)
	go func() {
		l, err := Listen(path)
		if err == nil {
			err = l.Close()
		}
		second <- err
	}()
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-second; err != nil {
		t.Errorf("the hub after it: %v", err)
	}
}

func TestLockThatIsHeldIsAHub(t *testing.T) {
	t.Parallel() // waits for the lock
	path := filepath.Join(socketDir(t), "hub.sock")
	first, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(path); !errors.Is(err, ErrHubRunning) || !strings.Contains(err.Error(), path+".lock") {
		t.Errorf("got %v", err)
	}
}

// deadSocket is a socket whose process is gone.
func deadSocket(t *testing.T, path string) {
	t.Helper()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestListenTakesThePlaceOfADeadHub(t *testing.T) {
	path := filepath.Join(socketDir(t), "hub.sock")
	deadSocket(t, path)
	startFakeHub(t, path, "1.0.0")
	c, err := DialClient(testContext(t), path, "1.0.0", "cli")
	if err != nil {
		t.Fatal(err)
	}
	_ = c.Close()
}

func TestListenLeavesEverythingElseAlone(t *testing.T) {
	for _, c := range []struct {
		name  string
		place func(t *testing.T, path string)
		want  error
	}{
		{"a file", func(t *testing.T, path string) {
			if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, ErrNotSocket},
		{"an empty folder", func(t *testing.T, path string) {
			if err := os.Mkdir(path, 0o700); err != nil {
				t.Fatal(err)
			}
		}, ErrNotSocket},
		{"a link to nothing", func(t *testing.T, path string) {
			if err := os.Symlink("nowhere", path); err != nil {
				t.Fatal(err)
			}
		}, ErrNotSocket},
		{"a socket of another kind", func(t *testing.T, path string) {
			conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = conn.Close() })
		}, ErrNotSocket},
		{"a socket that answers, without our lock", func(t *testing.T, path string) {
			l, err := net.Listen("unix", path)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = l.Close() })
		}, ErrHubRunning},
	} {
		t.Run(c.name, func(t *testing.T) {
			assertLeftAlone(t, c.place, c.want)
		})
	}
}

func assertLeftAlone(t *testing.T, place func(t *testing.T, path string), want error) {
	t.Helper()
	path := filepath.Join(socketDir(t), "hub.sock")
	place(t, path)
	before, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(path); !errors.Is(err, want) {
		t.Errorf("got %v, want %v", err, want)
	}
	after, err := os.Lstat(path)
	if err != nil || !os.SameFile(before, after) {
		t.Errorf("it was touched: %v", err)
	}
}

func TestListenRefusesALongPath(t *testing.T) {
	if _, err := Listen("/" + strings.Repeat("d", 103)); err == nil || !strings.Contains(err.Error(), "at most 103 bytes") {
		t.Errorf("got %v", err)
	}
}

func TestCloseLeavesTheSocketOfAnother(t *testing.T) {
	path := filepath.Join(socketDir(t), "hub.sock")
	l, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("another"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile(path); err != nil || !bytes.Equal(text, []byte("another")) {
		t.Errorf("what is there now: %q, %v", text, err)
	}
}

func TestPeersOfOtherUsersAreTurnedAway(t *testing.T) {
	path := filepath.Join(socketDir(t), "hub.sock")
	l, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	refused := make(chan int, 1)
	l.Refused = func(uid int) { refused <- uid }
	l.uid++ // now we are another user
	ended := make(chan error, 1)
	go func() { _, err := l.Accept(); ended <- err }()
	conn, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if data, err := io.ReadAll(conn); len(data) > 0 || err != nil {
		t.Errorf("the peer read %q, %v", data, err)
	}
	if uid := <-refused; uid != os.Getuid() {
		t.Errorf("user %d was turned away, we are %d", uid, os.Getuid())
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; !errors.Is(err, net.ErrClosed) {
		t.Errorf("Accept ended with %v", err)
	}
}

func TestDialRefusesAnotherUsersHub(t *testing.T) {
	path := filepath.Join(socketDir(t), "hub.sock")
	startFakeHub(t, path, "1.0.0")
	conn, err := new(net.Dialer).DialContext(context.Background(), "unix", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := checkPeer(conn.(*net.UnixConn), path, os.Getuid()+1); !errors.Is(err, ErrForbidden) {
		t.Errorf("got %v", err)
	}
}
