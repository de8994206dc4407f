package control

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// starter starts the test program as a hub of a release.
func starter(t *testing.T, version, hub string) Starter {
	t.Helper()
	dir := socketDir(t)
	s := Starter{
		Socket:   filepath.Join(dir, "hub.sock"),
		StateDir: filepath.Join(dir, "state"),
		Version:  version,
		Name:     "cli",
		Command:  []string{os.Args[0]},
	}
	s.Env = append(os.Environ(), testHub+"="+hub, "PIWATCH_SOCKET="+s.Socket)
	t.Cleanup(func() { stopHub(t, s.Socket) })
	return s
}

// stopHub ends the hub of a test, if there is one.
func stopHub(t *testing.T, path string) {
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	if err := EndHub(ctx, path, "", "end of the test"); err != nil && !absent(err) {
		t.Error(err)
	}
}

func TestEnsureHubStartsOne(t *testing.T) {
	s := starter(t, "1.0.0", "1.0.0")
	c, err := EnsureHub(testContext(t), s)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if c.Hub.Hub != "1.0.0" || c.Hub.Pid == os.Getpid() {
		t.Errorf("the hub said %+v", c.Hub)
	}
	log, err := os.ReadFile(filepath.Join(s.StateDir, "hub.log"))
	if err != nil || string(log) != "cwd / leads its process session true\n" {
		t.Errorf("the log of the hub: %q, %v", log, err)
	}
	again, err := EnsureHub(testContext(t), s)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if again.Hub.Pid != c.Hub.Pid {
		t.Error("a second hub was started")
	}
}

func TestEnsureHubFromManyProgramsAtOnce(t *testing.T) {
	s := starter(t, "1.0.0", "1.0.0")
	pids := make(chan int, 4)
	var all sync.WaitGroup
	for range cap(pids) {
		all.Go(func() {
			c, err := EnsureHub(testContext(t), s)
			if err != nil {
				t.Error(err)
				return
			}
			pids <- c.Hub.Pid
			_ = c.Close()
		})
	}
	all.Wait()
	close(pids)
	first := <-pids
	for pid := range pids {
		if pid != first {
			t.Errorf("hubs %d and %d", first, pid)
		}
	}
}

func TestEnsureHubReplacesAnOlderOne(t *testing.T) {
	for _, c := range []struct {
		name, ours, theirs string
		protocol           int
		replaced           bool
		fails              bool
	}{
		{"older", "1.10.0", "1.9.3", Protocol, true, false},
		{"same", "1.9.3", "1.9.3", Protocol, false, false},
		{"newer", "1.9.3", "1.10.0", Protocol, false, false},
		{"built from a work tree", "devel", "1.0.0", Protocol, false, false},
		{"older protocol", "devel", "devel", Protocol - 1, true, false},
		{"newer protocol", "9.9.9", "1.0.0", Protocol + 1, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := starter(t, c.ours, c.ours)
			old := startFakeHub(t, s.Socket, c.theirs, func(h *fakeHub) { h.protocol = c.protocol })
			client, err := EnsureHub(testContext(t), s)
			if c.fails {
				var protocol *ProtocolError
				if !errors.As(err, &protocol) {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			if replaced := client.Hub.Pid != os.Getpid(); replaced != c.replaced {
				t.Errorf("replaced: %v, the hub is now %+v", replaced, client.Hub)
			}
			if c.replaced {
				wait(t, "the old hub", old.stop)
			}
		})
	}
}

func TestEnsureHubSaysWhyItDidNotStart(t *testing.T) {
	t.Parallel() // waits for another hub
	s := starter(t, "1.0.0", "broken")
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	_, err := EnsureHub(ctx, s)
	for _, want := range []string{"it ended at once (exit status 3)", "this hub is broken", filepath.Join(s.StateDir, "hub.log")} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q in it", err, want)
		}
	}
}

func TestEnsureHubWithoutAProgram(t *testing.T) {
	s := starter(t, "1.0.0", "")
	s.Command = []string{filepath.Join(s.StateDir, "none")}
	if _, err := EnsureHub(testContext(t), s); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	s.Command = nil
	if _, err := EnsureHub(testContext(t), s); err == nil {
		t.Error("no command is no error")
	}
}

func TestEnsureHubStartsNoneBesideOneThatHangs(t *testing.T) {
	s := starter(t, "1.0.0", "1.0.0")
	if err := os.WriteFile(s.Socket, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Remove(s.Socket) })
	if _, err := EnsureHub(testContext(t), s); !errors.Is(err, ErrNotSocket) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(s.StateDir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a hub was started: %v", err)
	}
}

func TestNewer(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"1.2.3", "1.2.2", true}, {"1.2.3", "1.2.3", false}, {"1.2.3", "1.2.10", false}, {"2.0.0", "1.99.99", true},
		{"v1.3.0", "1.2.0", true}, {"1.3", "1.2.0", false}, {"1.3.0-rc1", "1.2.0", false}, {"devel", "1.0.0", false},
		{"1.0.0", "", false}, {"1.-3.0", "1.2.0", false}, {"1.0.0", "devel", false},
	} {
		if got := newer(c.a, c.b); got != c.want {
			t.Errorf("newer(%q, %q) = %v", c.a, c.b, got)
		}
	}
}
