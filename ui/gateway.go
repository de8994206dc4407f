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
		add(e.styles.Error, 1, "not on: "+g.state.Error)
	case !g.state.On:
		add(e.styles.Muted, 1, "off; piwatch gateway on turns it on")
	default:
		add(e.styles.Text, 1, strings.TrimPrefix(g.state.Lines(e.now)[0], "gateway: "))
	}
	if t := g.state.Traffic; t != nil {
		for _, p := range t.Providers {
			lines = append(lines, "")
			add(e.styles.Strong, 1, p.Provider+" "+p.Upstream)
			parts := []string{fmt.Sprintf("%d requests", p.Requests)}
			for _, some := range []struct {
				n    int
				what string
			}{{p.Active, "now"}, {p.Recovered, "helped"}, {p.Broken + p.Unterminated, "broken"}, {p.Silent, "silent"}, {p.Left, "given up by Pi"}} {
				if some.n > 0 {
					parts = append(parts, fmt.Sprintf("%d %s", some.n, some.what))
				}
			}
			add(e.styles.Text, 3, strings.Join(parts, " "+e.signs.dot+" "))
			if len(p.Retries) > 0 {
				add(e.styles.Warning, 3, "tried again after "+control.ByCause(p.Retries))
			}
			if len(p.Failed) > 0 {
				add(e.styles.Error, 3, "failed with "+control.ByCause(p.Failed))
			}
			breaker, style := "breaker closed", e.styles.Muted
			if p.Breaker.Open {
				breaker, style = "breaker open, no retries for "+control.Left(p.Breaker.Until, e.now), e.styles.Warning
			}
			add(style, 3, breaker)
			for _, wait := range t.Waiting {
				if wait.Provider == p.Provider && wait.Upstream == p.Upstream {
					add(e.styles.Counting, 3, fmt.Sprintf("waits after %s: retry %d of %d in %s", wait.Cause, wait.Retry, wait.Of, control.Left(wait.Until, e.now)))
				}
			}
		}
	}
	for i, s := range g.state.Sessions {
		if i == 0 {
			lines = append(lines, "")
		}
		switch {
		case s.On:
			add(e.styles.Muted, 1, fmt.Sprintf("%s passes in session %s", s.Provider, s.Session))
		case s.Why != "":
			add(e.styles.Warning, 1, fmt.Sprintf("%s goes direct in session %s: %s", s.Provider, s.Session, s.Why))
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
