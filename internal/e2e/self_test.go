package e2e

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// fakeT is a test that may fail without failing the one it runs in.
type fakeT struct {
	testing.TB
	cleanups []func()
	log      strings.Builder
	failed   bool
}

func (f *fakeT) Helper()          {}
func (f *fakeT) Failed() bool     { return f.failed }
func (f *fakeT) Cleanup(c func()) { f.cleanups = append(f.cleanups, c) }
func (f *fakeT) FailNow()         { f.failed = true; panic(f) }

func (f *fakeT) Logf(format string, args ...any) { fmt.Fprintf(&f.log, format+"\n", args...) }

func (f *fakeT) Errorf(format string, args ...any) { f.failed = true; f.Logf(format, args...) }

func (f *fakeT) Fatalf(format string, args ...any) { f.Errorf(format, args...); f.FailNow() }

// run runs a test and its cleanups, and returns what it logged.
func (f *fakeT) run(test func()) string {
	func() {
		defer func() {
			if p := recover(); p != nil && p != any(f) {
				panic(p)
			}
		}()
		test()
	}()
	for i := len(f.cleanups) - 1; i >= 0; i-- {
		f.cleanups[i]()
	}
	return f.log.String()
}

// mustFail runs a test that has to fail and to say all the words.
func mustFail(t *testing.T, test func(f *fakeT), words ...string) {
	t.Helper()
	f := &fakeT{TB: t}
	log := f.run(func() { test(f) })
	if !f.failed {
		t.Errorf("the test did not fail; log:\n%s", log)
	}
	for _, word := range words {
		if !strings.Contains(log, word) {
			t.Errorf("no %q in the failure:\n%s", word, log)
		}
	}
}

func TestWaitSaysWhatIsKnown(t *testing.T) {
	t.Setenv(TimeoutVar, "50ms")
	mustFail(t, func(f *fakeT) {
		h := NewHome(f, nil, HomeOptions{})
		h.WriteFile(h.State+"/piwatch/hub.log", "the hub said this\n")
		h.Provider.WaitRequests(1)
	}, "0 model requests, want 1", "the hub said this")
}

func TestUnexpectedRequestFails(t *testing.T) {
	mustFail(t, func(f *fakeT) {
		h := NewHome(f, nil, HomeOptions{})
		response, err := http.Post(h.Provider.URL()+"/chat/completions", "application/json",
			strings.NewReader(`{"model":"m","messages":[{"role":"user","content":"stray"}]}`))
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != http.StatusBadRequest {
			t.Errorf("status %s", response.Status)
		}
	}, "unexpected model request", `"stray"`)
}

func TestLeftoverProcessFails(t *testing.T) {
	var pid int
	mustFail(t, func(f *fakeT) {
		h := NewHome(f, nil, HomeOptions{})
		cmd := exec.Command("sleep", "600")
		cmd.Env = h.Env()
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		pid = cmd.Process.Pid
		go func() { _ = cmd.Wait() }()
	}, "was left behind")
	if !poll(Timeout(), func() bool { return !alive(pid) }) {
		t.Errorf("process %d is still there", pid)
	}
}

func TestHomeIsGone(t *testing.T) {
	f := &fakeT{TB: t}
	var h *Home
	log := f.run(func() { h = NewHome(f, nil, HomeOptions{}) })
	if f.failed {
		t.Error(log)
	}
	if _, err := os.Stat(h.Dir); !os.IsNotExist(err) {
		t.Errorf("%s is still there: %v", h.Dir, err)
	}
	if n := len(h.Run + "/piwatch/hub.sock"); n > maxSocketPath {
		t.Errorf("the socket's path has %d bytes", n)
	}
}

func TestJournal(t *testing.T) {
	var j journal[int]
	go func() {
		for i := range 3 {
			j.add(i)
		}
		j.close()
	}()
	if err := j.wait(time.Minute, func(items []int) bool { return len(items) == 3 }); err != nil {
		t.Error(err)
	}
	if err := j.wait(time.Minute, func(items []int) bool { return len(items) == 4 }); err != errClosed {
		t.Errorf("wait on a closed journal: %v", err)
	}
	var open journal[int]
	if err := open.wait(time.Millisecond, func([]int) bool { return false }); err != errDeadline {
		t.Errorf("wait on an open journal: %v", err)
	}
}

func TestDiffBytes(t *testing.T) {
	for _, test := range []struct{ got, want, says string }{
		{`{"a":1}`, `{"a":1}`, ""},
		{`{"a":1}`, `{"a":2}`, "-  \"a\": 2"},
		{`{"a": 1}`, `{"a":1}`, "other bytes from 5"},
		{`{"b":1,"a":1}`, `{"a":1,"b":1}`, `+  "b": 1`},
	} {
		diff := DiffBytes([]byte(test.got), []byte(test.want))
		if (diff == "") != (test.says == "") || !strings.Contains(diff, test.says) {
			t.Errorf("%s against %s: %q", test.got, test.want, diff)
		}
	}
}

func TestSemaphoreTakesWhole(t *testing.T) {
	s := newSemaphore(2)
	done := make(chan struct{})
	for range 8 {
		go func() {
			s.take(5)() // more than there are: all of them
			done <- struct{}{}
		}()
	}
	for range 8 {
		<-done
	}
	if n := len(s.free); n != 0 {
		t.Errorf("%d slots were not given back", n)
	}
}

// TestPiwatch builds the program and runs it in a home.
func TestPiwatch(t *testing.T) {
	h := NewHome(t, nil, HomeOptions{})
	result := h.RunPiwatch("--help")
	if result.ExitCode != 0 || !strings.Contains(result.Stdout, "piwatch") {
		t.Errorf("status %d, stdout %q, stderr %q", result.ExitCode, result.Stdout, result.Stderr)
	}
}
