package timeline

import (
	"testing"

	"piwatch/internal/guard"
	"piwatch/internal/watchdog"
)

func TestRowsOfTheGuard(t *testing.T) {
	s := newScript(t)
	s.user("do it")
	s.agent("stop", thought("hm"))
	s.custom(guard.Type, guard.Record{Event: guard.Continued, Cause: guard.Thought, Row: 1, Total: 4})
	s.message(guard.Type, "[piwatch] Take the next action now.", guard.Details{Cause: guard.Thought, Row: 1, Total: 4})
	if b := build(s.entries()); b.Story().Standing != Working {
		t.Errorf("asked for its next action, the session stands at %q", b.Story().Standing)
	}
	s.agent("toolUse", called("c1", "bash", block{"command": "ls"}))
	s.result("c1", "bash", "a", false)
	s.custom(guard.Type, guard.Record{Event: guard.Moved, Total: 4})
	s.agent("stop")
	s.custom(guard.Type, guard.Record{Event: guard.Tripped, Row: 3, Total: 6, Tripped: "stopped without a word 4 times in a row"})
	s.custom(guard.Type, guard.Record{Event: guard.WasReset, By: "tui"})
	s.custom(guard.Type, guard.Record{Event: guard.TurnedOff, By: "pi", Choice: guard.ChoseOff})
	s.message(guard.Type, "words", nil)
	s.custom(guard.Type, "damaged")
	b := build(s.entries())
	wantRows(t, b.Rows(), `
		user: do it
		think: hm
		silent: stopped after thinking, without a word
		guard: asked for the next action, 1 of 3 in a row, 4 of 10 since the user's message
		tool: bash ls -> ok 1s
		silent: stopped without a word
		watch: guard: the breaker tripped: the agent stopped without a word 4 times in a row
		watch: guard: reset by tui
		watch: guard: turned off by pi
		guard: asked for the next action
		watch: guard "damaged"
	`)
}

func TestRowOfWorkWithoutACheck(t *testing.T) {
	s := newScript(t)
	s.user("do it")
	s.agent("length", text1("and th"))
	s.custom(watchdog.RecordOnward, watchdog.Check{ID: "c1", N: 2, Max: 50, Reason: "the answer was cut by the token limit"})
	s.message(watchdog.MessageWork, "go on", watchdog.MessageDetails{Check: "c1"})
	b := build(s.entries())
	wantRows(t, b.Rows(), `
		user: do it
		agent: and th
		cut: the answer was cut by the token limit
		watch: 2/50 without a check: the answer was cut by the token limit
		work: back to work
	`)
	if story := b.Story(); story.Count != 2 || story.Standing != Working {
		t.Errorf("%+v", story)
	}
}
