package timeline

import (
	"slices"
	"testing"

	"piwatch/internal/watchdog"
)

func TestCardOfAnAnsweredCheck(t *testing.T) {
	s := newScript(t)
	s.user("go")
	s.agent("stop", text1("half"))
	_, ask := s.ask("c1", 2)
	rows := append([]string{ask}, s.answer("continue", "more to do")...)
	s.omit(rows...)
	s.outcome(watchdog.Outcome{Check: "c1", End: watchdog.EndAnswered, Decision: watchdog.Continue, Note: "more to do", Tokens: 12, Fold: watchdog.FoldEdit, Rows: rows})
	s.message(watchdog.MessageWork, "Carry on.", watchdog.MessageDetails{Check: "c1"})
	s.agent("stop", text1("all"))
	b := build(s.entries())
	wantRows(t, b.Rows(), `
		user: go
		agent: half
		check: 2/50 after 1m, idle: continue - more to do (folded)
		  ask: Automated check. [hidden]
		  tool: watchdog_decide continue -> ok 1s [hidden]
		work: back to work
		agent: all
	`)
	card := b.Rows()[2].Card
	if card.Tokens != 12 || !card.Worked || card.Open() || card.Fold != FoldedByEdit || card.Origin != ByWatchdog {
		t.Errorf("the card is %+v", card)
	}
	if st := b.Story(); st.Count != 2 || st.Decision != watchdog.Continue || st.Standing != Stopped {
		t.Errorf("the story is %+v", st)
	}
}

// Without context edits a fold moves the branch back to before the check, and
// the exchange hangs on a branch of its own.
func TestCardOfAFoldByBranch(t *testing.T) {
	s := newScript(t)
	s.user("go")
	before := s.agent("stop", text1("half"))
	_, ask := s.ask("c1", 1)
	rows := append([]string{ask}, s.answer("done", "all of it")...)
	s.leaf = before
	s.outcome(watchdog.Outcome{Check: "c1", End: watchdog.EndAnswered, Decision: watchdog.Done, Note: "all of it", Fold: watchdog.FoldBranch, Rows: rows})
	s.user("thanks")
	wantRows(t, build(s.entries()).Rows(), `
		user: go
		agent: half
		check: 1/50 after 1m, idle: done - all of it (folded by branch)
		  ask: Automated check.
		  tool: watchdog_decide done -> ok 1s
		user: thanks
	`)
}

// A rollback goes to the check's record, which stays on the branch.
func TestCardOfARollback(t *testing.T) {
	s := newScript(t)
	s.user("go")
	record, ask := s.ask("c1", 1)
	rows := append([]string{ask}, s.answer("continue", "")...)
	s.leaf = record
	s.outcome(watchdog.Outcome{Check: "c1", End: watchdog.EndAnswered, Decision: watchdog.Continue, Fold: watchdog.FoldBranch, Rows: rows})
	s.message(watchdog.MessageWork, "Carry on.", watchdog.MessageDetails{Check: "c1"})
	s.agent("stop", text1("all"))
	wantRows(t, build(s.entries()).Rows(), `
		user: go
		check: 1/50 after 1m, idle: continue (folded by branch)
		  ask: Automated check.
		  tool: watchdog_decide continue -> ok 1s
		work: back to work
		agent: all
	`)
}

// A rollback by hand leaves the whole exchange, its first outcome too, on a
// branch below the check's record.
func TestCardOfARollbackByHand(t *testing.T) {
	s := newScript(t)
	s.user("go")
	record, ask := s.ask("c1", 1)
	rows := append([]string{ask}, s.answer("done", "all")...)
	s.omit(rows...)
	done := watchdog.Outcome{Check: "c1", End: watchdog.EndAnswered, Decision: watchdog.Done, Note: "all", Tokens: 12, Fold: watchdog.FoldEdit, Rows: rows}
	s.outcome(done)
	s.leaf = record
	done.Fold = watchdog.FoldRollback
	s.outcome(done)
	b := build(s.entries())
	wantRows(t, b.Rows(), `
		user: go
		check: 1/50 after 1m, idle: done - all (rolled back)
		  ask: Automated check.
		  tool: watchdog_decide done -> ok 1s
	`)
	card := b.Rows()[1].Card
	if !card.Folded() || card.Saved() != 12+(len("Automated check.")+len("noted")+3)/4 {
		t.Errorf("folded %v, %d tokens saved", card.Folded(), card.Saved())
	}
}

