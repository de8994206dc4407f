package tail

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// patience is how long a test waits for a state before it fails.
const patience = 20 * time.Second

// states is what a goroutine told up to now; waiting is for what it will tell.
type states struct {
	mu   sync.Mutex
	all  []string
	more chan struct{}
}

func newStates() *states { return &states{more: make(chan struct{}, 1)} }

func (s *states) tell(text ...string) {
	s.mu.Lock()
	s.all = append(s.all, text...)
	s.mu.Unlock()
	select {
	case s.more <- struct{}{}:
	default:
	}
}

func (s *states) told() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.all)
}

// wait waits until all of the texts were told.
func (s *states) wait(t *testing.T, want ...string) {
	t.Helper()
	deadline := time.After(patience)
	for {
		told := s.told()
		if !slices.ContainsFunc(want, func(w string) bool { return !slices.Contains(told, w) }) {
			return
		}
		select {
		case <-s.more:
		case <-deadline:
			t.Fatalf("told %q, waited for %q", told, want)
		}
	}
}

// background runs until the test ends, and waits for the end.
func background(t *testing.T, run func(ctx context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("ended with %v", err)
		}
	})
}

func follow(t *testing.T, path string, options Options) *states {
	t.Helper()
	s := newStates()
	f := NewFollower(path, options)
	background(t, func(ctx context.Context) error {
		return f.Run(ctx, func(e Event) {
			var r record
			r.emit(e)
			s.tell(r.all...)
		})
	})
	return s
}

