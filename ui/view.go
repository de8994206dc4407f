package ui

import (
	"strings"
)

// Sizes at which the layout changes.
const (
	twoPanesFrom  = 60 // cells wide; below, one pane at a time
	statusLines   = 3  // of the status bar
	oneLineBelow  = 4  // lines high; below, only the status of one session
	listNarrowest = 36
	listWidest    = 58
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
	return strings.Join(lines, "\n")
}

// viewLine is for a strip of one to three lines: the status, what the session
// is, and why.
func (m *Model) viewLine(e *env) []string {
	bar := statusBar(e, m.list.current(), m.w)
	if m.list.current() == nil {
		return []string{bar[0]}
	}
	if m.h == 1 {
		return []string{bar[1]}
	}
	return []string{bar[0], bar[1], m.bottom(e, m.w)}
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
	left := min(max(m.w*2/5, listNarrowest), listWidest)
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

// right is the right pane: status bar, rule, timeline; or what covers it.
func (m *Model) right(e *env, w, h int) []string {
	switch m.over {
	case overlayHelp:
		return m.drawHelp(e, w, h)
	case overlayLog:
		return m.log.draw(e, w, h)
	}
	head := statusBar(e, m.list.current(), w-1)
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
	if m.ask == nil {
		return append(lines, m.bottom(e, w))
	}
	box := append([]string{e.styles.BorderFocus.Render(strings.Repeat(e.signs.horizontal, w))}, m.ask.draw(e, w)...)
	keep := max(len(lines)+1-len(box), 0)
	return append(lines[:min(keep, len(lines))], box...)
}

// bottom is the newest message, or the keys.
func (m *Model) bottom(e *env, w int) string {
	if line, ok := m.log.last(); ok {
		keys := ""
		if w >= twoPanesFrom {
			keys = m.bottomKeys(e, w, true)
		}
		text := fit(" "+strings.Join(kept(line.session, line.text), ": "), w-width(keys), e.signs.more)
		return e.levelStyle(line.level).Render(text) + keys
	}
	if m.hub == nil && m.hubWhy != "" {
		why := clip(" "+m.hubWhy+" ", max(w*2/3, min(w, 20)), e.signs.more)
		return e.styles.Warning.Render(why) + m.bottomKeys(e, w-width(why), false)
	}
	return m.bottomKeys(e, w, false)
}
