package ui

import (
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"piwatch/internal/control"
	"piwatch/internal/watchdog"
)

// binding is a key with all that is said of it. One table of them feeds the
// handling, the bottom line and the help.
type binding struct {
	keys  []string // as Bubble Tea names them; the first is shown
	show  string   // how the keys are shown; empty: the first of keys
	name  string   // one word, for the bottom line; empty: not shown there
	about string   // what it does
	group string
	last  bool // at the end of the bottom line, and always there
	do    func(*Model) tea.Cmd
	// why says why the key does nothing now, "" when it does.
	why func(*Model) string
}

func (b *binding) label() string {
	if b.show != "" {
		return b.show
	}
	return b.keys[0]
}

// Groups of keys, as the help shows them.
const (
	groupWatch = "Watchdog"
	groupMove  = "Moving"
	groupView  = "Screen"
)

const extendBy = 30 // seconds

// bindings is the table of keys.
func bindings() []binding {
	return []binding{
		{keys: []string{"s"}, name: "start", about: "start the watchdog, or change its settings while it runs", group: groupWatch, do: (*Model).askStart, why: needBridge},
		{keys: []string{"p"}, name: "pause", about: "pause the countdown, or resume it", group: groupWatch, do: (*Model).pause, why: needWatch},
		{keys: []string{"n"}, name: "nudge", about: "ask the agent now", group: groupWatch, do: steerKey(control.Nudge, 0, ""), why: needWatch},
		{keys: []string{"+", "="}, name: "30s", about: "give the countdown 30 seconds more", group: groupWatch, do: steerKey(control.Extend, extendBy, ""), why: needCountdown},
		{keys: []string{"-"}, about: "take 30 seconds off the countdown", group: groupWatch, do: steerKey(control.Extend, -extendBy, ""), why: needCountdown},
		{keys: []string{"z"}, name: "skip", about: "skip this countdown; the next begins when the agent stops again", group: groupWatch, do: steerKey(control.Skip, 0, ""), why: needCountdown},
		{keys: []string{"m"}, name: "mode", about: "change the mode: once ends at done or wait_user, keep goes on after your next message", group: groupWatch, do: (*Model).mode, why: needWatch},
		{keys: []string{"x"}, name: "stop", about: "stop the watchdog", group: groupWatch, do: steerKey(control.Stop, 0, ""), why: needWatch},

		{keys: []string{"up", "k"}, show: "↑↓ k j", about: "one up or down", group: groupMove, do: moveKey(-1)},
		{keys: []string{"down", "j"}, group: groupMove, do: moveKey(1)},
		{keys: []string{"pgup", "ctrl+u"}, show: "pgup pgdn", about: "a screen up or down", group: groupMove, do: pageKey(-1)},
		{keys: []string{"pgdown", "ctrl+d", " "}, group: groupMove, do: pageKey(1)},
		{keys: []string{"home", "g"}, show: "g G", about: "to the start or the end; at the end the timeline follows", group: groupMove, do: (*Model).toStart},
		{keys: []string{"end", "G"}, group: groupMove, do: (*Model).toEnd},
		{keys: []string{"tab", "shift+tab"}, show: "tab", name: "pane", about: "to the other pane", group: groupMove, do: (*Model).otherPane},
		{keys: []string{"left", "h"}, show: "←→ h l", about: "to the sessions, to the timeline", group: groupMove, do: focusKey(paneList)},
		{keys: []string{"right", "l"}, group: groupMove, do: focusKey(paneStory)},
		{keys: []string{"enter"}, name: "open", about: "go into a session; open or close a card, a tool, a text", group: groupMove, do: (*Model).enter},

		{keys: []string{"/"}, name: "filter", about: "filter the sessions by name, folder or state", group: groupView, do: (*Model).askFilter},
		{keys: []string{"L"}, name: "log", about: "what was said: replies, refusals, why nothing was sent", group: groupView, do: overlayKey(overlayLog)},
		{keys: []string{"t"}, about: "the next theme", group: groupView, do: (*Model).nextTheme},
		{keys: []string{"esc"}, about: "leave, clear the filter, dismiss the message", group: groupView, do: (*Model).escape},
		{keys: []string{"?"}, name: "help", about: "this help", group: groupView, last: true, do: overlayKey(overlayHelp)},
		{keys: []string{"q", "ctrl+c"}, name: "quit", about: "quit; what is armed stays armed", group: groupView, last: true, do: func(*Model) tea.Cmd { return tea.Quit }},
	}
}

