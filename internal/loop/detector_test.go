package loop

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var start = time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)

// do calls a tool and gives what was found.
func do(d *Detector, tool, args, result string) []Finding {
	id := fmt.Sprint(random())
	found := d.Step(start, Called{ID: id, Tool: tool, Args: []byte(args)})
	return append(found, d.Step(start, Returned{ID: id, Text: result})...)
}

func TestFinding(t *testing.T) {
	c := Defaults()
	c.LLMRepeat = 4
	d := New(c)
	var found []Finding
	for range 4 {
		found = append(found, d.Step(start, Answered{Text: "again", Calls: []Call{{Tool: "bash", Args: []byte(`{"command":"make"}`)}}})...)
		found = append(found, do(d, "bash", `{"command":"make"}`, "no rule\nto make it")...)
	}
	if len(found) != 2 {
		t.Fatalf("%d findings: %+v", len(found), found)
	}
	first, second := found[0], found[1]
	if first.Rule != RepeatedOutput || first.Confidence != Medium || len(first.Evidence) != 1 || first.Evidence[0].Count != 4 {
		t.Errorf("one kind: %+v", first)
	}
	if second.Rule != RepeatedCall || second.Confidence != High || len(second.Evidence) != 2 {
		t.Errorf("two kinds: %+v", second)
	}
	e := second.Evidence[0]
	if e.Count != 4 || e.Period != 1 || e.Tool != "bash" || e.Preview != "make" || e.Result != "no rule\nto make it" || e.Hash == 0 {
		t.Errorf("the evidence: %+v", e)
	}
	if d.Standing() == nil || !second.At.Equal(start) {
		t.Error("it does not stand")
	}
}

func TestWhatStandsIsCleared(t *testing.T) {
	for name, ev := range map[string]func(*Detector){
		"by the user":         func(d *Detector) { d.Step(start, Spoken{"stop that"}) },
		"by the end":          func(d *Detector) { d.Step(start, Ended{}) },
		"by an edit":          func(d *Detector) { do(d, "edit", `{"path":"a"}`, "ok") },
		"by a changed result": func(d *Detector) { do(d, "bash", `{"command":"make"}`, "built") },
		"by other work": func(d *Detector) {
			for i := range clearAfter {
				do(d, "read", fmt.Sprintf(`{"path":"%d"}`, i), "text")
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := New(Defaults())
			for range callRepeat {
				do(d, "bash", `{"command":"make"}`, "no")
			}
			if d.Standing() == nil {
				t.Fatal("it does not stand")
			}
			do(d, "bash", `{"command":"make"}`, "no")
			if d.Standing() == nil {
				t.Fatal("cleared by the same again")
			}
			if ev(d); d.Standing() != nil {
				t.Errorf("it stands: %+v", d.Standing())
			}
		})
	}
}

// A failed edit is no progress.
func TestAFailedEditIsNoProgress(t *testing.T) {
	d := New(Defaults())
	for range 3 {
		do(d, "bash", `{"command":"make"}`, "no")
	}
	id := "e"
	d.Step(start, Called{ID: id, Tool: "edit", Args: []byte(`{"path":"a"}`)})
	d.Step(start, Returned{ID: id, Text: "not found", Error: true})
	if found := do(d, "bash", `{"command":"make"}`, "no"); len(found) != 1 {
		t.Errorf("%d findings, want 1", len(found))
	}
}

// The key is that of the circle: after a finding another of its calls may
// complete the count.
func TestTheKeyIsThatOfTheCircle(t *testing.T) {
	d := New(Defaults())
	keys := map[string]int{}
	for i := range 60 {
		name := string(rune('a' + i%3))
		for _, f := range do(d, "read", `{"path":"`+name+`"}`, "text "+name) {
			keys[f.Key]++
		}
	}
	if len(keys) != 1 {
		t.Errorf("keys %v, want one", keys)
	}
	other := New(Defaults())
	for range 4 {
		for _, f := range do(other, "read", `{"path":"z"}`, "text z") {
			if keys[f.Key] > 0 {
				t.Error("another circle has the same key")
			}
		}
	}
}