// What is changed by hand later says nothing of where the session stands now.
func TestAFoldByHandDoesNotMoveTheStory(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*watchdog.Outcome)
		want   FoldState
	}{
		{"unfolded edits", func(o *watchdog.Outcome) { o.Fold, o.Unfolded = "", watchdog.FoldEdit }, Unfolded},
		{"unfolded hook", func(o *watchdog.Outcome) { o.Fold, o.Unfolded = "", watchdog.FoldHook }, Unfolded},
		{"folded again", func(o *watchdog.Outcome) { o.Fold, o.Unfolded = watchdog.FoldHook, "" }, FoldedByHook},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScript(t)
			s.custom(watchdog.RecordStart, watchdog.Start{By: "tui", Settings: watchdog.Defaults()})
			_, ask := s.ask("c1", 1)
			rows := append([]string{ask}, s.answer("wait_user", "which?")...)
			o := watchdog.Outcome{Check: "c1", End: watchdog.EndAnswered, Decision: watchdog.WaitUser, Fold: watchdog.FoldHook, Rows: rows}
			s.outcome(o)
			s.user("the first")
			s.custom(watchdog.RecordStart, watchdog.Start{By: "tui", Settings: watchdog.Defaults()})
			b := build(s.entries())
			before := b.Story()
			version := b.Rows()[1].Version
			o.Again = true
			c.change(&o)
			s.outcome(o)
			all := s.entries()
			b.Add(all[len(all)-1])
			rowsNow := b.Rows()
			if got := rowsNow[1].Card.Fold; got != c.want || rowsNow[1].Version == version {
				t.Errorf("the card is %q, want %q", got, c.want)
			}
			after := b.Story()
			after.Time = before.Time
			if after != before || !after.Watched {
				t.Errorf("the story went from %+v to %+v", before, after)
			}
		})
	}
}

func TestCardsOfOtherEnds(t *testing.T) {
	for _, c := range []struct {
		name  string
		after func(*script)
		want  string
	}{
		{"open", func(*script) {}, `
		check: 1/50 after 1m, idle: open
		  ask: Automated check.
		`},
		{"answered, not recorded", func(s *script) { s.answer("wait_user", "which?") }, `
		check: 1/50 after 1m, idle: wait_user, not recorded yet - which?
		  ask: Automated check.
		  tool: watchdog_decide wait_user -> ok 1s
		`},
		{"void", func(s *script) {
			s.outcome(watchdog.Outcome{Check: "c1", End: watchdog.EndVoid, Why: "the user spoke"})
			s.user("wait")
		}, `
		check: 1/50 after 1m, idle: void, the user spoke
		  ask: Automated check.
		user: wait
		`},
		{"void, told after the user's message", func(s *script) {
			s.user("wait")
			late := s.agent("stop", text1("late"))
			s.outcome(watchdog.Outcome{Check: "c1", End: watchdog.EndVoid, Why: "the user spoke", Fold: watchdog.FoldEdit, Rows: []string{late}})
		}, `
		check: 1/50 after 1m, idle: void, the user spoke (folded)
		  ask: Automated check.
		  agent: late
		user: wait
		`},
		{"no answer", func(s *script) {
			s.agent("stop", text1("I am fine."))
			s.outcome(watchdog.Outcome{Check: "c1", End: watchdog.EndNoAnswer, Why: "text only", Wrong: 1})
		}, `
		check: 1/50 after 1m, idle: no answer, text only
		  ask: Automated check.
		  agent: I am fine.
		`},
		{"provider error", func(s *script) {
			s.agent("error")
			s.outcome(watchdog.Outcome{Check: "c1", End: watchdog.EndError, Why: "502"})
		}, `
		check: 1/50 after 1m, idle: provider error, 502
		  ask: Automated check.
		  error: 502: bad gateway
		`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScript(t)
			s.ask("c1", 1)
			c.after(s)
			wantRows(t, build(s.entries()).Rows(), c.want)
		})
	}
}

func TestCardOfAStopByTheAgent(t *testing.T) {
	s := newScript(t)
	s.user("go")
	said := s.agent("toolUse", text1("The report."), called("d", decideTool, block{"decision": "done"}))
	result := s.result("d", decideTool, "ok", false)
	s.outcome(watchdog.Outcome{End: watchdog.EndAnswered, Decision: watchdog.Done, Note: "shipped", Fold: watchdog.FoldEdit, Rows: []string{result}, Kept: []string{said}})
	wantRows(t, build(s.entries()).Rows(), `
		user: go
		agent: The report.
		check: stopped by the agent itself: done - shipped (folded)
		  tool: watchdog_decide done -> ok 1s
	`)
}

