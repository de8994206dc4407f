package ui

import (
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"piwatch/internal/control"
	"piwatch/internal/watchdog"
	"piwatch/themes"
)

// key handles a key: the dialog first, then the table.
func (m *Model) key(msg tea.KeyMsg) tea.Cmd {
	if m.ask != nil {
		cmd, closed := m.ask.key(msg)
		if closed {
			m.ask = nil
		}
		return cmd
	}
	b := m.bound(msg.String())
	if b == nil {
		return nil
	}
	m.log.fresh = false
	if why := m.disabled(b); why != "" {
		m.say(levelWarning, "", b.label()+": "+why)
		return nil
	}
	return b.do(m)
}

func (m *Model) askStart() tea.Cmd {
	m.ask = startDialog(m, m.list.current())
	return nil
}

func (m *Model) askFilter() tea.Cmd {
	before := m.list.filter
	m.focus = paneList
	m.ask = &dialog{
		title: "Filter", hint: "words that name, folder or state must hold; empty shows all", enter: "keep",
		input:  newInput(before),
		live:   func(line string) { m.list.filter = line },
		cancel: func() { m.list.filter = before },
	}
	return nil
}

func (m *Model) pause() tea.Cmd {
	method := control.Pause
	if m.list.current().live.Watch.Phase == watchdog.Paused {
		method = control.Resume
	}
	return m.steer(method, control.SteerParams{Session: m.list.selected})
}

func (m *Model) mode() tea.Cmd {
	mode := watchdog.Keep
	if m.list.current().live.Watch.Settings.Mode == watchdog.Keep {
		mode = watchdog.Once
	}
	return m.steer(control.Set, control.SteerParams{Session: m.list.selected, Line: "mode=" + string(mode)})
}

func (m *Model) move(n int) tea.Cmd {
	switch {
	case m.over == overlayHelp:
		m.overUp = max(m.overUp+n, 0)
	case m.over == overlayLog:
		m.log.scroll(-n)
	case m.focus == paneList:
		m.list.move(n)
	default:
		m.story.move(n)
	}
	return nil
}

func (m *Model) page(n int) tea.Cmd {
	screen := max(m.h-4, 1)
	switch {
	case m.over == overlayHelp:
		m.overUp = max(m.overUp+n*screen, 0)
	case m.over == overlayLog:
		m.log.scroll(-n * screen)
	case m.focus == paneList:
		m.list.move(n * screen)
	default:
		m.story.page(&m.env, n)
	}
	return nil
}

func (m *Model) toStart() tea.Cmd {
	if m.focus == paneList && m.over == overlayNone {
		m.list.move(-len(m.list.shown))
	} else if m.over == overlayNone {
		m.story.toStart()
	}
	m.overUp = 0
	m.log.scroll(maxLog)
	return nil
}

func (m *Model) toEnd() tea.Cmd {
	if m.focus == paneList && m.over == overlayNone {
		m.list.move(len(m.list.shown))
	} else if m.over == overlayNone {
		m.story.toEnd()
	}
	m.overUp = 1 << 16 // the drawing keeps it in bounds
	m.log.scroll(-maxLog)
	return nil
}

func (m *Model) otherPane() tea.Cmd {
	m.focus = paneStory - m.focus
	m.over = overlayNone
	return nil
}

func (m *Model) enter() tea.Cmd {
	if m.focus == paneList {
		m.focus = paneStory
		return nil
	}
	m.story.toggle()
	return nil
}

func (m *Model) escape() tea.Cmd {
	switch {
	case m.over != overlayNone:
		m.over = overlayNone
	case m.list.filter != "":
		m.list.filter = ""
	case m.focus == paneStory:
		m.focus = paneList
	}
	return nil
}

func (m *Model) nextTheme() tea.Cmd {
	at := slices.IndexFunc(m.themes, func(t themes.Theme) bool { return t.Name == m.theme.Name })
	m.setTheme(m.themes[(at+1)%len(m.themes)])
	m.say(levelInfo, "", "theme "+m.theme.Name)
	return nil
}
