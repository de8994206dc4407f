package watchdog

import (
	"hash/maphash"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// node is a state on a walk, and how it was reached.
type node struct {
	w     *world
	from  *node
	start string
	by    string
}

func (n *node) path() string {
	var names []string
	for at := n; at != nil; at = at.from {
		if at.from == nil {
			names = append(names, at.start)
		} else {
			names = append(names, at.by)
		}
	}
	slices.Reverse(names)
	return strings.Join(names, " → ")
}

// walk goes through every order of the actions of an alphabet to the depth,
// each state once, and returns the first breach with a shortest way to it.
// rule limits it to one rule; "" is all of them.
type walk struct {
	in     alphabet
	depth  int
	rule   string
	fault  *fault
	seen   map[uint64]struct{}
	seed   maphash.Seed
	steps  int
	breach *breach
	at     *node
}

func (k *walk) run() {
	k.seen, k.seed = map[uint64]struct{}{}, maphash.MakeSeed()
	var level []*node
	begin := starts(k.fault)
	for _, name := range slices.Sorted(maps.Keys(begin)) {
		if n := (&node{w: begin[name], start: name}); k.look(n) {
			level = append(level, n)
		}
	}
	for depth := 0; depth < k.depth && k.breach == nil; depth++ {
		var next []*node
		for _, from := range level {
			next = k.leave(from, next)
		}
		level = next
	}
}

// leave takes every action from a state.
func (k *walk) leave(from *node, next []*node) []*node {
	for i := range actions {
		a := &actions[i]
		if a.in > k.in || !a.can(from.w) || k.breach != nil {
			continue
		}
		w := from.w.clone()
		a.do(w)
		k.steps++
		if n := (&node{w: w, from: from, by: a.name}); k.look(n) {
			next = append(next, n)
		}
	}
	from.w = nil // its successors are made
	return next
}

// look judges a state and reports whether it is a new one.
func (k *walk) look(n *node) bool {
	w := n.w
	w.spec.record(w)
	print := maphash.String(k.seed, w.fingerprint())
	_, known := k.seen[print]
	if known && w.spec.broken == nil {
		return false
	}
	w.spec.stuck(w)
	if b := w.spec.broken; b != nil {
		if k.rule == "" || k.rule == b.rule {
			k.breach, k.at = b, n
		}
		w.spec.broken = nil
	}
	k.seen[print] = struct{}{}
	return !known
}

// The depths of the walks: some twenty seconds on two slow cores.
const (
	coreDepth = 7 - 2*raceCosts
	wideDepth = 4 - raceCosts
)

// deeper adds to the depth of the walks. One more is about five times as long.
const deeper = "PIWATCH_WALK_DEEPER"

func TestWalk(t *testing.T) {
	more := 0
	if v := os.Getenv(deeper); v != "" {
		var err error
		if more, err = strconv.Atoi(v); err != nil {
			t.Fatalf("%s: %v", deeper, err)
		}
	}
	for name, k := range map[string]*walk{
		"few things, deep": {in: core, depth: coreDepth + more},
		"everything":       {in: wide, depth: wideDepth + more},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k.run()
			if b := k.breach; b != nil {
				t.Fatalf("broken: %s\n%s\nafter: %s", b.rule, b.how, k.at.path())
			}
			t.Logf("depth %d: %d states, %d steps", k.depth, len(k.seen), k.steps)
		})
	}
}
