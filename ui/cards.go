package ui

import (
	"strings"

	"github.com/charmbracelet/lipgloss"

	"piwatch/internal/timeline"
	"piwatch/internal/watchdog"
)

// cardLines draws a check as a card with a rule on its left:
//
//	╭ 2/50 · after 60s, idle
//	│ continue  two tests still fail
//	╰ folded · 42 tokens · ▸ 3 rows
func cardLines(e *env, r *timeline.Row, w int, open bool) []string {
	c := r.Card
	edge := e.cardStyle(c)
	inner := w - 2
	if inner < 6 {
		return []string{edge.Render(clip(c.Answer(), w, e.signs.more))}
	}
	lines := []string{edge.Render(e.signs.cardTop) + " " + e.styles.Muted.Render(clip(cardHead(e, c), inner, e.signs.more))}
	side := edge.Render(e.signs.cardSide) + " "
	for _, line := range answerLines(e, c, inner) {
		lines = append(lines, side+line)
	}
	if open {
		for _, row := range c.Rows {
			for _, line := range exchangeLines(e, row, inner) {
				lines = append(lines, side+line)
			}
		}
	}
	return append(lines, edge.Render(e.signs.cardEnd)+" "+e.styles.Muted.Render(clip(cardFoot(e, c, open), inner, e.signs.more)))
}

// cardStyle is the colour of a card: that of its answer.
func (e *env) cardStyle(c *timeline.Card) lipgloss.Style {
	st := &e.styles
	switch {
	case c.Open():
		return st.Check
	case c.Decision == watchdog.Done:
		return st.OK
	case c.Decision == watchdog.WaitUser:
		return st.Waits
	case c.Decision == watchdog.Continue:
		return st.Counting
	case c.End == watchdog.EndError:
		return st.Error
	case c.End == watchdog.EndVoid:
		return st.Muted
	}
	return st.Warning
}

func cardHead(e *env, c *timeline.Card) string {
	origin := ""
	if c.Origin == timeline.ByExtension {
		origin = "by " + string(c.Origin)
	}
	return strings.Join(kept(c.Number(), c.Cause(), origin), " "+e.signs.dot+" ")
}

// answerLines are the decision and the note, which may take some lines.
func answerLines(e *env, c *timeline.Card, w int) []string {
	style := e.cardStyle(c)
	answer := clip(c.Answer(), w, e.signs.more)
	if c.Note == "" {
		return []string{style.Bold(true).Render(answer)}
	}
	indent := width(answer) + 2
	if w-indent < 16 {
		lines := []string{style.Bold(true).Render(answer)}
		note, _ := wrap(c.Note, w, closedLines)
		for _, line := range note {
			lines = append(lines, e.styles.Text.Render(line))
		}
		return lines
	}
	note, _ := wrap(c.Note, w-indent, closedLines)
	lines := make([]string, len(note))
	for i, line := range note {
		before := strings.Repeat(" ", indent)
		if i == 0 {
			before = style.Bold(true).Render(answer) + "  "
		}
		lines[i] = before + e.styles.Text.Render(line)
	}
	return lines
}

// exchangeLines draw one row of the exchange inside its card: what the agent
// saw, in full.
func exchangeLines(e *env, r *timeline.Row, w int) []string {
	label := e.styles.Muted.Render(fit(r.Kind.Label(), labelWidth, "")) + " "
	blank := strings.Repeat(" ", labelWidth+1)
	if w < 24 {
		label, blank = "", ""
	}
	w -= width(blank)
	var lines []string
	if r.Tool != nil {
		lines = append(lines, toolLine(e, r.Tool, w))
	}
	text := r.Body
	if text == "" && r.Tool == nil {
		text = r.Title
	}
	if text != "" {
		body, _ := wrap(text, w, openLines)
		for _, line := range body {
			lines = append(lines, e.styles.Muted.Render(line))
		}
	}
	for i := range lines {
		if i == 0 {
			lines[i] = label + lines[i]
		} else {
			lines[i] = blank + lines[i]
		}
	}
	return lines
}

// cardFoot says what became of the exchange.
func cardFoot(e *env, c *timeline.Card, open bool) string {
	fold := c.Fold.Words()
	if fold == "" && !c.Open() && len(c.Rows) > 0 {
		fold = "not folded"
	}
	tokens := ""
	if c.Tokens > 0 {
		tokens = plural(c.Tokens, "token")
	}
	wrong := ""
	if c.Wrong > 0 {
		wrong = plural(c.Wrong, "wrong answer")
	}
	exchange := ""
	if n := len(c.Rows); n > 0 {
		sign := e.signs.closed
		if open {
			sign = e.signs.opened
		}
		exchange = sign + " " + plural(n, "row")
	}
	foot := kept(fold, tokens, wrong, exchange)
	if len(foot) == 0 {
		foot = []string{"no rows of it in the file"}
	}
	return strings.Join(foot, " "+e.signs.dot+" ")
}
