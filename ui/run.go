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
	ctx, cancel := context.WithCancel(ctx)
	m, feed, err := start(ctx, o)
	if err != nil {
		cancel()
		return err
	}
	defer feed.wait()
	defer cancel()

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

// start makes the model and what feeds it, which ends with ctx.
func start(ctx context.Context, o Options) (*Model, *feed, error) {
	all, themeErr := themes.Load(o.ThemeDir)
	theme, err := themes.Pick(all, o.Theme)
	if err != nil {
		return nil, nil, errors.Join(err, themeErr)
	}
	f := newFeed(ctx)
	m := newModel(o, renderer(o), all, theme)
	m.next = f.next
	m.open = f.open
	if themeErr != nil {
		m.log.add(o.Now(), levelError, "", themeErr.Error())
	}
	f.watchFiles(o.Dirs)
	f.watchHub(o.Hub, o.Redial)
	return m, f, nil
}

// renderer knows how many colours the terminal has.
func renderer(o Options) *lipgloss.Renderer {
	r := lipgloss.NewRenderer(o.Out)
	if o.NoColor {
		r.SetColorProfile(termenv.Ascii)
	}
	return r
}
