package ui

import (
	"context"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"piwatch/internal/control"
	"piwatch/internal/timeline"
)

// inspectPanel shows all that the supervisor knows of one session: whose child
// it is, why it may be stuck, its settings, its last events and, with
// debug=true, the last exchange with its provider in full.
type inspectPanel struct {
	session string
	lines   []string
	why     string // there is nothing to show
}

// inspected is the hub's answer.
type inspected struct {
	session string
	detail  control.TargetDetail
	err     error
}

// inspect opens the panel for the selected session, or closes it.
func (m *Model) inspect() tea.Cmd {
	if m.over == overlayInspect {
		m.over = overlayNone
		return nil
	}
	m.over, m.overUp = overlayInspect, 0
	m.inspector = inspectPanel{session: m.list.current().id, why: "asking the hub"}
	return m.askInspect()
}

// needHub says why the hub cannot be asked for the selected session, which may
// be one without a bridge.
func needHub(m *Model) string {
	switch {
	case m.list.current() == nil:
		return "no session is selected"
	case m.hub == nil:
		return "no hub, which knows of it"
	}
	return ""
}

func (m *Model) askInspect() tea.Cmd {
	hub, session := m.hub, m.inspector.session
	if hub == nil {
		m.inspector.why = m.hubWhy
		return nil
	}
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(context.Background(), steerTimeout)
		defer cancel()
		detail, err := hub.Inspect(ctx, session)
		return inspected{session, detail, err}
	}
}

func (p *inspectPanel) take(msg inspected) {
	if msg.session != p.session {
		return // another one was opened meanwhile
	}
	p.lines, p.why = nil, ""
	if msg.err != nil {
		p.why = msg.err.Error()
		return
	}
	p.lines = msg.detail.Lines()
}

// draw draws it in w × h cells, from line up on.
func (p *inspectPanel) draw(e *env, up, w, h int) []string {
	head := []string{e.styles.TitleFocus.Render(clip(" Supervisor", w, "")), ""}
	var body []string
	if p.why != "" {
		body = append(body, " "+e.styles.Muted.Render(clip(timeline.OneLine(p.why), w-1, e.signs.more)))
	}
	for _, line := range p.lines {
		parts, _ := wrap(timeline.OneLine(strings.TrimRight(line, "\n")), max(w-2, 1), openLines)
		for _, part := range parts {
			body = append(body, " "+e.styles.Text.Render(part))
		}
	}
	return fill(append(head, body[min(up, max(len(body)-1, 0)):]...), w, h, e.signs.more)
}
