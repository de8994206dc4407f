package cli

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"piwatch/internal/control"
	"piwatch/internal/watchdog"
)

func TestPick(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(dir, "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	early, late := time.Unix(1000, 0), time.Unix(2000, 0)
	sessions := []target{
		{ID: "0199aaaa-1", Cwd: dir, Active: late},
		{ID: "0199aaaa-12", Cwd: "/gone/one", Name: "parser", Active: early},
		{ID: "0199bbbb-1", Cwd: "/gone/two", Name: "twins"},
		{ID: "0199cccc-1", Cwd: "/gone/two/", Name: "twins"},
		{ID: "0199dddd-1", Cwd: "/gone/three", Name: "0199aaaa-1"}, // an id as a name
	}
	for _, c := range []struct {
		name, cwd string
		want      string // an id, "" for none
		text      string // of the error
	}{
		{"0199bbbb-1", "/", "0199bbbb-1", ""},
		{"0199b", "/", "0199bbbb-1", ""},
		{"0199aaaa-1", "/", "0199aaaa-1", ""}, // an id, the beginning of another, and a name
		{"0199aaaa", "/", "", "the name of 2 sessions"},
		{"parser", "/", "0199aaaa-12", ""},
		{"pars", "/", "", ""},
		{"twins", "/", "", "the name of 2 sessions"},
		{"bbbb", "/", "", ""},
		{"", "/", "", ""},
		{".", dir, "0199aaaa-1", ""},
		{".", link, "0199aaaa-1", ""},
		{".", "/gone/one", "0199aaaa-12", ""},
		{".", "/gone/two", "", "the name of 2 sessions"},
		{".", "/gone", "", ""},
		{lastSession, "/", "0199dddd-1", ""}, // no file says when, the id does
	} {
		got, none, err := pick(sessions, c.name, c.cwd)
		switch {
		case c.text != "":
			if !errors.Is(err, control.ErrNoSession) || !strings.Contains(err.Error(), c.text) || err.(hinted).Hint() == "" {
				t.Errorf("pick(%q) in %s: %v, want %q", c.name, c.cwd, err, c.text)
			}
		case err != nil, got.ID != c.want, none != (c.want == ""):
			t.Errorf("pick(%q) in %s: %q, %v, %v; want %q", c.name, c.cwd, got.ID, none, err, c.want)
		}
	}
	if got, _, _ := pick(sessions[:2], lastSession, "/"); got.ID != "0199aaaa-1" {
		t.Errorf("the last one is %s", got.ID)
	}
	if _, none, err := pick(nil, ".", dir); !none || err != nil {
		t.Errorf("without sessions: %v, %v", none, err)
	}
	if err := noSession("session with a bridge", ".", dir, nil, noBridgeHint).(hinted); !strings.Contains(err.Hint(), "piwatch install") {
		t.Errorf("without sessions: %v", err.Hint())
	}
}

func TestShorten(t *testing.T) {
	var targets []target
	for _, id := range []string{"0199aaaabbbb-1", "0199aaaacccc-1", "1", "77777777777", "\x1b[31m-red-red", "1"} {
		targets = append(targets, target{ID: id})
	}
	got := shorten(targets)
	if want := []string{"0199aaaab", "0199aaaac", "1", "77777777", "-re", "1"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestTmuxLine(t *testing.T) {
	now := time.Unix(1000, 0)
	busy := control.Session{ID: "1", Watch: watchdog.View{Phase: watchdog.Off}}
	asks := control.Session{ID: "2", Name: "a#b \x1b[31m with a very long name", Facts: control.Facts{Idle: true}, Watch: watchdog.View{Phase: watchdog.Off, Last: watchdog.WaitUser}}
	dialog := control.Session{ID: "3", Facts: control.Facts{Idle: true, Dialog: true}}
	counting := func(seconds int) control.Session {
		return control.Session{ID: "4", Facts: control.Facts{Idle: true}, Watch: watchdog.View{
			Phase: watchdog.Counting, Count: 2, Settings: watchdog.Defaults(), Deadline: now.Add(time.Duration(seconds) * time.Second),
		}}
	}
	for _, c := range []struct {
		sessions []control.Session
		want     string
	}{
		{nil, ""},
		{[]control.Session{busy}, ""},
		{[]control.Session{counting(23)}, "⏱23s 2/50"},
		{[]control.Session{asks}, "a##b with a very lon… needs you"},
		{[]control.Session{busy, asks, dialog, counting(40), counting(23), busy}, "2 need you, ⏱23s 2/50, 2 working"},
	} {
		if got := tmuxLine(c.sessions, now); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func TestTable(t *testing.T) {
	var out strings.Builder
	if err := printTable(&out, []string{"A", "BB"}, [][]string{{"会議", "x"}, {"\x1b[31mred", ""}}); err != nil {
		t.Fatal(err)
	}
	if want := "A     BB\n会議  x\nred   -\n"; out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

func TestJSONHoldsNoControls(t *testing.T) {
	var out strings.Builder
	a := &app{out: &out}
	if err := a.printJSON(map[string]string{"name": "a\x1b[31m\u009b31m\x7f\x00é<⏱"}); err != nil {
		t.Fatal(err)
	}
	if want := "{\n  \"name\": \"a\\u001b[31m\\u009b31m\\u007f\\u0000é\\u003c⏱\"\n}\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}
