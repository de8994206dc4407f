package cli

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"piwatch/internal/hub"
)

// A config that is broken is told of once, however often it is read, and again
// when it is broken in another way or anew.
func TestBrokenConfigIsLoggedOnce(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "piwatch", "config.toml")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	a := app{env: func(name string) string { return map[string]string{"HOME": dir, "XDG_CONFIG_HOME": dir}[name] }}
	read := a.preferences(slog.New(slog.NewTextHandler(&out, nil)))
	for _, c := range []struct {
		text string
		logs int // so far
	}{
		{"[watchdog]\nrollback = 7\n", 1},
		{"[guard]\non = 7\n", 2},
		{"[watchdog]\nrollback = true\n", 2},
		{"[guard]\non = 7\n", 3},
	} {
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		var got hub.Preferences
		for range 3 {
			got = read()
		}
		if n := strings.Count(out.String(), "level=ERROR"); n != c.logs {
			t.Errorf("after %q: %d errors were logged, want %d:\n%s", c.text, n, c.logs, &out)
		}
		if strings.Contains(c.text, "true") && !got.Rollback {
			t.Errorf("read %+v", got)
		}
	}
}
