package themes

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// piFile is a theme file of Pi, as its docs/themes.md has it.
type piFile struct {
	Name   string         `json:"name"`
	Vars   map[string]any `json:"vars"`
	Colors map[string]any `json:"colors"`
}

// piRoles says which of Pi's colours becomes which of ours; the first that is
// there counts.
var piRoles = map[string][]string{
	"text": {"text"}, "muted": {"muted", "dim"}, "accent": {"accent"},
	"border": {"borderMuted", "border"}, "border_focus": {"borderAccent", "accent"},
	"selected_text": {"text"}, "selected_back": {"selectedBg"},
	"user": {"mdLink", "accent"}, "agent": {"text"}, "thinking": {"thinkingText", "muted"},
	"tool": {"toolTitle", "text"}, "check": {"customMessageLabel", "accent"},
	"ok": {"success"}, "error": {"error"}, "warning": {"warning"},
	"waits": {"warning"}, "counting": {"mdLink", "accent"}, "working": {"success"},
	"done": {"success"}, "paused": {"muted"}, "bar": {"accent"}, "bar_empty": {"borderMuted", "muted"}, "key": {"accent"},
}

// ParsePi reads a theme file of Pi. Pi paints no background, so that the theme
// has none either. Errors are *FileError.
func ParsePi(file string, data []byte) (Theme, error) {
	var raw piFile
	if err := json.Unmarshal(data, &raw); err != nil {
		line := 0
		if syntax, ok := err.(*json.SyntaxError); ok {
			line = 1 + bytes.Count(data[:min(int(syntax.Offset), len(data))], []byte("\n"))
		}
		return Theme{}, &FileError{File: file, Line: line, Why: err.Error()}
	}
	t := Theme{Name: raw.Name}
	if t.Name == "" {
		t.Name = strings.TrimSuffix(filepath.Base(file), ".json")
	}
	if len(raw.Colors) == 0 {
		return Theme{}, &FileError{File: file, Key: "colors", Why: "there are none"}
	}
	for _, f := range fields {
		for _, role := range piRoles[f.key] {
			value, ok := raw.Colors[role]
			if !ok {
				continue
			}
			c, why := raw.colour(value, len(raw.Vars)+1)
			if why != "" {
				return Theme{}, &FileError{File: file, Line: jsonLine(data, role), Key: "colors." + role, Why: why, Allowed: allowedPi}
			}
			*f.of(&t) = c
			break
		}
	}
	return t, nil
}

const allowedPi = `"#rgb", "#rrggbb", "oklch(L C H)", "okhsl(H S L)", a number from 0 to 255, a name in vars, or ""`

// colour reads a value, through at most steps variables.
func (f *piFile) colour(value any, steps int) (c Colour, why string) {
	switch v := value.(type) {
	case float64:
		if v < 0 || v > 255 || v != float64(int(v)) {
			return "", fmt.Sprintf("%v is no colour", v)
		}
		return Colour(strconv.Itoa(int(v))), ""
	case string:
		if v == "" {
			return "", ""
		}
		if c, ok := hexOrSpace(v); ok {
			return c, ""
		}
		next, ok := f.Vars[v]
		switch {
		case !ok:
			return "", fmt.Sprintf("%q is neither a colour nor in vars", v)
		case steps == 0:
			return "", fmt.Sprintf("the variable %q leads to itself", v)
		}
		return f.colour(next, steps-1)
	}
	return "", fmt.Sprintf("%v is no colour", value)
}

var (
	shortHex = regexp.MustCompile(`^#[0-9a-fA-F]{3}$`)
	okSpace  = regexp.MustCompile(`^(oklch|okhsl)\(\s*([0-9.]+)(%|deg)?\s+([0-9.]+)(%)?\s+([0-9.]+)(%|deg)?\s*\)$`)
)

// hexOrSpace reads the written forms of a colour.
func hexOrSpace(s string) (Colour, bool) {
	if hexColour.MatchString(s) {
		return Colour(s), true
	}
	if shortHex.MatchString(s) {
		return Colour([]byte{'#', s[1], s[1], s[2], s[2], s[3], s[3]}), true
	}
	m := okSpace.FindStringSubmatch(s)
	if m == nil {
		return "", false
	}
	value := func(number, unit string) float64 {
		v, _ := strconv.ParseFloat(number, 64) // 0 for what is no number, as in "1.2.3"
		if unit == "%" {
			v /= 100
		}
		return v
	}
	a, b, c := value(m[2], m[3]), value(m[4], m[5]), value(m[6], m[7])
	if m[1] == "oklch" {
		return oklch(a, b, c).hex(), true
	}
	return okhsl(a, b, c).hex(), true
}

func jsonLine(data []byte, key string) int {
	if at := bytes.Index(data, []byte(strconv.Quote(key))); at >= 0 {
		return 1 + bytes.Count(data[:at], []byte("\n"))
	}
	return 0
}
