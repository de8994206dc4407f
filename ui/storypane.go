package ui

import (
	"fmt"
	"slices"
	"time"

	"piwatch/internal/timeline"
)

// storyPane is the timeline of one session. It knows where it is by row and
// line, and draws only what is seen: its cost does not grow with the session.
type storyPane struct {
	path    string
	build   timeline.Builder
	rows    []*timeline.Row
	open    map[string]bool // rows that were opened, by key
	cursor  int
	top     int // first row seen
	skip    int // lines of it that are above the pane
	follow  bool
	unseen  int // rows that came while not following
	caught  bool
	glimpse bool              // the rows are those of the end, until all of the file is read
	folds   bool              // there is a card of a folded exchange
	trouble string            // why the file is not read
	whole   map[string]string // texts of opened rows that were cut, by key

	w, h  int
	cache map[string]drawnRow
}

// drawing is all that the lines of a row depend on.
type drawing struct {
	row                        *timeline.Row // another one after a change of branch
	version, width, look       int
	open, timed, spaced, dated bool
}

// drawnRow is a row as it was drawn.
type drawnRow struct {
	drawing
	lines []string
}

// maxCache bounds the drawings that are kept; it is some screens full.
const maxCache = 2000

// show begins with another session.
func (p *storyPane) show(path string) {
	*p = storyPane{path: path, open: map[string]bool{}, whole: map[string]string{}, cache: map[string]drawnRow{}, follow: true, w: p.w, h: p.h}
}

// take takes in entries of the file.
func (p *storyPane) take(msg entriesCame) {
	if msg.glimpse {
		p.takeEnd(msg.entries)
		return
	}
	if msg.reset {
		p.show(p.path)
	}
	p.trouble = ""
	p.caught = p.caught || msg.caught
	for _, e := range msg.entries {
		p.build.Add(e)
	}
	if p.glimpse && !p.caught {
		return // the rows of the end stay until there are all
	}
	p.glimpse = false
	at := ""
	if p.cursor < len(p.rows) {
		at = p.rows[p.cursor].Key
	}
	before := len(p.rows)
	p.rows = p.build.Rows()
	p.folds = slices.ContainsFunc(p.build.Cards(), foldWas)
	if p.follow {
		p.toEnd()
		return
	}
	p.unseen += max(len(p.rows)-before, 0)
	// After a change of branch the rows are others: stay where the cursor was,
	// or as near as can be.
	if p.cursor >= len(p.rows) || p.rows[p.cursor].Key != at {
		if i := slices.IndexFunc(p.rows, func(r *timeline.Row) bool { return r.Key == at }); i >= 0 {
			p.cursor = i
		}
		p.cursor = min(p.cursor, max(len(p.rows)-1, 0))
		p.top, p.skip = min(p.top, p.cursor), 0
	}
}

// takeEnd takes in the end of a file whose other entries follow.
func (p *storyPane) takeEnd(entries []timeline.Entry) {
	var end timeline.Builder
	for _, e := range entries {
		end.Add(e)
	}
	p.glimpse, p.rows = true, end.Rows()
	p.toEnd()
}

// row is the row under the cursor; nil when there is none.
func (p *storyPane) row() *timeline.Row {
	if p.cursor < len(p.rows) {
		return p.rows[p.cursor]
	}
	return nil
}

// lines draws a row, or takes the drawing from the cache.
func (p *storyPane) lines(e *env, i int) []string {
	r := p.rows[i]
	// The time is said once a minute, the day once; a message of the user begins a
	// paragraph.
	want := drawing{row: r, version: r.Version, width: p.w, look: e.look, open: p.open[r.Key], dated: p.newDay(i)}
	want.timed = i == 0 || !sameMinute(p.rows[i-1].Time, r.Time)
	want.spaced = i > 0 && (r.Kind == timeline.User || want.dated)
	if d, ok := p.cache[r.Key]; ok && d.drawing == want {
		return d.lines
	}
	if len(p.cache) >= maxCache {
		clear(p.cache)
	}
	seen := r
	if text, ok := p.whole[r.Key]; ok && want.open {
		uncut := *r
		uncut.Body, uncut.Rest = text, 0
		seen = &uncut
	}
	w := max(p.w-1, 1)
	lines := rowLines(e, seen, w, want.open, want.timed)
	if want.dated {
		lines = append([]string{dayLine(e, r.Time, w)}, lines...)
	}
	if want.spaced {
		lines = append([]string{""}, lines...)
	}
	p.cache[r.Key] = drawnRow{want, lines}
	return lines
}

