package timeline

import (
	"strings"
	"testing"
	"time"

	"piwatch/internal/watchdog"
)

func TestPrinterSaysEachThingOnce(t *testing.T) {
	s := newScript(t)
	s.user("go")
	s.agent("toolUse", called("c1", "bash", block{"command": "ls"}))
	s.result("c1", "bash", "a", false)
	_, ask := s.ask("c1", 1)
	rows := append(s.answer("done", "all of it"), ask)
	outcome := watchdog.Outcome{Check: "c1", End: watchdog.EndAnswered, Decision: watchdog.Done, Note: "all of it"}
	s.outcome(outcome)
	s.omit(rows...)
	outcome.Rows, outcome.Fold = rows, watchdog.FoldEdit
	s.outcome(outcome)
	outcome.Fold, outcome.Unfolded = "", watchdog.FoldEdit
	s.outcome(outcome)
	var out strings.Builder
	p := NewPrinter(&out, DaysSince(began))
	var b Builder
	for _, e := range s.entries() {
		b.Add(e)
		if err := p.Print(b.Rows()); err != nil {
			t.Fatal(err)
		}
	}
	at := func(n int) string { return began.Add(time.Duration(n) * time.Second).Local().Format(time.TimeOnly) }
	want := strings.Join([]string{
		at(1) + "  user     go",
		at(2) + "  tool     bash ls -> ok 1s",
		at(4) + "  check    1/50 after 1m, idle: open",
		at(4) + "  check    1/50 after 1m, idle: done - all of it",
		at(4) + "  check    1/50 after 1m, idle: done - all of it (unfolded by hand)",
		"",
	}, "\n")
	if out.String() != want {
		t.Errorf("printed\n%s\nwant\n%s", out.String(), want)
	}

	out.Reset()
	p = NewPrinter(&out, DaysSince(began))
	p.Name = "api"
	p.Skip(b.Rows())
	s.user("more")
	all := s.entries()
	b.Add(all[len(all)-1])
	if err := p.Print(b.Rows()); err != nil || out.String() != at(14)+"  user     api: more\n" {
		t.Errorf("after what was skipped, printed %q, %v", out.String(), err)
	}
}

// A line on another day comes after a line with its date.
func TestPrinterSaysTheDay(t *testing.T) {
	first := time.Date(2026, 3, 1, 23, 59, 0, 0, time.Local)
	var rows []*Row
	for i, minutes := range []int{0, 0, 1, 2, 24*60 + 1} {
		rows = append(rows, &Row{Key: string(rune('a' + i)), Kind: User, Title: "go", Time: first.Add(time.Duration(minutes) * time.Minute)})
	}
	rows = append(rows, &Row{Key: "z", Kind: User, Title: "go"})
	const night = "23:59:00  user     go\n23:59:00  user     go\n2026-03-02\n00:00:00  user     go\n00:01:00  user     go\n2026-03-03\n00:00:00  user     go\n          user     go\n"
	for name, c := range map[string]struct {
		since time.Time
		want  string
	}{
		"a day that is known":  {first.Add(-time.Hour), night},
		"one that is not":      {time.Time{}, "2026-03-01\n" + night},
		"one of the year past": {first.AddDate(-1, 0, 0), "2026-03-01\n" + night},
	} {
		var out strings.Builder
		if err := NewPrinter(&out, DaysSince(c.since)).Print(rows); err != nil || out.String() != c.want {
			t.Errorf("%s: printed, %v\n%s", name, err, out.String())
		}
	}
}

// Two sessions that are printed to one place have their days in common.
func TestPrintersShareDays(t *testing.T) {
	var out strings.Builder
	days := &Days{}
	for _, name := range []string{"a", "b"} {
		p := NewPrinter(&out, days)
		p.Name = name
		if err := p.Print([]*Row{{Key: "k", Kind: User, Title: "go", Time: time.Date(2026, 3, 2, 0, 1, 0, 0, time.Local)}}); err != nil {
			t.Fatal(err)
		}
	}
	if want := "2026-03-02\n00:01:00  user     a: go\n00:01:00  user     b: go\n"; out.String() != want {
		t.Errorf("printed %q", out.String())
	}
}
