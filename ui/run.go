package ui

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"
	"github.com/mattn/go-isatty"
	"github.com/muesli/termenv"

	"piwatch/internal/noquery"
	"piwatch/themes"
)

func init() { noquery.Done() }

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

	if out, ok := o.Out.(*os.File); ok {
		err = onTerminal(ctx, m, feed, out)
	} else { // nobody looks: Bubble Tea draws what a test wants to see
		_, err = tea.NewProgram(guarded{Model: m, feed: feed}, tea.WithContext(ctx), tea.WithAltScreen(), tea.WithInput(o.In), tea.WithOutput(o.Out)).Run()
	}
	if m.crash != nil {
		return m.crash
	}
	if errors.Is(err, tea.ErrInterrupted) || ctx.Err() != nil && errors.Is(err, tea.ErrProgramKilled) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("show the screen: %w", err)
	}
	return nil
}

// onTerminal runs the program on a terminal of its own.
func onTerminal(ctx context.Context, m *Model, feed *feed, out *os.File) error {
	in, _ := m.o.In.(*os.File)
	t := newTerminal(in, out)
	m.aside = t.aside
	program := tea.NewProgram(guarded{m, feed, t}, tea.WithContext(ctx), tea.WithInput(m.o.In), tea.WithOutput(out), tea.WithoutRenderer())
	if err := t.enter(); err != nil {
		return errors.Join(err, t.leave())
	}
	feed.spawn("draw", func() { t.draw(ctx) })
	feed.spawn("follow the size of the terminal", func() { t.follow(ctx, program.Send) })
	_, err := program.Run()
	return errors.Join(err, t.leave())
}

// start makes the model and what feeds it, which ends with ctx.
func start(ctx context.Context, o Options) (*Model, *feed, error) {
	all, themeErr := themes.Load(o.ThemeDir, o.PiThemeDir)
	theme, err := themes.Pick(all, o.Theme)
	if err != nil {
		return nil, nil, errors.Join(err, themeErr)
	}
	f := newFeed(ctx)
	m := newModel(o, renderer(o), all, theme)
	m.next = f.next
	m.open = f.open
	m.after = f.later
	if themeErr != nil {
		for _, line := range strings.Split(themeErr.Error(), "\n") {
			m.log.add(o.Now(), levelError, "", line)
		}
	}
	f.watchFiles(o.Dirs)
	f.watchHub(o.Hub, o.Redial)
	return m, f, nil
}

// renderer knows how many colours the terminal has.
func renderer(o Options) *lipgloss.Renderer {
	r := lipgloss.NewRenderer(o.Out)
	profile := termenv.Ascii
	if file, ok := o.Out.(*os.File); ok && !o.NoColor && isatty.IsTerminal(file.Fd()) {
		profile = profileOf(o.Getenv)
	}
	r.SetColorProfile(profile)
	return r
}

// profileOf says how many colours a terminal has, by its environment. Terminals
// that say nothing of colours and are known to have them get 16: xterm, screen
// and tmux are often named so over ssh.
func profileOf(env func(string) string) termenv.Profile {
	term := env("TERM")
	kind, _, _ := strings.Cut(term, "-")
	switch strings.ToLower(env("COLORTERM")) {
	case "truecolor", "24bit":
		if kind == "screen" && env("TERM_PROGRAM") != "tmux" {
			return termenv.ANSI256 // GNU screen hands the variable on, and has no more
		}
		return termenv.TrueColor
	}
	switch {
	case term == "" || term == "dumb" || strings.HasPrefix(term, "vt") || strings.HasSuffix(term, "-m") || strings.HasSuffix(term, "-mono"):
		return termenv.Ascii
	case strings.HasSuffix(term, "-direct"), slices.Contains([]string{"alacritty", "contour", "foot", "ghostty", "kitty", "rio", "wezterm"}, strings.TrimPrefix(term, "xterm-")):
		return termenv.TrueColor
	case strings.Contains(term, "256color"):
		return termenv.ANSI256
	}
	return termenv.ANSI
}