// newDay says whether a row is the first of its day, in a session of several.
func (p *storyPane) newDay(i int) bool {
	at := p.rows[i].Time
	if at.IsZero() {
		return false
	}
	// Before the first row that has a time comes the last one: in a session of one
	// day they are of the same.
	for n := range p.rows {
		if before := p.rows[(i-1-n+len(p.rows))%len(p.rows)].Time; !before.IsZero() {
			return !timeline.SameDay(before, at)
		}
	}
	return false
}

func sameMinute(a, b time.Time) bool {
	return a.Truncate(time.Minute).Equal(b.Truncate(time.Minute))
}

// toEnd follows: the cursor is on the last row.
func (p *storyPane) toEnd() {
	p.follow, p.unseen = true, 0
	p.cursor = max(len(p.rows)-1, 0)
}

// toStart shows the first row.
func (p *storyPane) toStart() {
	p.cursor, p.top, p.skip = 0, 0, 0
	p.follow = len(p.rows) <= 1
}

// move moves the cursor by n rows.
func (p *storyPane) move(n int) {
	p.cursor = min(max(p.cursor+n, 0), max(len(p.rows)-1, 0))
	if p.cursor == len(p.rows)-1 {
		p.toEnd()
	} else {
		p.follow = false
	}
}

// page scrolls by n screens; the cursor comes along.
func (p *storyPane) page(e *env, n int) {
	p.settle(e)
	for step := max(p.h-2, 1); step > 0; step-- {
		if n > 0 {
			p.lineDown(e)
		} else {
			p.lineUp(e)
		}
	}
	p.follow = false
	if n > 0 && p.atEnd(e) {
		p.toEnd()
		return
	}
	// The cursor comes along, on a row that is wholly in sight: else it would
	// draw the view back to itself.
	first, last := p.seen(e)
	if p.skip > 0 && first < last {
		first++
	}
	if last > first && !p.fits(e, last) {
		last--
	}
	p.cursor = min(max(p.cursor, first), last)
}

func (p *storyPane) lineDown(e *env) {
	if p.atEnd(e) {
		return
	}
	if p.skip++; p.skip >= len(p.lines(e, p.top)) {
		p.top, p.skip = p.top+1, 0
	}
}

func (p *storyPane) lineUp(e *env) {
	switch {
	case p.skip > 0:
		p.skip--
	case p.top > 0:
		p.top--
		p.skip = len(p.lines(e, p.top)) - 1
	}
}

// atEnd says whether the last line is in sight.
func (p *storyPane) atEnd(e *env) bool {
	n := -p.skip
	for i := p.top; i < len(p.rows); i++ {
		if n += len(p.lines(e, i)); n > p.h {
			return false
		}
	}
	return true
}

// seen are the first and the last row in sight.
func (p *storyPane) seen(e *env) (first, last int) {
	last = p.top
	for n, i := -p.skip, p.top; i < len(p.rows) && n < p.h; i++ {
		last = i
		n += len(p.lines(e, i))
	}
	return p.top, last
}

// rowAt is the row that a line of the pane shows; -1 when there is none.
func (p *storyPane) rowAt(e *env, line int) int {
	if line < 0 {
		return -1
	}
	for n, i := -p.skip, p.top; i < len(p.rows); i++ {
		if n += len(p.lines(e, i)); line < n {
			return i
		}
	}
	return -1
}

