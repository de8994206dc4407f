package ui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"piwatch/internal/control"
)

// sessionList is the left pane: all sessions, those that need the user first.
type sessionList struct {
	all      map[string]*session // by id
	byPath   map[string]string   // file → id
	shown    []*session          // sorted and filtered
	selected string              // id; stays when the order changes
	want     string              // id to select as soon as it is there
	filter   string
	top      int
	loaded   bool // the first look at the folders is complete
}

func newSessionList(want string) sessionList {
	return sessionList{all: map[string]*session{}, byPath: map[string]string{}, want: want}
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

// setLive takes in all sessions with a bridge.
func (l *sessionList) setLive(live []control.Session) {
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
	s.lost = false
	if s.live = &one; !one.Live {
		s.live = nil
		l.dropEmpty(s)
	}
}

func (l *sessionList) dropLive(id string) {
	if s := l.all[id]; s != nil {
		s.live = nil
		l.dropEmpty(s)
	}
}

func (l *sessionList) lose() {
	for _, s := range l.all {
		s.lost = s.live != nil
	}
}

// arrange sorts and filters, and keeps the selection where it was. When the
// selected session is gone, its neighbour is selected.
func (l *sessionList) arrange(now time.Time) {
	at := l.index()
	l.shown = l.shown[:0]
	ranks := make(map[string]need, len(l.all))
	for _, s := range l.all {
		rank, word := s.need(now)
		ranks[s.id] = rank
		if l.matches(s, word) {
			l.shown = append(l.shown, s)
		}
	}
	slices.SortFunc(l.shown, func(a, b *session) int {
		return cmp.Or(cmp.Compare(ranks[a.id], ranks[b.id]), b.changed().Compare(a.changed()), cmp.Compare(a.id, b.id))
	})
	if l.want != "" && l.all[l.want] != nil {
		l.selected, l.want = l.want, ""
	}
	if l.index() < 0 {
		l.selected = ""
		if len(l.shown) > 0 {
			l.selected = l.shown[min(max(at, 0), len(l.shown)-1)].id
		}
	}
}

func (l *sessionList) matches(s *session, word string) bool {
	if l.filter == "" {
		return true
	}
	text := strings.ToLower(strings.Join([]string{s.title(), s.cwd(), word, s.id}, " "))
	for _, part := range strings.Fields(strings.ToLower(l.filter)) {
		if !strings.Contains(text, part) {
			return false
		}
	}
	return true
}

func (l *sessionList) index() int {
	return slices.IndexFunc(l.shown, func(s *session) bool { return s.id == l.selected })
}

// current is the selected session; nil when there is none.
func (l *sessionList) current() *session {
	if l.index() < 0 {
		return nil
	}
	return l.all[l.selected]
}

// move moves the selection by n sessions.
func (l *sessionList) move(n int) {
	if len(l.shown) > 0 {
		l.selected = l.shown[min(max(l.index()+n, 0), len(l.shown)-1)].id
		l.want = ""
	}
}

const (
	wordWidth = 8 // counting, checking
	ageWidth  = 4
	// folderFrom is the width of the list from which folders are shown.
	folderFrom = 34
)

// draw draws the pane, its heading included.
func (l *sessionList) draw(e *env, w, h int, focus bool) []string {
	title := e.styles.Title
	if focus {
		title = e.styles.TitleFocus
	}
	head := fmt.Sprintf("Sessions %d", len(l.shown))
	if len(l.shown) != len(l.all) {
		head += fmt.Sprintf(" of %d", len(l.all))
	}
	if l.filter != "" {
		head += "  /" + l.filter
	}
	lines := []string{title.Render(clip(" "+head, w, e.signs.more))}
	rows := h - 1
	if len(l.shown) == 0 {
		lines = append(lines, "")
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
	for i := l.top; i < len(l.shown) && i < l.top+rows; i++ {
		lines = append(lines, l.line(e, l.shown[i], w, i == at))
	}
	return fill(lines, w, h, e.signs.more)
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

func (l *sessionList) line(e *env, s *session, w int, selected bool) string {
	rank, word := s.need(e.now)
	sign, style := e.needLook(rank)
	mark, text, muted := " ", e.styles.Text, e.styles.Muted
	if rank == needEnded {
		text = e.styles.Muted
	}
	if selected {
		mark = e.styles.Accent.Render(e.signs.cursor)
		text = e.styles.Selected
	}
	state := style.Render(sign + " " + fit(word, wordWidth, ""))
	rest := w - 1 - 2 - wordWidth - 1
	if rest < 8 {
		return mark + clip(state, w-1, "")
	}
	tail := ""
	if rest > 14 {
		tail = muted.Render(fit(" "+strings.Repeat(" ", max(ageWidth-width(age(e.now, s.changed())), 0))+age(e.now, s.changed()), ageWidth+1, ""))
		rest -= ageWidth + 1
	}
	folder := ""
	if w >= folderFrom {
		n := min(max(rest/3, 6), 16)
		folder = " " + muted.Render(fit(s.folder(), n, e.signs.more))
		rest -= n + 1
	}
	return mark + state + " " + text.Render(fit(s.title(), rest, e.signs.more)) + folder + tail
}
