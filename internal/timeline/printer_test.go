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
	p := NewPrinter(&out)
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
	p = NewPrinter(&out)
	p.Name = "api"
	p.Skip(b.Rows())
	s.user("more")
	all := s.entries()
	b.Add(all[len(all)-1])
	if err := p.Print(b.Rows()); err != nil || out.String() != at(14)+"  user     api: more\n" {
		t.Errorf("after what was skipped, printed %q, %v", out.String(), err)
	}
}
