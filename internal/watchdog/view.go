package watchdog

import (
	"fmt"
	"time"
)

// Phase is the watchdog's state in one word.
type Phase string

// The phases.
const (
	Off         Phase = "off"
	Counting    Phase = "counting"    // the countdown runs
	Working     Phase = "working"     // waiting for the agent, or for something that keeps the session from being idle
	Waiting     Phase = "waiting"     // nothing runs, but the agent must run once more before it counts
	Checking    Phase = "checking"    // a check is open
	Typing      Phase = "typing"      // the user is busy at the keyboard
	Paused      Phase = "paused"      // paused by hand
	Suspended   Phase = "suspended"   // keep mode, after done or wait_user
	Interrupted Phase = "interrupted" // the user stopped a run
	Lost        Phase = "lost"        // no bridge, or no hub
)

// View is what a person sees of a watchdog: the data behind Pi's footer, the
// TUI's status bar, and piwatch status.
type View struct {
	Phase    Phase    `json:"phase"`
	Count    int      `json:"count"` // checks since the last real user message
	Settings Settings `json:"settings"`
	// Deadline is when the check fires; zero when nothing counts down.
	Deadline time.Time `json:"deadline,omitzero"`
	// Left is the time that was left when a countdown paused, in nanoseconds.
	Left time.Duration `json:"left,omitempty"`
	// Why says, when nothing counts down, why not; also why it is off.
	Why string `json:"why,omitempty"`
	// Paused says that it is paused by hand, also where another phase is shown: a
	// pause stays until it is lifted by hand, whatever else holds.
	Paused bool `json:"paused,omitempty"`
	// Capped says that it is off since the cap of checks was reached, and the user
	// has said nothing since: work may be left.
	Capped bool `json:"capped,omitempty"`
	// Check is the id of the open check.
	Check string `json:"check,omitempty"`
	// Exchange is the id of the last check that was closed.
	Exchange string `json:"exchange,omitempty"`
	// Last is the last decision since the user's last message, with its note.
	Last Decision `json:"last,omitempty"`
	Note string   `json:"note,omitempty"`
}

// Glyphs are the signs of the status text. The sign of a watch has another
// width in some terminals, so there is a set of plain letters too.
type Glyphs struct {
	Clock, Work, Type, Pause, Stop, Lost string
}

// The two sets of glyphs. They hold no variation selectors.
var (
	Symbols = Glyphs{Clock: "⏱", Work: "▶", Type: "✍", Pause: "⏸", Stop: "⏹", Lost: "✗"}
	ASCII   = Glyphs{Clock: "wd:", Work: ">", Type: "~", Pause: "=", Stop: "!", Lost: "x"}
)

// Status is the one status text, for Pi's footer and for piwatch: empty when
// off, else the sign of the state and checks used of the cap, and the mode when
// it is not the default. A countdown shows whole seconds, rounded up, so that it
// never shows 0 before its time.
func (v View) Status(now time.Time, g Glyphs) string {
	var sign string
	switch v.Phase {
	case Off:
		return ""
	case Counting:
		left := max(v.Deadline.Sub(now), 0)
		sign = fmt.Sprintf("%ds", int64((left+time.Second-1)/time.Second))
	case Typing:
		sign = g.Type
	case Paused, Suspended:
		sign = g.Pause
	case Interrupted:
		sign = g.Stop
	case Lost:
		return g.Clock + g.Lost
	default:
		sign = g.Work
	}
	text := fmt.Sprintf("%s%s %d/%d", g.Clock, sign, v.Count, v.Settings.Max)
	if v.Settings.Mode == Keep {
		text += " keep"
	}
	return text
}
