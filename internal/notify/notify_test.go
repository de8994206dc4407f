package notify

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestSequence(t *testing.T) {
	for _, c := range []struct {
		way  Way
		tmux bool
		want string
	}{
		{Bell, false, "\x07"}, {Bell, true, "\x07"}, {"", false, "\x07"}, {None, true, ""}, {Desktop, false, ""},
		{OSC9, false, "\x1b]9;piwatch: a, b\x07"},
		{OSC777, false, "\x1b]777;notify;piwatch;a, b\x07"},
		{OSC777, true, "\x1bPtmux;\x1b\x1b]777;notify;piwatch;a, b\x07\x1b\\"},
	} {
		if got := Sequence(c.way, "a; b", c.tmux); got != c.want {
			t.Errorf("%s, tmux %v: %q, want %q", c.way, c.tmux, got, c.want)
		}
	}
}

func TestCommand(t *testing.T) {
	found := func(name string) (string, error) { return "/usr/bin/" + name, nil }
	missing := func(string) (string, error) { return "", os.ErrNotExist }
	env := func(pairs ...string) func(string) string {
		return func(name string) string {
			for _, pair := range pairs {
				if value, ok := strings.CutPrefix(pair, name+"="); ok {
					return value
				}
			}
			return ""
		}
	}
	const text = `--help "; rm -rf <b>& C:\new\377` + "`"
	// The body is markup, and notify-send reads backslashes.
	written := map[string]string{"darwin": text, "linux": `--help "; rm -rf &lt;b&gt;&amp; C:\\new\\377` + "`"}
	for _, c := range []struct {
		system string
		env    func(string) string
		find   func(string) (string, error)
		want   string // the program, "" for no desktop
	}{
		{"linux", env("WAYLAND_DISPLAY=w"), found, "/usr/bin/notify-send"},
		{"linux", env("DISPLAY=:0"), found, "/usr/bin/notify-send"},
		{"linux", env(), found, ""},
		{"linux", env("DISPLAY=:0"), missing, ""},
		{"darwin", env(), found, "/usr/bin/osascript"},
		{"darwin", env(), missing, ""},
	} {
		argv, err := command(c.system, c.env, c.find, text)
		if c.want == "" {
			if !errors.Is(err, ErrNoDesktop) {
				t.Errorf("%s: %v, %v", c.system, argv, err)
			}
			continue
		}
		dashes := slices.Index(argv, "--")
		if err != nil || argv[0] != c.want || dashes < 0 || slices.Index(argv, written[c.system]) < dashes {
			t.Errorf("%s: %q, %v", c.system, argv, err)
		}
	}
}

// The program gets the text as it is.
func TestShow(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "shown")
	script := "#!/bin/sh\nfor last; do :; done\nprintf %s \"$last\" > '" + out + "'\n"
	for _, name := range []string{"notify-send", "osascript"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	t.Setenv("DISPLAY", ":0")
	if err := Show(context.Background(), os.Getenv, "it's $HOME"); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(out)
	if err != nil || !strings.Contains("it's $HOME piwatch", string(got)) || len(got) == 0 {
		t.Errorf("shown: %q, %v", got, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "notify-send"), []byte("#!/bin/sh\necho no bus >&2\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "osascript"), []byte("#!/bin/sh\necho no bus >&2\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := Show(context.Background(), os.Getenv, "x"); err == nil || !strings.Contains(err.Error(), "no bus") {
		t.Errorf("a desktop that fails: %v", err)
	}
}
