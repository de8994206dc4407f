package pi

import (
	"fmt"
	"iter"
	"slices"
)

// Tree holds the entries of a session and how they hang together. Entries are
// added in file order; the zero value is an empty tree.
//
// Where Pi's own index breaks, the tree does not: an id used twice belongs to
// the entry above it in the file, so that both can be reached, and an entry
// that would be its own ancestor becomes a root (Pi 1.6.0 and 0.81.1 hang).
type Tree struct {
	nodes  []node
	byID   map[string]int   // the last entry of that id
	lost   map[string][]int // entries whose parent did not come yet, by its id
	roots  []int
	damage DamageReport
}

type node struct {
	entry *Entry
	// up is the place of the parent in nodes, -1 for a root or an orphan.
	up int
	// top leads to the root of the entry, by way of others: see rootOf.
	top  int
	kids []int
}

// Add puts an entry into the tree. The header and entries without an id are
// not part of the tree. A parent may come after its child.
func (t *Tree) Add(e Entry) {
	if e.Type == TypeSession || e.ID == "" {
		return
	}
	if t.byID == nil {
		t.byID, t.lost = make(map[string]int), make(map[string][]int)
	}
	at := len(t.nodes)
	up := -1
	switch parent, known := t.byID[e.ParentID]; {
	case e.ParentID == "" || e.ParentID == e.ID && !known:
		t.roots = append(t.roots, at)
	case known:
		up = parent
		t.nodes[parent].kids = append(t.nodes[parent].kids, at)
	default:
		t.lost[e.ParentID] = append(t.lost[e.ParentID], at)
	}
	top := at
	if up >= 0 {
		top = up
	}
	t.nodes = append(t.nodes, node{entry: &e, up: up, top: top})
	if e.ParentID == e.ID && up < 0 {
		t.damage.add(damageAt(&e, DamageCycle, fmt.Sprintf("entry %q is its own parent", e.ID)))
	}
	if _, again := t.byID[e.ID]; again {
		t.damage.add(damageAt(&e, DamageDuplicate, fmt.Sprintf("id %q was used before", e.ID)))
	}
	t.byID[e.ID] = at
	t.adopt(at, e.ID)
}

// adopt gives the entries that waited for this one their parent.
func (t *Tree) adopt(at int, id string) {
	waiting := t.lost[id]
	delete(t.lost, id)
	for _, child := range waiting {
		if t.rootOf(at) == child {
			c := t.nodes[child].entry
			t.damage.add(damageAt(c, DamageCycle, fmt.Sprintf("entry %q is its own ancestor", c.ID)))
			t.roots = append(t.roots, child)
			continue
		}
		t.nodes[child].up, t.nodes[child].top = at, at
		t.nodes[at].kids = append(t.nodes[at].kids, child)
	}
}

// rootOf finds the root above an entry and shortens the way for the next time.
func (t *Tree) rootOf(at int) int {
	root := at
	for t.nodes[root].top != root {
		root = t.nodes[root].top
	}
	for t.nodes[at].top != root {
		at, t.nodes[at].top = t.nodes[at].top, root
	}
	return root
}

// Len is the number of entries in the tree.
func (t *Tree) Len() int { return len(t.nodes) }

// All gives the entries in file order. They must not be changed.
func (t *Tree) All() iter.Seq[*Entry] {
	return func(yield func(*Entry) bool) {
		for i := range t.nodes {
			if !yield(t.nodes[i].entry) {
				return
			}
		}
	}
}

// Leaf is the id of the current leaf: the last entry in the file, whatever its
// type, as Pi chooses it on load (both: labels and session_info count, too).
// It is "" in an empty tree. A /tree navigation that was not followed by an
// entry is only known to the running Pi.
func (t *Tree) Leaf() string {
	if len(t.nodes) == 0 {
		return ""
	}
	return t.nodes[len(t.nodes)-1].entry.ID
}

// Get finds an entry; when an id was used twice, the later one.
func (t *Tree) Get(id string) (Entry, bool) {
	at, ok := t.byID[id]
	if !ok {
		return Entry{}, false
	}
	return *t.nodes[at].entry, true
}

// Up walks from an entry to its root. The entries must not be changed.
func (t *Tree) Up(id string) iter.Seq[*Entry] {
	return func(yield func(*Entry) bool) {
		at, ok := t.byID[id]
		for ok && at >= 0 {
			if !yield(t.nodes[at].entry) {
				return
			}
			at = t.nodes[at].up
		}
	}
}

// Branch is the way from the root to the entry, both included; nil when the
// entry is unknown. An orphan ends the walk like a root.
func (t *Tree) Branch(leafID string) []Entry {
	var branch []Entry
	for e := range t.Up(leafID) {
		branch = append(branch, *e)
	}
	slices.Reverse(branch)
	return branch
}

// Children are the entries right below an entry in file order; those of "" are
// the roots, orphans not included.
func (t *Tree) Children(id string) []Entry {
	places := t.roots
	if id != "" {
		at, ok := t.byID[id]
		if !ok {
			return nil
		}
		places = t.nodes[at].kids
	}
	var children []Entry
	for _, at := range places {
		children = append(children, *t.nodes[at].entry)
	}
	return children
}

// Orphans are the entries whose parent is not in the file, in file order.
func (t *Tree) Orphans() []Entry {
	var places []int
	for _, waiting := range t.lost {
		places = append(places, waiting...)
	}
	slices.Sort(places)
	orphans := make([]Entry, 0, len(places))
	for _, at := range places {
		orphans = append(orphans, *t.nodes[at].entry)
	}
	return orphans
}

// Damage is what is wrong with the tree as it is now: an orphan whose parent
// comes later is none any more.
func (t *Tree) Damage() DamageReport {
	var orphans DamageReport
	for _, e := range t.Orphans() {
		orphans.add(damageAt(&e, DamageOrphan, fmt.Sprintf("parent %q is not in the file", e.ParentID)))
	}
	return t.damage.merge(orphans)
}

// Name is the session's name: the last session_info in the file, trimmed; an
// empty one takes the name away. Branches do not matter (both).
func (t *Tree) Name() string {
	for i := len(t.nodes) - 1; i >= 0; i-- {
		if info := t.nodes[i].entry.SessionInfo; info != nil {
			return trimName(info.Name)
		}
	}
	return ""
}

func damageAt(e *Entry, kind, detail string) Damage {
	return Damage{Kind: kind, Line: e.Line, Offset: e.Offset, Detail: detail}
}
