package timeline

import (
	"slices"
	"time"

	"piwatch/internal/pi"
)

// Builder builds the rows of one session from its entries, as they come. The
// zero value is ready. It is for one goroutine.
type Builder struct {
	nodes []*node
	byID  map[string]int32 // entry id → node
	check map[string]int32 // check id → node of its record
	leaf  int32            // node of the last entry, -1 when none
	loose []int32          // nodes that are on no branch, and shown on each

	show  projection
	drawn int  // nodes that show has taken in
	dirty bool // show does not follow the branch any more
}

// node is an entry, reduced to what rows need.
type node struct {
	id     string
	parent int32 // -1 for a root
	// child is the first node below, next the one after it below the same
	// parent, last the last one below; zero when there is none.
	child, last, next int32

	time  time.Time
	rows  []Row // those on the branch are changed by what follows
	event any   // what else it does to the rows; see project.go
	call  *Row  // of a tool's result: the row of the call that it is part of
}

// Entry is an entry of a session file, reduced to what rows need. To reduce it
// is most of the work, and may be done in any goroutine.
type Entry struct {
	node node
	up   string // the parent's id
	// anywhere says that it is on no branch, and shown where it is met.
	anywhere bool
	header   bool
}

// Digest reduces an entry.
func Digest(e *pi.Entry) Entry {
	if e.Header != nil {
		return Entry{header: true}
	}
	return Entry{node: digest(e, full), up: e.ParentID}
}

// DigestBrief reduces an entry of a large session further: its rows keep the
// beginnings of their texts only, and Rest says how much more there is.
func DigestBrief(e *pi.Entry) Entry {
	if e.Header != nil {
		return Entry{header: true}
	}
	n := digest(e, brief)
	lost := cutBytes(e)
	for i := range n.rows {
		if r := &n.rows[i]; r.Rest > 0 {
			r.Rest += lost
			break
		}
	}
	return Entry{node: n, up: e.ParentID}
}

// cutBytes is how much of the texts of a message a lean parser has cut.
func cutBytes(e *pi.Entry) (n int) {
	if e.Message != nil {
		for i := range e.Message.Content {
			n += int(e.Message.Content[i].Cut)
		}
	}
	return n
}

// DigestDamage reduces a part of the file that cannot be read.
func DigestDamage(d pi.Damage) Entry { return Entry{node: damageNode(d), anywhere: true} }

// Add takes in one entry, in the order of the file.
func (b *Builder) Add(e Entry) {
	if b.byID == nil {
		b.byID, b.check, b.leaf = map[string]int32{}, map[string]int32{}, -1
	}
	if e.header {
		return
	}
	n := new(node)
	*n = e.node
	n.parent = -1
	if e.anywhere {
		b.loose = append(b.loose, int32(len(b.nodes)))
		b.nodes = append(b.nodes, n)
		return
	}
	if p, ok := b.byID[e.up]; ok && e.up != "" {
		n.parent = p
	}
	b.place(n)
}

func (b *Builder) place(n *node) {
	at := int32(len(b.nodes))
	if n.parent != b.leaf {
		b.dirty = true
	}
	b.nodes = append(b.nodes, n)
	if n.parent >= 0 {
		if up := b.nodes[n.parent]; up.child == 0 {
			up.child, up.last = at, at
		} else {
			b.nodes[up.last].next, up.last = at, at
		}
	}
	if n.id != "" {
		b.byID[n.id] = at
	}
	if c, ok := n.event.(checkEvent); ok {
		b.check[c.ID] = at
	}
	b.leaf = at
}

// Rows are the rows of the active branch: the one that ends at the last entry
// of the file. The slice is valid until the next Add; the rows in it stay the
// same as long as the branch does.
func (b *Builder) Rows() []*Row {
	if b.dirty {
		b.show, b.dirty = projection{}, false
		b.show.start(b)
		for _, at := range b.path() {
			b.show.take(b.nodes[at])
		}
	} else {
		b.show.start(b)
		for _, n := range b.nodes[b.drawn:] {
			b.show.take(n)
		}
	}
	b.drawn = len(b.nodes)
	return b.show.rows
}

// Cards are the rows among them that are cards. They are as long valid.
func (b *Builder) Cards() []*Row {
	b.Rows()
	return b.show.cardRows
}

// path is the active branch, the root first, with what is on no branch where it
// was met.
func (b *Builder) path() []int32 {
	var up []int32
	for at := b.leaf; at >= 0; at = b.nodes[at].parent {
		up = append(up, at)
	}
	up = append(up, b.loose...)
	slices.Sort(up) // a parent is always met before its children
	return up
}
