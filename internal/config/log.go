package config

import (
	"errors"
	"log/slog"
	"slices"
	"strings"
)

// Log is what the user set of the hub's log, in the table log of the config
// file. The zero value is the level info, and the size by default.
type Log struct {
	Level     slog.Level
	Megabytes int // 0 for the default, 4
}

// levels are the names of the levels, as slog has them.
var levels = []string{"debug", "info", "warn", "error"}

const maxMegabytes = 1000

var logKeys = table[Log]{
	"level": {func(l *Log, v any) bool {
		name, ok := v.(string)
		return ok && slices.Contains(levels, name) && l.Level.UnmarshalText([]byte(name)) == nil
	}, strings.Join(levels, ", ")},
	"megabytes": {func(l *Log, v any) bool {
		n, ok := v.(int64)
		l.Megabytes = int(n)
		return ok && n >= 1 && n <= maxMegabytes
	}, "a whole number from 1 to 1000"},
}

// ReadLog reads the config file, and what the environment says before it; a file
// that does not exist sets nothing. What is wrong is left at its default and told
// in the joined errors.
func ReadLog(file string, env func(string) string) (Log, error) {
	raw, err := read(file)
	if err != nil {
		return Log{}, err
	}
	set, errs := logKeys.read(raw.with(env), "log")
	return set, errors.Join(errs...)
}
