package ui

import (
	tea "github.com/charmbracelet/bubbletea"
)

// wheelRows is how far one step of the wheel goes.
const wheelRows = 3

// toggleMouse changes what the next frame says of the mouse.
func (m *Model) toggleMouse() tea.Cmd {
	m.mouse = !m.mouse
	if m.mouse {
		m.say(levelInfo, "", "mouse on; "+m.keyOf("mouse")+" gives it back to the terminal, to select text")
	} else {
		m.say(levelInfo, "", "mouse off: the terminal selects text again")
	}
	return nil
}

// pointer handles the mouse: the wheel moves, a click selects, a second click
// on the same row opens it.
func (m *Model) pointer(e tea.MouseEvent) tea.Cmd {
	if m.ask != nil || m.sure != nil || m.h < oneLineBelow || e.Action != tea.MouseActionPress {
		return nil
	}
	switch e.Button {
	case tea.MouseButtonWheelUp, tea.MouseButtonWheelDown:
		n := wheelRows
		if e.Button == tea.MouseButtonWheelUp {
			n = -n
		}
		if m.over == overlayNone && m.w >= twoPanesFrom {
			m.focus = m.paneAt(e.X)
		}
		m.move(n)
	case tea.MouseButtonLeft:
		if m.over == overlayNone {
			return m.click(e.X, e.Y)
		}
	}
	return nil
}

func (m *Model) paneAt(x int) pane {
	if m.w < twoPanesFrom {
		return m.focus
	}
	if x <= m.listWidth() {
		return paneList
	}
	return paneStory
}

func (m *Model) click(x, y int) tea.Cmd {
	m.focus = m.paneAt(x)
	if m.focus == paneList {
		if at := m.list.top + y - 1; y > 0 && at < len(m.list.shown) { // the heading comes first
			m.list.selected, m.list.want = m.list.shown[at].id, ""
		}
		return nil
	}
	line := y - (m.h - 1 - m.story.h)
	if row := m.story.rowAt(&m.env, line); row >= 0 {
		if row == m.story.cursor {
			return m.readWhole(m.story.toggle())
		}
		m.story.move(row - m.story.cursor)
	}
	return nil
}
