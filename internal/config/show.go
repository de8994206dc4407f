package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Check says all that is wrong in the config file and in the environment: values
// that do not fit, and settings and tables that nobody reads; a line each, with
// file and line. A file that does not exist is fine.
func Check(file string, env func(string) string) error {
	s, err := read(file)
	if err != nil {
		return err
	}
	errs := s.problems()
	s = s.with(env)
	for _, name := range sortedKeys(known) { // what the file alone does not have wrong
		if _, inFile := s.all[name]; !inFile || len(s.from) > 0 {
			for _, err := range known[name](s) {
				if !slices.ContainsFunc(errs, func(old error) bool { return old.Error() == err.Error() }) {
					errs = append(errs, err)
				}
			}
		}
	}
	return errors.Join(errs...)
}

// Value is a setting as it counts.
type Value struct {
	Setting
	Value string // as it is written in TOML
	From  string // default, file and line, or a variable
}

// Show gives every setting as it counts, and where it comes from; those of the
// table keys that are set follow. What does not fit is left at its default: Check
// tells it.
func Show(file string, env func(string) string) ([]Value, error) {
	s, err := read(file)
	if err != nil {
		return nil, err
	}
	s = s.with(env)
	wrong := map[string]bool{}
	for name, read := range known {
		for _, err := range read(s) {
			for _, r := range reference {
				if r.Table == name && strings.Contains(err.Error(), ": "+r.Name()+": ") {
					wrong[r.Name()] = true
				}
			}
		}
	}
	var values []Value
	for _, r := range reference {
		v := Value{Setting: r, Value: r.Default, From: "default"}
		if set, ok := s.tables[r.Table][r.Key]; ok && !wrong[r.Name()] {
			v.Value, v.From = inTOML(set), s.where(r.Table, r.Key)
		} else if i := slices.IndexFunc(values, func(other Value) bool { return other.Name() == r.Like }); i >= 0 {
			v.Value, v.From = values[i].Value, r.Like
		}
		values = append(values, v)
	}
	for _, action := range slices.Sorted(maps.Keys(s.tables[keysTable])) {
		values = append(values, Value{
			Setting: Setting{Table: keysTable, Key: action},
			Value:   inTOML(s.tables[keysTable][action]), From: s.where(keysTable, action),
		})
	}
	return values, nil
}

// inTOML writes a simple value.
func inTOML(v any) string {
	switch v := v.(type) {
	case string:
		return quoteTOML(v)
	case []any:
		parts := make([]string, len(v))
		for i, one := range v {
			parts[i] = inTOML(one)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return fmt.Sprint(v)
}

// quoteTOML writes a text as a basic string of TOML.
func quoteTOML(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case r < 0x20 || r == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// Example is a config file with every setting, commented out, at its default.
func Example() string {
	var b strings.Builder
	b.WriteString("# The settings of piwatch. Each stands here at its default; take the # away to set it.\n# piwatch config check tells what is wrong, piwatch config show what counts.\n")
	table := ""
	for _, r := range reference {
		if r.Table != table {
			table = r.Table
			fmt.Fprintf(&b, "\n[%s]\n", table)
		}
		value := r.Default
		if value == "" {
			value = `""`
		}
		fmt.Fprintf(&b, "# %s: %s\n# %s = %s\n", r.What, r.Allowed, r.Key, value)
	}
	b.WriteString("\n# Other keys for the screen, by the names of its actions (piwatch, then ?).\n[keys]\n# nudge = \"N\"\n# stop = [\"X\", \"f8\"]\n")
	return strings.ReplaceAll(b.String(), "`", "")
}
