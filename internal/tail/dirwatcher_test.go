package tail

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// watchDirs runs a DirWatcher and tells its events as "appeared a.jsonl 4",
// paths being relative to root.
func watchDirs(t *testing.T, root string, roots []string, options Options) *states {
	t.Helper()
	s := newStates()
	d := NewDirWatcher(roots, ".jsonl", options)
	background(t, func(ctx context.Context) error {
		return d.Run(ctx, func(e DirEvent) {
			word := [...]string{"appeared", "changed", "vanished", "scanned", "trouble", "polling only"}[e.Kind]
			path, err := filepath.Rel(root, e.Path)
			switch {
			case e.Path == "":
				s.tell(strings.TrimSpace(word + " " + e.Reason))
			case err != nil:
				s.tell(err.Error())
			case e.Kind == Vanished || e.Kind == DirTrouble:
				s.tell(word + " " + path)
			default:
				s.tell(fmt.Sprint(word, " ", path, " ", e.Size))
			}
		})
	})
	return s
}

func mkdir(t *testing.T, parts ...string) string {
	t.Helper()
	dir := filepath.Join(parts...)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

// putFolder makes a folder with a file in it appear at once.
func putFolder(t *testing.T, dir, name, text string) {
	t.Helper()
	elsewhere := mkdir(t, t.TempDir(), "new")
	appendTo(t, filepath.Join(elsewhere, name), text)
	if err := os.Rename(elsewhere, dir); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
}

func TestDirWatcherByHints(t *testing.T) {
	root := t.TempDir()
	a := mkdir(t, root, "--a--")
	appendTo(t, filepath.Join(a, "1.jsonl"), "x\n")
	appendTo(t, filepath.Join(root, "flat.jsonl"), "x\n")
	appendTo(t, filepath.Join(a, "notes.txt"), "x\n")
	appendTo(t, filepath.Join(mkdir(t, a, "deep"), "2.jsonl"), "x\n")
	options := noTicks
	options.Watcher = newWatcher(t)
	s := watchDirs(t, root, []string{root}, options)
	s.wait(t, "scanned")
	if told := s.told(); len(told) != 3 || !slices.Contains(told, "appeared --a--/1.jsonl 2") || !slices.Contains(told, "appeared flat.jsonl 2") {
		t.Errorf("told %q", told)
	}
	appendTo(t, filepath.Join(a, "1.jsonl"), "y\n")
	s.wait(t, "changed --a--/1.jsonl 4")
	putFolder(t, filepath.Join(root, "--b--"), "3.jsonl", "x\n")
	s.wait(t, "appeared --b--/3.jsonl 2")
	appendTo(t, filepath.Join(root, "--b--", "3.jsonl"), "yy\n")
	s.wait(t, "changed --b--/3.jsonl 5")
	remove(t, filepath.Join(a, "1.jsonl"))
	s.wait(t, "vanished --a--/1.jsonl")
	remove(t, filepath.Join(root, "--b--"))
	s.wait(t, "vanished --b--/3.jsonl")
	putFolder(t, filepath.Join(root, "--c--"), "4.jsonl", "x\n")
	s.wait(t, "appeared --c--/4.jsonl 2")
	if err := os.Rename(filepath.Join(root, "--c--"), filepath.Join(t.TempDir(), "away")); err != nil {
		t.Fatal(err)
	}
	s.wait(t, "vanished --c--/4.jsonl")
	if err := os.Rename(filepath.Join(root, "flat.jsonl"), filepath.Join(a, "moved.jsonl")); err != nil {
		t.Fatal(err)
	}
	s.wait(t, "vanished flat.jsonl", "appeared --a--/moved.jsonl 2")
}

func TestDirWatcherByPollingOnly(t *testing.T) {
	root := t.TempDir()
	sessions := filepath.Join(root, "late", "sessions")
	ticks := make(chan time.Time)
	s := watchDirs(t, root, []string{sessions}, Options{Ticks: ticks})
	s.wait(t, "scanned", "polling only "+errNoWatcher.Error())
	file := filepath.Join(mkdir(t, sessions, "--a--"), "1.jsonl")
	appendTo(t, file, "x\n")
	ticks <- time.Time{}
	s.wait(t, "appeared late/sessions/--a--/1.jsonl 2")
	for range 50 {
		appendTo(t, file, "x\n")
	}
	ticks <- time.Time{}
	s.wait(t, "changed late/sessions/--a--/1.jsonl 102")
	remove(t, filepath.Join(root, "late"))
	ticks <- time.Time{}
	s.wait(t, "vanished late/sessions/--a--/1.jsonl")
	ticks <- time.Time{}
	ticks <- time.Time{}
	if told := s.told(); len(told) != 5 {
		t.Errorf("50 appends, one folder gone, and told %q", told)
	}
}

func TestDirWatcherLateRootByHints(t *testing.T) {
	root := t.TempDir()
	sessions := filepath.Join(root, "sessions")
	ticks := make(chan time.Time)
	s := watchDirs(t, root, []string{sessions}, Options{Ticks: ticks, Watcher: newWatcher(t)})
	s.wait(t, "scanned")
	mkdir(t, sessions)
	ticks <- time.Time{} // the root is found by a poll
	ticks <- time.Time{}
	appearWhole(t, filepath.Join(sessions, "1.jsonl"), "x\n")
	s.wait(t, "appeared sessions/1.jsonl 2")
	if told := s.told(); len(told) != 2 {
		t.Errorf("told %q", told)
	}
}

// appearWhole puts a file in place with all that it holds: one that is written
// where it is may be seen before.
func appearWhole(t *testing.T, path, text string) {
	t.Helper()
	elsewhere := filepath.Join(t.TempDir(), "new")
	appendTo(t, elsewhere, text)
	if err := os.Rename(elsewhere, path); err != nil {
		t.Fatal(err)
	}
}

// A root whose parents are not there either is found without a poll.
func TestDirWatcherDeepRootByHints(t *testing.T) {
	root := t.TempDir()
	sessions := filepath.Join(root, "agent", "sessions")
	s := watchDirs(t, root, []string{sessions}, Options{Ticks: make(chan time.Time), Watcher: newWatcher(t)})
	s.wait(t, "scanned")
	appearWhole(t, filepath.Join(mkdir(t, sessions), "1.jsonl"), "x\n")
	s.wait(t, "appeared agent/sessions/1.jsonl 2")
}

func TestDirWatcherFileReplacedInTheSameSize(t *testing.T) {
	root := t.TempDir()
	path := filepath.Join(root, "1.jsonl")
	appendTo(t, path, "x\n")
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	ticks := make(chan time.Time)
	s := watchDirs(t, root, []string{root}, Options{Ticks: ticks})
	s.wait(t, "scanned")
	appendTo(t, path+".new", "y\n")
	if err := os.Chtimes(path+".new", info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	ticks <- time.Time{}
	s.wait(t, "changed 1.jsonl 2")
}

func TestDirWatcherTrouble(t *testing.T) {
	root := t.TempDir()
	place := filepath.Join(root, "sessions")
	appendTo(t, place, "a file\n")
	ticks := make(chan time.Time)
	s := watchDirs(t, root, []string{place, root}, Options{Ticks: ticks})
	s.wait(t, "trouble sessions", "scanned")
	ticks <- time.Time{}
	ticks <- time.Time{}
	if told := s.told(); len(told) != 3 {
		t.Errorf("told %q", told)
	}
	remove(t, place)
	appendTo(t, filepath.Join(mkdir(t, place), "1.jsonl"), "x\n")
	ticks <- time.Time{}
	s.wait(t, "appeared sessions/1.jsonl 2")
}
