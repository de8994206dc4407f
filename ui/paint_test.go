package ui

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestOnlyNewLinesAreDrawn(t *testing.T) {
	all := changes(frame{}, frame{"one\ntwo", 10, 2, false})
	if want := "\x1b[?7l\x1b[0m\x1b[2J\x1b[1;1Hone\x1b[0m\x1b[K\x1b[2;1Htwo\x1b[0m\x1b[K\x1b[?7h"; all != want {
		t.Errorf("the first frame is drawn as %q", all)
	}
	for _, c := range []struct{ from, to, want string }{
		{"one\ntwo", "one\ntoo", "\x1b[2;1Htoo\x1b[0m\x1b[K"},
		{"one\ntwo", "one", "\x1b[2;1H\x1b[0m\x1b[K"},
		{"one", "one\ntwo", "\x1b[2;1Htwo\x1b[0m\x1b[K"},
		{"one", "0123456789", "\x1b[1;1H0123456789"},
		{"one\ntwo", "one\ntwo\nthree", ""}, // below the screen
	} {
		if got := changes(frame{c.from, 10, 2, false}, frame{c.to, 10, 2, false}); got != "\x1b[?7l"+c.want+"\x1b[?7h" {
			t.Errorf("%q after %q is drawn as %q, want %q", c.to, c.from, got, c.want)
		}
	}
	if got := changes(frame{"one", 10, 2, false}, frame{"one", 11, 2, false}); !strings.Contains(got, "\x1b[2J") || !strings.Contains(got, "one") {
		t.Errorf("at another size it is drawn as %q", got)
	}
}

// What the terminal got: frames while the screen is on, and only the newest.
func TestFramesAreDrawnWhileTheScreenIsOn(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "terminal"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	term := newTerminal(nil, file)
	read := 0
	got := func() string {
		term.paint()
		data, err := os.ReadFile(file.Name())
		if err != nil {
			t.Fatal(err)
		}
		text := string(data[read:])
		read = len(data)
		return text
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	term.show(frame{"early", 10, 2, false})
	if s := got(); s != "" {
		t.Errorf("before the screen is on, %q was drawn", s)
	}
	must(term.enter())
	term.show(frame{"first", 10, 2, false})
	term.show(frame{"second", 10, 2, false})
	if s := got(); !strings.Contains(s, "second") || strings.Contains(s, "first") || !strings.HasPrefix(s, screenOn) {
		t.Errorf("the terminal got %q", s)
	}
	if s := got(); s != "" {
		t.Errorf("without news it got %q", s)
	}
	term.show(frame{"second", 10, 2, true})
	if s := got(); !strings.HasPrefix(s, mouseOn) {
		t.Errorf("for the mouse it got %q", s)
	}
	must(term.aside(func() error {
		term.show(frame{"beside", 10, 2, true})
		if s := got(); s != screenOff {
			t.Errorf("for a program in the place of the screen it got %q", s)
		}
		return nil
	}))
	if s := got(); !strings.HasPrefix(s, screenOn+mouseOn) || !strings.Contains(s, "beside") {
		t.Errorf("after the program it got %q", s)
	}
	must(term.leave())
	must(term.leave())
	term.show(frame{"late", 10, 2, false})
	if s := got(); s != screenOff {
		t.Errorf("after the screen it got %q", s)
	}
}

// A terminal that takes nothing more, as after ctrl+S, holds up the drawing alone.
func TestFramesAreTakenWhileTheTerminalStands(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	term := newTerminal(nil, w)
	if err := term.enter(); err != nil {
		t.Fatal(err)
	}
	const wide, high = 4000, 100 // more than a pipe holds
	term.show(frame{strings.Repeat(strings.Repeat("x", wide)+"\n", high), wide, high, false})
	var work sync.WaitGroup
	work.Go(term.paint)
	if _, err := io.ReadFull(r, make([]byte, len(screenOn)+1)); err != nil { // it writes
		t.Fatal(err)
	}
	shown := make(chan bool)
	work.Go(func() {
		term.show(frame{"new", 10, 2, false})
		close(shown)
	})
	select {
	case <-shown:
	case <-time.After(10 * time.Second):
		t.Error("the frame waits for the terminal")
	}
	work.Go(func() { _, _ = io.Copy(io.Discard, r) }) // the terminal goes on
	if err := errors.Join(term.leave(), w.Close()); err != nil {
		t.Error(err)
	}
	work.Wait()
}