// toggle opens or closes the row under the cursor. It returns the row if its
// text was cut and has to be read.
func (p *storyPane) toggle() *timeline.Row {
	r := p.row()
	if r == nil {
		return nil
	}
	key := r.Key
	p.open[key] = !p.open[key]
	if p.open[key] && p.cursor < len(p.rows)-1 {
		p.follow = false
	}
	if _, read := p.whole[key]; read || !p.open[key] || r.Rest == 0 || r.Card != nil {
		return nil
	}
	return r
}

// maxWhole is how many texts are kept that were read again.
const maxWhole = 64

// takeWhole takes in the text of a row.
func (p *storyPane) takeWhole(key, text string) {
	if len(p.whole) >= maxWhole {
		clear(p.whole)
	}
	p.whole[key] = text
	delete(p.cache, key)
}

// settle brings the place in order after a change of size, rows or cursor:
// the cursor is in sight, and no line below the last one is.
func (p *storyPane) settle(e *env) {
	if len(p.rows) == 0 || p.h <= 0 {
		p.top, p.skip, p.cursor = 0, 0, 0
		return
	}
	p.cursor = min(p.cursor, len(p.rows)-1)
	p.top = min(p.top, len(p.rows)-1)
	if p.skip >= len(p.lines(e, p.top)) {
		p.skip = 0
	}
	if p.follow {
		p.endAt(e, len(p.rows)-1)
		return
	}
	first, last := p.seen(e)
	switch {
	case p.cursor < first, p.cursor == first && p.skip > 0 && first != last:
		p.top, p.skip = p.cursor, 0
	case p.cursor > last, p.cursor == last && p.cursor != first && !p.fits(e, p.cursor):
		p.endAt(e, p.cursor)
	}
	if p.atEnd(e) {
		p.endAt(e, len(p.rows)-1)
	}
}

// fits says whether all lines of a row are in sight.
func (p *storyPane) fits(e *env, row int) bool {
	n := -p.skip
	for i := p.top; i <= row; i++ {
		n += len(p.lines(e, i))
	}
	return n <= p.h
}

// endAt puts the last line of a row at the bottom. A row that is taller than
// the pane is shown from its start, but for the last one.
func (p *storyPane) endAt(e *env, row int) {
	n := len(p.lines(e, row))
	if n >= p.h {
		p.top, p.skip = row, 0
		if row == len(p.rows)-1 {
			p.skip = n - p.h
		}
		return
	}
	for row > 0 && n < p.h {
		row--
		n += len(p.lines(e, row))
	}
	p.top, p.skip = row, max(n-p.h, 0)
}

// draw draws the pane in w × h cells.
func (p *storyPane) draw(e *env, w, h int, focus bool) []string {
	if w <= 0 || h <= 0 {
		return nil
	}
	p.w, p.h = w, h
	if len(p.rows) == 0 {
		return fill([]string{"", " " + e.styles.Muted.Render(clip(p.emptyText(), w-1, e.signs.more))}, w, h, "")
	}
	p.settle(e)
	var out []string
	for i := p.top; i < len(p.rows) && len(out) < h; i++ {
		lines := p.lines(e, i)
		if i == p.top {
			lines = lines[min(p.skip, len(lines)):]
		}
		mark := " "
		if i == p.cursor && focus {
			mark = e.styles.Accent.Render(e.signs.cursor)
		}
		for _, line := range lines {
			out = append(out, mark+line)
		}
	}
	out = fill(out, w, h, e.signs.more)
	if p.glimpse && p.top == 0 && p.skip == 0 {
		out[0] = fit(" "+e.styles.Muted.Render(clip("reading what came before", w-1, "")), w, "")
	}
	if p.unseen > 0 && !p.follow {
		note := fmt.Sprintf(" %s %s below ", e.signs.down, plural(p.unseen, "new row"))
		out[h-1] = fit(e.styles.Warning.Render(clip(note, w, "")), w, "")
	}
	return out
}

func (p *storyPane) emptyText() string {
	switch {
	case p.trouble != "":
		return p.trouble
	case p.path == "":
		return "this session has no file"
	case !p.caught:
		return "reading"
	}
	return "nothing here yet"
}
