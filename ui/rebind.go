package ui

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Rebinding gives an action other keys, from the user's config.
type Rebinding struct {
	Action string
	Keys   []string // as Bubble Tea names them
	Where  string   // file and line, for errors
}

// namedKeys are the keys that are no characters.
var namedKeys = []string{
	"enter", "esc", "tab", "shift+tab", "space", "backspace", "delete", "insert", "up", "down", "left", "right",
	"pgup", "pgdown", "home", "end", "f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8", "f9", "f10", "f11", "f12",
}

// rebind changes the table as the user wants. What cannot be is said, and the
// default stays.
func rebind(all []binding, changes []Rebinding) ([]binding, []string) {
	var problems []string
	changed := map[int]Rebinding{}
	defaults := slices.Clone(all)
	for _, c := range changes {
		at := slices.IndexFunc(all, func(b binding) bool { return b.id == c.Action })
		if at < 0 {
			problems = append(problems, fmt.Sprintf("%s: keys.%s: unknown action; allowed: %s", c.Where, c.Action, strings.Join(actions(all), ", ")))
			continue
		}
		keys, bad := parseKeys(c.Keys)
		if bad != "" {
			problems = append(problems, fmt.Sprintf("%s: keys.%s: %s; allowed: a character, ctrl+ or alt+ and a letter, %s", c.Where, c.Action, bad, strings.Join(namedKeys, ", ")))
			continue
		}
		all[at].keys = keys
		changed[at] = c
	}
	// Two actions may have swapped their keys, so that conflicts are looked for
	// when all is changed; what is put back may conflict in its turn.
	for {
		at, key, other := conflict(all, changed)
		if at < 0 {
			return all, problems
		}
		problems = append(problems, fmt.Sprintf("%s: keys.%s: %q is a key of %s already; the default stays", changed[at].Where, all[at].id, key, all[other].id))
		all[at].keys = defaults[at].keys
		delete(changed, at)
	}
}

// conflict finds a changed action with a key that another one has where it is
// bound too.
func conflict(all []binding, changed map[int]Rebinding) (at int, key string, other int) {
	for at := range all {
		if _, ok := changed[at]; !ok {
			continue
		}
		for _, key := range all[at].keys {
			for other := range all {
				if other != at && all[at].in&all[other].in != 0 && slices.Contains(all[other].keys, key) {
					return at, key, other
				}
			}
		}
	}
	return -1, "", -1
}

func actions(all []binding) []string {
	ids := make([]string, len(all))
	for i := range all {
		ids[i] = all[i].id
	}
	return ids
}

// parseKeys checks names of keys; bad says what is wrong with them.
func parseKeys(names []string) (keys []string, bad string) {
	if len(names) == 0 {
		return nil, "no key"
	}
	for _, name := range names {
		if !validKey(name) {
			return nil, fmt.Sprintf("%q is no key", name)
		}
		if name == "space" {
			name = " "
		}
		keys = append(keys, name)
	}
	return keys, ""
}

func validKey(name string) bool {
	if slices.Contains(namedKeys, name) {
		return true
	}
	if letter, ok := strings.CutPrefix(name, "ctrl+"); ok {
		return len(letter) == 1 && letter[0] >= 'a' && letter[0] <= 'z' && letter != "c" // which always quits
	}
	name = strings.TrimPrefix(name, "alt+")
	r, size := utf8.DecodeRuneInString(name)
	return size == len(name) && r > ' ' && r != 0x7f && r != utf8.RuneError
}

// CheckKeys says what is wrong in the user's keys; a line each, with its place.
func CheckKeys(changes []Rebinding) []string {
	_, problems := rebind(bindings(), changes)
	return problems
}
