package ui

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/lipgloss"

	"piwatch/internal/timeline"
	"piwatch/internal/watchdog"
)

// phaseWords are the words of the phases; a sign never stands alone.
var phaseWords = map[watchdog.Phase]string{
	watchdog.Off: "off", watchdog.Counting: "counting", watchdog.Working: "working", watchdog.Checking: "checking",
	watchdog.Typing: "typing", watchdog.Paused: "paused", watchdog.Suspended: "suspended",
	watchdog.Interrupted: "interrupted", watchdog.Lost: "lost",
}

func (e *env) phaseStyle(p watchdog.Phase) lipgloss.Style {
	switch p {
	case watchdog.Counting:
		return e.styles.Counting
	case watchdog.Working:
		return e.styles.Working
	case watchdog.Checking:
		return e.styles.Check
	case watchdog.Lost:
		return e.styles.Error
	case watchdog.Interrupted:
		return e.styles.Warning
	case watchdog.Off:
		return e.styles.Muted
	}
	return e.styles.Paused
}

// spare is kept free at the end of lines with a status text: the sign of a
// watch and its neighbours are two cells wide in some terminals.
const spare = 2

// statusBar is the head of the right pane: what the session is, how the
// watchdog stands, and why.
func statusBar(e *env, s *session, w int) []string {
	if s == nil {
		return []string{e.styles.Muted.Render(clip("no session", w, e.signs.more)), "", ""}
	}
	return []string{titleLine(e, s, w), statusLine(e, s, w), whyLine(e, s, w)}
}

// aboutWidth is kept free for the folder beside a long title.
const aboutWidth = 14

func titleLine(e *env, s *session, w int) string {
	about := []string{s.folder()}
	if s.live != nil {
		about = append(about, timeline.OneLine(s.live.Model))
		if s.live.Pi != "" {
			about = append(about, "Pi "+timeline.OneLine(s.live.Pi))
		}
	}
	right := strings.Join(kept(about...), " "+e.signs.dot+" ")
	left := clip(s.title(), w, e.signs.more)
	if width(left) > w-aboutWidth && w > 3*aboutWidth {
		left = clip(s.title(), w-aboutWidth, e.signs.more)
	}
	line := e.styles.Strong.Render(left)
	if gap := w - width(left) - 2; gap > 8 && right != "" {
		line += "  " + e.styles.Muted.Render(clip(right, gap, e.signs.more))
	}
	return line
}

// statusLine is the status text, its word, the countdown and the settings.
func statusLine(e *env, s *session, w int) string {
	view := s.view()
	style := e.phaseStyle(view.Phase)
	word := phaseWords[view.Phase]
	if s.live == nil {
		_, word = s.need(e.now)
		word += " " + e.signs.dot + " read-only"
	}
	text := view.Status(e.now, e.signs.status)
	if view.Phase == watchdog.Off && s.live != nil {
		word = "watchdog off"
	}
	plain := strings.Join(kept(text, word), "  ")
	room := w - spare
	line := style.Render(clip(plain, room, e.signs.more))
	left := room - width(plain)

	settings := ""
	if view.Settings.Max > 0 && view.Phase != watchdog.Off {
		settings = fmt.Sprintf("timeout %ds", view.Settings.Timeout)
		if view.Settings.Mode == watchdog.Once { // the status text says keep
			settings = "once " + e.signs.dot + " " + settings
		}
	}
	if n := left - width(settings) - 4; view.Phase == watchdog.Counting || view.Left > 0 {
		if n < 8 {
			n, settings = left-2, ""
		}
		if n >= 5 {
			line += "  " + bar(e, view, min(n, 32))
			left -= 2 + min(n, 32)
		}
	}
	if settings != "" && left >= width(settings)+2 {
		line += "  " + e.styles.Muted.Render(settings)
	}
	return line
}

// bar is the countdown: the part that is left of the timeout.
func bar(e *env, view watchdog.View, w int) string {
	left := view.Left
	if view.Phase == watchdog.Counting {
		left = max(view.Deadline.Sub(e.now), 0)
	}
	grace := max(view.Settings.Grace(), left, 1)
	n := min(int(left.Seconds()/grace.Seconds()*float64(w)+0.5), w)
	return e.styles.Bar.Render(strings.Repeat(e.signs.full, n)) + e.styles.BarEmpty.Render(strings.Repeat(e.signs.empty, w-n))
}

// whyLine says why nothing counts down, and the last decision.
func whyLine(e *env, s *session, w int) string {
	view := s.view()
	why := timeline.OneLine(view.Why)
	last := ""
	if view.Last != "" {
		last = "last answer: " + timeline.OneLine(string(view.Last))
		if view.Note != "" {
			last += ", " + timeline.OneLine(view.Note)
		}
	}
	return e.styles.Muted.Render(clip(strings.Join(kept(why, last), "  "+e.signs.dot+"  "), w-spare, e.signs.more))
}

func kept(all ...string) []string {
	var some []string
	for _, s := range all {
		if s != "" {
			some = append(some, s)
		}
	}
	return some
}
