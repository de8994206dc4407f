package replay

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"piwatch/internal/pi"
)

// sane holds for every replay.
func sane(tree *pi.Tree, o Options) (Report, error) {
	r := Run(tree, o)
	if again := Run(tree, o); !reflect.DeepEqual(r, again) {
		return r, fmt.Errorf("two replays differ:\n%v\n%v", told(r), told(again))
	}
	if _, err := json.Marshal(r); err != nil {
		return r, err
	}
	idle, cut, asked, waited := 0, 0, 0, 0.0
	for n, s := range r.Steps {
		if (s.Idle == nil) == (s.Record == nil) {
			return r, fmt.Errorf("step %d is not one thing: %+v", n, s)
		}
		i := s.Idle
		if i == nil {
			continue
		}
		asked += len(i.Asks)
		waited += i.Seconds
		if i.cut {
			cut++
		} else {
			idle++
		}
		switch {
		case (i.Verdict == Asked) != (len(i.Asks) > 0), (i.Verdict == Asked) != (i.Why == ""):
			return r, fmt.Errorf("step %d: %+v", n, *i)
		case i.Verdict == Ends && i.Next != nil, i.Verdict == Short && i.Next == nil:
			return r, fmt.Errorf("step %d: %+v", n, *i)
		case i.Seconds < 0, i.Next != nil && (i.Next.AfterAsk < 0 || i.Next.AfterAsk > i.Seconds):
			return r, fmt.Errorf("step %d: %+v, %+v", n, *i, *i.Next)
		}
		for _, ask := range i.Asks {
			if ask.N < 1 || ask.N > ask.Max {
				return r, fmt.Errorf("step %d: %+v", n, *i)
			}
		}
	}
	t := r.Totals
	if t.Idle != idle || t.CutOff != cut || t.Asked != asked || t.EarlierSeconds > waited {
		return r, fmt.Errorf("the totals %+v are not those of\n%v", t, told(r))
	}
	return r, nil
}

// Any rows in any order at any time, and every beginning of them: no panic, no
// endless loop, the same each time, and nothing that contradicts itself.
func TestAnyBranch(t *testing.T) {
	kinds := []string{
		"user", "user@7", "user@99999", "says A", "thinks Hm", "empty", "length x", "error x", "aborted x", "broken bash", "calls bash", "calls watchdog_decide",
		"result bash", "result watchdog_decide", "shell ls", "ext x", "ask", "work", "compaction x", "model m", "label x", "start " + startKeep,
		`start {"by":"env","settings":{"timeout":0,"max":1,"mode":"once"}}`, `set {"by":"tui","settings":{"timeout":0,"max":2,"mode":"keep"}}`,
		`stop {"by":"cli","reason":"stopped"}`, `stop {"by":"piwatch","reason":"max"}`, `pause {"by":"tui","on":true}`, `pause {"by":"tui","on":false}`,
		"check " + checkOne, "check 1", "outcome " + sayDone, "outcome " + sayGoOn, "outcome " + sayNothing, "outcome " + voidByEsc,
		`outcome {"check":"c1","end":"error","why":"502"}`, `outcome {"end":"answered","decision":"wait_user"}`, `outcome {"check":"c1","again":true}`, `outcome "x"`,
	}
	rapid.Check(t, func(t *rapid.T) {
		var rows []string
		at := 0.0
		for _, kind := range rapid.SliceOfN(rapid.SampledFrom(kinds), 1, 30).Draw(t, "rows") {
			at += rapid.SampledFrom([]float64{0, 0, 0.004, 1, 29, 30, 31, 60, 500, 1e9, -0.5, -5, -1e6}).Draw(t, "passes")
			when := fmt.Sprint(at)
			if rapid.IntRange(0, 9).Draw(t, "timeless") == 0 {
				when = "?"
			}
			if len(rows) > 0 && rapid.IntRange(0, 9).Draw(t, "leaves") == 0 {
				rows = append(rows, fmt.Sprint("< ", rapid.IntRange(0, len(rows)-1).Draw(t, "to")))
			}
			rows = append(rows, when+" "+kind)
		}
		o := Options{
			Settings: settings(t, rapid.SampledFrom([]string{"", "timeout=0", "timeout=30 max=1", "timeout=1 max=2 mode=keep", "timeout=86400"}).Draw(t, "settings")),
			Recorded: rapid.Bool().Draw(t, "recorded"),
		}
		for n := range len(rows) + 1 {
			if _, err := sane(script(t, rows[:n]...), o); err != nil {
				t.Fatalf("after %d rows: %v", n, err)
			}
		}
	})
}
