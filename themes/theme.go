// Package themes holds the colours of the screen: theme files, their loader,
// and the styles that follow from them.
package themes

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

//go:embed *.toml
var builtin embed.FS

// Default is the name of the theme that is used when none is chosen.
const Default = "terminal"

// Colour is a colour as a theme file names it: "#rrggbb", a number of the 256,
// or empty for the terminal's own.
type Colour string

// Faint is the terminal's own colour of text, fainter: for what matters less, on
// a background that is not known.
const Faint Colour = "faint"

// Theme is a set of colours, named by what they mean.
type Theme struct {
	Name string

	// Background is painted below everything, Text is drawn on it; empty is the
	// terminal's own.
	Background                 Colour
	Text, Muted, Accent        Colour
	Border, BorderFocus        Colour
	SelectedText, SelectedBack Colour
	User, Agent, Thinking      Colour
	Tool, Check                Colour
	OK, Error, Warning         Colour
	Waits, Counting, Working   Colour
	Done, Paused               Colour
	Bar, BarEmpty              Colour
	Key                        Colour
}

// field is a colour of a theme by its key in the file.
type field struct {
	key string
	of  func(*Theme) *Colour
}

var fields = []field{
	{"background", func(t *Theme) *Colour { return &t.Background }},
	{"text", func(t *Theme) *Colour { return &t.Text }},
	{"muted", func(t *Theme) *Colour { return &t.Muted }},
	{"accent", func(t *Theme) *Colour { return &t.Accent }},
	{"border", func(t *Theme) *Colour { return &t.Border }},
	{"border_focus", func(t *Theme) *Colour { return &t.BorderFocus }},
	{"selected_text", func(t *Theme) *Colour { return &t.SelectedText }},
	{"selected_back", func(t *Theme) *Colour { return &t.SelectedBack }},
	{"user", func(t *Theme) *Colour { return &t.User }},
	{"agent", func(t *Theme) *Colour { return &t.Agent }},
	{"thinking", func(t *Theme) *Colour { return &t.Thinking }},
	{"tool", func(t *Theme) *Colour { return &t.Tool }},
	{"check", func(t *Theme) *Colour { return &t.Check }},
	{"ok", func(t *Theme) *Colour { return &t.OK }},
	{"error", func(t *Theme) *Colour { return &t.Error }},
	{"warning", func(t *Theme) *Colour { return &t.Warning }},
	{"waits", func(t *Theme) *Colour { return &t.Waits }},
	{"counting", func(t *Theme) *Colour { return &t.Counting }},
	{"working", func(t *Theme) *Colour { return &t.Working }},
	{"done", func(t *Theme) *Colour { return &t.Done }},
	{"paused", func(t *Theme) *Colour { return &t.Paused }},
	{"bar", func(t *Theme) *Colour { return &t.Bar }},
	{"bar_empty", func(t *Theme) *Colour { return &t.BarEmpty }},
	{"key", func(t *Theme) *Colour { return &t.Key }},
}

// Load gives the themes that come with piwatch, those in a folder of the user,
// which may replace them by name, and those in Pi's folder, which get another
// name where theirs is taken; the default comes first. A missing folder, or an
// empty name of one, is no error. Themes with errors are left out, and the
// joined error names each.
func Load(folder, piFolder string) ([]Theme, error) {
	all, errs := read(builtin, "")
	own, err := readFolder(folder)
	errs = errors.Join(errs, err)
	for _, t := range own {
		all = slices.DeleteFunc(all, func(o Theme) bool { return o.Name == t.Name })
		all = append(all, t)
	}
	pis, err := readFolder(piFolder)
	errs = errors.Join(errs, err)
	for _, t := range pis {
		if slices.ContainsFunc(all, func(o Theme) bool { return o.Name == t.Name }) {
			t.Name = "pi-" + t.Name
		}
		all = append(all, t)
	}
	slices.SortFunc(all, func(a, b Theme) int {
		if (a.Name == Default) != (b.Name == Default) {
			if a.Name == Default {
				return -1
			}
			return 1
		}
		return strings.Compare(a.Name, b.Name)
	})
	return all, errs
}

func readFolder(folder string) ([]Theme, error) {
	if folder == "" {
		return nil, nil
	}
	if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("read themes: %w", err)
	}
	return read(os.DirFS(folder), folder)
}

// read reads theme files: TOML is ours, JSON is Pi's.
func read(from fs.FS, folder string) ([]Theme, error) {
	names, err := fs.Glob(from, "*.toml")
	if err != nil {
		return nil, fmt.Errorf("read themes: %w", err)
	}
	pis, err := fs.Glob(from, "*.json")
	if err != nil {
		return nil, fmt.Errorf("read themes: %w", err)
	}
	var all []Theme
	var errs error
	for _, name := range append(names, pis...) {
		data, err := fs.ReadFile(from, name)
		if err != nil {
			errs = errors.Join(errs, fmt.Errorf("read theme: %w", err))
			continue
		}
		parse := Parse
		if filepath.Ext(name) == ".json" {
			parse = ParsePi
		}
		t, err := parse(filepath.Join(folder, name), data)
		if err != nil {
			errs = errors.Join(errs, err)
			continue
		}
		all = append(all, t)
	}
	return all, errs
}

// Pick finds a theme by name; the empty name is the default.
func Pick(all []Theme, name string) (Theme, error) {
	if name == "" {
		name = Default
	}
	for _, t := range all {
		if t.Name == name {
			return t, nil
		}
	}
	return Theme{}, fmt.Errorf("no theme %q; there are: %s", name, strings.Join(Names(all), ", "))
}

// Names are the names of the themes, in their order.
func Names(all []Theme) []string {
	names := make([]string, len(all))
	for i, t := range all {
		names[i] = t.Name
	}
	return names
}
