package ui

import (
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"piwatch/themes"
)

// themePicker is the selector of themes. The theme under its cursor is in use,
// so that it is seen at once.
type themePicker struct {
	at     int
	before themes.Theme // comes back when the user leaves
}

// pickTheme opens the selector; in it, it goes to the next theme.
func (m *Model) pickTheme() tea.Cmd {
	if m.over == overlayThemes {
		m.tryTheme((m.picker.at + 1) % len(m.themes))
		return nil
	}
	m.picker.before = m.theme
	m.picker.at = slices.IndexFunc(m.themes, func(t themes.Theme) bool { return t.Name == m.theme.Name })
	m.over = overlayThemes
	return nil
}

func (m *Model) tryTheme(at int) {
	m.picker.at = min(max(at, 0), len(m.themes)-1)
	m.setTheme(m.themes[m.picker.at])
}

// draw draws the selector, with samples of what the theme makes of the states.
func (p *themePicker) draw(e *env, all []themes.Theme, w, h int) []string {
	lines := []string{e.styles.TitleFocus.Render(clip(" Themes", w, "")), ""}
	rows := max(h-len(lines)-4, 1)
	top := max(p.at-rows+1, 0)
	for i := top; i < len(all) && i < top+rows; i++ {
		mark, style := " ", e.styles.Text
		if i == p.at {
			mark, style = e.styles.Accent.Render(e.signs.cursor), e.styles.Selected
		}
		lines = append(lines, mark+style.Render(clip(all[i].Name, w-1, e.signs.more)))
	}
	var sample []string
	for n := needWaits; n <= needEnded; n++ {
		sign, style := e.needLook(n)
		if word := needWords[n]; word != "" {
			sample = append(sample, style.Render(sign+" "+word))
		}
	}
	st := &e.styles
	lines = append(lines, "", clip(" "+strings.Join(sample, "  "), w, ""),
		clip(" "+strings.Join([]string{st.User.Render("user"), st.Agent.Render("agent"), st.Tool.Render("tool"), st.Check.Render("check"),
			st.OK.Render("ok"), st.Error.Render("error"), st.Warning.Render("warning"), st.Muted.Render("muted")}, "  "), w, ""))
	return fill(lines, w, h, e.signs.more)
}
