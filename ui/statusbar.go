package ui

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/lipgloss"

	"piwatch/internal/timeline"
	"piwatch/internal/watchdog"
)

// phaseWords are the words of the phases; a sign never stands alone.
var phaseWords = map[watchdog.Phase]string{
	watchdog.Off: "off", watchdog.Counting: "counting", watchdog.Working: "working", watchdog.Waiting: "waiting", watchdog.Checking: "checking",
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
// Why takes at most n lines.
func statusBar(e *env, s *session, w, n int) []string {
	if s == nil {
		return []string{e.styles.Muted.Render(clip("no session", w, e.signs.more)), "", ""}
	}
	lines := []string{titleLine(e, s, w), statusLine(e, s, w)}
	if text, style := e.banner(s); text != "" {
		lines = append(lines, style.Render(clip(text, max(w-spare, 1), e.signs.more)))
		n--
	}
	return append(lines, whyLines(e, s, w, n)...)
}

// titleLine is the name, and beside the whole name as much of the rest as fits.
func titleLine(e *env, s *session, w int) string {
	pi := ""
	if s.live != nil && s.live.Pi != "" {
		pi = "Pi " + timeline.OneLine(s.live.Pi)
	}
	left := clip(s.title(), w, e.signs.more)
	line := e.styles.Strong.Render(left)
	if right := whole(w-width(left)-2, " "+e.signs.dot+" ", s.folder(), s.model(), pi); right != "" {
		line += "  " + e.styles.Muted.Render(right)
	}
	return line
}

// whole joins as many of the parts as fit into w cells without a cut.
func whole(w int, sep string, parts ...string) string {
	line := ""
	for _, part := range kept(parts...) {
		longer := part
		if line != "" {
			longer = line + sep + part
		}
		if width(longer) > w {
			break
		}
		line = longer
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
	text := e.statusText(view)
	if view.Phase == watchdog.Off && s.live != nil {
		word = "watchdog off"
	}
	plain := strings.Join(kept(text, word, guardText(s)), "  ")
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
	if n := left - width(settings) - 4; !e.still && (view.Phase == watchdog.Counting || view.Left > 0) {
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

// guardText is what there is to tell of the guard, empty for most sessions.
func guardText(s *session) string {
	if s.live == nil {
		return ""
	}
	return s.live.Guard.Status()
}

// shortLine is the status and the name in one line.
func shortLine(e *env, s *session, w int) string {
	view := s.view()
	rank, word := s.need(e.now)
	sign, style := e.needLook(rank)
	if view.Phase != watchdog.Off {
		word, style = phaseWords[view.Phase], e.phaseStyle(view.Phase)
	}
	text := e.statusText(view)
	if text == "" {
		text = sign
	}
	state := text + " " + word
	if banner, look := e.banner(s); banner != "" {
		style = look
		state += " " + e.signs.dot + " " + banner
	}
	state = clip(state, w, "")
	line := style.Render(state)
	if room := w - spare - width(state) - 2; room > 3 {
		line += "  " + e.styles.Strong.Render(clip(s.title(), room, e.signs.more))
	}
	return line
}

// statusText is the status text; where nothing may move it says when a
// countdown ends instead of what is left of it.
func (e *env) statusText(view watchdog.View) string {
	if e.still && view.Phase == watchdog.Counting {
		return fmt.Sprintf("%s%s %d/%d", e.signs.status.Clock, view.Deadline.Local().Format(time.TimeOnly), view.Count, view.Settings.Max)
	}
	return view.Status(e.now, e.signs.status)
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

// whyLines say why nothing counts down, and the last decision, in at most n
// lines.
func whyLines(e *env, s *session, w, n int) []string {
	view := s.view()
	why := timeline.OneLine(view.Why)
	if f := s.maybeStuck(); f != nil {
		why = "maybe stuck: " + timeline.OneLine(strings.Join(f.Says, "; "))
	}
	last := ""
	if view.Last != "" {
		last = "last answer: " + timeline.OneLine(string(view.Last))
		if view.Note != "" {
			last += ", " + timeline.OneLine(view.Note)
		}
	}
	if n <= 0 {
		return nil
	}
	text := strings.Join(kept(why, last), "  "+e.signs.dot+"  ")
	if n > 1 && why != "" && last != "" && width(text) > w-spare {
		text = why + "\n" + last
	}
	w = max(w-spare, 1)
	lines, all := wrap(text, w, n)
	for i := range lines {
		if i == len(lines)-1 && !all {
			lines[i] = clip(lines[i], w-1, "") + e.signs.more
		}
		lines[i] = e.styles.Muted.Render(lines[i])
	}
	return lines
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
