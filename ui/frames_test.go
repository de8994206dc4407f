package ui

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/exp/golden"
	"github.com/muesli/termenv"
	"pgregory.net/rapid"
)

var sizes = [][2]int{{80, 24}, {120, 40}, {200, 60}, {40, 15}, {20, 5}, {60, 3}, {60, 1}, {1, 1}, {0, 0}}

// The frames of every state at every size. Run with -update to write them
// anew, and look at the difference.
func TestFrames(t *testing.T) {
	for _, state := range states {
		t.Run(state, func(t *testing.T) {
			var all strings.Builder
			for _, size := range sizes {
				w, h := size[0], size[1]
				frame := screenIn(t, Options{}, termenv.Ascii, state, w, h).View()
				wantFits(t, frame, w, h)
				fmt.Fprintf(&all, "===== %d×%d =====\n%s\n", w, h, frame)
			}
			golden.RequireEqual(t, []byte(all.String()))
		})
	}
}

// The frames of every theme, with their colours, and of the plain signs.
func TestThemeFrames(t *testing.T) {
	for _, theme := range allThemes(t) {
		t.Run(theme.Name, func(t *testing.T) {
			var all strings.Builder
			for _, state := range states {
				m := screenIn(t, Options{Theme: theme.Name}, termenv.TrueColor, state, 80, 24)
				fmt.Fprintf(&all, "===== %s =====\n%s\n", state, m.View())
			}
			golden.RequireEqual(t, []byte(strings.ReplaceAll(all.String(), "\x1b", `\x1b`)))
		})
	}
}

// The frames of terminals with 16 colours, 256, and none, by their sequences:
// none has a colour that the terminal lacks, and what has none has no sequence.
func TestFramesOfFewColours(t *testing.T) {
	more := regexp.MustCompile(`[34]8;[25];`)
	for _, c := range []struct {
		name    string
		profile termenv.Profile
		theme   string
		lacks   *regexp.Regexp
	}{
		{"16-terminal", termenv.ANSI, "terminal", more},
		{"16-dark", termenv.ANSI, "dark", more},
		{"256-dark", termenv.ANSI256, "dark", regexp.MustCompile(`[34]8;2;`)},
		{"none-dark", termenv.Ascii, "dark", regexp.MustCompile(`\x1b`)},
	} {
		t.Run(c.name, func(t *testing.T) {
			var all strings.Builder
			for _, state := range states {
				m := screenIn(t, Options{Theme: c.theme}, c.profile, state, 80, 24)
				frame := m.View()
				if found := c.lacks.FindString(frame); found != "" {
					t.Errorf("%s: the frame has %q", state, found)
				}
				fmt.Fprintf(&all, "===== %s =====\n%s\n", state, frame)
			}
			golden.RequireEqual(t, []byte(strings.ReplaceAll(all.String(), "\x1b", `\x1b`)))
		})
	}
}

func TestASCIIFrames(t *testing.T) {
	for _, state := range states {
		m := screenIn(t, Options{ASCII: true}, termenv.Ascii, state, 100, 30)
		send(m, key("tab"), key("home"))
		frame := m.View()
		wantFits(t, frame, 100, 30)
		if state == "counting" {
			golden.RequireEqual(t, []byte(frame))
		}
		for _, r := range frame {
			if r > 0x7e && !strings.ContainsRune("…—", r) { // of the session's own text
				t.Errorf("%s: the frame holds %q", state, r)
			}
		}
	}
}

// What covers the timeline, and what is opened in it.
func TestOverlayFrames(t *testing.T) {
	for name, keys := range map[string][]string{
		"help":     {"?"},
		"log":      {"x", "L"},
		"start":    {"s", "timeout=x"},
		"filter":   {"/", "web"},
		"story":    {"tab", "home"},
		"card":     {"tab", "home", "down", "down", "down", "down", "down", "down", "down", "down", "down", "down", "enter"},
		"tool":     {"tab", "home", "down", "down", "down", "down", "down", "down", "enter"},
		"disabled": {"down", "p"},
		"review":   {"v"},
		"themes":   {"t", "down"},
		"sure":     {"x"},
		"search":   {"?", "/", "pause"},
	} {
		t.Run(name, func(t *testing.T) {
			var all strings.Builder
			for _, size := range [][2]int{{100, 30}, {40, 15}, {20, 5}} {
				state := "counting"
				if name == "log" {
					state = "read-only"
				}
				m := screenIn(t, Options{}, termenv.Ascii, state, size[0], size[1])
				for _, k := range keys {
					send(m, key(k))
					wantFits(t, m.View(), size[0], size[1])
				}
				fmt.Fprintf(&all, "===== %d×%d =====\n%s\n", size[0], size[1], m.View())
			}
			golden.RequireEqual(t, []byte(all.String()))
		})
	}
}

// No frame is ever larger than the screen, whatever keys are pressed and
// however the screen is resized on the way.
func TestFramesFit(t *testing.T) {
	var names []string
	for _, b := range bindings() {
		for _, k := range b.keys {
			if k != "q" && k != "ctrl+c" {
				names = append(names, k)
			}
		}
	}
	names = append(names, "timeout=5 ", "漢字", "e\u0301")
	keys := rapid.SampledFrom(names)
	rapid.Check(t, func(rt *rapid.T) {
		state := rapid.SampledFrom(states).Draw(rt, "state")
		m := screenIn(t, Options{ASCII: rapid.Bool().Draw(rt, "ascii")}, termenv.ANSI256, state, 80, 24)
		for range rapid.IntRange(1, 25).Draw(rt, "steps") {
			if rapid.Bool().Draw(rt, "resize") {
				w, h := rapid.IntRange(0, 130).Draw(rt, "w"), rapid.IntRange(0, 40).Draw(rt, "h")
				send(m, tea.WindowSizeMsg{Width: w, Height: h})
			} else {
				send(m, key(keys.Draw(rt, "key")))
			}
			wantFits(rt, m.View(), m.w, m.h)
		}
	})
}
