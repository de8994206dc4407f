package hub

import (
	"context"
	"log/slog"
	"regexp"
	"slices"
	"strings"
)

// The log holds what the hub did and why, and nothing of what is in a session: no
// prompts, no notes, no output. A notice is mostly words of ours, with words of
// others behind a colon, in quotes, or after message=.

// ours begin the notices whose reason, behind the colon, is in words of ours too.
var ours = []string{
	"the check is void", "the check was not sent", "the check is not confirmed", "the check got no valid answer",
	"the work message was not sent", "the work message is not confirmed", "the exchange was not rolled back",
	"the machine slept", "the machine slept or its clock was set", "the user spoke",
	"Not asked", "Not steered", "Nothing counts down", "Nothing changed", "Countdown moved", "PI_WATCHDOG",
	"PI_WATCHDOG_GUARD", "Watchdog started", "Watchdog started anew", "Watchdog set", "cli", "tui", "pi",
}

var (
	quoted    = regexp.MustCompile(`"(\\.|[^"\\])*"`)
	hookEnded = regexp.MustCompile(`^(on_stop \(\w+\): (?:exit status \d+|exit \d+|signal: \w+|not started))`)
	// named are as ours, with the name of a provider or a cause of the guard's.
	named      = regexp.MustCompile(`^(?:gateway: \S+?(?: goes direct)?|silent stop \([a-z ]+\)): `)
	hasMessage = regexp.MustCompile(`(?s)message=.*`)
)

// logText is what the log may hold of a notice.
func logText(text string) string {
	if found := hookEnded.FindString(text); found != "" {
		return found
	}
	text = quoted.ReplaceAllString(hasMessage.ReplaceAllString(text, "message=…"), `"…"`)
	var kept []string
	start := named.FindString(text)
	for rest := text[len(start):]; ; {
		head, tail, more := strings.Cut(rest, ": ")
		kept = append(kept, head)
		if !more {
			break
		}
		if !slices.Contains(ours, head) {
			kept = append(kept, "…")
			break
		}
		rest = tail
	}
	text, _, _ = strings.Cut(start+strings.Join(kept, ": "), "\n")
	return text
}

// logNotice writes a notice to the log: what it may hold, and at the level debug
// all of it.
func (h *Hub) logNotice(session, level, text string) {
	if h.log.Enabled(context.Background(), slog.LevelDebug) {
		h.log.Debug("notice", "session", session, "level", level, "text", text)
		return
	}
	h.log.Info("notice", "session", session, "level", level, "text", logText(text))
}
