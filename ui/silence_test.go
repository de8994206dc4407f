package ui

import (
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/muesli/termenv"

	"piwatch/internal/control"
	"piwatch/internal/guard"
	"piwatch/internal/watchdog"
)

// A breaker that tripped is seen, and one key closes it.
func TestGuardOnTheScreen(t *testing.T) {
	hub := newFakeHub()
	m := newScreen(t, Options{Redial: hub.dial}, termenv.Ascii)
	s := live("aaaa-1", "w", viewOf(watchdog.Off), control.Facts{Idle: true})
	send(m, tea.WindowSizeMsg{Width: 100, Height: 30}, hubUp{hub, []control.Session{s}})
	press(m, "b")
	wantNothingAsked(t, hub)
	if !strings.Contains(bottomLine(m), "the guard has done nothing") || strings.Contains(m.View(), "guard tripped") {
		t.Errorf("at rest\n%s", m.View())
	}
	s.Guard = guard.View{Row: 3, Total: 3, Tripped: "stopped without a word 4 times in a row"}
	send(m, hubPush{control.Push{Session: &s}})
	if view := m.View(); !strings.Contains(view, "watchdog off  guard tripped") || !strings.Contains(view, "b reset guard") {
		t.Errorf("tripped\n%s", view)
	}
	hub.answer(levelInfo, "Guard reset")
	send(m, press(m, "b")...)
	wantAsked(t, hub, steered{control.GuardReset, control.SteerParams{}})
	s.Guard = guard.View{Off: true, Why: "by hand"}
	send(m, hubPush{control.Push{Session: &s}})
	if view := m.View(); !strings.Contains(view, "guard off") || strings.Contains(view, "b reset guard") {
		t.Errorf("off\n%s", view)
	}
	press(m, "b")
	wantNothingAsked(t, hub)
	if got := bottomLine(m); !strings.Contains(got, "the guard is off in this session; B turns it on") {
		t.Errorf("reset where it is off: %s", got)
	}
	hub.answer(levelInfo, "Guard on")
	send(m, press(m, "B")...)
	wantAsked(t, hub, steered{control.GuardOn, control.SteerParams{}})
	s.Guard = guard.View{}
	send(m, hubPush{control.Push{Session: &s}})
	hub.answer(levelInfo, "Guard off")
	send(m, press(m, "B")...)
	wantAsked(t, hub, steered{control.GuardOff, control.SteerParams{}})
}
