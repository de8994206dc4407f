package config

import (
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// Screen is what the user set of the screen, in the tables screen and keys of
// the config file. The zero value is a screen with the defaults.
type Screen struct {
	Theme string // "" for the default
	// ThemeWhere is the file and line of the theme, or its variable; "" when none
	// is set. Whether there is such a theme is not known here.
	ThemeWhere string

	ASCII  bool
	Mouse  bool
	Still  bool   // nothing moves by itself
	Notify string // how the user is told that a session needs them, "" for the default
	// Events say how they are told of an event, by its name: the names of notifyKeys.
	Events map[string][]string
	Keys   []Keys
}

// Keys are the keys that the user gave an action.
type Keys struct {
	Action string
	Keys   []string
	Where  string // file and line
}

// File is the config file, config.toml in Dir.
func File(env func(string) string) (string, error) {
	dir, err := Dir(env)
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "config.toml"), nil
}

// screenKeys are the settings of the table screen, and what may stand there.
var screenKeys = table[Screen]{
	"theme": {func(s *Screen, v any) (ok bool) { s.Theme, ok = v.(string); return ok }, `the name of a theme, as in theme = "dark"`},
	"ascii": {func(s *Screen, v any) (ok bool) { s.ASCII, ok = v.(bool); return ok }, "true or false"},
	"mouse": {func(s *Screen, v any) (ok bool) { s.Mouse, ok = v.(bool); return ok }, "true or false"},
	"still": {func(s *Screen, v any) (ok bool) { s.Still, ok = v.(bool); return ok }, "true or false"},
	"notify": {func(s *Screen, v any) (ok bool) {
		s.Notify, ok = v.(string)
		return ok && slices.Contains(notifies, s.Notify)
	}, strings.Join(notifies, ", ")},
}

// notifies are the ways to tell that a session needs the user.
var notifies = []string{"bell", "osc9", "osc777", "desktop", "none"}

// events are those that the table notify says how to tell of.
var events = []string{"wait_user", "failed", "max", "breaker", "stuck", "done"}

var notifyKeys = func() table[map[string][]string] {
	keys := table[map[string][]string]{}
	allowed := strings.Join(notifies, ", ") + `, or several, as in ["bell", "desktop"]`
	for _, event := range events {
		set := func(all *map[string][]string, v any) bool {
			ways, ok := texts(v)
			for _, way := range ways {
				ok = ok && slices.Contains(notifies, way)
			}
			if ok && len(ways) > 0 {
				if *all == nil {
					*all = map[string][]string{}
				}
				(*all)[event] = ways
			}
			return ok && len(ways) > 0
		}
		keys[event] = struct {
			set     func(*map[string][]string, any) bool
			allowed string
		}{set, allowed}
	}
	return keys
}()

// ReadScreen reads the config file, and what the environment says before it; a
// file that does not exist sets nothing. What is wrong is left at its default and
// told in the joined errors, with file, line, key and what is allowed.
func ReadScreen(file string, env func(string) string) (Screen, error) {
	raw, err := read(file)
	if err != nil {
		return Screen{}, err
	}
	raw = raw.with(env)
	screen, errs := screenKeys.read(raw, "screen")
	keys, errsKeys := readKeys(raw)
	told, errsNotify := notifyKeys.read(raw, "notify")
	screen.Keys, screen.Events = keys, told
	if screen.Theme != "" {
		screen.ThemeWhere = raw.where("screen", "theme")
	}
	return screen, errors.Join(slices.Concat(errs, errsKeys, errsNotify)...)
}

// readKeys reads the table of keys.
func readKeys(s source) (all []Keys, errs []error) {
	keys := s.tables[keysTable]
	for _, action := range slices.Sorted(maps.Keys(keys)) {
		names, ok := texts(keys[action])
		if !ok {
			errs = append(errs, s.wrong(keysTable, action, keys[action], `a key, as in nudge = "N", or several, as in nudge = ["N", "f5"]`))
			continue
		}
		all = append(all, Keys{action, names, s.where(keysTable, action)})
	}
	return all, errs
}

// texts reads a text or a list of them.
func texts(v any) ([]string, bool) {
	switch v := v.(type) {
	case string:
		return []string{v}, true
	case []any:
		var all []string
		for _, one := range v {
			text, ok := one.(string)
			if !ok {
				return nil, false
			}
			all = append(all, text)
		}
		return all, true
	}
	return nil, false
}