func TestCardThatWasUnfolded(t *testing.T) {
	s := newScript(t)
	_, ask := s.ask("c1", 1)
	rows := append([]string{ask}, s.answer("continue", "")...)
	s.omit(rows...)
	s.outcome(watchdog.Outcome{Check: "c1", End: watchdog.EndAnswered, Decision: watchdog.Continue, Fold: watchdog.FoldEdit, Rows: rows})
	b := build(s.entries())
	version := b.Rows()[0].Version
	for _, id := range rows {
		s.entry("context_edit", block{"targetId": id, "replacement": block{"content": "as it was"}})
	}
	all := s.entries()
	for _, e := range all[len(all)-len(rows):] {
		b.Add(e)
	}
	wantRows(t, b.Rows(), `
		check: 1/50 after 1m, idle: continue (unfolded by hand)
		  ask: Automated check.
		  tool: watchdog_decide continue -> ok 1s
	`)
	if b.Rows()[0].Version <= version {
		t.Error("the card changed and has the version of before")
	}
}

// A second outcome of a check corrects the first: it was unfolded by hand.
func TestCardWithASecondOutcome(t *testing.T) {
	s := newScript(t)
	_, ask := s.ask("c1", 1)
	s.outcome(watchdog.Outcome{Check: "c1", End: watchdog.EndAnswered, Decision: watchdog.Done, Fold: watchdog.FoldHook, Rows: []string{ask}})
	s.outcome(watchdog.Outcome{Check: "c1", End: watchdog.EndAnswered, Decision: watchdog.Done})
	wantRows(t, build(s.entries()).Rows(), `
		check: 1/50 after 1m, idle: done (unfolded by hand)
		  ask: Automated check.
	`)
}

func TestCardsOfTheExtension(t *testing.T) {
	s := newScript(t)
	s.user("go")
	s.message(extNudge, "Are you done?", block{"count": 3, "max": 10, "reason": 7})
	s.agent("toolUse", called("d", "watchdog_answer", block{"decision": "continue"}))
	s.result("d", "watchdog_answer", "ok", false)
	s.custom(extDecision, block{"decision": "continue", "note": "tests fail"})
	s.message(extContinuation, "Continue.", nil)
	s.agent("stop", text1("more"))
	s.message(extFold, "", nil)
	s.message(extNudge, "Are you done?", "no object")
	s.custom(extDecision, block{"action": "wait-user"})
	s.message(extStopped, "Watchdog stopped.", nil)
	wantRows(t, build(s.entries()).Rows(), `
		user: go
		check: 3/10: continue - tests fail (folded)
		  ask: Are you done?
		  tool: watchdog_answer continue -> ok 1s
		work: back to work
		agent: more
		check: wait_user
		  ask: Are you done?
		watch: Watchdog stopped.
	`)
	if got := build(s.entries()).Rows()[1].Card.Origin; got != ByExtension {
		t.Errorf("the origin is %q", got)
	}
}

// Rows of a timeline that grows are the rows of the whole file, also when the
// branch changes on the way; and a row that is drawn otherwise has another
// version.
func TestGrowingIsTheSameAsReadingAll(t *testing.T) {
	s := newScript(t)
	s.user("go")
	before := s.agent("stop", text1("half"))
	_, ask := s.ask("c1", 1)
	rows := append([]string{ask}, s.answer("continue", "")...)
	s.leaf = before
	s.outcome(watchdog.Outcome{Check: "c1", End: watchdog.EndAnswered, Decision: watchdog.Continue, Fold: watchdog.FoldBranch, Rows: rows})
	s.message(watchdog.MessageWork, "Carry on.", watchdog.MessageDetails{Check: "c1"})
	s.agent("toolUse", called("c1", "bash", block{"command": "ls"}))
	s.result("c1", "bash", "a", false)
	_, ask = s.ask("c2", 2)
	rows = append([]string{ask}, s.answer("done", "")...)
	s.omit(rows...)
	s.outcome(watchdog.Outcome{Check: "c2", End: watchdog.EndAnswered, Decision: watchdog.Done, Fold: watchdog.FoldEdit, Rows: rows})
	entries := s.entries()
	var growing Builder
	drawn := map[string]string{}
	versions := map[string]int{}
	for i, e := range entries {
		growing.Add(e)
		got := growing.Rows()
		if whole := said(build(entries[:i+1]).Rows()); said(got) != whole {
			t.Fatalf("after %d entries the growing timeline is\n%s\nand that of the file\n%s", i+1, said(got), whole)
		}
		for _, r := range got {
			now := said([]*Row{r})
			if was, ok := drawn[r.Key]; ok && was != now && versions[r.Key] == r.Version {
				t.Errorf("%s changed from %q to %q and has the same version", r.Key, was, now)
			}
			drawn[r.Key], versions[r.Key] = now, r.Version
		}
	}
	if !slices.ContainsFunc(growing.Rows(), func(r *Row) bool { return r.Kind == CheckCard }) {
		t.Error("there is no card")
	}
}
