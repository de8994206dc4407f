package config

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// source is a config file as it was read.
type source struct {
	file   string
	data   []byte
	tables map[string]map[string]any
}

// read reads a config file; one that does not exist holds nothing.
func read(file string) (source, error) {
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return source{file: file}, nil
	} else if err != nil {
		return source{}, fmt.Errorf("read the config: %w", err)
	}
	all := map[string]any{}
	if _, err := toml.Decode(string(data), &all); err != nil {
		var parse toml.ParseError
		if errors.As(err, &parse) {
			return source{}, fmt.Errorf("%s:%d: %s", file, parse.Position.Line, parse.Message)
		}
		return source{}, fmt.Errorf("%s: %w", file, err)
	}
	s := source{file, data, map[string]map[string]any{}}
	for name, table := range all {
		if settings, ok := table.(map[string]any); ok {
			s.tables[name] = settings
		}
	}
	return s, nil
}

// wrong says that a value does not fit, and where it stands.
func (s source) wrong(table, key string, value any, allowed string) error {
	return fmt.Errorf("%s:%d: %s.%s: %#v does not fit; allowed: %s", s.file, s.lineOf(table, key), table, key, value, allowed)
}

var tableLine = regexp.MustCompile(`^\s*\[\s*"?([^"\]\s]+)"?\s*\]`)

// lineOf finds the line of a key below its table. The decoder does not tell it.
// 0: it is written in another way.
func (s source) lineOf(table, key string) int {
	below := regexp.MustCompile(`^\s*"?` + regexp.QuoteMeta(key) + `"?\s*=`)
	dotted := regexp.MustCompile(`^\s*` + regexp.QuoteMeta(table) + `\s*\.\s*"?` + regexp.QuoteMeta(key) + `"?\s*=`)
	in := ""
	for i, line := range strings.Split(string(s.data), "\n") {
		if m := tableLine.FindStringSubmatch(line); m != nil {
			in = m[1]
		}
		if in == table && below.MatchString(line) || in == "" && dotted.MatchString(line) {
			return i + 1
		}
	}
	return 0
}

// table are the settings of one table of the config file, by name.
type table[T any] map[string]struct {
	set     func(*T, any) bool
	allowed string
}

// read gives the settings that stand in the file. What is wrong is left at its
// default and told: file, line, key and what is allowed.
func (t table[T]) read(s source, name string) (T, []error) {
	var out T
	var errs []error
	for _, key := range slices.Sorted(maps.Keys(s.tables[name])) {
		value := s.tables[name][key]
		setting, known := t[key]
		if !known {
			errs = append(errs, fmt.Errorf("%s:%d: %s.%s: unknown setting; allowed: %s",
				s.file, s.lineOf(name, key), name, key, strings.Join(slices.Sorted(maps.Keys(t)), ", ")))
			continue
		}
		before := out
		if !setting.set(&out, value) {
			out = before
			errs = append(errs, s.wrong(name, key, value, setting.allowed))
		}
	}
	return out, errs
}
