package ui

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/lipgloss"

	"piwatch/internal/timeline"
)

const (
	labelWidth = timeline.LabelWidth
	timeWidth  = 5 // 15:04
	// timeFrom is the width of the pane from which rows show their time.
	timeFrom = 48
	// rowWidest keeps lines short enough to read, and the result of a tool near
	// its call.
	rowWidest = 116
	// closedLines is how much of a text is seen before it is opened; openLines
	// how much after: a row is read on the screen, not scrolled for ever.
	closedLines = 3
	agentLines  = 6
	openLines   = 400
)

// rowLines draws a row: the lines it takes, each at most w cells. Timed says
// that its time is shown.
func rowLines(e *env, r *timeline.Row, w int, open, timed bool) []string {
	w = min(w, rowWidest)
	gutter, blank := rowGutter(e, r, w, timed)
	inner := w - width(blank)
	if inner < 8 { // too narrow for a gutter
		gutter, blank, inner = "", "", w
	}
	var body []string
	if r.Card != nil {
		body = cardLines(e, r, inner, open)
	} else {
		body = textLines(e, r, inner, open)
	}
	if len(body) == 0 {
		body = []string{""}
	}
	for i := range body {
		if i == 0 {
			body[i] = gutter + body[i]
		} else {
			body[i] = blank + body[i]
		}
	}
	return body
}

// dayLine says of which day the rows below are, in at most w cells.
func dayLine(e *env, at time.Time, w int) string {
	return e.styles.Muted.Render(fit(at.Local().Format("Mon 2 January 2006"), min(w, rowWidest), e.signs.more))
}

// rowGutter is what stands before a row: its time and its label.
func rowGutter(e *env, r *timeline.Row, w int, timed bool) (gutter, blank string) {
	if w >= timeFrom {
		at := ""
		if timed && !r.Time.IsZero() {
			at = r.Time.Local().Format("15:04")
		}
		gutter = e.styles.Muted.Render(fit(at, timeWidth, "")) + " "
		blank = strings.Repeat(" ", timeWidth+1)
	}
	gutter += e.kindStyle(r).Render(fit(r.Kind.Label(), labelWidth, "")) + " "
	blank += strings.Repeat(" ", labelWidth+1)
	return gutter, blank
}

// kindStyle is the colour of a row's label.
func (e *env) kindStyle(r *timeline.Row) lipgloss.Style {
	st := &e.styles
	if r.Hidden {
		return st.Muted
	}
	switch r.Kind.Tone() {
	case timeline.Human:
		return st.User
	case timeline.Judged:
		return st.Check
	case timeline.Steered:
		return st.Accent
	case timeline.Fails:
		return st.Error
	case timeline.Warns:
		return st.Warning
	}
	return st.Muted
}

// textStyle is the colour of a row's text.
func (e *env) textStyle(r *timeline.Row) lipgloss.Style {
	st := &e.styles
	if r.Hidden {
		return st.Muted
	}
	switch r.Kind.Tone() {
	case timeline.Human:
		return st.Strong
	case timeline.Spoken:
		return st.Agent
	case timeline.Thought:
		return st.Thinking
	case timeline.Fails:
		return st.Error
	case timeline.Warns:
		return st.Warning
	case timeline.Quiet:
		return st.Muted
	}
	return st.Text
}

// prose are the rows whose text is shown in several lines also when closed.
func prose(k timeline.Kind) bool { return k == timeline.User || k.Tone() == timeline.Spoken }

// textLines draws a row that is not a card.
func textLines(e *env, r *timeline.Row, w int, open bool) []string {
	style := e.textStyle(r)
	if r.Tool != nil {
		lines := []string{toolLine(e, r.Tool, w)}
		if open {
			lines = append(lines, bodyLines(e, r, w)...)
		}
		return lines
	}
	text, limit := r.Title, 1
	if prose(r.Kind) {
		if limit = closedLines; r.Kind.Tone() == timeline.Spoken {
			limit = agentLines
		}
		if r.Body != "" {
			text = r.Body
		}
	}
	if open {
		limit = openLines
	}
	if open && r.Body != "" && !prose(r.Kind) {
		return append([]string{style.Render(clip(r.Title, w, e.signs.more))}, bodyLines(e, r, w)...)
	}
	if limit == 1 {
		line := clip(text, w, e.signs.more)
		if r.Body != "" && width(line)+2 <= w {
			line += " " + e.signs.closed
		}
		return []string{style.Render(line)}
	}
	lines, whole := wrap(text, w, limit)
	last := ""
	for i := range lines {
		last = lines[i]
		lines[i] = style.Render(last)
	}
	if !whole && len(lines) > 0 {
		lines[len(lines)-1] = style.Render(endAtWord(last, w-2)) + " " + e.styles.Muted.Render(e.signs.more)
	}
	return appendRest(e, r, lines, w, open)
}

// endAtWord cuts a line to at most w cells, at the end of a word if there is
// one near.
func endAtWord(line string, w int) string {
	short := clip(line, w, "")
	if short == line {
		return line
	}
	if i := strings.LastIndexByte(short, ' '); i > len(short)/2 {
		short = short[:i]
	}
	return short
}

// bodyLines draws the text of an opened row, indented.
func bodyLines(e *env, r *timeline.Row, w int) []string {
	text := r.Body
	if text == "" {
		text = "(no more to see)"
	}
	lines, whole := wrap(text, w-2, openLines)
	for i := range lines {
		lines[i] = "  " + e.styles.Muted.Render(lines[i])
	}
	if !whole {
		lines = append(lines, e.styles.Muted.Render(clip("  "+e.signs.more+" more is in the file", w, "")))
		return lines
	}
	return appendRest(e, r, lines, w, true)
}

func appendRest(e *env, r *timeline.Row, lines []string, w int, open bool) []string {
	if open && r.Rest > 0 {
		lines = append(lines, e.styles.Muted.Render(clip(fmt.Sprintf("%s %d bytes more are in the file", e.signs.more, r.Rest), w, "")))
	}
	return lines
}

// toolLine is a tool call: its name, its argument, and how it ended on the
// right.
func toolLine(e *env, t *timeline.Tool, w int) string {
	st := &e.styles
	end, style := e.signs.ok, st.OK
	switch {
	case !t.Done:
		end, style = e.signs.pending, st.Muted
	case t.Error:
		end, style = e.signs.bad+" error", st.Error
	}
	took := timeline.Took(t.Took)
	right := style.Render(end)
	used := width(end)
	if took != "" && w > 24 {
		right = st.Muted.Render(took) + " " + right
		used += width(took) + 1
	}
	name := clip(t.Name, max(w-used-2, 4), e.signs.more)
	room := w - width(name) - used - 2
	arg := ""
	if room >= 3 {
		arg = clip(t.Arg, room, e.signs.more)
	}
	gap := max(w-width(name)-width(arg)-used-1, 1)
	return clip(st.Tool.Bold(true).Render(name)+" "+st.Text.Render(arg)+strings.Repeat(" ", gap)+right, w, "")
}
