package ui

import (
	"fmt"
	"runtime/debug"

	tea "github.com/charmbracelet/bubbletea"
)

// CrashError says that a part of the screen panicked. The terminal was put
// back.
type CrashError struct {
	What  string // the part
	Value any    // what it panicked with
	Stack []byte
}

func (e *CrashError) Error() string { return fmt.Sprintf("%s: panic: %v", e.What, e.Value) }

// crashed says that something panicked, on which the model quits.
type crashed struct{ err error }

// caught makes a panic an error; it is deferred with what to do then.
func caught(what string, then func(error)) {
	if r := recover(); r != nil {
		then(&CrashError{what, r, debug.Stack()})
	}
}

// guarded is the model as the program runs it: a panic anywhere in it ends the
// program in order, so that the terminal is never left raw.
type guarded struct {
	*Model
	feed     *feed
	terminal *terminal // nil where Bubble Tea draws
}

func (g guarded) Update(msg tea.Msg) (model tea.Model, cmd tea.Cmd) {
	defer caught("take in "+fmt.Sprintf("%T", msg), func(err error) {
		g.crash = err
		model, cmd = g, tea.Quit
	})
	_, cmd = g.Model.Update(msg)
	return g, guardCommand(cmd)
}

// View may only draw: that it panicked is told by the feed.
func (g guarded) View() (text string) {
	defer caught("draw", func(err error) {
		if g.crash == nil {
			g.crash = err
			g.feed.spawn("end the screen", func() { g.feed.send(g.feed.ctx, crashed{err}) })
		}
	})
	text = g.Model.View()
	if g.terminal != nil {
		g.terminal.show(frame{text, g.w, g.h, g.mouse})
	}
	return text
}

// guardCommand guards a command and those it leads to.
func guardCommand(cmd tea.Cmd) tea.Cmd {
	if cmd == nil {
		return nil
	}
	return func() (msg tea.Msg) {
		defer caught("a command", func(err error) { msg = crashed{err} })
		msg = cmd()
		if batch, ok := msg.(tea.BatchMsg); ok {
			for i := range batch {
				batch[i] = guardCommand(batch[i])
			}
		}
		return msg
	}
}
