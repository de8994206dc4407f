package ui

import (
	"strings"
	"time"

	"github.com/charmbracelet/lipgloss"

	"piwatch/internal/timeline"
)

// Levels of messages, as in control.CommandReply and control.Notice.
const (
	levelInfo    = "info"
	levelWarning = "warning"
	levelError   = "error"
)

// maxLog is how many messages the log keeps.
const maxLog = 1000

// logLine is one message.
type logLine struct {
	time    time.Time
	level   string
	session string // title of the session, empty for piwatch itself
	text    string
}

// messageLog keeps what was said: replies, refusals, notices. The newest is
// also in the bottom line.
type messageLog struct {
	lines []logLine
	up    int // lines scrolled up from the end
	fresh bool
	count int // messages so far; the number of the newest
	timed int // the newest whose end is ordered
	// refusals says that only warnings and errors are shown.
	refusals bool
}

// add takes in a message; only one that is new is shown in the bottom line.
func (l *messageLog) add(now time.Time, level, session, text string) {
	text = timeline.OneLine(text)
	l.count++
	if n := len(l.lines); n > 0 && l.lines[n-1].text == text && l.lines[n-1].session == session {
		l.lines[n-1].time = now
		l.fresh = true
		return
	}
	l.lines = append(l.lines, logLine{now, level, session, text})
	if len(l.lines) > maxLog {
		l.lines = append([]logLine(nil), l.lines[len(l.lines)-maxLog:]...)
	}
	l.fresh = true
}

// last is the newest message, if it was not dismissed.
func (l *messageLog) last() (logLine, bool) {
	if !l.fresh || len(l.lines) == 0 {
		return logLine{}, false
	}
	return l.lines[len(l.lines)-1], true
}

// takeNew gives the number of the newest message, once.
func (l *messageLog) takeNew() (line int, ok bool) {
	if !l.fresh || l.timed == l.count {
		return 0, false
	}
	l.timed = l.count
	return l.count, true
}

// dismiss takes a message out of the bottom line, if it is still there.
func (l *messageLog) dismiss(line int) { l.fresh = l.fresh && l.count != line }

// seen are the messages that are shown.
func (l *messageLog) seen() []logLine {
	if !l.refusals {
		return l.lines
	}
	var some []logLine
	for _, line := range l.lines {
		if line.level == levelWarning || line.level == levelError {
			some = append(some, line)
		}
	}
	return some
}

func (l *messageLog) scroll(n int) { l.up = min(max(l.up+n, 0), max(len(l.lines)-1, 0)) }

func (e *env) levelStyle(level string) lipgloss.Style {
	switch level {
	case levelError:
		return e.styles.Error
	case levelWarning:
		return e.styles.Warning
	}
	return e.styles.Text
}

// draw draws the log in w × h cells, the newest message last.
func (l *messageLog) draw(e *env, w, h int) []string {
	title, all := " Log", l.seen()
	if l.refusals {
		title = " Log: refusals and warnings"
	}
	lines := []string{e.styles.TitleFocus.Render(clip(title, w, "")), ""}
	if len(all) == 0 {
		return fill(append(lines, " "+e.styles.Muted.Render("nothing was said yet")), w, h, "")
	}
	var body []string
	end := len(all) - min(l.up, len(all)-1)
	for i := end - 1; i >= 0 && len(body) < h-len(lines); i-- {
		body = append(l.drawLine(e, all[i], w), body...)
	}
	if over := len(body) - (h - len(lines)); over > 0 {
		body = body[over:]
	}
	return fill(append(lines, body...), w, h, e.signs.more)
}

func (l *messageLog) drawLine(e *env, line logLine, w int) []string {
	head := " " + line.time.Local().Format(time.TimeOnly) + "  "
	text := strings.Join(kept(line.session, line.text), ": ")
	indent := width(head)
	if w-indent < 20 {
		head, indent = " ", 1
	}
	parts, _ := wrap(text, max(w-indent-1, 1), openLines)
	for i := range parts {
		before := strings.Repeat(" ", indent)
		if i == 0 {
			before = e.styles.Muted.Render(head)
		}
		parts[i] = before + e.levelStyle(line.level).Render(parts[i])
	}
	return parts
}
