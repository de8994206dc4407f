package watchdog

import (
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Over any history, longer than a walk can go, the rules hold, and an engine
// rebuilt from the record agrees with the one that had it written.
func TestHistory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		begin := starts(nil)
		w := begin[rapid.SampledFrom(slices.Sorted(maps.Keys(begin))).Draw(t, "start")]
		for range rapid.IntRange(1, 80).Draw(t, "length") {
			drawAction(t, w).do(w)
			w.spec.record(w)
			w.spec.stuck(w)
			if b := w.spec.broken; b != nil {
				t.Fatalf("broken: %s\n%s", b.rule, b.how)
			}
		}
	})
}

// What is rebuilt from the rows one by one, as they come, is what is rebuilt
// from the whole file.
func TestHistoryFromTheFile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		file := &rows{t: t}
		w := newWorld(nil, State{Settings: Defaults()}, func(p *piModel) {
			p.headless, p.rollback = rapid.Bool().Draw(t, "headless"), rapid.Bool().Draw(t, "rollback")
		})
		w.wrote = file.add
		for range rapid.IntRange(1, 60).Draw(t, "length") {
			drawAction(t, w).do(w)
		}
		if got := Rebuild(file.read); got != w.file {
			t.Fatalf("rebuilt from the file %+v\nrow by row %+v", got, w.file)
		}
	})
}

func drawAction(t *rapid.T, w *world) action {
	var can []string
	for _, a := range actions {
		if a.can(w) {
			can = append(can, a.name)
		}
	}
	name := rapid.SampledFrom(can).Draw(t, "action")
	return actions[slices.IndexFunc(actions, func(a action) bool { return a.name == name })]
}
