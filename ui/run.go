package ui

import (
	"context"
	"errors"
	"fmt"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"

	"piwatch/themes"
)

// Run shows the screen until the user quits or ctx ends; both are no error.
// The terminal is left as it was found, also after a panic in any goroutine of
// the screen, which is returned as an error.
func Run(ctx context.Context, o Options) error {
	o = o.withDefaults()
	all, themeErr := themes.Load(o.ThemeDir)
	theme, err := themes.Pick(all, o.Theme)
	if err != nil {
		return errors.Join(err, themeErr)
	}
	ctx, cancel := context.WithCancel(ctx)
	feed := newFeed(ctx)
	defer feed.wait()
	defer cancel()

	m := newModel(o, renderer(o), all, theme)
	m.next = feed.next
	m.open = feed.open
	if themeErr != nil {
		m.log.add(o.Now(), levelError, "", themeErr.Error())
	}
	feed.watchFiles(o.Dirs)
	feed.watchHub(o.Hub, o.Redial)

	final, err := tea.NewProgram(m, tea.WithContext(ctx), tea.WithAltScreen(), tea.WithInput(o.In), tea.WithOutput(o.Out)).Run()
	if done, ok := final.(*Model); ok && done.crash != nil {
		return done.crash
	}
	if errors.Is(err, tea.ErrInterrupted) || ctx.Err() != nil && errors.Is(err, tea.ErrProgramKilled) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("show the screen: %w", err)
	}
	return nil
}

// renderer knows how many colours the terminal has.
func renderer(o Options) *lipgloss.Renderer {
	r := lipgloss.NewRenderer(o.Out)
	if o.NoColor {
		r.SetColorProfile(termenv.Ascii)
	}
	return r
}
