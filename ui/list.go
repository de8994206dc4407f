package ui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"piwatch/internal/control"
)

// sessionList is the left pane: all sessions, those that need the user first,
// and below a session those that it started.
type sessionList struct {
	all      map[string]*session // by id
	byPath   map[string]string   // file → id
	parents  map[string]string   // id → id of the session that started it, as the hub found out
	shown    []*session          // sorted and filtered, as they are drawn
	selected string              // id; stays when the order changes
	want     string              // id to select as soon as it is there
	filter   string
	ended    bool // the ended sessions are shown one by one
	top      int
	loaded   bool // the first look at the folders is complete
}

func newSessionList(want string) sessionList {
	return sessionList{all: map[string]*session{}, byPath: map[string]string{}, parents: map[string]string{}, want: want}
}

func (l *sessionList) get(id string) *session {
	s := l.all[id]
	if s == nil {
		s = &session{id: id}
		l.all[id] = s
	}
	return s
}

// setFile takes in what a file says.
func (l *sessionList) setFile(info fileInfo) {
	if old, ok := l.byPath[info.Path]; ok && old != info.ID {
		l.dropFile(info.Path)
	}
	// Two files may hold one id, a copy for one; the newer one counts.
	s := l.get(info.ID)
	if s.file != nil && s.file.Path != info.Path && s.file.ModTime.After(info.ModTime) {
		return
	}
	l.byPath[info.Path] = info.ID
	// What Pi wrote before it ended may be seen after it.
	if s.file != nil && info.Size > s.file.Size && info.ModTime.After(s.gone) {
		s.gone = time.Time{}
	}
	s.file = &info
}

func (l *sessionList) dropFile(path string) {
	id, ok := l.byPath[path]
	if !ok {
		return
	}
	delete(l.byPath, path)
	if s := l.all[id]; s != nil && s.file != nil && s.file.Path == path {
		s.file = nil
		l.dropEmpty(s)
	}
}

func (l *sessionList) dropEmpty(s *session) {
	if s.file == nil && s.live == nil {
		delete(l.all, s.id)
	}
}

// setLive takes in all sessions with a bridge of a hub that was just reached.
func (l *sessionList) setLive(live []control.Session) {
	clear(l.parents)
	for _, s := range l.all {
		s.live, s.lost = nil, false
	}
	for _, one := range live {
		l.putLive(one)
	}
	for _, s := range l.all {
		l.dropEmpty(s)
	}
}

func (l *sessionList) putLive(one control.Session) {
	s := l.get(one.ID)
	s.lost, s.gone = false, time.Time{}
	if s.live = &one; !one.Live {
		s.live = nil
		l.dropEmpty(s)
	}
}

// putTarget notes whether a session may be stuck, and whose child it is. One
// without a bridge is known by its file, which may be seen later.
func (l *sessionList) putTarget(t control.Target) {
	if t.Link.Parent != "" {
		l.parents[t.ID] = t.Link.Parent
	} else {
		delete(l.parents, t.ID)
	}
	if s := l.all[t.ID]; s != nil {
		s.stuck = t.Finding
	}
}

// dropLive takes in that a session has no bridge any more.
func (l *sessionList) dropLive(id string, now time.Time) {
	if s := l.all[id]; s != nil {
		s.live, s.lost, s.gone = nil, false, now
		l.dropEmpty(s)
	}
}

func (l *sessionList) lose() {
	for _, s := range l.all {
		s.lost = s.live != nil
	}
}

func (l *sessionList) index() int {
	return slices.IndexFunc(l.shown, func(s *session) bool { return s.id == l.selected })
}

// current is the selected session; nil when there is none.
func (l *sessionList) current() *session { return l.all[l.selected] }

// move moves the selection by n lines.
func (l *sessionList) move(n int) {
	if len(l.shown) > 0 {
		l.selected = l.shown[min(max(l.index()+n, 0), len(l.shown)-1)].id
		l.want = ""
	}
}

// nextNeed is the next session after the selected one that needs the user; ""
// when there is no other.
func (l *sessionList) nextNeed(now time.Time) string {
	at := l.index()
	for i := range l.shown {
		s := l.shown[(at+1+i)%len(l.shown)]
		if s.id == l.selected || s.group > 0 {
			continue
		}
		if rank, _ := s.need(now); rank <= needStuck {
			return s.id
		}
	}
	return ""
}

// armed counts the sessions whose watchdog is on.
func (l *sessionList) armed() int {
	n := 0
	for _, s := range l.all {
		if watching(s) {
			n++
		}
	}
	return n
}

const (
	wordWidth = 8 // counting, checking
	ageWidth  = 4
	// indent is how far a session stands right of the one that started it, and
	// deepest how many steps of that are shown.
	indent  = 2
	deepest = 4
	// folderFrom is the width of the list from which a folder has room beside a
	// long name, and folderWidth how much of it.
	folderFrom  = 46
	folderWidth = 12
)

