package ui

import (
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"piwatch/internal/control"
	"piwatch/internal/watchdog"
)

// binding is an action with its keys and all that is said of it. One table of
// them feeds the handling, the bottom line, the help, the README and what the
// user's config may change.
type binding struct {
	id    string   // its name in the config
	keys  []string // as Bubble Tea names them; the first is shown
	name  string   // a word or two for the bottom line; empty: not shown there
	about string   // what it does
	group string
	in    overlay // where it is bound
	pair  bool    // shares its line in the help with the one before
	last  bool    // at the end of the bottom line, and always there
	do    func(*Model) tea.Cmd
	// why says why the key does nothing now, "" when it does.
	why func(*Model) string
	// now is the name where that depends on the state.
	now func(*Model) string
}

// Groups of keys, as the help shows them.
const (
	groupWatch    = "Watchdog"
	groupExchange = "Folded exchanges"
	groupMove     = "Moving"
	groupText     = "Texts"
	groupView     = "Screen"
)

var groups = []string{groupWatch, groupExchange, groupMove, groupText, groupView}

const extendBy = 30 // seconds

// Where keys are bound. In the selector of themes few do something else.
const (
	inPanes    = overlayNone | overlayLog | overlayHelp | overlayGateway | overlayInspect
	inLists    = inPanes | overlayThemes | overlayReview
	everywhere = inLists
)

