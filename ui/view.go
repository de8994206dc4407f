package ui

import (
	"strings"
)

// Sizes at which the layout changes.
const (
	twoPanesFrom  = 60 // cells wide; below, one pane at a time
	statusLines   = 3  // of the status bar, at least
	roomyFrom     = 20 // lines high; from here on the status bar may take a line more
	oneLineBelow  = 4  // lines high; below, only the status of one session
	listNarrowest = 36
	listWidest    = 64
)

// View draws the screen: as many lines as it is high, none wider than it is.
func (m *Model) View() string {
	if m.w <= 0 || m.h <= 0 {
		return ""
	}
	e := &m.env
	var lines []string
	switch {
	case m.h < oneLineBelow:
		lines = m.viewLine(e)
	case m.over == overlayReview:
		lines = m.withBottom(e, m.review.draw(e, m.w, m.h-1), m.w)
	case m.w < twoPanesFrom:
		lines = m.viewNarrow(e)
	default:
		lines = m.viewWide(e)
	}
	if len(lines) > m.h {
		lines = lines[:m.h]
	}
	for i := range lines {
		lines[i] = strings.TrimRight(clip(lines[i], m.w, ""), " ")
	}
	if m.ground != "" {
		lines = m.paint(lines)
	}
	return strings.Join(lines, "\n")
}

// reset ends the colours of a piece of text.
const reset = "\x1b[0m"

// paint puts the theme's background below all lines. What is drawn ends its own
// colours with a reset, after which the background has to be set again.
func (m *Model) paint(lines []string) []string {
	for i, line := range lines {
		gap := strings.Repeat(" ", max(m.w-width(line), 0))
		lines[i] = m.ground + strings.ReplaceAll(line, reset, reset+m.ground) + gap + reset
	}
	blank := m.ground + strings.Repeat(" ", m.w) + reset
	for len(lines) < m.h {
		lines = append(lines, blank)
	}
	return lines
}

// viewLine is for a strip of one to three lines: how the session stands and
// what it is; how all of them stand; the keys.
func (m *Model) viewLine(e *env) []string {
	s := m.list.current()
	if s == nil {
		return []string{statusBar(e, nil, m.w, 1)[0], m.list.summary(e, m.w)}
	}
	lines := []string{shortLine(e, s, m.w), m.list.summary(e, m.w)}
	if m.h == oneLineBelow-1 || m.sure != nil || m.ask != nil {
		return m.withBottom(e, lines[:min(m.h-1, len(lines))], m.w)
	}
	return lines
}

func (m *Model) viewNarrow(e *env) []string {
	h := m.h - 1
	var lines []string
	if m.focus == paneList && m.over == overlayNone {
		lines = m.list.draw(e, m.w, h, true)
	} else {
		lines = m.right(e, m.w, h)
	}
	return m.withBottom(e, lines, m.w)
}

func (m *Model) viewWide(e *env) []string {
	h := m.h - 1
	left := m.listWidth()
	right := m.w - left - 2
	border := e.styles.Border.Render(e.signs.vertical)
	a := m.list.draw(e, left, h, m.focus == paneList)
	b := m.right(e, right, h)
	lines := make([]string, h)
	for i := range lines {
		lines[i] = a[i] + " " + border + b[i]
	}
	return m.withBottom(e, lines, m.w)
}

// listWidth is the width of the list beside the timeline.
func (m *Model) listWidth() int { return min(max(m.w*2/5, listNarrowest), listWidest) }

// right is the right pane: status bar, rule, timeline; or what covers it.
func (m *Model) right(e *env, w, h int) []string {
	switch m.over {
	case overlayHelp:
		return m.drawHelp(e, w, h)
	case overlayLog:
		return m.log.draw(e, w, h)
	case overlayGateway:
		return m.gateway.draw(e, m.overUp, w, h)
	case overlayInspect:
		return m.inspector.draw(e, m.overUp, w, h)
	case overlayThemes:
		return m.picker.draw(e, m.themes, w, h)
	}
	whys := 1
	if h >= roomyFrom {
		whys = 3
	}
	head := statusBar(e, m.list.current(), w-1, whys)
	if strings.HasPrefix(m.list.selected, endedGroup) {
		head[0] = e.styles.Muted.Render(clip(m.keyOf("open")+" shows the ended sessions one by one", w-1, e.signs.more))
	}
	for i := range head {
		head[i] = " " + head[i]
	}
	if h < 2*statusLines {
		head = head[:min(2, max(h-1, 0))]
	} else {
		head = append(head, e.styles.Border.Render(strings.Repeat(e.signs.rule, w)))
	}
	head = fill(head, w, len(head), e.signs.more)
	return append(head, m.story.draw(e, w, h-len(head), m.focus == paneStory)...)
}

func (m *Model) drawHelp(e *env, w, h int) []string {
	lines := m.helpLines(e, w)
	m.overUp = min(m.overUp, max(len(lines)-h, 0))
	return fill(lines[m.overUp:], w, h, e.signs.more)
}

// withBottom adds the bottom line, or the dialog over the last lines.
func (m *Model) withBottom(e *env, lines []string, w int) []string {
	var box []string
	switch {
	case m.sure != nil:
		box = m.sure.draw(e, w)
	case m.ask != nil:
		box = append([]string{e.styles.BorderFocus.Render(strings.Repeat(e.signs.horizontal, w))}, m.ask.draw(e, w)...)
	default:
		box = []string{m.bottom(e, w)}
	}
	keep := max(len(lines)+1-len(box), 0)
	return append(lines[:min(keep, len(lines))], box...)
}

// bottom is the newest message, or the keys.
func (m *Model) bottom(e *env, w int) string {
	if line, ok := m.log.last(); ok {
		text := " " + strings.Join(kept(line.session, line.text), ": ") + " "
		keys := m.bottomKeys(e, w, true)
		if w < twoPanesFrom {
			keys = ""
		}
		if room := w - width(text); room > width(keys) {
			keys = m.bottomKeys(e, room, false)
		}
		return e.levelStyle(line.level).Render(fit(text, w-width(keys), e.signs.more)) + keys
	}
	if m.hub == nil && m.hubWhy != "" {
		why := clip(" "+m.hubWhy+" ", max(w*2/3, min(w, 20)), e.signs.more)
		return e.styles.Warning.Render(why) + m.bottomKeys(e, w-width(why), false)
	}
	return m.bottomKeys(e, w, false)
}
