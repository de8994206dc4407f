package watchdog

import (
	"testing"
)

func TestRebuild(t *testing.T) {
	ten := Settings{10, 5, Once, ""}
	keep := Settings{10, 5, Keep, "go"}
	byHand := Start{By: "tui", Settings: ten, Instance: "one"}
	begun := func(change func(*State)) State {
		s := State{Started: true, On: true, Settings: ten, Human: true, Said: "do it", Instance: "one"}
		change(&s)
		return s
	}
	check := func(r *rows, id string, n int) { r.record(RecordCheck, Check{ID: id, N: n, Max: 5}) }
	answered := func(r *rows, id string, d Decision) {
		r.record(RecordOutcome, Outcome{Check: id, End: EndAnswered, Decision: d, Note: "why"})
	}
	for _, c := range []struct {
		name  string
		write func(*rows)
		want  State
	}{
		{"nothing", func(*rows) {}, State{Settings: Defaults()}},
		{"a session that was never watched", func(r *rows) { r.user(); r.assistant("stop") }, State{Settings: Defaults(), Human: true, Said: "do it"}},
		{"started", func(r *rows) { r.user(); r.record(RecordStart, byHand) }, begun(func(*State) {})},
		{"started before any message", func(r *rows) { r.record(RecordStart, byHand) }, begun(func(s *State) { s.Human, s.Said = false, "" })},
		{"set", func(r *rows) { r.user(); r.record(RecordStart, byHand); r.record(RecordSet, Set{"tui", keep}) },
			begun(func(s *State) { s.Settings = keep })},
		{"paused", func(r *rows) { r.user(); r.record(RecordStart, byHand); r.record(RecordPause, Pause{"tui", true}) },
			begun(func(s *State) { s.Paused = true })},
		{"paused, then a message", func(r *rows) {
			r.user()
			r.record(RecordStart, byHand)
			r.record(RecordPause, Pause{"tui", true})
			r.user()
		}, begun(func(s *State) { s.Paused = true })},
		{"resumed", func(r *rows) {
			r.user()
			r.record(RecordStart, byHand)
			r.record(RecordPause, Pause{"tui", true})
			r.record(RecordPause, Pause{"tui", false})
		}, begun(func(*State) {})},
		{"a check is open", func(r *rows) { r.user(); r.record(RecordStart, byHand); check(r, "c1", 1) },
			begun(func(s *State) { s.Count, s.Open = 1, "c1" })},
		{"a check without an answer", func(r *rows) {
			r.user()
			r.record(RecordStart, byHand)
			check(r, "c1", 1)
			r.record(RecordOutcome, Outcome{Check: "c1", End: EndNoAnswer})
		}, begun(func(s *State) { s.Count, s.Wrong = 1, true })},
		{"an error, after a check without an answer", func(r *rows) {
			r.user()
			r.record(RecordStart, byHand)
			check(r, "c1", 1)
			r.record(RecordOutcome, Outcome{Check: "c1", End: EndNoAnswer})
			check(r, "c2", 2)
			r.record(RecordOutcome, Outcome{Check: "c2", End: EndError, Why: "529"})
		}, begun(func(s *State) { s.Count = 2 })},
		{"continue, the work message is owed", func(r *rows) { r.user(); r.record(RecordStart, byHand); check(r, "c1", 1); answered(r, "c1", Continue) },
			begun(func(s *State) { s.Count, s.Owed, s.Last, s.Note = 1, "c1", Continue, "why" })},
		{"continue, the work message was sent", func(r *rows) {
			r.user()
			r.record(RecordStart, byHand)
			check(r, "c1", 1)
			answered(r, "c1", Continue)
			r.work("c1")
		}, begun(func(s *State) { s.Count, s.Last, s.Note = 1, Continue, "why" })},
		{"continue, then the user spoke", func(r *rows) {
			r.user()
			r.record(RecordStart, byHand)
			check(r, "c1", 1)
			answered(r, "c1", Continue)
			r.user()
		}, begun(func(*State) {})},
		{"continue, never sent, then another check", func(r *rows) {
			r.user()
			r.record(RecordStart, byHand)
			check(r, "c1", 1)
			answered(r, "c1", Continue)
			check(r, "c2", 2)
			r.record(RecordOutcome, Outcome{Check: "c2", End: EndError})
		}, begun(func(s *State) { s.Count, s.Last, s.Note = 2, Continue, "why" })},
		{"continue, then Esc", func(r *rows) {
			r.user()
			r.record(RecordStart, byHand)
			check(r, "c1", 1)
			answered(r, "c1", Continue)
			r.assistant("aborted")
		}, begun(func(s *State) { s.Count, s.Last, s.Note, s.Interrupted = 1, Continue, "why", true })},
		{"void", func(r *rows) {
			r.user()
			r.record(RecordStart, byHand)
			check(r, "c1", 1)
			r.record(RecordOutcome, Outcome{Check: "c1", End: EndVoid, Decision: Done})
		}, begun(func(s *State) { s.Count = 1 })},
		{"done", func(r *rows) { r.user(); r.record(RecordStart, byHand); check(r, "c1", 1); answered(r, "c1", Done) },
			begun(func(s *State) {
				s.On, s.OffWhy, s.Count, s.Last, s.Note = false, "the agent answered done", 1, Done, "why"
			})},
		{"done by itself", func(r *rows) { r.user(); r.record(RecordStart, byHand); answered(r, "", Done) },
			begun(func(s *State) { s.On, s.OffWhy, s.Last, s.Note = false, "the agent answered done", Done, "why" })},
		{"suspended", func(r *rows) {
			r.user()
			r.record(RecordStart, Start{By: "tui", Settings: keep, Instance: "one"})
			check(r, "c1", 1)
			answered(r, "c1", WaitUser)
		}, begun(func(s *State) { s.Settings, s.Count, s.Suspended, s.Last, s.Note = keep, 1, true, WaitUser, "why" })},
		{"suspended, then the user spoke", func(r *rows) {
			r.user()
			r.record(RecordStart, Start{By: "tui", Settings: keep, Instance: "one"})
			check(r, "c1", 1)
			answered(r, "c1", WaitUser)
			r.user()
		}, begun(func(s *State) { s.Settings = keep })},
		{"suspended, then resumed by hand", func(r *rows) {
			r.user()
			r.record(RecordStart, Start{By: "tui", Settings: keep, Instance: "one"})
			answered(r, "", Done)
			r.record(RecordPause, Pause{"tui", false})
		}, begun(func(s *State) { s.Settings, s.Last, s.Note = keep, Done, "why" })},
		{"suspended, paused and resumed by hand", func(r *rows) {
			r.user()
			r.record(RecordStart, Start{By: "tui", Settings: keep, Instance: "one"})
			answered(r, "", Done)
			r.record(RecordPause, Pause{"tui", true})
			r.record(RecordPause, Pause{"tui", false})
		}, begun(func(s *State) { s.Settings, s.Suspended, s.Last, s.Note = keep, true, Done, "why" })},
		{"stopped", func(r *rows) {
			r.user()
			r.record(RecordStart, byHand)
			check(r, "c1", 1)
			r.record(RecordStop, Stop{"tui", StopByHand})
			r.record(RecordOutcome, Outcome{Check: "c1", End: EndAnswered, Decision: Continue})
		}, begun(func(s *State) { s.On, s.OffWhy, s.Count = false, "stopped by hand", 1 })},
		{"the cap", func(r *rows) {
			r.user()
			r.record(RecordStart, byHand)
			check(r, "c5", 5)
			r.record(RecordOutcome, Outcome{Check: "c5", End: EndError})
			r.record(RecordStop, Stop{"piwatch", StopMax})
		}, begun(func(s *State) { s.On, s.OffWhy, s.Count = false, "the cap of 5 checks was reached", 5 })},
		{"a reason of a later release", func(r *rows) {
			r.user()
			r.record(RecordStart, byHand)
			r.record(RecordStop, Stop{"piwatch", "comet"})
		},
			begun(func(s *State) { s.On, s.OffWhy = false, "ended: comet" })},
		{"started again by hand: nothing leaks", func(r *rows) {
			r.user()
			r.record(RecordStart, Start{By: "cli", Settings: keep, Instance: "zero"})
			check(r, "c1", 1)
			answered(r, "c1", Continue)
			r.record(RecordPause, Pause{"tui", true})
			r.record(RecordStart, byHand)
		}, begun(func(*State) {})},
		{"started again by the environment: the count stays", func(r *rows) {
			r.user()
			r.record(RecordStart, byHand)
			check(r, "c3", 3)
			answered(r, "c3", Done)
			r.record(RecordStart, Start{By: ByEnv, Settings: ten})
		}, begun(func(s *State) { s.Count, s.Instance = 3, "" })},
		{"started again during a check: its answer is void", func(r *rows) {
			r.user()
			r.record(RecordStart, byHand)
			check(r, "c1", 1)
			r.record(RecordStart, byHand)
			r.record(RecordStart, byHand)
			answered(r, "c1", Done)
		}, begun(func(s *State) { s.Void = "c1" })},
		{"the user spoke", func(r *rows) { r.user(); r.record(RecordStart, byHand); check(r, "c3", 3); r.user() },
			begun(func(s *State) { s.Open = "c3" })},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &rows{t: t}
			c.write(r)
			if got := Rebuild(r.read); got != c.want {
				t.Errorf("rebuilt %+v\nwant    %+v", got, c.want)
			}
		})
	}
}

