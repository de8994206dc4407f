package cli

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"piwatch/internal/control"
)

func TestPick(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(dir, "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	sessions := []control.Session{
		{ID: "0199aaaa-1", Cwd: dir},
		{ID: "0199aaaa-12", Cwd: "/gone/one"},
		{ID: "0199bbbb-1", Cwd: "/gone/two"},
		{ID: "0199cccc-1", Cwd: "/gone/two/"},
	}
	for _, c := range []struct {
		name, cwd string
		want      string // an id, or "" for a control.ErrNoSession with text
		text      string
	}{
		{"0199bbbb-1", "/", "0199bbbb-1", ""},
		{"0199b", "/", "0199bbbb-1", ""},
		{"0199aaaa-1", "/", "0199aaaa-1", ""}, // an id, and the beginning of another
		{"0199aaaa", "/", "", "the name of 2 sessions"},
		{"bbbb", "/", "", `no session with a bridge has the id "bbbb"`},
		{"", "/", "", `no session with a bridge has the id ""`},
		{".", dir, "0199aaaa-1", ""},
		{".", link, "0199aaaa-1", ""},
		{".", "/gone/one", "0199aaaa-12", ""},
		{".", "/gone/two", "", "the name of 2 sessions"},
		{".", "/gone", "", "no session with a bridge works in /gone"},
	} {
		got, err := pick(sessions, c.name, c.cwd)
		if c.want == "" {
			if !errors.Is(err, control.ErrNoSession) || !strings.Contains(err.Error(), c.text) || err.(hinted).Hint() == "" {
				t.Errorf("pick(%q) in %s: %v, want %q", c.name, c.cwd, err, c.text)
			}
			continue
		}
		if err != nil || got.ID != c.want {
			t.Errorf("pick(%q) in %s: %q, %v; want %q", c.name, c.cwd, got.ID, err, c.want)
		}
	}
	if _, err := pick(nil, ".", dir); err == nil || !strings.Contains(err.(hinted).Hint(), "piwatch install") {
		t.Errorf("without sessions: %v", err)
	}
}

func TestShorten(t *testing.T) {
	got := shorten([]control.Session{{ID: "0199aaaabbbb-1"}, {ID: "0199aaaacccc-1"}, {ID: "1"}, {ID: "77777777777"}, {ID: "\x1b[31m-red-red"}, {ID: "1"}})
	if want := []string{"0199aaaab", "0199aaaac", "1", "77777777", "-re", "1"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
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
