package ui

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/lipgloss"

	"piwatch/internal/control"
	"piwatch/internal/timeline"
)

// gatewayPanel shows how the hub's gateway stands, and for each provider what
// passed, what was tried again and what waits.
type gatewayPanel struct {
	state control.GatewayState
	known bool // the hub has said how it stands
}

// draw draws it in w × h cells, from line up on.
func (g *gatewayPanel) draw(e *env, up, w, h int) []string {
	lines := []string{e.styles.TitleFocus.Render(clip(" Gateway", w, "")), ""}
	add := func(style lipgloss.Style, indent int, text string) {
		parts, _ := wrap(timeline.OneLine(text), max(w-indent-1, 1), closedLines)
		for _, part := range parts {
			lines = append(lines, strings.Repeat(" ", indent)+style.Render(part))
		}
	}
	switch {
	case !g.known:
		add(e.styles.Muted, 1, "the hub has not said how it stands")
	case g.state.Error != "":
		add(e.styles.Error, 1, g.state.Headline())
	case !g.state.On:
		add(e.styles.Muted, 1, g.state.Headline()+"; piwatch gateway on turns it on")
	default:
		add(e.styles.Text, 1, g.state.Headline())
	}
	for _, p := range g.state.Rows(e.now) {
		lines = append(lines, "")
		add(e.styles.Strong, 1, p.Provider+" "+p.Upstream)
		parts := []string{fmt.Sprintf("%d requests", p.Requests)}
		for _, some := range []struct {
			n    int
			what string
		}{{p.Active, "now"}, {p.Recovered, "helped"}, {p.Faulty, "broken"}, {p.Silent, "silent"}, {p.Left, "given up by Pi"}} {
			if some.n > 0 {
				parts = append(parts, fmt.Sprintf("%d %s", some.n, some.what))
			}
		}
		add(e.styles.Text, 3, strings.Join(parts, " "+e.signs.dot+" "))
		if p.TriedAgain != "" {
			add(e.styles.Warning, 3, "tried again after "+p.TriedAgain)
		}
		if p.FailedWith != "" {
			add(e.styles.Error, 3, "failed with "+p.FailedWith)
		}
		style := e.styles.Muted
		if p.Breaker.Open {
			style = e.styles.Warning
		}
		add(style, 3, "breaker "+p.BreakerText)
		for _, wait := range p.Waiting {
			add(e.styles.Counting, 3, wait)
		}
	}
	for i, s := range g.state.Sessions {
		if i == 0 {
			lines = append(lines, "")
		}
		style := e.styles.Warning
		if s.On {
			style = e.styles.Muted
		}
		if text := s.Text(); text != "" {
			add(style, 1, text)
		}
	}
	head := lines[:2]
	body := lines[2:]
	return fill(append(head, body[min(up, max(len(body)-1, 0)):]...), w, h, e.signs.more)
}

// deadlines are the moments that the panel counts down to.
func (g *gatewayPanel) deadlines() []time.Time {
	if g.state.Traffic == nil {
		return nil
	}
	var all []time.Time
	for _, w := range g.state.Traffic.Waiting {
		all = append(all, w.Until)
	}
	for _, p := range g.state.Traffic.Providers {
		if p.Breaker.Open {
			all = append(all, p.Breaker.Until)
		}
	}
	return all
}