// bindings is the table of keys. What is more useful comes first in the bottom
// line.
func bindings() []binding {
	return []binding{
		{id: "unfold", keys: []string{"u"}, name: "unfold", now: foldName, about: "bring a folded exchange back into what the agent sees, or fold it again", group: groupExchange, in: overlayNone | overlayReview, do: (*Model).fold, why: needFold},
		{id: "rollback", keys: []string{"R"}, name: "roll back", about: "take the exchange off the branch and off Pi's screen; it asks first", group: groupExchange, in: overlayNone | overlayReview, do: (*Model).rollback, why: needCard},
		{id: "next_exchange", keys: []string{"]", "right", "l"}, name: "next", about: "in the review: the next exchange, the one before", group: groupExchange, in: overlayReview, do: reviewKey(1)},
		{id: "previous_exchange", keys: []string{"[", "left", "h"}, name: "previous", group: groupExchange, in: overlayReview, pair: true, do: reviewKey(-1)},

		{id: "refusals", keys: []string{"f"}, name: "refusals", now: refusalsName, about: "in the log: refusals and warnings only, or all", group: groupView, in: overlayLog, do: (*Model).toggleRefusals},

		{id: "start", keys: []string{"s"}, name: "start", now: startName, about: "start the watchdog, or change its settings while it runs", group: groupWatch, in: inPanes, do: (*Model).askStart, why: needBridge},
		{id: "pause", keys: []string{"p"}, name: "pause", now: pauseName, about: "pause the countdown, or resume it", group: groupWatch, in: inPanes, do: (*Model).pause, why: needWatch},
		{id: "nudge", keys: []string{"n"}, name: "nudge", about: "ask the agent now", group: groupWatch, in: inPanes, do: steerKey(control.Nudge, 0), why: needWatch},
		{id: "more", keys: []string{"+", "="}, name: "30s", about: "give the countdown 30 seconds more, or take them off", group: groupWatch, in: inPanes, do: steerKey(control.Extend, extendBy), why: needCountdown},
		{id: "less", keys: []string{"-"}, group: groupWatch, in: inPanes, pair: true, do: steerKey(control.Extend, -extendBy), why: needCountdown},
		{id: "skip", keys: []string{"z"}, name: "skip", about: "skip this countdown; the next begins when the agent stops again", group: groupWatch, in: inPanes, do: steerKey(control.Skip, 0), why: needCountdown},
		{id: "mode", keys: []string{"m"}, name: "mode", about: "change the mode: once ends at done or wait_user, keep goes on after your next message", group: groupWatch, in: inPanes, do: (*Model).mode, why: needWatch},
		{id: "stop", keys: []string{"x"}, name: "stop", about: "stop the watchdog; it asks first when several are on", group: groupWatch, in: inPanes, do: (*Model).stop, why: needWatch},
		{id: "guard", keys: []string{"b"}, now: guardName, about: "reset the guard: close its breaker after silent stops, and count anew", group: groupWatch, in: inPanes, do: steerKey(control.GuardReset, 0), why: needGuard},
		{id: "guard_switch", keys: []string{"B"}, about: "turn the guard of the session off, or on again", group: groupWatch, in: inPanes, do: (*Model).switchGuard, why: needBridge},

		{id: "up", keys: []string{"up", "k"}, about: "one up or down", group: groupMove, in: inLists, do: moveKey(-1)},
		{id: "down", keys: []string{"down", "j"}, group: groupMove, in: inLists, pair: true, do: moveKey(1)},
		{id: "page_up", keys: []string{"pgup", "ctrl+u"}, about: "a screen up or down", group: groupMove, in: inLists, do: pageKey(-1)},
		{id: "page_down", keys: []string{"pgdown", "ctrl+d", " "}, group: groupMove, in: inLists, pair: true, do: pageKey(1)},
		{id: "to_start", keys: []string{"home", "g"}, about: "to the start or the end; at the end the timeline follows", group: groupMove, in: inLists, do: (*Model).toStart},
		{id: "to_end", keys: []string{"end", "G"}, group: groupMove, in: inLists, pair: true, do: (*Model).toEnd},
		{id: "to_sessions", keys: []string{"left", "h"}, about: "to the sessions, to the timeline", group: groupMove, in: inPanes, do: focusKey(paneList)},
		{id: "to_timeline", keys: []string{"right", "l"}, group: groupMove, in: inPanes, pair: true, do: focusKey(paneStory)},
		{id: "pane", keys: []string{"tab", "shift+tab"}, name: "pane", about: "to the other pane", group: groupMove, in: inPanes, do: (*Model).otherPane},
		{id: "next_need", keys: []string{"w"}, name: "needs me", about: "to the next session that waits for you, failed, reached its cap, or may be stuck", group: groupMove, in: inPanes, do: (*Model).nextNeed, why: needNeed},
		{id: "open", keys: []string{"enter"}, name: "open", now: openName, about: "go into a session; open or close a card, a tool, a text, the group of ended sessions", group: groupMove, in: overlayNone | overlayThemes, do: (*Model).enter},

		{id: "review", keys: []string{"v"}, now: reviewName, about: "all folded exchanges of the session: what the agent saw before and after", group: groupExchange, in: inPanes | overlayReview, do: (*Model).toggleReview, why: needReview},
		{id: "filter", keys: []string{"/"}, name: "filter", now: filterName, about: "filter the sessions by name, folder or state; in the help: search", group: groupView, in: overlayNone | overlayHelp, do: (*Model).askFilter},
		{id: "log", keys: []string{"L"}, name: "log", about: "what was said: replies, refusals, why nothing was sent", group: groupView, in: inPanes, do: overlayKey(overlayLog)},
		{id: "gateway", keys: []string{"P"}, about: "the gateway: what passes of each provider, what was tried again, what waits", group: groupView, in: inPanes, do: overlayKey(overlayGateway)},
		{id: "inspect", keys: []string{"i"}, about: "why the session may be stuck, whose child it is, its last events; with debug=true its last exchange with the provider", group: groupView, in: inPanes, do: (*Model).inspect, why: needHub},
		{id: "copy", keys: []string{"y"}, about: "copy the row to the clipboard; of a session its file's name", group: groupText, in: overlayNone | overlayReview, do: (*Model).copyRow, why: needRow},
		{id: "pager", keys: []string{"o"}, about: "read the whole row in $PAGER", group: groupText, in: overlayNone | overlayReview, do: (*Model).readRow, why: needRow},
		{id: "edit", keys: []string{"e"}, about: "open the session's file in $EDITOR", group: groupText, in: overlayNone | overlayReview, do: (*Model).edit, why: needFile},
		{id: "ended", keys: []string{"."}, about: "show the ended sessions, or one line for all of them", group: groupView, in: overlayNone, do: (*Model).toggleEnded, why: needFolded},
		{id: "theme", keys: []string{"t"}, about: "choose a theme; it is seen at once, esc goes back", group: groupView, in: inPanes | overlayThemes, do: (*Model).pickTheme},
		{id: "mouse", keys: []string{"M"}, about: "mouse on or off; it is off at the start, so that the terminal can select text", group: groupView, in: everywhere, do: (*Model).toggleMouse},
		{id: "leave", keys: []string{"esc"}, now: leaveName, about: "leave, clear the filter, dismiss the message", group: groupView, in: everywhere, do: (*Model).escape},
		{id: "help", keys: []string{"?"}, name: "help", about: "this help", group: groupView, in: inPanes | overlayReview, last: true, do: overlayKey(overlayHelp)},
		{id: "quit", keys: []string{"q", "ctrl+c"}, name: "quit", about: "quit; what is armed stays armed", group: groupView, in: everywhere, last: true, do: func(*Model) tea.Cmd { return tea.Quit }},
	}
}