// bound finds the binding of a key.
func (m *Model) bound(key string) *binding {
	for i := range m.keys {
		if slices.Contains(m.keys[i].keys, key) {
			return &m.keys[i]
		}
	}
	return nil
}

// disabled says why a binding does nothing now.
func (m *Model) disabled(b *binding) string {
	if b.why == nil {
		return ""
	}
	return b.why(m)
}

func needBridge(m *Model) string {
	s := m.list.current()
	switch {
	case s == nil:
		return "no session is selected"
	case s.live == nil:
		return readOnly
	case s.lost || m.hub == nil:
		return "no hub: read-only until it is there again"
	}
	return ""
}

func watching(s *session) bool { return s.live != nil && s.live.Watch.Phase != watchdog.Off }

func needWatch(m *Model) string {
	if why := needBridge(m); why != "" {
		return why
	}
	if !watching(m.list.current()) {
		return "the watchdog is off in this session; s starts it"
	}
	return ""
}

func needCountdown(m *Model) string {
	if why := needWatch(m); why != "" {
		return why
	}
	if v := m.list.current().live.Watch; v.Phase != watchdog.Counting && v.Left == 0 {
		why := "no countdown runs"
		if v.Why != "" {
			why += ": " + v.Why
		}
		return why
	}
	return ""
}

func steerKey(method string, seconds int, line string) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		return m.steer(method, control.SteerParams{Session: m.list.selected, Seconds: seconds, Line: line})
	}
}

func moveKey(n int) func(*Model) tea.Cmd { return func(m *Model) tea.Cmd { return m.move(n) } }

func pageKey(n int) func(*Model) tea.Cmd { return func(m *Model) tea.Cmd { return m.page(n) } }

func focusKey(p pane) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd { m.focus = p; return nil }
}

func overlayKey(o overlay) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		if m.over == o {
			o = overlayNone
		}
		m.over, m.overUp = o, 0
		return nil
	}
}

// bottomKeys is the bottom line: the keys that do something now, as far as
// there is room. Help and quit have theirs first, or it is them alone.
func (m *Model) bottomKeys(e *env, w int, lastOnly bool) string {
	var first, last strings.Builder
	room := w
	take := func(to *strings.Builder, b *binding) {
		n := 1 + width(b.label()) + 1 + width(b.name) + 1
		if b.name == "" || m.disabled(b) != "" || n > room {
			return
		}
		room -= n
		to.WriteString(" " + e.styles.Key.Render(b.label()) + " " + e.styles.Muted.Render(b.name) + " ")
	}
	if w >= roomForLast {
		for i := range m.keys {
			if m.keys[i].last {
				take(&last, &m.keys[i])
			}
		}
	}
	if lastOnly {
		return last.String()
	}
	for i := range m.keys {
		if !m.keys[i].last {
			take(&first, &m.keys[i])
		}
	}
	return first.String() + last.String()
}

// roomForLast is the width from which help and quit are always shown.
const roomForLast = 36

// helpLines is the help: every key, and of those that do nothing now, why.
func (m *Model) helpLines(e *env, w int) []string {
	keyWidth := 10
	var lines []string
	for _, group := range []string{groupWatch, groupMove, groupView} {
		lines = append(lines, " "+e.styles.TitleFocus.Render(clip(group, w-1, "")))
		for i := range m.keys {
			k := &m.keys[i]
			if k.group != group || k.about == "" {
				continue
			}
			lines = append(lines, m.helpLine(e, k, w, keyWidth)...)
		}
		lines = append(lines, "")
	}
	return lines
}

func (m *Model) helpLine(e *env, k *binding, w, keyWidth int) []string {
	text := k.about
	style := e.styles.Text
	if why := m.disabled(k); why != "" {
		text += " (" + why + ")"
		style = e.styles.Muted
	}
	label := k.label()
	if len(k.keys) > 1 && k.show == "" {
		label = strings.Join(k.keys, " ")
	}
	if e.signs.vertical == asciiSigns.vertical {
		label = strings.NewReplacer("↑↓", "up/dn", "←→", "lt/rt").Replace(label)
	}
	parts, _ := wrap(text, max(w-keyWidth-3, 8), 3)
	lines := make([]string, len(parts))
	for i, p := range parts {
		before := strings.Repeat(" ", keyWidth+2)
		if i == 0 {
			before = "  " + e.styles.Key.Render(fit(label, keyWidth, ""))
		}
		lines[i] = clip(before+" "+style.Render(p), w, e.signs.more)
	}
	return lines
}
