package ending

import (
	"encoding/json"
	"fmt"
	"testing"

	"piwatch/internal/guard"
	"piwatch/internal/pi"
	"piwatch/internal/watchdog"
)

// file builds a session file entry by entry.
type file struct {
	t       *testing.T
	parser  pi.Parser
	tracker Tracker
	n       int
	parent  string
}

func (f *file) line(format string, args ...any) {
	f.t.Helper()
	f.n++
	id := fmt.Sprintf("e%d", f.n)
	head := fmt.Sprintf(`"id":%q,"parentId":%q,"timestamp":"2026-03-01T08:00:00.000Z"`, id, f.parent)
	line := fmt.Sprintf(format, args...)
	for _, e := range f.parser.Add([]byte("{"+head+","+line+"}"), int64(f.n)) {
		f.tracker.Add(&e)
	}
	f.parent = id
}

func (f *file) record(kind string, data any) {
	f.t.Helper()
	raw, err := json.Marshal(data)
	if err != nil {
		f.t.Fatal(err)
	}
	f.line(`"type":"custom","customType":%q,"data":%s`, kind, raw)
}

func (f *file) user() { f.line(`"type":"message","message":{"role":"user","content":"go on"}`) }

func (f *file) start(mode watchdog.Mode) {
	f.record(watchdog.RecordStart, watchdog.Start{By: "cli", Settings: watchdog.Settings{Timeout: 1, Max: 2, Mode: mode}})
}

func (f *file) answer(d watchdog.Decision, note string) {
	f.record(watchdog.RecordCheck, watchdog.Check{ID: "c", N: 1, Max: 2})
	f.record(watchdog.RecordOutcome, watchdog.Outcome{Check: "c", End: watchdog.EndAnswered, Decision: d, Note: note})
}