func TestIdle(t *testing.T) {
	c := Defaults()
	c.IdleNoProgress = time.Minute
	d := New(c)
	at := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
	count := func(want int, found []Finding) {
		t.Helper()
		if len(found) != want {
			t.Errorf("%d findings, want %d", len(found), want)
		}
	}
	d.Step(start, Began{})
	count(0, d.Step(at(100), Ticked{})) // no tool runs: it thinks
	if !d.Due().IsZero() {
		t.Error("due without a tool")
	}
	d.Step(at(100), Called{ID: "1", Tool: "bash"})
	if due := d.Due(); !due.Equal(at(60)) {
		t.Errorf("due %s", due.Sub(start))
	}
	count(1, d.Step(at(101), Ticked{}))
	count(0, d.Step(at(160), Ticked{})) // it counts anew
	count(1, d.Step(at(161), Ticked{}))
	d.Step(at(170), Children{Working: 1})
	count(0, d.Step(at(900), Ticked{}))
	count(0, d.Step(at(1000), Children{Working: 0}))
	count(0, d.Step(at(1059), Ticked{}))
	count(1, d.Step(at(1060), Ticked{}))
	d.Step(at(1061), Ended{})
	count(0, d.Step(at(9000), Ticked{}))
}

func TestCooldown(t *testing.T) {
	at := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
	var c Cooldown
	for i, step := range []struct {
		at      int
		target  string
		key     string
		seconds int
		want    bool
		wait    time.Duration
	}{
		{0, "s", "A", Once, true, 0},
		{1, "s", "B", Once, true, 0},
		{2, "s", "A", Once, false, 0}, // not only the last key is remembered
		{3, "other", "A", Once, true, 0},
		{4, "s", "A", 0, true, 0},
		{4, "s", "A", 0, true, 0},
		{5, "s", "A", 10, false, 9 * time.Second},
		{13, "s", "A", 10, false, time.Second},
		{14, "s", "A", 10, true, 0},
		{14, "s", "C", 10, true, 0},
	} {
		ok, wait := c.Allow(at(step.at), step.target, step.key, step.seconds)
		if ok != step.want || wait != step.wait {
			t.Errorf("step %d: %t, %s, want %t, %s", i, ok, wait, step.want, step.wait)
		}
	}
	for i := range 10 * keepKeys {
		c.Allow(start, "many", fmt.Sprint(i), Once)
	}
	if n := len(c.told["many"]); n != keepKeys {
		t.Errorf("%d keys are kept", n)
	}
	c.Forget("s")
	if ok, _ := c.Allow(at(20), "s", "B", Once); !ok {
		t.Error("a target that was let go is remembered")
	}
}

// Any circle of up to 8 different calls is found when a call of it comes the
// fourth time, whatever came before, and not sooner; calls that are strewn in
// now and then change nothing.
func TestEveryPeriod(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		period := rapid.IntRange(1, maxPeriod).Draw(t, "period")
		before := rapid.IntRange(0, 100).Draw(t, "before")
		strewn := rapid.IntRange(0, 1).Draw(t, "strewn")
		d := New(Defaults())
		for i := range before {
			if found := do(d, "read", fmt.Sprintf(`{"path":"before/%d"}`, i), fmt.Sprint("text ", i)); len(found) > 0 {
				t.Fatalf("new work was found: %+v", found)
			}
		}
		seen := map[string]int{}
		for i := 0; ; i++ {
			name := fmt.Sprint(i % period)
			seen[name]++
			found := do(d, "read", `{"path":"`+name+`"}`, "text "+name)
			if len(found) > 0 {
				if seen[name] != callRepeat {
					t.Fatalf("found at the %d. time", seen[name])
				}
				return
			}
			if seen[name] > callRepeat {
				t.Fatal("not found")
			}
			if strewn > 0 && i == period {
				do(d, "grep", `{"pattern":"strewn"}`, "none")
			}
		}
	})
}

// Work that is new, or whose result changes, is never found, however long.
func TestWorkIsNotFound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := New(Defaults())
		for i, kind := range rapid.SliceOfN(rapid.IntRange(0, 4), 0, 300).Draw(t, "kinds") {
			var found []Finding
			switch kind {
			case 0: // new
				found = do(d, "read", fmt.Sprintf(`{"path":"%d"}`, i), "the same text in each file")
			case 1: // polls something that grows
				found = do(d, "bash", `{"command":"wc -l out"}`, fmt.Sprint(i, " out"))
			case 2: // edits
				found = do(d, "edit", fmt.Sprintf(`{"path":"a","new":"%d"}`, i), "ok")
			case 3: // the test after it
				do(d, "edit", fmt.Sprintf(`{"path":"b","new":"%d"}`, i), "ok")
				found = do(d, "bash", `{"command":"make test"}`, "FAIL")
			case 4:
				found = d.Step(start, Spoken{"and now?"})
			}
			if len(found) > 0 {
				t.Fatalf("step %d of kind %d: %+v", i, kind, found[0])
			}
		}
	})
}

