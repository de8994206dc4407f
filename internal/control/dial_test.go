package control

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

var dialClasses = []error{ErrNoHub, ErrDeadHub, ErrForbidden, ErrTimeout, ErrNotSocket}

// assertClass checks that err is of one class only, and says so to a person.
func assertClass(t *testing.T, err, want error, path string) {
	t.Helper()
	for _, class := range dialClasses {
		if errors.Is(err, class) != (class == want) {
			t.Errorf("errors.Is(%v, %v) is wrong", err, class)
		}
	}
	var dial *DialError
	if !errors.As(err, &dial) || dial.Path != path || !strings.Contains(err.Error(), path) {
		t.Fatalf("the error does not name the path: %v", err)
	}
	if !strings.HasPrefix(err.Error(), want.Error()) || dial.Hint() == "" {
		t.Errorf("text %q, hint %q", err, dial.Hint())
	}
}

func dialFails(t *testing.T, path string) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	c, err := Dial(ctx, path, nil)
	if err == nil {
		_ = c.Close()
		t.Fatal("there is a connection")
	}
	return err
}

func TestDialWithoutAHub(t *testing.T) {
	dir := socketDir(t)
	for _, path := range []string{filepath.Join(dir, "hub.sock"), filepath.Join(dir, "no", "folder", "hub.sock")} {
		assertClass(t, dialFails(t, path), ErrNoHub, path)
	}
}

func TestDialAHubThatWasKilled(t *testing.T) {
	path := filepath.Join(socketDir(t), "hub.sock")
	deadSocket(t, path)
	assertClass(t, dialFails(t, path), ErrDeadHub, path)
}

func TestDialSomethingElse(t *testing.T) {
	path := filepath.Join(socketDir(t), "hub.sock")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	assertClass(t, dialFails(t, path), ErrNotSocket, path)
}

func TestDialAHubThatTakesTheConnectionOnly(t *testing.T) {
	path := filepath.Join(socketDir(t), "hub.sock")
	l, err := net.Listen("unix", path) // nobody accepts
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err = DialClient(ctx, path, "1.0.0", "cli")
	assertClass(t, err, ErrTimeout, path)
}

func TestDialALongPath(t *testing.T) {
	path := "/" + strings.Repeat("d", 103)
	if err := dialFails(t, path); !strings.Contains(err.Error(), "at most 103 bytes") {
		t.Errorf("got %v", err)
	}
}

func TestOtherErrorsHaveNoClass(t *testing.T) {
	err := error(&DialError{"/p", classOf(syscall.EMFILE, "/p"), syscall.EMFILE})
	for _, class := range dialClasses {
		if errors.Is(err, class) {
			t.Errorf("%v is %v", err, class)
		}
	}
	if !errors.Is(err, syscall.EMFILE) || err.(*DialError).Hint() != "" {
		t.Errorf("got %v", err)
	}
}

func TestConnectionOutlivesTheContextOfDial(t *testing.T) {
	path := filepath.Join(socketDir(t), "hub.sock")
	startFakeHub(t, path, "1.0.0")
	ctx, cancel := context.WithCancel(t.Context())
	c, err := Dial(ctx, path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	cancel()
	if err := c.Call(testContext(t), Sessions, nil, nil); err != nil {
		t.Error(err)
	}
}