// bound finds the binding of a key where the screen is now.
func (m *Model) bound(key string) *binding {
	for i := range m.keys {
		if m.keys[i].in&m.over != 0 && slices.Contains(m.keys[i].keys, key) {
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
		return s.readOnly()
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
		return "the watchdog is off in this session; " + m.keyOf("start") + " starts it"
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

// needGuard: there is something to reset.
func needGuard(m *Model) string {
	if why := needBridge(m); why != "" {
		return why
	}
	switch v := m.list.current().live.Guard; {
	case v.Off:
		return "the guard is off in this session; " + m.keyOf("guard_switch") + " turns it on"
	case v.Total == 0 && v.Tripped == "":
		return "the guard has done nothing since your last message"
	}
	return ""
}

func guardName(m *Model) string {
	if s := m.list.current(); s != nil && s.live != nil && s.live.Guard.Tripped != "" {
		return "reset guard"
	}
	return ""
}

func needNeed(m *Model) string {
	if m.list.nextNeed(m.env.now) == "" {
		return "no other session needs you"
	}
	return ""
}

func reviewName(m *Model) string {
	if m.over == overlayReview {
		return ""
	}
	return "review"
}

func leaveName(m *Model) string {
	if m.over != overlayNone {
		return "back"
	}
	return ""
}

func startName(m *Model) string {
	if s := m.list.current(); s != nil && watching(s) {
		return "set"
	}
	return "start"
}

// needFolded says why there is no line of ended sessions to open.
func needFolded(m *Model) string {
	isGroup := func(s *session) bool { return s.group > 0 }
	if !m.list.ended && !slices.ContainsFunc(m.list.shown, isGroup) {
		return "no ended sessions are folded into a line"
	}
	return ""
}

func pauseName(m *Model) string {
	if s := m.list.current(); s != nil && watching(s) && s.live.Watch.Paused {
		return "resume"
	}
	return "pause"
}

func openName(m *Model) string {
	r := m.story.row()
	switch {
	case m.over == overlayThemes:
		return "keep"
	case m.focus == paneStory && r != nil && m.story.open[r.Key]:
		return "close"
	}
	return "open"
}

func filterName(m *Model) string {
	if m.over == overlayHelp {
		return "search"
	}
	return "filter"
}

func refusalsName(m *Model) string {
	if m.log.refusals {
		return "all"
	}
	return "refusals"
}

func steerKey(method string, seconds int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		return m.steer(method, control.SteerParams{Session: m.list.selected, Seconds: seconds})
	}
}

func moveKey(n int) func(*Model) tea.Cmd { return func(m *Model) tea.Cmd { return m.move(n) } }

func pageKey(n int) func(*Model) tea.Cmd { return func(m *Model) tea.Cmd { return m.page(n) } }

func reviewKey(n int) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd { m.review.step(n); return nil }
}

func focusKey(p pane) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd { m.focus = p; return nil }
}

func overlayKey(o overlay) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		to := o
		if m.over == o {
			to = overlayNone
		}
		m.over, m.overUp, m.helpFind = to, 0, ""
		return nil
	}
}
