package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Setting is one key of the config file, as people read of it.
type Setting struct {
	Table, Key string
	Default    string // as it is written in TOML; "" when there is none
	Allowed    string
	What       string
	Env        string // the variable that goes before the file, "" for none
	Flag       string // and the flag that goes before both
	Session    string // the variable of a session that goes before it, there
	Like       string // the setting that counts where this one is not set
}

// Name is the key with its table: screen.theme.
func (s Setting) Name() string { return s.Table + "." + s.Key }

// reference are all settings, in the order in which people read them. A test
// holds it against what is read.
var reference = slices.Concat([]Setting{
	{"screen", "theme", `"terminal"`, "a name; `t` on the screen shows them", "the colours", "PIWATCH_THEME", "--theme", "", ""},
	{"screen", "ascii", "false", "true, false", "signs of ASCII only", "PIWATCH_ASCII", "--ascii", "", ""},
	{"screen", "mouse", "false", "true, false", "the mouse is on at the start", "PIWATCH_MOUSE", "--mouse", "", ""},
	{"screen", "still", "false", "true, false", "nothing moves by itself", "PIWATCH_STILL", "--still", "", ""},
	{"screen", "notify", `"bell"`, strings.Join(notifies, ", "), "how you are told that a session needs you", "PIWATCH_NOTIFY", "", "", ""},

	{"notify", "wait_user", `"bell"`, notifyAllowed, "how you are told that an agent waits for you", "", "", "", "screen.notify"},
	{"notify", "failed", `"bell"`, notifyAllowed, "that the provider failed, or an agent went silent", "", "", "", "screen.notify"},
	{"notify", "max", `"bell"`, notifyAllowed, "that the cap of checks was reached: the watchdog is off, and work may be left", "", "", "", "screen.notify"},
	{"notify", "breaker", `"bell"`, notifyAllowed, "that a breaker tripped", "", "", "", "screen.notify"},
	{"notify", "stuck", `"bell"`, notifyAllowed, "that a session may be stuck", "", "", "", "screen.notify"},
	{"notify", "done", `"none"`, notifyAllowed, "that an agent says it is done", "", "", "", ""},

	{"watchdog", "on_stop", "", "a shell command", "run when the watchdog stops: done, wait_user, max, breaker", "", "", "PI_WATCHDOG_ON_STOP", ""},
	{"watchdog", "rollback", "false", "true, false", "an exchange that has ended is also taken off Pi's branch", "", "", "PI_WATCHDOG_ROLLBACK", ""},

	{"guard", "on", "true", "true, false", "an agent that stops without a word is asked for its next action", "", "", "PI_WATCHDOG_GUARD", ""},

	{"gateway", "silence", "480", "300 to 86400", "seconds without a byte of an answer before that is told", "", "", "", ""},
	{"gateway", "cut", "false", "true, false", "such an answer, or one without its end, is cut, so that Pi tries again", "", "", "", ""},
	{"gateway", "retry_after", "60", "0 to 300", "the longest wait that a provider may ask for, in seconds", "", "", "", ""},

	{"log", "level", `"info"`, strings.Join(levels, ", "), "what the hub writes to its log, from its next start on", "PIWATCH_LOG_LEVEL", "", "", ""},
	{"log", "megabytes", "4", "1 to 1000", "size at which the hub begins a new log; three old ones are kept", "PIWATCH_LOG_MEGABYTES", "", "", ""},
}, supervisorReference())

// notifyAllowed is what may stand in the table notify.
const notifyAllowed = "one of those, or a list of them"

// Reference are all settings but those of the table keys, whose names are the
// actions of the screen.
func Reference() []Setting { return slices.Clone(reference) }

// keysTable is the table whose names are those of actions.
const keysTable = "keys"

// known are the readers of the tables.
var known = map[string]func(source) []error{
	"screen":   func(s source) []error { _, errs := screenKeys.read(s, "screen"); return errs },
	"watchdog": func(s source) []error { _, errs := watchdogKeys.read(s, "watchdog"); return errs },
	"guard":    func(s source) []error { _, errs := guardKeys.read(s, "guard"); return errs },
	"notify":   func(s source) []error { _, errs := notifyKeys.read(s, "notify"); return errs },
	"gateway":  func(s source) []error { _, errs := gatewayKeys.read(s, "gateway"); return errs },
	"log":      func(s source) []error { _, errs := logKeys.read(s, "log"); return errs },
	supervisorTable: func(s source) []error {
		set := newSupervisor()
		_, errs := set.user(s)
		return errs
	},
	keysTable: func(s source) []error { _, errs := readKeys(s); return errs },
}

// problems are all that is wrong in a file: settings and tables that nobody
// reads, and values that do not fit, in the order of the file.
func (s source) problems() []error {
	type problem struct {
		line int
		err  error
	}
	var all []problem
	names := sortedKeys(known)
	for name, value := range s.all {
		_, isTable := value.(map[string]any)
		read, isKnown := known[name]
		switch line := s.lineOfTable(name); {
		case isTable && isKnown:
			for _, err := range read(s) {
				all = append(all, problem{lineIn(err, s.file), err})
			}
		case isTable:
			all = append(all, problem{line, fmt.Errorf("%s:%d: [%s]: unknown table%s; allowed: %s", s.file, line, name, near(name, names), strings.Join(names, ", "))})
		default:
			line := s.lineOf("", name)
			all = append(all, problem{line, fmt.Errorf("%s:%d: %s: stands in no table%s; the tables are %s", s.file, line, name, s.home(name), strings.Join(names, ", "))})
		}
	}
	slices.SortStableFunc(all, func(a, b problem) int {
		return cmp.Or(cmp.Compare(a.line, b.line), strings.Compare(a.err.Error(), b.err.Error()))
	})
	errs := make([]error, len(all))
	for i, p := range all {
		errs[i] = p.err
	}
	return errs
}

// home says where a setting that stands outside a table belongs.
func (s source) home(key string) string {
	for _, r := range reference {
		if r.Key == key {
			return ", it belongs below [" + r.Table + "]"
		}
	}
	return ""
}

// lineIn is the line that an error begins with.
func lineIn(err error, file string) int {
	var line int
	_, _ = fmt.Sscanf(strings.TrimPrefix(err.Error(), file), ":%d:", &line) // without one it comes first
	return line
}

// near suggests the name that was meant.
func near(name string, names []string) string {
	best, distance := "", min(3, len(name)/2+1) // more is another word
	for _, other := range names {
		if d := editDistance(name, other); d < distance {
			best, distance = other, d
		}
	}
	if best == "" {
		return ""
	}
	return "; did you mean " + best + "?"
}

// editDistance counts the letters to add, take out or replace.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		last := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := last
			if a[i] != b[j] {
				cost++
			}
			last = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
