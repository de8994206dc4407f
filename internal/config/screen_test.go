package config

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestReadScreen(t *testing.T) {
	for _, c := range []struct {
		name, data string
		want       Screen
		wrong      []string // beginnings of the lines of the error, after the file
	}{
		{"empty", "", Screen{}, nil},
		{"all", "other = 1\n[screen]\ntheme = \"dark\"\nascii = true\nmouse = true\nstill = true\nnotify = \"osc9\"\n",
			Screen{Theme: "dark", ThemeWhere: "FILE:3", ASCII: true, Mouse: true, Still: true, Notify: "osc9"}, nil},
		{"keys", "[keys]\nnudge = \"N\"\n\nstop = [\"X\", \"f8\"]\n",
			Screen{Keys: []Keys{{"nudge", []string{"N"}, "FILE:2"}, {"stop", []string{"X", "f8"}, "FILE:4"}}}, nil},
		{"the same name in two tables", "[screen]\nmouse = false\n[keys]\nmouse = \"m\"\n",
			Screen{Keys: []Keys{{"mouse", []string{"m"}, "FILE:4"}}}, nil},
		{"dotted", "screen.ascii = 1\n", Screen{}, []string{":1: screen.ascii: 1 does not fit; allowed: true or false"}},
		{"unknown setting", "[screen]\n\ncolour = 1\nascii = true\n", Screen{ASCII: true},
			[]string{":3: screen.colour: unknown setting; allowed: ascii, mouse, notify, still, theme"}},
		{"bad values", "[screen]\nmouse = \"yes\"\nnotify = \"loud\"\n[keys]\nnudge = 1\nstop = [1]\n", Screen{}, []string{
			`:2: screen.mouse: "yes" does not fit; allowed: true or false`,
			`:3: screen.notify: "loud" does not fit; allowed: bell, osc9, osc777, desktop, none`,
			`:5: keys.nudge: 1 does not fit; allowed: a key, as in nudge = "N"`,
			`:6: keys.stop: `,
		}},
		{"syntax", "[screen]\nx = = 1\n", Screen{}, []string{":2: "}},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "config.toml")
			if err := os.WriteFile(file, []byte(c.data), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := ReadScreen(file, noEnv)
			got.ThemeWhere = strings.Replace(got.ThemeWhere, file, "FILE", 1)
			for i := range got.Keys {
				got.Keys[i].Where = strings.Replace(got.Keys[i].Where, file, "FILE", 1)
			}
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("read %+v, want %+v", got, c.want)
			}
			var lines []string
			if err != nil {
				lines = strings.Split(err.Error(), "\n")
			}
			if len(lines) != len(c.wrong) {
				t.Fatalf("the error is %v", err)
			}
			for i, want := range c.wrong {
				if !strings.HasPrefix(lines[i], file+want) {
					t.Errorf("line %d of the error is %q, want %q", i+1, lines[i], want)
				}
			}
		})
	}
}

func TestNoConfigFile(t *testing.T) {
	dir := t.TempDir()
	if got, err := ReadScreen(filepath.Join(dir, "none.toml"), noEnv); err != nil || !reflect.DeepEqual(got, Screen{}) {
		t.Errorf("without a file: %+v, %v", got, err)
	}
	if _, err := ReadScreen(dir, noEnv); err == nil {
		t.Error("a folder is read as a file")
	}
	got, err := File(func(key string) string { return map[string]string{"HOME": "/h"}[key] })
	if err != nil || got != "/h/.config/piwatch/config.toml" {
		t.Errorf("the file is %q, %v", got, err)
	}
}

func noEnv(string) string { return "" }
