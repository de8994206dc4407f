package ui

import (
	"fmt"
	"io"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
)

// Notify is a way to tell the user that a session needs them.
type Notify string

// The ways to tell. The zero value is the bell.
const (
	NotifyBell   Notify = "bell"   // the terminal's bell
	NotifyOSC9   Notify = "osc9"   // a notification of the terminal, as iTerm2 and Windows Terminal know it
	NotifyOSC777 Notify = "osc777" // a notification of the terminal, as urxvt, foot and WezTerm know it
	NotifyNone   Notify = "none"
)

// alarmPause is the shortest time between two notifications.
const alarmPause = 2 * time.Second

// alarm knows which sessions need the user, to tell of new ones. The first look
// only learns.
type alarm struct {
	known   map[string]bool
	learned bool
	last    time.Time
	waiting []string // titles that were not told yet: they come with the next
}

// ring tells of the sessions that need the user since the last time.
func (m *Model) ring() tea.Cmd {
	a := &m.alarm
	needs := map[string]bool{}
	for id, s := range m.list.all {
		if rank, _ := s.need(m.env.now); rank <= needFailed && s.live != nil && !s.lost {
			needs[id] = true
			if a.learned && !a.known[id] {
				a.waiting = append(a.waiting, s.title())
			}
		}
	}
	a.known = needs
	if !a.learned {
		a.learned = m.list.loaded && (m.hub != nil || m.o.Redial == nil)
		return nil
	}
	if len(a.waiting) == 0 {
		return nil
	}
	if wait := alarmPause - m.env.now.Sub(a.last); !a.last.IsZero() && wait > 0 {
		return m.after(wait, rest{})
	}
	text := a.waiting[0] + " needs you"
	if n := len(a.waiting); n > 1 {
		text = fmt.Sprintf("%d sessions need you", n)
	}
	a.last, a.waiting = m.env.now, nil
	return m.emit(notification(m.o.Notify, text))
}

// rest says that the pause after a notification is over.
type rest struct{}

// notification is what the terminal is sent.
func notification(how Notify, text string) string {
	text = strings.ReplaceAll(text, ";", ",") // which parts the fields of OSC 777
	switch how {
	case NotifyOSC9:
		return ansi.Notify("piwatch: " + text)
	case NotifyOSC777:
		return "\x1b]777;notify;piwatch;" + text + "\x07"
	case NotifyNone:
		return ""
	}
	return "\x07"
}

// emit sends a sequence to the terminal, in one write: it never comes into the
// midst of a frame.
func (m *Model) emit(sequence string) tea.Cmd {
	if sequence == "" || m.o.Out == nil {
		return nil
	}
	out := m.o.Out
	return func() tea.Msg {
		if _, err := io.WriteString(out, sequence); err != nil {
			return said{levelError, "the terminal: " + err.Error()}
		}
		return nil
	}
}
