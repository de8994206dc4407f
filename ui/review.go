package ui

import (
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"piwatch/internal/timeline"
)

// reviewPane shows the folded exchanges of a session, one at a time: what the
// agent saw before and what it sees now.
type reviewPane struct {
	rows []*timeline.Row // of the timeline, all
	at   []int           // those that are cards of folded exchanges
	key  string          // the card that is shown
	up   int             // lines scrolled down
}

// foldWas says whether a row is the card of an exchange that is, or was,
// folded.
func foldWas(r *timeline.Row) bool {
	return r.Card != nil && (r.Card.Folded() || r.Card.Fold == timeline.Unfolded)
}

// set takes in the rows of the timeline; the card that is shown stays.
func (p *reviewPane) set(rows []*timeline.Row) {
	p.rows, p.at = rows, p.at[:0]
	for i, r := range rows {
		if foldWas(r) {
			p.at = append(p.at, i)
		}
	}
}

// index is the place of the card that is shown among the others; the last one
// when it is not among them.
func (p *reviewPane) index() int {
	for i, at := range p.at {
		if p.rows[at].Key == p.key {
			return i
		}
	}
	return len(p.at) - 1
}

func (p *reviewPane) row() *timeline.Row {
	if i := p.index(); i >= 0 {
		return p.rows[p.at[i]]
	}
	return nil
}

func (p *reviewPane) card() *timeline.Card {
	if r := p.row(); r != nil {
		return r.Card
	}
	return nil
}

// step goes to another exchange.
func (p *reviewPane) step(n int) {
	if len(p.at) > 0 {
		p.key, p.up = p.rows[p.at[min(max(p.index()+n, 0), len(p.at)-1)]].Key, 0
	}
}

func needReview(m *Model) string {
	if !m.story.folds {
		return "no exchange was folded in this session"
	}
	return ""
}

// toggleReview opens the review at the card under the cursor, else at the last
// one.
func (m *Model) toggleReview() tea.Cmd {
	if m.over == overlayReview {
		m.over = overlayNone
		return nil
	}
	m.review.set(m.story.rows)
	m.review.key, m.review.up = "", 0
	if r := m.story.row(); r != nil {
		m.review.key = r.Key
	}
	m.review.step(0)
	m.over = overlayReview
	return nil
}

const (
	// sideBySideFrom is the width from which before and after stand side by
	// side; below they are stacked.
	sideBySideFrom = 96
	// aroundRows is how many rows of the timeline are shown around an exchange.
	aroundRows = 2
)

// draw draws the review in w × h cells.
func (p *reviewPane) draw(e *env, w, h int) []string {
	r := p.row()
	if r == nil {
		return fill([]string{"", " " + e.styles.Muted.Render(clip("no exchange was folded in this session", w-1, e.signs.more))}, w, h, "")
	}
	head := p.head(e, r, w)
	var body []string
	if w >= sideBySideFrom {
		left := (w - 3) / 2
		before, after := p.before(e, r, left), p.after(e, r, w-3-left)
		for i := range max(len(before), len(after)) {
			body = append(body, " "+fit(lineAt(before, i), left, "")+e.styles.Border.Render(e.signs.vertical)+" "+lineAt(after, i))
		}
	} else {
		for _, line := range append(append(p.before(e, r, w-1), ""), p.after(e, r, w-1)...) {
			body = append(body, " "+line)
		}
	}
	p.up = min(p.up, max(len(body)-(h-len(head)), 0))
	return fill(append(head, body[p.up:]...), w, h, e.signs.more)
}

func lineAt(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return ""
}

// head says which exchange it is, how it ended, and what the folds save.
func (p *reviewPane) head(e *env, r *timeline.Row, w int) []string {
	c := r.Card
	sep := " " + e.signs.dot + " "
	title := fmt.Sprintf("Review %d of %d", p.index()+1, len(p.at))
	number := c.Number()
	if number != "" {
		number = "check " + number
	}
	at := ""
	if !r.Time.IsZero() {
		at = r.Time.Local().Format("15:04")
	}
	what := strings.Join(kept(number, at, c.Answer(), c.Fold.Words()), sep)
	saved, all := "nothing is saved: the agent sees it", 0
	for _, i := range p.at {
		if other := p.rows[i].Card; other.Folded() {
			all += other.Saved()
		}
	}
	if c.Folded() {
		saved = "about " + plural(c.Saved(), "token") + " saved in each request"
	}
	if len(p.at) > 1 {
		saved += sep + fmt.Sprintf("all folds: about %d", all)
	}
	lines := []string{e.styles.TitleFocus.Render(clip(" "+title, w, "")) + "  " + e.cardStyle(c).Render(clip(what, max(w-width(title)-3, 0), e.signs.more))}
	note, _ := wrap(strings.Join(kept(c.Note, saved), sep), max(w-1, 1), 2)
	for _, line := range note {
		lines = append(lines, " "+e.styles.Muted.Render(line))
	}
	return append(lines, e.styles.Border.Render(strings.Repeat(e.signs.rule, w)))
}

// before is what the agent saw in the check: the exchange at its place.
func (p *reviewPane) before(e *env, r *timeline.Row, w int) []string {
	lines := []string{e.styles.Title.Render(clip("What the agent saw", w, e.signs.more)), ""}
	lines = append(lines, p.around(e, w, -1)...)
	for _, row := range r.Card.Rows {
		for _, line := range exchangeLines(e, row, w-2) {
			lines = append(lines, e.cardStyle(r.Card).Render(e.signs.cardSide)+" "+line)
		}
	}
	return append(lines, p.around(e, w, 1)...)
}

// after is what the agent sees now.
func (p *reviewPane) after(e *env, r *timeline.Row, w int) []string {
	c := r.Card
	lines := []string{e.styles.Title.Render(clip("What it sees now", w, e.signs.more)), ""}
	lines = append(lines, p.around(e, w, -1)...)
	said := "the same: the exchange was brought back"
	if c.Folded() {
		said = fmt.Sprintf("%s removed, about %s", plural(len(c.Rows), "row"), plural(c.Saved(), "token"))
	}
	lines = append(lines, e.cardStyle(c).Render(clip(e.signs.cardSide+" "+said, w, e.signs.more)))
	return append(lines, p.around(e, w, 1)...)
}

// around draws the rows that the agent sees before the exchange, or after it.
func (p *reviewPane) around(e *env, w, direction int) []string {
	at := p.at[p.index()]
	var near []*timeline.Row
	for i := at + direction; i >= 0 && i < len(p.rows) && len(near) < aroundRows; i += direction {
		if inContext(p.rows[i]) {
			near = append(near, p.rows[i])
		}
	}
	var lines []string
	for i := range near {
		r := near[i]
		if direction < 0 {
			r = near[len(near)-1-i]
		}
		label := e.kindStyle(r).Render(fit(r.Kind.Label(), labelWidth, "")) + " "
		for k, line := range textLines(e, r, max(w-labelWidth-1, 1), false) {
			if k > 0 {
				label = strings.Repeat(" ", labelWidth+1)
			}
			lines = append(lines, label+line)
		}
	}
	return lines
}

// inContext says whether the agent sees a row.
func inContext(r *timeline.Row) bool { return !r.Hidden && r.Kind.Seen() }
