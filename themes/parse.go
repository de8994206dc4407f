package themes

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"
)

// FileError says what is wrong in a theme file, and where.
type FileError struct {
	File    string
	Line    int    // from 1; 0 when it is not about one line
	Key     string // empty when it is not about one key
	Why     string
	Allowed string // what may stand there; empty when that is clear
}

func (e *FileError) Error() string {
	var b strings.Builder
	b.WriteString("theme " + e.File)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d", e.Line)
	}
	b.WriteString(": ")
	if e.Key != "" {
		b.WriteString(e.Key + ": ")
	}
	b.WriteString(e.Why)
	if e.Allowed != "" {
		b.WriteString("; allowed: " + e.Allowed)
	}
	return b.String()
}

const allowedColours = `"#rrggbb", a number from 0 to 255, "default", "faint" for a text, or one of black, red, green, yellow, blue, magenta, cyan, white, each also with "bright-" before it`

// grounds are the keys of what is below others, or taken for it.
var grounds = []string{"background", "text", "selected_back"}

var ansiNames = []string{"black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"}

var hexColour = regexp.MustCompile(`^#[0-9a-fA-F]{6}$`)

// Parse reads a theme file. Keys that are left out are the terminal's own
// colour; the name defaults to that of the file. Errors are *FileError.
func Parse(file string, data []byte) (Theme, error) {
	var raw map[string]any
	if _, err := toml.Decode(string(data), &raw); err != nil {
		return Theme{}, syntaxError(file, err)
	}
	wrong := func(key, why, allowed string) (Theme, error) {
		last := key[strings.LastIndexByte(key, '.')+1:]
		return Theme{}, &FileError{File: file, Line: lineOf(data, last), Key: key, Why: why, Allowed: allowed}
	}
	t := Theme{Name: strings.TrimSuffix(filepath.Base(file), ".toml")}
	var colors map[string]any
	for key, value := range raw {
		ok := false
		switch key {
		case "name":
			t.Name, ok = value.(string)
		case "colors":
			colors, ok = value.(map[string]any)
		default:
			return wrong(key, "unknown key", "name and the table colors")
		}
		if !ok || t.Name == "" {
			return wrong(key, fmt.Sprintf("%#v does not fit", value), "a text for name, a table for colors")
		}
	}
	keys := make([]string, 0, len(colors))
	for key := range colors {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		i := slices.IndexFunc(fields, func(f field) bool { return f.key == key })
		if i < 0 {
			return wrong("colors."+key, "unknown colour", strings.Join(fieldKeys(), ", "))
		}
		c, ok := parseColour(colors[key])
		if !ok || c == Faint && slices.Contains(grounds, key) {
			return wrong("colors."+key, fmt.Sprintf("%#v is no colour", colors[key]), allowedColours)
		}
		*fields[i].of(&t) = c
	}
	return t, nil
}

func fieldKeys() []string {
	keys := make([]string, len(fields))
	for i, f := range fields {
		keys[i] = f.key
	}
	return keys
}

func syntaxError(file string, err error) error {
	var parse toml.ParseError
	if errors.As(err, &parse) {
		return &FileError{File: file, Line: parse.Position.Line, Key: parse.LastKey, Why: parse.Message}
	}
	return &FileError{File: file, Why: strings.TrimPrefix(err.Error(), "toml: ")}
}

// parseColour reads a value of a theme file.
func parseColour(v any) (Colour, bool) {
	switch v := v.(type) {
	case int64:
		return Colour(strconv.FormatInt(v, 10)), v >= 0 && v <= 255
	case string:
		if v == "default" {
			return "", true
		}
		if v == string(Faint) {
			return Faint, true
		}
		if hexColour.MatchString(v) {
			return Colour(v), true
		}
		base, bright := strings.CutPrefix(v, "bright-")
		if i := slices.Index(ansiNames, base); i >= 0 {
			if bright {
				i += len(ansiNames)
			}
			return Colour(strconv.Itoa(i)), true
		}
	}
	return "", false
}

// lineOf finds the line of a key. The decoder does not tell it.
func lineOf(data []byte, key string) int {
	re := regexp.MustCompile(`^\s*"?` + regexp.QuoteMeta(key) + `"?\s*=|^\s*\[` + regexp.QuoteMeta(key) + `\]`)
	for i, line := range strings.Split(string(data), "\n") {
		if re.MatchString(line) {
			return i + 1
		}
	}
	return 0
}
