package watchdog

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Mode says what an answer done or wait_user does to monitoring.
type Mode string

// The two modes.
const (
	Once Mode = "once" // the answer ends monitoring
	Keep Mode = "keep" // the answer suspends it until the user's next message
)

// Limits of the settings.
const (
	MaxTimeout = 86400 // seconds
	MaxChecks  = 10000
)

// Usage is the grammar in one line, shown with every refusal.
const Usage = "[timeout=SECONDS] [max=N] [mode=once|keep] [message=TEXT to the end of the line]"

// Settings are what one start of the watchdog runs with.
type Settings struct {
	Timeout int    `json:"timeout"` // seconds of idleness before a check, 0 to MaxTimeout
	Max     int    `json:"max"`     // checks between two messages of the user, 1 to MaxChecks
	Mode    Mode   `json:"mode"`
	Message string `json:"message,omitempty"` // task instruction added to every work message
}

// Defaults are the settings every start begins from.
func Defaults() Settings { return Settings{Timeout: 60, Max: 50, Mode: Once} }

// Grace is the timeout as a duration.
func (s Settings) Grace() time.Duration { return time.Duration(s.Timeout) * time.Second }

// String gives the settings in the grammar that Parse reads.
func (s Settings) String() string {
	line := fmt.Sprintf("timeout=%d max=%d mode=%s", s.Timeout, s.Max, s.Mode)
	if s.Message != "" {
		line += " message=" + s.Message
	}
	return line
}

// SettingError names the part of a settings line that was refused.
type SettingError struct {
	Token string // as typed
	Why   string
}

func (e *SettingError) Error() string {
	return fmt.Sprintf("%s: %s. Usage: %s", strconv.QuoteToGraphic(e.Token), e.Why, Usage)
}

// Parse reads a settings line on top of the defaults. The error is a
// *SettingError; the Settings are then the zero value.
func Parse(line string) (Settings, error) { return Defaults().With(line) }

// With reads a settings line on top of s, for a change while it runs.
func (s Settings) With(line string) (Settings, error) {
	if !utf8.ValidString(line) {
		return Settings{}, &SettingError{line, "is not valid UTF-8"}
	}
	seen := map[string]bool{}
	for rest := strings.TrimLeftFunc(line, unicode.IsSpace); rest != ""; {
		token := rest
		if i := strings.IndexFunc(rest, unicode.IsSpace); i >= 0 && !strings.HasPrefix(rest, "message=") {
			token = rest[:i]
		}
		rest = strings.TrimLeftFunc(rest[len(token):], unicode.IsSpace)

		key, value, found := strings.Cut(token, "=")
		if !found {
			return Settings{}, &SettingError{token, "is not key=value"}
		}
		set, known := setters[key]
		if !known {
			return Settings{}, &SettingError{token, "unknown key; the keys are timeout, max, mode, message"}
		}
		if seen[key] {
			return Settings{}, &SettingError{token, key + " is given twice"}
		}
		seen[key] = true
		if why := set(&s, value); why != "" {
			return Settings{}, &SettingError{token, why}
		}
	}
	return s, nil
}

var setters = map[string]func(*Settings, string) string{
	"timeout": func(s *Settings, v string) string { return number(&s.Timeout, v, 0, MaxTimeout) },
	"max":     func(s *Settings, v string) string { return number(&s.Max, v, 1, MaxChecks) },
	"mode": func(s *Settings, v string) string {
		if s.Mode = Mode(v); s.Mode != Once && s.Mode != Keep {
			return "mode is once or keep"
		}
		return ""
	},
	"message": func(s *Settings, v string) string {
		if strings.ContainsFunc(v, breaksLine) {
			return "a message is one line, without control characters"
		}
		s.Message = v
		return ""
	},
}

// breaksLine reports what has no place in a line for people: a line break or
// another control character. A tab is white space as any.
func breaksLine(r rune) bool {
	return r != '\t' && unicode.IsControl(r) || r == '\u2028' || r == '\u2029'
}

// number reads plain decimal digits: a sign, a point or an exponent is a typo
// here, and out of range is refused, never clamped.
func number(to *int, v string, lowest, highest int) string {
	n, err := strconv.ParseUint(v, 10, 31)
	if err != nil || int(n) < lowest || int(n) > highest {
		return fmt.Sprintf("must be a whole number from %d to %d", lowest, highest)
	}
	*to = int(n)
	return ""
}

// FromEnv reads the value of PI_WATCHDOG: unset, empty, 0 and false are off, 1
// and true are the defaults, anything else goes to Parse.
func FromEnv(value string) (s Settings, on bool, err error) {
	switch strings.TrimSpace(value) {
	case "", "0", "false":
		return Settings{}, false, nil
	case "1", "true":
		return Defaults(), true, nil
	}
	s, err = Parse(value)
	return s, err == nil, err
}
