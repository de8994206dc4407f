package watchdog

import (
	"strings"
	"testing"
	"unicode/utf8"

	"piwatch/internal/pi"
)

func TestAsksToWait(t *testing.T) {
	for said, want := range map[string]bool{
		"stop": true, "Stop.": true, "STOP!!": true, "please stop now": true, "Ok, wait": true, "wait for me": true,
		"Wait, I want to look at the diff first": true, "no. hold on": true, "don't continue": true, "Don’t go on until I am back": true,
		"Good work. Do not proceed with the migration yet.": true, "pause here": true, "enough for today": true,
		"": false, "stop the server and start it again": false, "wait for the port to open, then connect": false, "Stop using globals": false,
		"add a stop button": false, "the agent must not wait": false, "continue": false, "don't forget the tests": false,
		"stopwatch: add a lap key": false, "Please pause the video when the tab is hidden": false,
	} {
		if got := asksToWait(Beginning(said)); got != want {
			t.Errorf("%q: %v", said, got)
		}
	}
}

func TestBeginning(t *testing.T) {
	if got := Beginning(" a\n\tb \xff c"); got != "a b c" {
		t.Errorf("%q", got)
	}
	got := Beginning(strings.Repeat("é", SaidMax))
	if !utf8.ValidString(got) || len(got) != SaidMax {
		t.Errorf("%d bytes: %q", len(got), got)
	}
}

func TestStartAfterAWaitIsAskedAgain(t *testing.T) {
	s := unwatched(t, State{Human: true, Said: "wait, I am thinking"})
	reply := func(ev StartWatch) Reply {
		t.Helper()
		for _, effect := range s.e.Step(s.now, ev) {
			if r, ok := effect.(Reply); ok {
				return r
			}
		}
		t.Fatal("no reply")
		return Reply{}
	}
	start := StartWatch{By: "tui", Settings: s.settings("timeout=10")}
	if r := reply(start); r.Level != "confirm" || !strings.Contains(r.Text, `"wait, I am thinking"`) {
		t.Errorf("%+v", r)
	}
	if v := s.e.View(s.now); v.Phase != Off {
		t.Errorf("it was started: %+v", v)
	}
	start.Sure = true
	if r := reply(start); r.Level != "info" {
		t.Errorf("sure: %+v", r)
	}
	s.step(StopWatch{"tui"})
	s.step(Spoken{Human: true, Said: "now go on with the parser"})
	start.Sure = false
	if r := reply(start); r.Level != "info" {
		t.Errorf("after another message: %+v", r)
	}
	s.step(StopWatch{"tui"})
	s.step(Spoken{Human: true, Said: "stop"})
	start.By = ByEnv // nobody is there to be asked
	if r := reply(start); r.Level != "info" {
		t.Errorf("by the environment: %+v", r)
	}
}

func TestRebuildKnowsWhatWasSaidLast(t *testing.T) {
	var parser pi.Parser
	var tree pi.Tree
	for _, line := range []string{
		`{"type":"session","version":3,"id":"s"}`,
		`{"type":"message","id":"a","parentId":null,"message":{"role":"user","content":"first"}}`,
		`{"type":"message","id":"b","parentId":"a","message":{"role":"user","content":[{"type":"text","text":"please wait"}]}}`,
		`{"type":"custom","id":"c","parentId":"b","customType":"piwatch.start","data":{"by":"pi","settings":{"timeout":5,"max":3,"mode":"once"}}}`,
	} {
		for _, e := range parser.Add([]byte(line), 0) {
			tree.Add(e)
		}
	}
	if s := Rebuild(tree.Branch(tree.Leaf())); s.Said != "please wait" || !s.On {
		t.Errorf("%+v", s)
	}
}