// draw draws the pane, its heading included.
func (l *sessionList) draw(e *env, w, h int, focus bool) []string {
	title := e.styles.Title
	if focus {
		title = e.styles.TitleFocus
	}
	count := 0
	for _, s := range l.shown {
		count += max(s.group, 1)
	}
	head := fmt.Sprintf("Sessions %d", count)
	if count != len(l.all) {
		head += fmt.Sprintf(" of %d", len(l.all))
	}
	if l.filter != "" {
		head += "  /" + l.filter
	}
	rows := h - 1
	if len(l.shown) == 0 {
		lines := []string{title.Render(clip(" "+head, w, e.signs.more)), ""}
		for _, text := range l.emptyText() {
			part, _ := wrap(text, w-2, 4)
			for _, line := range part {
				lines = append(lines, " "+e.styles.Muted.Render(line))
			}
		}
		return fill(lines, w, h, e.signs.more)
	}
	at := max(l.index(), 0)
	l.top = min(max(l.top, at-rows+1), at, max(len(l.shown)-rows, 0))
	l.top = max(l.top, 0)
	head = " " + head
	if hidden := l.hidden(e, rows); hidden != "" {
		head = fit(head, w-width(hidden), e.signs.more) + hidden
	}
	lines := []string{title.Render(clip(head, w, e.signs.more))}
	for i := l.top; i < len(l.shown) && i < l.top+rows; i++ {
		lines = append(lines, l.line(e, l.shown[i], w, i == at))
	}
	return fill(lines, w, h, e.signs.more)
}

// hidden says how many lines are above and below those that are seen; empty when
// there is none.
func (l *sessionList) hidden(e *env, rows int) string {
	text := ""
	if l.top > 0 {
		text += fmt.Sprintf(" %s%d", e.signs.up, l.top)
	}
	if below := len(l.shown) - l.top - max(rows, 0); below > 0 {
		text += fmt.Sprintf(" %s%d", e.signs.down, below)
	}
	return text
}

// summary says in one line how many sessions stand how, as many as fit.
func (l *sessionList) summary(e *env, w int) string {
	var count [needEnded + 1]int
	for _, s := range l.all {
		rank, _ := s.need(e.now)
		count[rank]++
	}
	line, used := "", 0
	for rank, n := range count {
		sign, style := e.needLook(need(rank))
		part := fmt.Sprintf("%s %d %s  ", sign, n, needWords[need(rank)])
		if n == 0 || used+width(part) > w {
			continue
		}
		used += width(part)
		line += style.Render(part)
	}
	return line
}

func (l *sessionList) emptyText() []string {
	switch {
	case !l.loaded:
		return []string{"Looking for sessions"}
	case l.filter != "":
		return []string{"No session matches. Esc clears the filter."}
	}
	return []string{"No sessions yet.", "Start Pi in a project, or try", "piwatch demo"}
}

// lineOf is all that the line of a session shows.
type lineOf struct {
	rank                           need
	word, name, folder, model, age string
	group, depth                   int
	selected                       bool
	width, look                    int
}

// line draws a session, or takes the drawing of before when nothing of it is
// new.
func (l *sessionList) line(e *env, s *session, w int, selected bool) string {
	rank, word := s.need(e.now)
	what := lineOf{
		rank: rank, word: word, name: s.title(), folder: s.folder(), model: s.model(), age: age(e.now, s.changed()),
		group: s.group, depth: s.depth, selected: selected, width: w, look: e.look,
	}
	if s.line == "" || s.shows != what {
		s.shows, s.line = what, what.draw(e)
	}
	return s.line
}

// draw draws the state and the name, and as far as they fit beside the whole
// name the folder, the model and the age.
func (s *lineOf) draw(e *env) string {
	w := s.width
	sign, style := e.needLook(s.rank)
	mark, text, muted := " ", e.styles.Text, e.styles.Muted
	if s.rank == needEnded {
		text = e.styles.Muted
	}
	if s.selected {
		mark = e.styles.Accent.Render(e.signs.cursor)
		text = e.styles.Selected
	}
	if s.group > 0 { // it stands for ended sessions
		line := strings.Repeat(" ", indent*min(s.depth, deepest)) + e.signs.closed + " " + plural(s.group, "ended session")
		return mark + text.Render(fit(line, w-1, e.signs.more))
	}
	before := ""
	if s.depth > 0 {
		before = muted.Render(strings.Repeat(" ", indent*(min(s.depth, deepest)-1)) + e.signs.child + " ")
	}
	state := before + style.Render(sign+" "+fit(s.word, wordWidth, ""))
	rest := w - 1 - width(before) - 2 - wordWidth - 1
	if rest < 8 {
		return mark + clip(state, w-1, "")
	}
	tail := ""
	if rest > 14 {
		tail = muted.Render(" " + strings.Repeat(" ", max(ageWidth-width(s.age), 0)) + s.age)
		rest -= ageWidth + 1
	}
	// The name comes first. A long one leaves a part to the folder where the
	// list is wide; the model is for those who have room.
	name, folder := s.name, s.folder
	beside := 0
	if folder != "" && width(name)+1+width(folder) <= rest {
		beside = width(folder)
	} else if folder != "" && w >= folderFrom {
		beside = min(width(folder), folderWidth)
	}
	line := text.Render(fit(name, rest, e.signs.more))
	if beside > 0 {
		right := fit(folder, beside, e.signs.more)
		if both := right + " " + e.signs.dot + " " + s.model; s.model != "" && width(name)+1+width(both) <= rest {
			right = both
		}
		line = text.Render(fit(name, rest-width(right)-1, e.signs.more)) + " " + muted.Render(right)
	}
	return mark + state + " " + line + tail
}
