package themes

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestBuiltinThemesAreComplete(t *testing.T) {
	all, err := Load("")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, theme := range all {
		names = append(names, theme.Name)
		data, err := builtin.ReadFile(theme.Name + ".toml")
		if err != nil {
			t.Fatalf("the file of %s has another name: %v", theme.Name, err)
		}
		for _, f := range fields {
			if lineOf(data, f.key) == 0 {
				t.Errorf("%s does not name %s", theme.Name, f.key)
			}
		}
	}
	if got := strings.Join(names, " "); got != "terminal dark light" {
		t.Errorf("the themes are %s", got)
	}
}

// Every colour of Theme has a key, and every key sets a colour of its own.
func TestFieldsAreTheColours(t *testing.T) {
	var theme Theme
	seen := map[*Colour]bool{}
	for _, f := range fields {
		if seen[f.of(&theme)] {
			t.Errorf("%s sets the colour of another key", f.key)
		}
		seen[f.of(&theme)] = true
	}
	if n := reflect.TypeFor[Theme]().NumField() - 1; n != len(fields) {
		t.Errorf("there are %d colours and %d keys", n, len(fields))
	}
}

func TestParse(t *testing.T) {
	got, err := Parse("x/mine.toml", []byte("[colors]\ntext = \"#Ff0000\"\nuser = \"bright-red\"\nok = 200\nkey = \"default\"\nbar = \"cyan\"\n"))
	want := Theme{Name: "mine", Text: "#Ff0000", User: "9", OK: "200", Bar: "6"}
	if err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
}

func TestParseErrors(t *testing.T) {
	for _, c := range []struct{ name, data, want string }{
		{"syntax", "name = \"a\"\n[colors]\ntext = = 1\n", "theme f.toml:3: "},
		{"unknown key", "name = \"a\"\ncolour = 1\n", "theme f.toml:2: colour: unknown key; allowed: name and the table colors"},
		{"unknown colour", "[colors]\n\nteext = 1\n", "theme f.toml:3: colors.teext: unknown colour; allowed: text, muted, "},
		{"no colour", "[colors]\ntext = \"reddish\"\n", `theme f.toml:2: colors.text: "reddish" is no colour; allowed: "#rrggbb", a number from 0 to 255, `},
		{"short hex", "[colors]\ntext = \"#fff\"\n", `theme f.toml:2: colors.text: "#fff" is no colour`},
		{"number too large", "[colors]\ntext = 256\n", "theme f.toml:2: colors.text: 256 is no colour"},
		{"negative", "[colors]\ntext = -1\n", "theme f.toml:2: colors.text: -1 is no colour"},
		{"of another kind", "[colors]\ntext = true\n", "theme f.toml:2: colors.text: true is no colour"},
		{"bright grey", "[colors]\ntext = \"bright-grey\"\n", `theme f.toml:2: colors.text: "bright-grey" is no colour`},
		{"name of another kind", "name = 1\n", "theme f.toml:1: name: 1 does not fit; allowed: a text for name, a table for colors"},
		{"colours of another kind", "colors = 1\n", "theme f.toml:1: colors: 1 does not fit"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse("f.toml", []byte(c.data))
			var fileError *FileError
			if !errors.As(err, &fileError) || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("the error is %q, want %q", err, c.want)
			}
		})
	}
}

func TestLoadTheUsersThemes(t *testing.T) {
	folder := t.TempDir()
	for name, data := range map[string]string{
		"mine.toml":  "[colors]\ntext = 1\n",
		"dark.toml":  "[colors]\ntext = 2\n",
		"bad.toml":   "[colors]\ntext = \"?\"\n",
		"notes.text": "nothing",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	all, err := Load(folder)
	if err == nil || !strings.Contains(err.Error(), filepath.Join(folder, "bad.toml")+":2") || strings.Count(err.Error(), "\n") > 0 {
		t.Errorf("the error is %v", err)
	}
	var names []string
	for _, theme := range all {
		names = append(names, theme.Name)
	}
	if got := strings.Join(names, " "); got != "terminal dark light mine" {
		t.Errorf("the themes are %s", got)
	}
	if dark, err := Pick(all, "dark"); err != nil || dark.Text != "2" {
		t.Errorf("the user's dark theme does not replace the other: %+v, %v", dark, err)
	}
}

func TestLoadWithoutAFolder(t *testing.T) {
	if all, err := Load(filepath.Join(t.TempDir(), "none")); err != nil || len(all) != 3 {
		t.Errorf("%d themes, %v", len(all), err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(filepath.Join(file, "sub")); err == nil {
		t.Error("a folder that cannot be one is no error")
	}
}

func TestPick(t *testing.T) {
	all := []Theme{{Name: "a"}, {Name: Default}}
	if got, err := Pick(all, ""); err != nil || got.Name != Default {
		t.Errorf("the default is %q, %v", got.Name, err)
	}
	if _, err := Pick(all, "b"); err == nil || err.Error() != `no theme "b"; there are: a, terminal` {
		t.Errorf("the error is %v", err)
	}
}