// Damaged records count as absent, whatever is in them.
func TestRebuildDamaged(t *testing.T) {
	r := &rows{t: t}
	r.user()
	r.record(RecordStart, Start{By: "tui", Settings: Settings{10, 5, Keep, ""}})
	r.record(RecordCheck, Check{ID: "c1", N: 1})
	want := Rebuild(r.read)
	for _, kind := range []string{RecordStart, RecordSet, RecordStop, RecordPause, RecordCheck, RecordOutcome} {
		r.record(kind, "not an object")
		r.record(kind, []int{1})
		r.line(`{"type":"custom","id":"x","customType":"` + kind + `"}`)
	}
	r.record("piwatch.unknown", Stop{"tui", StopByHand})
	r.record("someone.else", Stop{"tui", StopByHand})
	r.line("torn {")
	r.line(`{"type":"custom_message","id":"x","customType":"someone.else","content":"hi"}`)
	if got := Rebuild(r.read); got != want {
		t.Errorf("damaged records changed the state:\n%+v\n%+v", got, want)
	}
}

// A rebuilt engine goes on where the first one stood.
func TestNewFromState(t *testing.T) {
	ten := Settings{10, 5, Once, ""}
	on := State{Started: true, On: true, Settings: ten, Human: true, Instance: "one", Count: 2}
	t.Run("the count goes on", func(t *testing.T) {
		s := unwatched(t, on)
		s.wants("tool")
		s.counted(2)
		s.counts(10 * sec)
		s.wait(10 * sec)
		s.wants("check c1 3/5")
	})
	t.Run("the cap was reached", func(t *testing.T) {
		rec := on
		rec.Count = 5
		s := unwatched(t, rec)
		s.wants("tool", "record stop", "ended max")
	})
	t.Run("a work message is owed", func(t *testing.T) {
		rec := on
		rec.Owed = "c9"
		s := unwatched(t, rec)
		s.wants("tool", "work c9")
	})
	t.Run("a work message is owed in another process", func(t *testing.T) {
		rec := on
		rec.Owed, rec.Instance = "c9", "another"
		s := unwatched(t, rec)
		s.wants("tool")
		s.is(Waiting, "no run has finished in this process yet; send the agent a message")
	})
	t.Run("suspended", func(t *testing.T) {
		rec := on
		rec.Suspended, rec.Last, rec.Note = true, Done, "all green"
		s := unwatched(t, rec)
		s.is(Suspended, "suspended after done; the user's next message resumes it")
	})
	t.Run("paused", func(t *testing.T) {
		rec := on
		rec.Paused = true
		s := unwatched(t, rec)
		s.is(Paused, "paused by hand")
	})
	t.Run("the last check got no answer", func(t *testing.T) {
		rec := on
		rec.Wrong = true
		s := unwatched(t, rec)
		s.now = s.now.Add(10 * sec)
		effects := s.e.Step(s.now, Tick{})
		if ask, ok := effects[0].(AskCheck); !ok || ask.Text != WrongHint+CheckText {
			t.Errorf("asked %#v", effects)
		}
	})
	t.Run("off", func(t *testing.T) {
		s := unwatched(t, State{Started: true, Settings: ten, OffWhy: "stopped by hand", Human: true})
		s.wantsNothing()
		s.is(Off, "off: stopped by hand")
	})
	t.Run("never watched", func(t *testing.T) {
		s := unwatched(t, State{})
		s.wantsNothing()
		if got := s.e.View(s.now).Settings; got != Defaults() {
			t.Errorf("settings %+v", got)
		}
	})
}
