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
	all    map[string]any
	tables map[string]map[string]any
	// from says where a value comes from that is not in the file: by table and
	// key, a variable of the environment.
	from map[string]string
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
	s := source{file: file, data: data, all: all, tables: map[string]map[string]any{}}
	for name, table := range all {
		if settings, ok := table.(map[string]any); ok {
			s.tables[name] = settings
		}
	}
	return s, nil
}

// with puts what the environment says before what the file says. A variable that
// is empty does not count.
func (s source) with(env func(string) string) source {
	s.tables, s.from = maps.Clone(s.tables), map[string]string{}
	if s.tables == nil {
		s.tables = map[string]map[string]any{}
	}
	for _, r := range reference {
		if r.Env == "" {
			continue
		}
		value := env(r.Env)
		if value == "" {
			continue
		}
		table := maps.Clone(s.tables[r.Table])
		if table == nil {
			table = map[string]any{}
		}
		table[r.Key] = fromEnv(value, r.Default)
		s.tables[r.Table] = table
		s.from[r.Name()] = r.Env
	}
	return s
}

// fromEnv reads the value of a variable as its setting is written in TOML.
func fromEnv(value, like string) any {
	switch {
	case like == "true" || like == "false":
		switch value {
		case "1", "true":
			return true
		case "0", "false":
			return false
		}
	case like != "" && like[0] >= '0' && like[0] <= '9':
		var n int64
		if _, err := fmt.Sscanf(value, "%d", &n); err == nil && fmt.Sprint(n) == value {
			return n
		}
	}
	return value
}

// where is the place of a value, for errors: file and line, or a variable.
func (s source) where(table, key string) string {
	if name := s.from[table+"."+key]; name != "" {
		return name
	}
	return fmt.Sprintf("%s:%d", s.file, s.lineOf(table, key))
}

// wrong says that a value does not fit, and where it stands.
func (s source) wrong(table, key string, value any, allowed string) error {
	return fmt.Errorf("%s: %s.%s: %#v does not fit; allowed: %s", s.where(table, key), table, key, value, allowed)
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

// lineOfTable finds the line where a table begins. 0: it is written in another
// way.
func (s source) lineOfTable(name string) int {
	dotted := regexp.MustCompile(`^\s*\[?\[?\s*"?` + regexp.QuoteMeta(name) + `"?\s*[\].]`)
	for i, line := range strings.Split(string(s.data), "\n") {
		if dotted.MatchString(line) {
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
			names := sortedKeys(t)
			errs = append(errs, fmt.Errorf("%s: %s.%s: unknown setting%s; allowed: %s",
				s.where(name, key), name, key, near(key, names), strings.Join(names, ", ")))
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

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
