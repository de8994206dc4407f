package timeline

import (
	"fmt"
	"strings"
	"time"

	"piwatch/internal/watchdog"
)

// Line is a row as one plain line, for a place without a screen. The name is
// that of the session; it may be empty.
func Line(r *Row, name string) string {
	at := "        "
	if !r.Time.IsZero() {
		at = r.Time.Local().Format(time.TimeOnly)
	}
	if name != "" {
		name += ": "
	}
	return strings.TrimRight(fmt.Sprintf("%s  %-*s  %s%s", at, LabelWidth, r.Kind.Label(), name, Sentence(r)), " ")
}

// Sentence is what a row says, without its time and label.
func Sentence(r *Row) string {
	switch {
	case r.Card != nil:
		return r.Card.sentence()
	case r.Tool != nil:
		return strings.Join(parts(r.Tool.Name, r.Tool.Arg, "->", r.Tool.Result()), " ")
	}
	return r.Title
}

// Result is the state of a tool call in words.
func (t *Tool) Result() string {
	switch {
	case !t.Done:
		return "no result"
	case t.Error:
		return strings.Join(parts("error", Took(t.Took)), " ")
	}
	return strings.Join(parts("ok", Took(t.Took)), " ")
}

// Took writes a duration short: 28ms, 1.2s, 3m20s, 2h; empty for zero.
func Took(d time.Duration) string {
	switch {
	case d <= 0:
		return ""
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return d.Round(100 * time.Millisecond).String()
	}
	text := d.Round(time.Second).String() // 1h0m0s, 59m30s
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

func (c *Card) sentence() string {
	s := strings.Join(parts(c.Number(), c.Cause()), " ")
	if s != "" {
		s += ": "
	}
	s += c.Answer()
	if c.Note != "" {
		s += " - " + c.Note
	}
	if f := c.Fold.Words(); f != "" {
		s += " (" + f + ")"
	}
	return s
}

// Number is "2/50", "2" when the cap is unknown, or empty.
func (c *Card) Number() string {
	switch {
	case c.N == 0:
		return ""
	case c.Max == 0:
		return fmt.Sprint(c.N)
	}
	return fmt.Sprintf("%d/%d", c.N, c.Max)
}

// Cause says why the check was asked.
func (c *Card) Cause() string {
	if c.Origin == ByAgent {
		return "stopped by the agent itself"
	}
	waited := ""
	if c.Waited > 0 && !strings.HasPrefix(c.Reason, "idle for") { // which says how long
		waited = "after " + Took(time.Duration(c.Waited*float64(time.Second)))
	}
	return strings.Join(parts(waited, c.Reason), ", ")
}

// Answer says how the check ended, in one phrase.
func (c *Card) Answer() string {
	switch c.End {
	case "":
		if c.Decision.Valid() {
			return string(c.Decision) + ", not recorded yet"
		}
		return "open"
	case watchdog.EndAnswered:
		return string(c.Decision)
	case watchdog.EndNoAnswer:
		return strings.Join(parts("no answer", c.Why), ", ")
	case watchdog.EndVoid:
		return strings.Join(parts("void", c.Why), ", ")
	case watchdog.EndError:
		return strings.Join(parts("provider error", c.Why), ", ")
	}
	return OneLine(string(c.End))
}

// Words says what the state means to the agent.
func (f FoldState) Words() string {
	switch f {
	case FoldedByEdit, FoldedByHook:
		return "folded"
	case FoldedByBranch:
		return "folded by branch"
	case Unfolded:
		return "unfolded by hand"
	case RolledBack:
		return "rolled back"
	}
	return ""
}

func parts(all ...string) []string {
	var kept []string
	for _, s := range all {
		if s != "" {
			kept = append(kept, s)
		}
	}
	return kept
}