func TestEnding(t *testing.T) {
	for _, c := range []struct {
		name string
		play func(f *file)
		want Ending
	}{
		{"nothing", func(*file) {}, Ending{}},
		{"not watched", func(f *file) { f.user(); f.answer(watchdog.Done, "by itself") }, Ending{Checks: 1}},
		{"works", func(f *file) { f.start(watchdog.Once); f.user() }, Ending{Started: true, Watched: true}},
		{"continue", func(f *file) { f.start(watchdog.Once); f.user(); f.answer(watchdog.Continue, "more") }, Ending{Started: true, Watched: true, Checks: 1}},
		{"done", func(f *file) { f.start(watchdog.Once); f.user(); f.answer(watchdog.Done, "all") }, Ending{Started: true, Kind: Done, Note: "all", Checks: 1}},
		{"done, kept", func(f *file) { f.start(watchdog.Keep); f.user(); f.answer(watchdog.Done, "all") },
			Ending{Started: true, Kind: Done, Note: "all", Checks: 1, Watched: true}},
		{"kept, and goes on", func(f *file) { f.start(watchdog.Keep); f.user(); f.answer(watchdog.WaitUser, "which?"); f.user() }, Ending{Started: true, Watched: true}},
		{"set to keep", func(f *file) {
			f.start(watchdog.Once)
			f.record(watchdog.RecordSet, watchdog.Set{By: "cli", Settings: watchdog.Settings{Mode: watchdog.Keep}})
			f.user()
			f.answer(watchdog.WaitUser, "which?")
		}, Ending{Started: true, Kind: WaitUser, Note: "which?", Checks: 1, Watched: true}},
		{"kept, and resumed by hand", func(f *file) {
			f.start(watchdog.Keep)
			f.user()
			f.answer(watchdog.WaitUser, "which?")
			f.record(watchdog.RecordPause, watchdog.Pause{By: "tui"})
		}, Ending{Started: true, Watched: true, Checks: 1}},
		{"by itself", func(f *file) {
			f.start(watchdog.Once)
			f.user()
			f.record(watchdog.RecordOutcome, watchdog.Outcome{End: watchdog.EndAnswered, Decision: watchdog.WaitUser, Note: "a key"})
		}, Ending{Started: true, Kind: WaitUser, Note: "a key"}},
		{"cap", func(f *file) {
			f.start(watchdog.Once)
			f.user()
			f.answer(watchdog.Continue, "")
			f.record(watchdog.RecordStop, watchdog.Stop{By: "hub", Reason: watchdog.StopMax})
		}, Ending{Started: true, Kind: Max, Checks: 1}},
		{"the guard's breaker", func(f *file) {
			f.start(watchdog.Once)
			f.user()
			f.record(guard.Type, guard.Record{Event: guard.Continued, Row: 3})
			f.record(guard.Type, guard.Record{Event: guard.Tripped, Row: 3, Tripped: "3 in a row"})
		}, Ending{Started: true, Kind: Breaker, Note: "3 in a row", Watched: true}},
		{"the guard's breaker, reset", func(f *file) {
			f.start(watchdog.Once)
			f.user()
			f.record(guard.Type, guard.Record{Event: guard.Tripped, Row: 3, Tripped: "3 in a row"})
			f.record(guard.Type, guard.Record{Event: guard.WasReset})
		}, Ending{Started: true, Watched: true}},
		{"on without a check", func(f *file) {
			f.start(watchdog.Once)
			f.user()
			f.record(watchdog.RecordOnward, watchdog.Check{ID: "o", N: 2, Max: 2})
		}, Ending{Started: true, Watched: true, Checks: 2}},
		{"by hand", func(f *file) {
			f.start(watchdog.Once)
			f.record(watchdog.RecordStop, watchdog.Stop{By: "tui", Reason: watchdog.StopByHand})
		}, Ending{Started: true, Kind: Stopped, Note: "stopped by tui"}},
		{"of a later release", func(f *file) {
			f.start(watchdog.Once)
			f.record(watchdog.RecordStop, watchdog.Stop{By: "hub", Reason: "comet"})
		}, Ending{Started: true, Kind: Failed, Note: "comet"}},
		{"the provider fails", func(f *file) {
			f.start(watchdog.Once)
			f.user()
			f.record(watchdog.RecordCheck, watchdog.Check{ID: "c", N: 1})
			f.record(watchdog.RecordOutcome, watchdog.Outcome{Check: "c", End: watchdog.EndError, Why: "401"})
		}, Ending{Started: true, Watched: true, Checks: 1, Error: "401"}},
		{"it failed, and is asked again", func(f *file) {
			f.start(watchdog.Once)
			f.user()
			f.record(watchdog.RecordOutcome, watchdog.Outcome{Check: "c", End: watchdog.EndError, Why: "401"})
			f.record(watchdog.RecordCheck, watchdog.Check{ID: "d", N: 2})
		}, Ending{Started: true, Watched: true, Checks: 2, Error: "401"}},
		{"it failed, and works again", func(f *file) {
			f.start(watchdog.Once)
			f.user()
			f.record(watchdog.RecordOutcome, watchdog.Outcome{Check: "c", End: watchdog.EndError})
			f.answer(watchdog.Continue, "")
		}, Ending{Started: true, Watched: true, Checks: 1}},
		{"void", func(f *file) {
			f.start(watchdog.Once)
			f.user()
			f.record(watchdog.RecordOutcome, watchdog.Outcome{Check: "c", End: watchdog.EndVoid, Decision: watchdog.Done})
		}, Ending{Started: true, Watched: true}},
		{"a fold by hand says nothing", func(f *file) {
			f.start(watchdog.Keep)
			f.user()
			f.answer(watchdog.Done, "all")
			f.user()
			f.record(watchdog.RecordOutcome, watchdog.Outcome{Check: "c", End: watchdog.EndAnswered, Decision: watchdog.Done, Again: true})
		}, Ending{Started: true, Watched: true}},
		{"started anew", func(f *file) {
			f.start(watchdog.Once)
			f.user()
			f.answer(watchdog.Done, "all")
			f.start(watchdog.Once)
		}, Ending{Started: true, Watched: true}},
		{"another branch", func(f *file) {
			f.start(watchdog.Once)
			f.user()
			at := f.parent
			f.answer(watchdog.Done, "all")
			f.parent = at
			f.line(`"type":"message","message":{"role":"assistant","content":[],"stopReason":"stop"}`)
		}, Ending{Started: true, Watched: true}},
		{"damaged", func(f *file) {
			f.start(watchdog.Once)
			f.line(`"type":"custom","customType":%q,"data":"x"`, watchdog.RecordStop)
		}, Ending{Started: true, Watched: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := &file{t: t}
			c.play(f)
			if got := f.tracker.Ending(); got != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
}
