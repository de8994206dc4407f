package themes

import (
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"
)

// For is the theme where there are only so many colours: rounded to 16, true
// colours cannot be read, so that there the others stand in for them.
func (t Theme) For(p termenv.Profile, few Theme) Theme {
	if p != termenv.ANSI {
		return t
	}
	for _, f := range fields {
		if strings.HasPrefix(string(*f.of(&t)), "#") {
			few.Name = t.Name
			return few
		}
	}
	return t
}

// Ground is the sequence that sets the background and the colour of plain text;
// empty where there is none to paint.
func (t Theme) Ground(p termenv.Profile) string {
	if t.Background == "" || p == termenv.Ascii {
		return ""
	}
	ground := p.Color(string(t.Background)).Sequence(true)
	if t.Text != "" {
		ground += ";" + p.Color(string(t.Text)).Sequence(false)
	}
	return termenv.CSI + ground + "m"
}

// Styles are all the styles of the screen. They are made here and nowhere else.
type Styles struct {
	Text, Muted, Accent, Strong lipgloss.Style
	Border, BorderFocus         lipgloss.Style
	Title, TitleFocus           lipgloss.Style
	Selected                    lipgloss.Style // the row under the cursor
	User, Agent, Thinking       lipgloss.Style
	Tool, Check                 lipgloss.Style
	OK, Error, Warning          lipgloss.Style
	Waits, Counting, Working    lipgloss.Style
	Done, Paused                lipgloss.Style
	Bar, BarEmpty               lipgloss.Style
	Key                         lipgloss.Style
}

// Styles derives the styles for an output. The renderer knows how many colours
// it has.
func (t Theme) Styles(r *lipgloss.Renderer) Styles {
	fg := func(c Colour) lipgloss.Style {
		switch c {
		case "":
			return r.NewStyle()
		case Faint:
			return r.NewStyle().Faint(true)
		}
		return r.NewStyle().Foreground(lipgloss.Color(c))
	}
	selected := fg(t.SelectedText).Bold(true)
	if t.SelectedBack != "" {
		selected = selected.Background(lipgloss.Color(t.SelectedBack))
	}
	return Styles{
		Text: fg(t.Text), Muted: fg(t.Muted), Accent: fg(t.Accent), Strong: fg(t.Text).Bold(true),
		Border: fg(t.Border), BorderFocus: fg(t.BorderFocus),
		Title: fg(t.Muted), TitleFocus: fg(t.Accent).Bold(true),
		Selected: selected,
		User:     fg(t.User), Agent: fg(t.Agent), Thinking: fg(t.Thinking).Italic(true),
		Tool: fg(t.Tool), Check: fg(t.Check),
		OK: fg(t.OK), Error: fg(t.Error), Warning: fg(t.Warning),
		Waits: fg(t.Waits).Bold(true), Counting: fg(t.Counting), Working: fg(t.Working),
		Done: fg(t.Done), Paused: fg(t.Paused),
		Bar: fg(t.Bar), BarEmpty: fg(t.BarEmpty),
		Key: fg(t.Key).Bold(true),
	}
}
