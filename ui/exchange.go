package ui

import (
	tea "github.com/charmbracelet/bubbletea"

	"piwatch/internal/control"
	"piwatch/internal/timeline"
)

// card is the card that is meant: of the review, or under the cursor of the
// timeline; nil when there is none.
func (m *Model) card() *timeline.Card {
	if m.over == overlayReview {
		return m.review.card()
	}
	if r := m.story.row(); r != nil && m.focus == paneStory && m.over == overlayNone {
		return r.Card
	}
	return nil
}

// needCard says why the exchange of the card cannot be changed by hand.
func needCard(m *Model) string {
	c := m.card()
	switch {
	case c == nil:
		return "no check is selected: go to its card in the timeline"
	case c.Origin == timeline.ByExtension:
		return "a check of the extension pi-extension-watchdog: only that can change it"
	case c.Open():
		return "this check is still open"
	case c.ID == "":
		return "the agent stopped by itself, outside a check: there is no exchange to change"
	case c.Fold == timeline.RolledBack:
		return "it was rolled back: it is off the branch"
	}
	if why := needBridge(m); why != "" {
		return why
	}
	if !m.list.current().live.Facts.Idle {
		return "the agent works: it goes when the agent has stopped"
	}
	return ""
}

// needFold says why a fold cannot be undone or done again.
func needFold(m *Model) string {
	if why := needCard(m); why != "" {
		return why
	}
	if m.card().Fold == timeline.NotFolded {
		return "this exchange was never folded: it is not provably harmless"
	}
	return ""
}

func foldName(m *Model) string {
	if c := m.card(); c != nil && c.Fold == timeline.Unfolded {
		return "fold again"
	}
	return "unfold"
}

// fold brings the exchange back into the context, or takes it out again.
func (m *Model) fold() tea.Cmd {
	c := m.card()
	method := control.Unfold
	if c.Fold == timeline.Unfolded {
		method = control.Fold
	}
	return m.steer(method, control.SteerParams{Session: m.list.selected, Check: c.ID})
}

// rollback asks first: there is no way back.
func (m *Model) rollback() tea.Cmd {
	c, session := m.card(), m.list.selected
	m.sure = &question{
		text: "Roll check " + c.Number() + " back? It leaves the branch and Pi's screen, for good.",
		yes: func() tea.Cmd {
			return m.steer(control.Rollback, control.SteerParams{Session: session, Check: c.ID})
		},
	}
	return nil
}
