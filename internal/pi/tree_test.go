package pi

import (
	"fmt"
	"slices"
	"strconv"
	"testing"
)

func row(id, parent string) Entry { return Entry{Type: TypeCustom, ID: id, ParentID: parent} }

func TestTreeFollowsBranches(t *testing.T) {
	var tree Tree
	if tree.Leaf() != "" || tree.Branch("") != nil || tree.Context() != nil {
		t.Error("the empty tree is not empty")
	}
	tree.Add(Entry{Type: TypeSession, ID: "header"})
	for _, e := range []Entry{row("a", ""), row("b", "a"), row("c", "b"), row("d", "b"), row("e", "d")} {
		tree.Add(e)
		if tree.Leaf() != e.ID {
			t.Errorf("leaf %q after %q was added", tree.Leaf(), e.ID)
		}
	}
	for leaf, want := range map[string][]string{"e": {"a", "b", "d", "e"}, "c": {"a", "b", "c"}, "a": {"a"}, "nobody": nil} {
		if got := ids(tree.Branch(leaf)); !slices.Equal(got, want) {
			t.Errorf("branch of %s: %v, want %v", leaf, got, want)
		}
	}
	for id, want := range map[string][]string{"": {"a"}, "b": {"c", "d"}, "e": nil, "nobody": nil} {
		if got := ids(tree.Children(id)); !slices.Equal(got, want) {
			t.Errorf("children of %q: %v, want %v", id, got, want)
		}
	}
}

// Both Pi 1.6.0 and 0.81.1 hang on the first of these.
func TestTreeSurvivesRings(t *testing.T) {
	tests := []struct {
		name   string
		add    []Entry
		branch []string
	}{
		{"id used again below itself", []Entry{row("a", ""), row("b", "a"), row("a", "b")}, []string{"a", "b", "a"}},
		{"two", []Entry{row("a", "b"), row("b", "a")}, []string{"a", "b"}},
		{"three, with a tail", []Entry{row("a", "c"), row("b", "a"), row("c", "b"), row("d", "c")}, []string{"a", "b", "c", "d"}},
		{"itself", []Entry{row("a", "a")}, []string{"a"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var tree Tree
			for _, e := range test.add {
				tree.Add(e)
			}
			if got := ids(tree.Branch(tree.Leaf())); !slices.Equal(got, test.branch) {
				t.Errorf("branch %v, want %v", got, test.branch)
			}
			if report := tree.Damage(); report.Total() == 0 {
				t.Error("no damage was told")
			}
		})
	}
}

func TestOrphansWaitForTheirParent(t *testing.T) {
	var tree Tree
	tree.Add(row("c", "b"))
	if got := ids(tree.Orphans()); !slices.Equal(got, []string{"c"}) {
		t.Fatalf("orphans %v", got)
	}
	if report := tree.Damage(); report.Counts[DamageOrphan] != 1 {
		t.Errorf("damage %v", report.List)
	}
	tree.Add(row("a", ""))
	tree.Add(row("b", "a"))
	if len(tree.Orphans()) != 0 || len(tree.Damage().List) != 0 {
		t.Errorf("still an orphan: %v", tree.Damage().List)
	}
	if got := ids(tree.Branch("c")); !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("branch %v", got)
	}
}

// A file in reverse order makes every entry wait for its parent; the cost must
// not grow with the square of the length.
func TestTreeInReverseOrder(t *testing.T) {
	const n = 300_000
	var tree Tree
	for i := n; i > 0; i-- {
		tree.Add(row(strconv.Itoa(i), strconv.Itoa(i-1)))
	}
	tree.Add(row("0", ""))
	if got := len(tree.Branch(strconv.Itoa(n))); got != n+1 {
		t.Errorf("branch of %d entries, want %d", got, n+1)
	}
}

// TestContext compares with what Pi 1.6.0's buildSessionProjection makes of the
// same file.
func TestContext(t *testing.T) {
	file, err := Load("../../testdata/sessions/hand-v3-context.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"a0 silent", "a1 summarised", "a2 summarised", "a3 summarised by a4", "a4 silent",
		"a5 visible", "a6 summarised", "a7 visible", "a8 replaced by b1", "a9 silent",
		"b0 visible", "b1 silent", "b2 visible", "b3 silent", "b4 dropped", "b5 visible",
		"b7 visible by b9", "b8 visible", "b9 silent", "c0 silent", "c1 silent", "c2 silent",
	}
	if got := states(file.Tree.Context()); !slices.Equal(got, want) {
		t.Errorf("context\n%v, want\n%v", got, want)
	}
	// Before the second edit the first one counts; before the compaction all is there.
	want = []string{"a0 silent", "a1 visible", "a2 visible", "a3 omitted by a4", "a4 silent",
		"a5 visible", "a6 visible", "a7 visible", "a8 replaced by a9", "a9 silent"}
	if got := states(file.Tree.ContextOf("a9")); !slices.Equal(got, want) {
		t.Errorf("context of a9\n%v, want\n%v", got, want)
	}
	if got := states(file.Tree.ContextOf("a3")); got[3] != "a3 visible" {
		t.Errorf("an edit further down counts: %v", got)
	}
	e, _ := file.Tree.Get("b1")
	if blocks := e.ContextEdit.Content(); len(blocks) != 1 || blocks[0].Text != "second text" {
		t.Errorf("replacement %+v", blocks)
	}
	if name := file.Tree.Name(); name != "Garden" {
		t.Errorf("name %q", name)
	}
}

func TestContextOfCompactions(t *testing.T) {
	compaction := func(id, parent, kept string) Entry {
		return Entry{Type: TypeCompaction, ID: id, ParentID: parent, Compaction: &Compaction{FirstKeptEntryID: kept}}
	}
	message := func(id, parent string) Entry {
		return Entry{Type: TypeMessage, ID: id, ParentID: parent, Message: &Message{Role: RoleUser}}
	}
	tests := []struct {
		name string
		add  []Entry
		want []string
	}{
		{"keeps none", []Entry{message("a", ""), compaction("b", "a", "b"), message("c", "b")},
			[]string{"a summarised", "b visible", "c visible"}},
		{"keeps an unknown entry", []Entry{message("a", ""), compaction("b", "a", "x")},
			[]string{"a summarised", "b visible"}},
		{"an older one in the kept range", []Entry{message("a", ""), compaction("b", "a", "a"), message("c", "b"), compaction("d", "c", "a")},
			[]string{"a visible", "b summarised", "c visible", "d visible"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var tree Tree
			for _, e := range test.add {
				tree.Add(e)
			}
			if got := states(tree.Context()); !slices.Equal(got, test.want) {
				t.Errorf("context %v, want %v", got, test.want)
			}
		})
	}
}

func states(context []ContextItem) []string {
	var all []string
	for _, item := range context {
		text := fmt.Sprint(item.Entry.ID, " ", item.State)
		if item.Edit != nil {
			text += " by " + item.Edit.ID
		}
		all = append(all, text)
	}
	return all
}
