package ui

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// foldEndedFrom is how many ended sessions beside each other are one line.
const foldEndedFrom = 4

// branch is a session of the list with those that it started.
type branch struct {
	*session
	rank, best need // its own, and the highest of all below it
	children   []*branch
}

// arrange sorts and filters, and keeps the selection where it was. When the
// selected session is gone, its neighbour is selected.
func (l *sessionList) arrange(now time.Time) {
	at := l.index()
	if l.want != "" && l.all[l.want] != nil {
		l.selected, l.want = l.want, ""
	}
	l.shown = l.shown[:0]
	l.place(l.roots(now), 0, "")
	if l.index() < 0 {
		l.selected = ""
		if len(l.shown) > 0 {
			l.selected = l.shown[min(max(at, 0), len(l.shown)-1)].id
		}
	}
}

// roots are the sessions that match, as trees: a child hangs on the session
// that started it, if that is shown.
func (l *sessionList) roots(now time.Time) []*branch {
	l.countChildren(now)
	all := make(map[string]*branch, len(l.all))
	for id, s := range l.all {
		rank, word := s.need(now)
		if l.matches(s, word) {
			all[id] = &branch{session: s, rank: rank, best: rank}
		}
	}
	var roots []*branch
	for id, b := range all {
		if parent := all[l.parent(b.session)]; parent != nil && !l.above(id, parent.id) {
			parent.children = append(parent.children, b)
		} else {
			roots = append(roots, b)
		}
	}
	sortBranches(roots)
	return roots
}

// parent is the id of the session that started another; "" when there is none.
func (l *sessionList) parent(s *session) string {
	if s.live != nil && s.live.Parent != nil {
		return s.live.Parent.Session
	}
	if parent := l.parents[s.id]; parent != "" {
		return parent
	}
	if s.file != nil && s.file.Parent != "" {
		return l.byPath[s.file.Parent]
	}
	return ""
}

// above says whether id is an ancestor of other: what files say may go round
// in circles.
func (l *sessionList) above(id, other string) bool {
	for range len(l.all) {
		if other == id {
			return true
		}
		s := l.all[other]
		if s == nil {
			return false
		}
		if other = l.parent(s); other == "" {
			return false
		}
	}
	return true
}

// countChildren tells each session how its children stand.
func (l *sessionList) countChildren(now time.Time) {
	for _, s := range l.all {
		s.children, s.running, s.childEnd = 0, 0, time.Time{}
	}
	for id, s := range l.all {
		parent := l.all[l.parent(s)]
		if parent == nil || parent.id == id {
			continue
		}
		parent.children++
		if rank := s.rank(now); rank != needEnded && rank != needDone && rank != needIdle {
			parent.running++
		}
		if t := s.changed(); t.After(parent.childEnd) {
			parent.childEnd = t
		}
	}
}

// sortBranches puts those first of which one, or one below, needs the user
// most.
func sortBranches(all []*branch) {
	for _, b := range all {
		sortBranches(b.children)
		for _, c := range b.children {
			b.best = min(b.best, c.best)
		}
	}
	slices.SortFunc(all, func(a, b *branch) int {
		return cmp.Or(cmp.Compare(a.best, b.best), b.changed().Compare(a.changed()), cmp.Compare(a.id, b.id))
	})
}

// place appends branches to what is shown. The ended ones among them become one
// line when they are many; the selected one stays as it is.
func (l *sessionList) place(all []*branch, depth int, under string) {
	folded := 0
	for _, b := range all {
		if b.folds(l.selected) {
			folded++
		}
	}
	group := folded >= foldEndedFrom && !l.ended && l.filter == "" && (folded < len(all) || depth > 0)
	for _, b := range all {
		if group && b.folds(l.selected) {
			continue
		}
		b.depth = depth
		l.shown = append(l.shown, b.session)
		l.place(b.children, depth+1, b.id)
	}
	if group {
		l.shown = append(l.shown, &session{id: endedGroup + under, group: folded, depth: depth})
	}
}

// endedGroup begins the ids of lines that stand for ended sessions. No session
// has such an id.
const endedGroup = "\x00ended "

// folds says whether a branch is ended as a whole and may become part of a
// line.
func (b *branch) folds(selected string) bool {
	if b.best != needEnded || b.id == selected {
		return false
	}
	for _, c := range b.children {
		if !c.folds(selected) {
			return false
		}
	}
	return true
}

func (l *sessionList) matches(s *session, word string) bool {
	if l.filter == "" {
		return true
	}
	text := strings.ToLower(strings.Join([]string{s.title(), s.cwd(), word, s.id, s.model()}, " "))
	for _, part := range strings.Fields(strings.ToLower(l.filter)) {
		if !fuzzy(text, part) {
			return false
		}
	}
	return true
}

// looseness is how many letters may lie between those of a word that is looked
// for, for each of its own.
const looseness = 1

// fuzzy says whether the letters of word come in text, in their order and not
// far from each other.
func fuzzy(text, word string) bool {
	if strings.Contains(text, word) {
		return true
	}
	first, size := utf8.DecodeRuneInString(word)
	for at := 0; ; {
		i := strings.IndexRune(text[at:], first)
		if i < 0 {
			return false
		}
		at += i + size
		if inOrder(text[at:], word[size:], looseness*utf8.RuneCountInString(word)) {
			return true
		}
	}
}

// inOrder says whether the letters of word come next in text, with at most gaps
// others between them.
func inOrder(text, word string, gaps int) bool {
	for _, want := range word {
		for {
			got, size := utf8.DecodeRuneInString(text)
			if size == 0 {
				return false
			}
			text = text[size:]
			if got == want {
				break
			}
			if gaps--; gaps < 0 || got == ' ' {
				return false
			}
		}
	}
	return true
}
