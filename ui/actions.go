package ui

import (
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"piwatch/internal/control"
	"piwatch/internal/watchdog"
)

// key handles a key: the question and the dialog first, then the table.
func (m *Model) key(msg tea.KeyMsg) tea.Cmd {
	if m.sure != nil {
		return m.answer(msg.String())
	}
	if m.ask != nil {
		cmd, closed := m.ask.key(msg)
		if closed {
			m.ask = nil
		}
		return cmd
	}
	b := m.bound(msg.String())
	if b == nil {
		if msg.Type == tea.KeyCtrlC {
			return tea.Quit // whatever the user bound
		}
		return nil
	}
	m.log.fresh = false
	if why := m.disabled(b); why != "" {
		m.say(levelWarning, "", keyName(b.keys[0], m.o.ASCII)+": "+why)
		return nil
	}
	return b.do(m)
}

// split gives the single keys of letters that were typed faster than they were
// read: they come as one message. What was pasted, or is text for a dialog,
// stays together.
func (m *Model) split(msg tea.KeyMsg) []tea.KeyMsg {
	if msg.Type != tea.KeyRunes || msg.Paste || m.ask != nil || len(msg.Runes) < 2 {
		return []tea.KeyMsg{msg}
	}
	keys := make([]tea.KeyMsg, len(msg.Runes))
	for i, r := range msg.Runes {
		keys[i] = tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}, Alt: msg.Alt && i == 0}
	}
	return keys
}

func (m *Model) askStart() tea.Cmd {
	m.ask = startDialog(m, m.list.current())
	return nil
}

func (m *Model) askFilter() tea.Cmd {
	if m.over == overlayHelp {
		m.ask = &dialog{
			title: "Search the help", hint: "words that the line must hold; empty shows all", enter: "keep",
			input: newInput(m.helpFind), live: func(line string) { m.helpFind, m.overUp = line, 0 },
			cancel: func() { m.helpFind = "" },
		}
		return nil
	}
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
	if m.list.current().live.Watch.Paused {
		method = control.Resume
	}
	return m.steer(method, control.SteerParams{Session: m.list.selected})
}

func (m *Model) switchGuard() tea.Cmd {
	method := control.GuardOff
	if m.list.current().live.Guard.Off {
		method = control.GuardOn
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

// stop asks first when other sessions are armed too: it must be clear which one
// is meant.
func (m *Model) stop() tea.Cmd {
	s := m.list.current()
	stop := func() tea.Cmd { return m.steer(control.Stop, control.SteerParams{Session: s.id}) }
	n := m.list.armed()
	if n < 2 {
		return stop()
	}
	m.sure = &question{text: fmt.Sprintf("Stop the watchdog of %q? %d are on; the others stay on.", s.title(), n), yes: stop}
	return nil
}

func (m *Model) nextNeed() tea.Cmd {
	m.list.selected, m.list.want = m.list.nextNeed(m.env.now), ""
	return nil
}

func (m *Model) toggleEnded() tea.Cmd {
	m.list.ended = !m.list.ended
	return nil
}

func (m *Model) toggleRefusals() tea.Cmd {
	m.log.refusals = !m.log.refusals
	m.log.up = 0
	return nil
}

func (m *Model) move(n int) tea.Cmd {
	switch {
	case m.over == overlayThemes:
		m.tryTheme(m.picker.at + n)
	case m.over == overlayReview:
		m.review.up = max(m.review.up+n, 0)
	case m.over == overlayHelp, m.over == overlayGateway, m.over == overlayInspect:
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
	case m.over == overlayThemes:
		m.tryTheme(m.picker.at + n*screen)
	case m.over == overlayReview:
		m.review.up = max(m.review.up+n*screen, 0)
	case m.over == overlayHelp, m.over == overlayGateway, m.over == overlayInspect:
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
	if m.over == overlayThemes {
		m.tryTheme(0)
	}
	m.overUp, m.review.up = 0, 0
	m.log.scroll(maxLog)
	return nil
}

func (m *Model) toEnd() tea.Cmd {
	if m.focus == paneList && m.over == overlayNone {
		m.list.move(len(m.list.shown))
	} else if m.over == overlayNone {
		m.story.toEnd()
	}
	if m.over == overlayThemes {
		m.tryTheme(len(m.themes))
	}
	m.overUp, m.review.up = farDown, farDown
	m.log.scroll(-maxLog)
	return nil
}

func (m *Model) otherPane() tea.Cmd {
	m.focus = paneStory - m.focus
	m.over = overlayNone
	return nil
}

func (m *Model) enter() tea.Cmd {
	switch {
	case m.over == overlayThemes:
		m.over = overlayNone
		m.say(levelInfo, "", "theme "+m.theme.Name+`; to keep it: theme = "`+m.theme.Name+`" below [screen] in the config`)
		return nil
	case strings.HasPrefix(m.list.selected, endedGroup):
		return m.toggleEnded()
	case m.focus == paneList:
		m.focus = paneStory
		return nil
	}
	return m.readWhole(m.story.toggle())
}

func (m *Model) escape() tea.Cmd {
	switch {
	case m.over == overlayHelp && m.helpFind != "":
		m.helpFind = ""
	case m.over == overlayThemes:
		m.setTheme(m.picker.before)
		m.over = overlayNone
	case m.over != overlayNone:
		m.over = overlayNone
	case m.list.filter != "":
		m.list.filter = ""
	case m.focus == paneStory:
		m.focus = paneList
	}
	return nil
}

// farDown is below any end; the drawing keeps it in bounds.
const farDown = 1 << 30