func newWatcher(t *testing.T) *Watcher {
	t.Helper()
	w := NewWatcher()
	if w.err != nil {
		t.Fatal(w.err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

func appendTo(t *testing.T, path, text string) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

// noTicks never ticks: what is seen was hinted at.
var noTicks = Options{Ticks: make(chan time.Time)}

func TestRunByHints(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.jsonl")
	options := noTicks
	options.Watcher = newWatcher(t)
	s := follow(t, path, options)
	s.wait(t, "missing: not there yet")
	appendTo(t, path, "one\n")
	s.wait(t, "+one@0")
	appendTo(t, path, "two\n")
	s.wait(t, "+two@4")
	if err := os.WriteFile(path+".new", []byte("three\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	s.wait(t, "reset replaced", "+three@0")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	s.wait(t, "missing: deleted")
	appendTo(t, path, "four\n")
	s.wait(t, "reset recreated", "+four@0")
}

func TestRunByPollingOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.jsonl")
	ticks := make(chan time.Time)
	s := follow(t, path, Options{Ticks: ticks})
	s.wait(t, "polling only: "+errNoWatcher.Error(), "missing: not there yet")
	appendTo(t, path, "one\n")
	ticks <- time.Time{}
	s.wait(t, "+one@0")
	ticks <- time.Time{}
	ticks <- time.Time{}
	if told := s.told(); len(told) != 3 {
		t.Errorf("told %q", told)
	}
}

func TestRunWithItsOwnTicker(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.jsonl")
	s := follow(t, path, Options{Poll: time.Millisecond})
	s.wait(t, "missing: not there yet")
	appendTo(t, path, "one\n")
	s.wait(t, "+one@0")
}

func TestLateFolderByTickThenHints(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "late")
	path := filepath.Join(dir, "s.jsonl")
	ticks := make(chan time.Time)
	s := follow(t, path, Options{Ticks: ticks, Watcher: newWatcher(t)})
	s.wait(t, "missing: not there yet")
	for i := range 2 {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		appendTo(t, path, fmt.Sprintf("first %d\n", i))
		ticks <- time.Time{}
		s.wait(t, fmt.Sprintf("+first %d@0", i))
		appendTo(t, path, fmt.Sprintf("second %d\n", i)) // by a hint: nothing ticks
		s.wait(t, fmt.Sprintf("+second %d@8", i))
		if err := os.RemoveAll(dir); err != nil { // the watch goes with the folder
			t.Fatal(err)
		}
		s.wait(t, "missing: deleted")
	}
}

func TestManyFollowersShareAWatcher(t *testing.T) {
	root := t.TempDir()
	options := noTicks
	options.Watcher = newWatcher(t)
	var all []*states
	var paths []string
	for i := range 200 {
		dir := filepath.Join(root, fmt.Sprintf("--%d--", i%20))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, fmt.Sprintf("%d.jsonl", i))
		paths = append(paths, path)
		all = append(all, follow(t, path, options))
	}
	for i, path := range paths {
		all[i].wait(t, "missing: not there yet")
		appendTo(t, path, "one\n")
	}
	for i := range paths {
		all[i].wait(t, "+one@0")
	}
	options.Watcher.mu.Lock()
	defer options.Watcher.mu.Unlock()
	if n := len(options.Watcher.dirs); n != 20 {
		t.Errorf("%d folders are watched, want 20", n)
	}
}

func TestNoWatchIsLeftBehind(t *testing.T) {
	w := newWatcher(t)
	dir := t.TempDir()
	a, b := w.subscribe(), w.subscribe()
	for _, s := range []*subscription{a, b, a} {
		if err := s.add(dir); err != nil {
			t.Fatal(err)
		}
	}
	a.close()
	if got := w.notify.WatchList(); !slices.Equal(got, []string{dir}) {
		t.Errorf("watched %q while it is in use", got)
	}
	b.close()
	if got := w.notify.WatchList(); len(got) != 0 || len(w.dirs) != 0 || len(w.subs) != 0 {
		t.Errorf("watched %q, %v, %v", got, w.dirs, w.subs)
	}
}

func TestClosedWatcherLeavesPolling(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.jsonl")
	w := NewWatcher()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	ticks := make(chan time.Time)
	s := follow(t, path, Options{Ticks: ticks, Watcher: w})
	s.wait(t, "missing: not there yet")
	appendTo(t, path, "one\n")
	ticks <- time.Time{}
	s.wait(t, "+one@0")
	if !slices.ContainsFunc(s.told(), func(text string) bool { return strings.HasPrefix(text, "polling only: ") }) {
		t.Errorf("told %q", s.told())
	}
}

func TestLostEventsMakeAllLookAgain(t *testing.T) {
	w := newWatcher(t)
	s := w.subscribe()
	defer s.close()
	w.passAll()
	<-s.wake
	if paths, all := s.take(); !all || len(paths) != 0 {
		t.Errorf("%v, %v", paths, all)
	}
	if _, all := s.take(); all {
		t.Error("looks again for ever")
	}
}

func TestHintHealth(t *testing.T) {
	silentChange := func(h *hintHealth) string {
		h.tick()
		return h.polled(true)
	}
	var h hintHealth
	for range 3 * silentChanges { // the hint is only a little late
		if said := silentChange(&h); said != "" {
			t.Fatalf("said %q while hints come", said)
		}
		h.hint()
	}
	said := 0
	for range 3 * silentChanges {
		if silentChange(&h) != "" {
			said++
		}
	}
	if said != 1 {
		t.Errorf("said %d times that no hints come", said)
	}
	h = hintHealth{}
	for range 3 * silentChanges {
		h.tick()
		if text := h.polled(false); text != "" {
			t.Errorf("said %q of a file that does not change", text)
		}
	}
	if text := h.note(os.ErrNotExist); text != "" {
		t.Errorf("said %q of a folder that is to come", text)
	}
	if h.note(errors.New("no space")) != "no space" || h.note(errors.New("again")) != "" {
		t.Error("a reason is said once")
	}
}

// Where all folders give hints nothing polls in the short run.
func TestQuietWhereHintsAreSure(t *testing.T) {
	root := t.TempDir()
	if !tellsChanges(root) {
		t.Log("the file system here is not known to tell of all changes")
	}
	var d *DirWatcher
	for _, c := range []struct {
		what  string
		w     *Watcher
		roots []string
		want  bool
	}{
		{"a folder on this machine", newWatcher(t), []string{root}, tellsChanges(root)},
		{"a folder that is not there yet", newWatcher(t), []string{filepath.Join(root, "a", "b")}, tellsChanges(root)},
		{"a file system that may not tell", newWatcher(t), []string{root, "/proc/self/task"}, false},
		{"no watcher", nil, []string{root}, false},
	} {
		d = NewDirWatcher(c.roots, ".jsonl", Options{})
		d.hints = c.w.subscribe()
		d.scan(func(DirEvent) {})
		if got := d.watched && d.health.reliable(); got != c.want {
			t.Errorf("%s: quiet %v", c.what, got)
		}
		d.hints.close()
	}
	silent := hintHealth{suspect: true}
	if silent.reliable() {
		t.Error("a change without a hint is not enough to go on polling")
	}
	p := newPace(Options{}, DefaultPoll)
	defer p.stop()
	if p.wait(true) != QuietPoll || p.wait(false) != DefaultPoll {
		t.Errorf("polls every %v, and %v when quiet", p.wait(false), p.wait(true))
	}
}
