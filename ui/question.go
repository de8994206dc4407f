package ui

import (
	tea "github.com/charmbracelet/bubbletea"
)

// question asks for a yes before something is done that cannot be undone.
type question struct {
	text string
	yes  func() tea.Cmd
}

// answer handles a key: y means yes, all others no.
func (m *Model) answer(key string) tea.Cmd {
	q := m.sure
	m.sure = nil
	if key == "y" || key == "Y" {
		return q.yes()
	}
	m.say(levelInfo, "", "nothing was done")
	return nil
}

// draw draws the question as lines of at most w cells: the keys are never cut.
func (q *question) draw(e *env, w int) []string {
	keys := e.styles.Key.Render("y") + e.styles.Muted.Render(" yes   ") + e.styles.Key.Render("n") + e.styles.Muted.Render(" no")
	if room := w - width(keys) - 4; width(q.text) <= room {
		return []string{" " + e.styles.Warning.Render(q.text) + "  " + keys}
	}
	parts, _ := wrap(q.text, max(w-2, 1), 4)
	var lines []string
	for _, p := range parts {
		lines = append(lines, " "+e.styles.Warning.Render(p))
	}
	return append(lines, clip(" "+keys, w, ""))
}
