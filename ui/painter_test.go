package ui

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestOnlyNewLinesAreDrawn(t *testing.T) {
	all := changes(frame{}, frame{"one\ntwo", 10, 2})
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
		if got := changes(frame{c.from, 10, 2}, frame{c.to, 10, 2}); got != "\x1b[?7l"+c.want+"\x1b[?7h" {
			t.Errorf("%q after %q is drawn as %q, want %q", c.to, c.from, got, c.want)
		}
	}
	if got := changes(frame{"one", 10, 2}, frame{"one", 11, 2}); !strings.Contains(got, "\x1b[2J") || !strings.Contains(got, "one") {
		t.Errorf("at another size it is drawn as %q", got)
	}
}

// What the terminal got: frames while the screen is on, and only the newest.
func TestThePainterDrawsWhileTheScreenIsOn(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "terminal"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	p := newPainter(file)
	term := terminal{file, p}
	got := func() string {
		p.paint()
		data, err := os.ReadFile(file.Name())
		if err != nil {
			t.Fatal(err)
		}
		if err := file.Truncate(0); err != nil {
			t.Fatal(err)
		}
		if _, err := file.Seek(0, 0); err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	write := func(text string) {
		if n, err := io.WriteString(term, text); n != len(text) || err != nil {
			t.Fatal(n, err)
		}
	}
	p.show(frame{"early", 10, 2})
	if s := got(); s != "" {
		t.Errorf("before the screen is on, %q was drawn", s)
	}
	write("\x1b[?1049h")
	p.show(frame{"first", 10, 2})
	p.show(frame{"second", 10, 2})
	if s := got(); !strings.Contains(s, "second") || strings.Contains(s, "first") || !strings.HasPrefix(s, "\x1b[?1049h") {
		t.Errorf("the terminal got %q", s)
	}
	if s := got(); s != "" {
		t.Errorf("without news it got %q", s)
	}
	write("\x1b[H" + frameMark + "\x1b[K")
	if s := got(); !strings.Contains(s, "second") || strings.Contains(s, frameMark) {
		t.Errorf("to draw all anew it got %q", s)
	}
	write("\x1b[?1049l")
	p.show(frame{"late", 10, 2})
	if s := got(); s != "\x1b[?1049l" {
		t.Errorf("after the screen it got %q", s)
	}
}
