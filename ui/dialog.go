package ui

import (
	"strings"

	"github.com/charmbracelet/bubbles/cursor"
	"github.com/charmbracelet/bubbles/textinput"
	tea "github.com/charmbracelet/bubbletea"

	"piwatch/internal/control"
	"piwatch/internal/timeline"
	"piwatch/internal/watchdog"
)

// dialog asks for one line. It checks the line at each key, so that a mistake
// is seen before it is sent.
type dialog struct {
	title, hint string
	enter       string // what enter does
	input       textinput.Model
	check       func(line string) error
	err         error
	done        func(line string) tea.Cmd
	live        func(line string) // called at each change
	cancel      func()
}

func newInput(value string) textinput.Model {
	in := textinput.New()
	in.Prompt = ""
	in.Cursor.SetMode(cursor.CursorStatic) // one that blinks draws the screen twice a second
	in.SetValue(value)
	in.CursorEnd()
	in.Focus()
	return in
}

// startDialog asks for the settings of a start, or of a change while it runs.
func startDialog(m *Model, s *session) *dialog {
	method, title := control.Start, "Start the watchdog (empty: "+watchdog.Defaults().String()+")"
	check := func(line string) error { _, err := watchdog.Parse(line); return err }
	if watching(s) {
		now := s.live.Watch.Settings
		method, title = control.Set, "Change the settings (now: "+timeline.OneLine(now.String())+")"
		check = func(line string) error { _, err := now.With(line); return err }
	}
	return &dialog{
		title: title, hint: watchdog.Usage, enter: "send", input: newInput(""), check: check,
		done: func(line string) tea.Cmd {
			return m.steer(method, control.SteerParams{Session: s.id, Line: line})
		},
	}
}

// key handles a key; closed says that the dialog is over.
func (d *dialog) key(msg tea.KeyMsg) (cmd tea.Cmd, closed bool) {
	switch msg.Type {
	case tea.KeyEsc, tea.KeyCtrlC:
		if d.cancel != nil {
			d.cancel()
		}
		return nil, true
	case tea.KeyEnter:
		line := d.input.Value()
		if d.err = d.verdict(line); d.err != nil {
			return nil, false
		}
		if d.done == nil {
			return nil, true
		}
		return d.done(line), true
	}
	msg.Runes = []rune(timeline.Clean(string(msg.Runes))) // a paste may hold anything
	d.input, cmd = d.input.Update(msg)
	d.err = d.verdict(d.input.Value())
	if d.live != nil {
		d.live(d.input.Value())
	}
	return cmd, false
}

func (d *dialog) verdict(line string) error {
	if d.check == nil {
		return nil
	}
	return d.check(line)
}

// draw draws the dialog as lines of at most w cells.
func (d *dialog) draw(e *env, w int) []string {
	d.input.Width = max(w-3, 1)
	d.input.TextStyle, d.input.Cursor.Style = e.styles.Text, e.styles.Accent
	lines := []string{
		e.styles.TitleFocus.Render(clip(" "+d.title, w, e.signs.more)),
		clip(" "+e.styles.Key.Render(">")+" "+d.input.View(), w, ""),
	}
	text, style := d.hint, e.styles.Muted
	if d.err != nil {
		text, style = d.err.Error(), e.styles.Error
	}
	parts, _ := wrap(text, max(w-2, 1), 4)
	for _, p := range parts {
		lines = append(lines, " "+style.Render(strings.TrimSpace(p)))
	}
	return append(lines, " "+e.styles.Muted.Render(clip("enter: "+d.enter+"   esc: leave", w-1, "")))
}
