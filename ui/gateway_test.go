package ui

import (
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/muesli/termenv"

	"piwatch/internal/control"
	"piwatch/internal/gateway"
)

// traffic is a gateway with one provider that waits and one that is broken.
func traffic(name string) control.GatewayState {
	return control.GatewayState{
		On: true, All: true, Port: 4400,
		Sessions: []control.PointedAt{
			{Session: "s1", Provider: name, On: true},
			{Session: "s2", Provider: "codex", Why: "Codex talks over a WebSocket"},
		},
		Traffic: &gateway.Status{
			Providers: []gateway.ProviderStatus{
				{Provider: name, Upstream: "https://api.acme.example", Counts: gateway.Counts{
					Requests: 12, Active: 1, Recovered: 2, Retries: map[string]int{"502": 3, "reset": 1}, Failed: map[string]int{"522": 1},
				}},
				{Provider: "down", Upstream: "https://down.example", Breaker: gateway.BreakerStatus{Open: true, Until: now.Add(42 * time.Second), Failed: 3}},
			},
			Waiting: []gateway.Wait{{Provider: name, Upstream: "https://api.acme.example", Cause: "502", Retry: 2, Of: 3, Until: now.Add(4500 * time.Millisecond)}},
		},
	}
}

func TestGatewayPanel(t *testing.T) {
	at := now
	m := newScreen(t, Options{Now: func() time.Time { return at }}, termenv.Ascii)
	var ordered []time.Duration
	m.after = func(d time.Duration, msg tea.Msg) tea.Cmd {
		if _, ok := msg.(tick); ok {
			ordered = append(ordered, d)
		}
		return nil
	}
	send(m, tea.WindowSizeMsg{Width: 120, Height: 40})
	press(m, "P")
	if text := m.View(); !strings.Contains(text, "the hub has not said how it stands") {
		t.Errorf("before the hub says anything:\n%s", text)
	}
	state := traffic("acme")
	send(m, hubPush{control.Push{Gateway: &state}})
	text := m.View()
	for _, want := range []string{
		"on for all providers, 127.0.0.1:4400", "acme https://api.acme.example", "12 requests · 1 now · 2 helped",
		"tried again after 502×3 reset×1", "failed with 522×1", "breaker closed", "waits after 502: retry 2 of 3 in 5s",
		"breaker open, no retries for 42s", "acme passes in session s1", "codex goes direct in session s2: Codex talks over a WebSocket",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the panel lacks %q:\n%s", want, text)
		}
	}
	if len(ordered) != 1 || ordered[0] != 500*time.Millisecond {
		t.Errorf("ordered %v, want the half second after which a text changes", ordered)
	}
	at = at.Add(500 * time.Millisecond)
	send(m, tick{})
	if text := m.View(); !strings.Contains(text, "retry 2 of 3 in 4s") {
		t.Errorf("half a second later:\n%s", text)
	}
	off := control.GatewayState{}
	send(m, hubPush{control.Push{Gateway: &off}})
	if text := m.View(); !strings.Contains(text, "off; piwatch gateway on turns it on") {
		t.Errorf("turned off:\n%s", text)
	}
	send(m, hubDown{})
	if text := m.View(); !strings.Contains(text, "the hub has not said how it stands") {
		t.Errorf("without a hub:\n%s", text)
	}
}

// What covers the pane opens as often as its key is pressed.
func TestOverlaysOpenAgain(t *testing.T) {
	m := newScreen(t, Options{}, termenv.Ascii)
	send(m, tea.WindowSizeMsg{Width: 100, Height: 30})
	for key, over := range map[string]overlay{"P": overlayGateway, "L": overlayLog, "?": overlayHelp} {
		for range 3 {
			if press(m, key); m.over != over {
				t.Errorf("%s does not open", key)
			}
			if press(m, key); m.over != overlayNone {
				t.Errorf("%s does not close", key)
			}
		}
	}
}

// Names of providers come from elsewhere; and no size breaks the panel.
func TestGatewayPanelHoldsItsFrame(t *testing.T) {
	m := newScreen(t, Options{}, termenv.Ascii)
	state := traffic(hostile)
	send(m, hubPush{control.Push{Gateway: &state}})
	press(m, "P")
	for _, size := range []tea.WindowSizeMsg{{Width: 20, Height: 5}, {Width: 61, Height: 8}, {Width: 200, Height: 60}} {
		send(m, size)
		for range 3 {
			press(m, "pgdown")
			text := m.View()
			wantFits(t, text, size.Width, size.Height)
			if strings.ContainsAny(text, "\x1b\x07\u009b\u202e\r") {
				t.Errorf("%+v: the frame holds what steers a terminal: %q", size, text)
			}
		}
	}
}
