package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"piwatch/internal/config"
	"piwatch/internal/notify"
	"piwatch/ui"
)

// The config tells of the events that the screen knows, in the ways there are.
func TestEventsAndWaysOfTheConfig(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config.toml")
	none := func(string) string { return "" }
	text := "[notify]\n"
	var want []string
	for _, e := range ui.Events() {
		text += string(e) + " = ["
		for _, way := range notify.Ways {
			text += fmt.Sprintf("%q, ", way)
		}
		text += "]\n"
		want = append(want, string(e))
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	set, err := config.ReadScreen(file, none)
	if err != nil {
		t.Fatal(err)
	}
	for e, ways := range notifications(set) {
		if !slices.Equal(ways, notify.Ways) {
			t.Errorf("%s is told by %q", e, ways)
		}
	}
	values, err := config.Show("", none)
	if err != nil {
		t.Fatal(err)
	}
	var got, names []string
	for _, way := range notify.Ways {
		names = append(names, string(way))
	}
	for _, v := range values {
		if v.Name() == "screen.notify" && v.Allowed != strings.Join(names, ", ") {
			t.Errorf("the config knows the ways %s, not %q", v.Allowed, names)
		}
		if v.Table == "notify" {
			got = append(got, v.Key)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("the config knows the events %q, the screen %q", got, want)
	}
}

// A theme that is not there does not keep the screen from its start.
func TestAThemeOfTheConfigThatIsNotThere(t *testing.T) {
	home := t.TempDir()
	file := filepath.Join(home, "piwatch", "config.toml")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("[screen]\ntheme = \"nosuch\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	a := &app{env: func(name string) string { return map[string]string{"XDG_CONFIG_HOME": home, "HOME": home}[name] }}
	o, err := screenFlags{}.options(a)
	if err != nil {
		t.Fatal(err)
	}
	want := file + `:2: screen.theme: "nosuch" does not fit; allowed: terminal, dark, high-contrast, light, mono`
	if o.Theme != "" || !slices.Equal(o.Problems, []string{want}) {
		t.Errorf("the theme is %q, the problems are %q, want %q", o.Theme, o.Problems, want)
	}
	if o, err = (screenFlags{theme: "dark"}).options(a); err != nil || o.Theme != "dark" || len(o.Problems) != 1 {
		t.Errorf("with a flag the theme is %q, the problems are %q, %v", o.Theme, o.Problems, err)
	}
}
