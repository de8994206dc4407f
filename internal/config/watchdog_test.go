package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReadWatchdog(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       Watchdog
		err        string // part of it, "" for none
	}{
		{"empty", "", Watchdog{}, ""},
		{"both", "[watchdog]\non_stop = \"echo $PIWATCH_EVENT\"\nrollback = true\n", Watchdog{"echo $PIWATCH_EVENT", true}, ""},
		{"a wrong value leaves the rest", "[watchdog]\nrollback = \"yes\"\non_stop = \"true\"\n", Watchdog{OnStop: "true"},
			":2: watchdog.rollback: \"yes\" does not fit; allowed: true or false"},
		{"unknown", "[watchdog]\n\nonstop = \"true\"\n", Watchdog{}, ":3: watchdog.onstop: unknown setting; did you mean on_stop?; allowed: on_stop, rollback"},
		{"no TOML", "[watchdog]\nrollback = yes\n", Watchdog{}, ":2: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "config.toml")
			if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := ReadWatchdog(file)
			if got != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
			switch {
			case c.err == "" && err != nil:
				t.Error(err)
			case c.err != "" && (err == nil || !strings.Contains(err.Error(), file+c.err)):
				t.Errorf("error %v, want %s%s", err, file, c.err)
			}
		})
	}
	if got, err := ReadWatchdog(filepath.Join(t.TempDir(), "none.toml")); got != (Watchdog{}) || err != nil {
		t.Errorf("no file: %+v, %v", got, err)
	}
}

func TestReadGuard(t *testing.T) {
	for _, c := range []struct {
		text string
		off  bool
		err  string // part of it, "" for none
	}{
		{"", false, ""},
		{"[guard]\non = false\n", true, ""},
		{"[guard]\non = true\n", false, ""},
		{"[guard]\non = \"no\"\n", false, ":2: guard.on: \"no\" does not fit; allowed: true or false"},
		{"[guard]\noff = true\n", false, ":2: guard.off: unknown setting; allowed: on"},
	} {
		file := filepath.Join(t.TempDir(), "config.toml")
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := ReadGuard(file)
		if got.Off != c.off || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), file+c.err) {
			t.Errorf("%q: %+v, %v", c.text, got, err)
		}
	}
}