// The state of a detector is bounded, whatever comes.
func TestBounded(t *testing.T) {
	d := New(Defaults())
	for i := range 5000 {
		d.Step(start, Called{ID: fmt.Sprint("open", i), Tool: "bash", Args: []byte(`{"command":"` + strings.Repeat("x", 500) + `"}`)})
		do(d, "read", fmt.Sprintf(`{"path":"%d"}`, i), strings.Repeat("long ", 1000))
	}
	if len(d.open) > keepOpen || len(d.calls.pairs) > keepPairs || cap(d.calls.pairs) > 2*keepPairs {
		t.Errorf("%d open, %d pairs", len(d.open), len(d.calls.pairs))
	}
	for _, p := range d.calls.pairs {
		if len(p.call.preview) > maxPreview || len(p.text) > maxPreview {
			t.Errorf("a preview of %d and %d bytes", len(p.call.preview), len(p.text))
		}
	}
}

// Calls whose results are lost do not make the results of others look alike.
func TestLostResults(t *testing.T) {
	d := New(Defaults())
	for i := range 5 * keepOpen {
		d.Step(start, Called{ID: fmt.Sprint("lost", i), Tool: "read", Args: []byte(`{}`)})
		if found := do(d, "read", fmt.Sprintf(`{"path":"%d"}`, i), "the same"); len(found) > 0 {
			t.Fatalf("after %d: %+v", i, found)
		}
		if found := d.Step(start, Returned{ID: fmt.Sprint("nobody's", i), Tool: "read", Text: "the same"}); len(found) > 0 {
			t.Fatalf("without a call, after %d: %+v", i, found)
		}
	}
}

func TestPreview(t *testing.T) {
	for _, c := range []struct {
		text  string
		lines int
		want  string
	}{
		{"", 3, ""},
		{"a\nb\nc\nd", 2, "a\nb"},
		{"  a  ", 1, "a"},
		{strings.Repeat("é", 500), 1, strings.Repeat("é", maxPreview/2)},
		{"a\xff", 1, "a\uFFFD"},
		{"a", 0, ""},
	} {
		if got := preview(c.text, c.lines); got != c.want {
			t.Errorf("%.20q, %d: %.40q, want %.40q", c.text, c.lines, got, c.want)
		}
	}
}

func FuzzDetector(f *testing.F) {
	f.Add("bash", `{"command":"make"}`, "at 12:00:00 \x1b[31mno 0x")
	f.Add("edit", `{"a":[1,"x",null,{"b":true}]}`, "/tmp/")
	f.Add("", "{", "2026-")
	f.Add("x", `"sleep 5"`, strings.Repeat("a1", 40<<10))
	f.Fuzz(func(t *testing.T, tool, args, result string) {
		run := func() []string {
			d := New(Defaults())
			var found []string
			for range 9 {
				for _, x := range do(d, tool, args, result) {
					found = append(found, x.Key)
				}
			}
			return found
		}
		a, b := run(), run()
		if !slices.Equal(a, b) {
			t.Errorf("%v and %v", a, b)
		}
		c := digestCall(tool, []byte(args), func(Hash) bool { return false })
		if len(a) == 0 && !c.loose && !digestCall(tool, []byte(args), verbatim).changes {
			t.Error("the same call nine times was not found")
		}
	})
}

func BenchmarkDetector(b *testing.B) {
	d := New(Defaults())
	result := strings.Repeat("src/main.go:12: at 2026-11-30T23:42:27Z commit 1a2b3c4 took 12ms\n", 8)
	args := make([][]byte, 100)
	for i := range args {
		args[i] = fmt.Appendf(nil, `{"path":"src/%d.go","offset":%d}`, i, i)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		d.Step(start, Called{ID: "1", Tool: "read", Args: args[i%100]})
		d.Step(start, Returned{ID: "1", Text: result})
	}
}

func TestTrail(t *testing.T) {
	var trail Trail
	add := func(limit int) { trail.Add(start, Spoken{fmt.Sprint(trail.Seen() + 1)}, limit, 1) }
	want := func(n int, texts ...string) {
		t.Helper()
		var got []string
		for _, one := range trail.Last(n) {
			got = append(got, one.Preview)
		}
		if !slices.Equal(got, texts) {
			t.Errorf("%q, want %q", got, texts)
		}
	}
	want(9)
	for range 4 {
		add(3)
	}
	want(9, "2", "3", "4")
	want(2, "3", "4")
	add(2) // lower
	want(9, "4", "5")
	add(2)
	want(9, "5", "6")
	add(4) // higher
	want(9, "5", "6", "7")
	trail.Add(start, Ticked{}, 4, 1)
	if trail.Seen() != 7 || trail.Len() != 3 {
		t.Errorf("%d of %d", trail.Len(), trail.Seen())
	}
}
