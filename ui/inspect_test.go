package ui

import (
	"encoding/json"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/muesli/termenv"

	"piwatch/internal/control"
	"piwatch/internal/watchdog"
)

func TestInspectPanel(t *testing.T) {
	hub := newFakeHub()
	m := newScreen(t, Options{Redial: hub.dial}, termenv.Ascii)
	send(m, tea.WindowSizeMsg{Width: 120, Height: 40})
	press(m, "i")
	if m.over == overlayInspect || !strings.Contains(bottomLine(m), "no session is selected") {
		t.Errorf("without a session: %q", bottomLine(m))
	}
	send(m, hubUp{hub, []control.Session{live("s1", "w", viewOf(watchdog.Working), control.Facts{})}})
	send(m, press(m, "i")...)
	if text := m.View(); !strings.Contains(text, "no session s1 is known") {
		t.Errorf("the hub's error is not shown\n%s", text)
	}
	target := control.Target{ID: "s1", Name: "loop\x1b[2Jy", State: "working", Source: "bridge", Link: control.Link{Parent: "p1", By: "marker"},
		Finding: &control.Finding{Rule: "repeated_call", Confidence: "medium", Says: []string{"4 times: bash make"}}}
	hub.detail = control.TargetDetail{
		Target: target, Settings: json.RawMessage(`{"debug":true}`), Origin: map[string]string{"debug": "config.toml:3"},
		Trail: []control.TrailEvent{{N: 1, Kind: "returned", Tool: "bash", Error: true, Preview: "exit 2"}},
		Debug: &control.Exchange{Given: "first\nsecond\x1b]0;evil\a", Text: "I try again.", Stop: "toolUse"},
	}
	send(m, run(m.push(control.Push{Target: &target}))...)
	text := m.View()
	for _, want := range []string{
		"loopy (s1): working", "parent: p1 (marker)", "maybe stuck since", "repeated_call, medium confidence", "4 times: bash make",
		"debug = true (config.toml:3)", "error: exit 2", "the last exchange with the provider", "second", "I try again.",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the panel lacks %q\n%s", want, text)
		}
	}
	if strings.ContainsAny(text, "\x1b\a") || strings.Contains(text, "evil") {
		t.Errorf("foreign sequences are drawn: %q", text)
	}
	press(m, "i")
	if m.over == overlayInspect {
		t.Error("the same key does not close it")
	}
}
