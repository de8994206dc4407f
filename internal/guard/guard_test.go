package guard

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"piwatch/internal/pi"
)

// story is a session and its guard: what is sent is recorded, as the bridge
// does it.
type story struct {
	t      testing.TB
	g      *Guard
	refuse string // the bridge refuses with this reason
	lines  []string
	sent   []Continue
	trips  []Trip
	logs   []string
	reply  Reply
}

func newStory(t testing.TB) *story {
	s := &story{t: t, g: New(State{}, "")}
	s.speak()
	return s
}

func (s *story) write(row map[string]any) {
	row["id"] = fmt.Sprint(len(s.lines))
	line, err := json.Marshal(row)
	if err != nil {
		s.t.Fatal(err)
	}
	s.lines = append(s.lines, string(line))
}

func (s *story) record(r Record) {
	s.write(map[string]any{"type": "custom", "customType": Type, "data": r})
}

func (s *story) step(ev Event) {
	for _, effect := range s.g.Step(ev) {
		switch e := effect.(type) {
		case Continue:
			if s.refuse == "" {
				s.record(e.Record)
				s.write(map[string]any{"type": "custom_message", "customType": Type, "content": e.Text})
				s.sent = append(s.sent, e)
			}
			s.step(Delivered{Sent: s.refuse == "", Reason: s.refuse})
		case Append:
			s.record(e.Record)
		case Trip:
			s.trips = append(s.trips, e)
		case Log:
			s.logs = append(s.logs, e.Text)
		case Reply:
			s.reply = e
		}
	}
}

func (s *story) speak() {
	s.step(Spoken{Human: true})
	s.write(map[string]any{"type": "message", "message": map[string]any{"role": "user", "content": "do it"}})
}

func (s *story) state() State {
	var parser pi.Parser
	var all []pi.Entry
	for _, line := range s.lines {
		all = append(all, parser.Add([]byte(line), 0)...)
	}
	return Rebuild(all)
}

// restart kills whoever holds the guard and begins anew from the file.
func (s *story) restart() { s.g = New(s.state(), "") }

func (s *story) silent() {
	s.step(Ended{Answers: []*pi.Message{said(s.t)}})
}

func (s *story) say(text string) { s.step(Ended{Answers: []*pi.Message{said(s.t, text)}}) }

func (s *story) want(sent, trips int) {
	s.t.Helper()
	if len(s.sent) != sent || len(s.trips) != trips {
		s.t.Fatalf("%d sent, %d trips; want %d, %d\n%s", len(s.sent), len(s.trips), sent, trips, strings.Join(s.logs, "\n"))
	}
	if got, want := s.g.state, s.state(); got != want {
		s.t.Fatalf("the guard has %+v, the file says %+v", got, want)
	}
}

func TestBreakerAfterThreeInARow(t *testing.T) {
	for _, restart := range []bool{false, true} {
		s := newStory(t)
		for range 6 {
			s.silent()
			if restart {
				s.restart()
			}
		}
		s.want(3, 1)
		if s.sent[2].Record.Row != 3 || s.sent[2].Record.Total != 3 {
			t.Errorf("the third is %+v", s.sent[2].Record)
		}
		if !strings.Contains(s.trips[0].Text, "4 times in a row") || s.trips[0].Count != 3 {
			t.Errorf("%+v", s.trips[0])
		}
		s.say("a word does not close the breaker")
		s.silent()
		s.want(3, 1)
	}
}

func TestWhatEndsARow(t *testing.T) {
	call := parse(t, `{"role":"assistant","stopReason":"toolUse","content":[{"type":"tool_use","id":"1","name":"read"}]}`)
	for name, act := range map[string]func(*story){
		"a visible word":                    func(s *story) { s.say("Done.") },
		"a tool call":                       func(s *story) { s.step(Ended{Answers: []*pi.Message{call}}) },
		"tools in the run of the stop":      func(s *story) { s.step(Ended{Worked: true, Answers: []*pi.Message{said(t)}}) },
		"a word in the run of the stop":     func(s *story) { s.step(Ended{Answers: []*pi.Message{said(t, "So:"), said(t)}}) },
		"a message of the user":             (*story).speak,
		"a reset":                           func(s *story) { s.step(Reset{"pi"}) },
		"a word, and the death of everyone": func(s *story) { s.say("Done."); s.restart() },
		"a reset, and the death":            func(s *story) { s.step(Reset{"pi"}); s.restart() },
	} {
		t.Run(name, func(t *testing.T) {
			s := newStory(t)
			s.silent()
			s.silent()
			act(s)
			before, row := len(s.sent), s.g.state.Row // a silent stop may be in the act
			if row > 1 {
				t.Errorf("the row is %d", row)
			}
			for range 6 {
				s.silent()
			}
			s.want(before+RowLimit-row, 1)
		})
	}
}

func TestWhatEndsNoRow(t *testing.T) {
	for name, ev := range map[string]Event{
		"a message of another extension": Spoken{},
		"an error":                       Ended{Answers: []*pi.Message{parse(t, `{"role":"assistant","stopReason":"error","content":[],"errorMessage":"502"}`)}},
		"an abort":                       Ended{Answers: []*pi.Message{parse(t, `{"role":"assistant","stopReason":"aborted","content":[]}`)}},
		"an answer that was cut":         Ended{Answers: []*pi.Message{parse(t, `{"role":"assistant","stopReason":"length","content":[]}`)}},
		"another stop reason":            Ended{Answers: []*pi.Message{parse(t, `{"role":"assistant","stopReason":"deferred","content":[]}`)}},
		"the turn of a check":            Ended{Check: true, Answers: []*pi.Message{said(t, "text is no answer")}},
		"a silent stop in a check":       Ended{Check: true, Answers: []*pi.Message{said(t)}},
		"nothing at all":                 Ended{},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStory(t)
			s.silent()
			s.silent()
			s.step(ev)
			s.want(2, 0)
			s.silent()
			s.silent()
			s.want(3, 1)
		})
	}
}

func TestEpisodeLimit(t *testing.T) {
	s := newStory(t)
	for range 20 {
		s.silent()
		s.say("There is more to do.")
		s.restart()
	}
	s.want(10, 1)
	if !strings.Contains(s.trips[0].Text, "11 times since your last message") {
		t.Errorf("%+v", s.trips[0])
	}
	s.speak()
	s.silent()
	s.want(11, 1)
}

func TestOffAndOn(t *testing.T) {
	s := newStory(t)
	s.step(Switch{"pi", false})
	s.restart()
	s.silent()
	s.speak() // does not turn it on
	s.silent()
	s.want(0, 0)
	if v := s.g.View(); !v.Off || v.Why != "by hand" || v.Status() != "guard off" {
		t.Errorf("%+v", v)
	}
	if last := s.logs[len(s.logs)-1]; !strings.Contains(last, "the guard is off by hand") {
		t.Errorf("the log says %q", last)
	}
	s.step(Switch{"cli", true})
	s.silent()
	s.want(1, 0)
	s.step(Switch{"cli", true})
	if s.reply.Level != "warning" {
		t.Errorf("turned on twice: %+v", s.reply)
	}
}

func TestOffAsConfigured(t *testing.T) {
	s := newStory(t)
	s.g = New(s.state(), "by PI_WATCHDOG_GUARD")
	s.silent()
	s.want(0, 0)
	s.step(Switch{"pi", true})
	s.g = New(s.state(), "by PI_WATCHDOG_GUARD")
	s.silent()
	s.want(1, 0)
}

func TestNobodySpoke(t *testing.T) {
	s := &story{t: t, g: New(State{}, "")}
	s.silent()
	s.step(Spoken{}) // another extension
	s.silent()
	s.want(0, 0)
}

func TestRefusedIsNotCounted(t *testing.T) {
	s := newStory(t)
	s.refuse = "the editor holds a draft"
	for range 5 {
		s.silent()
	}
	s.want(0, 0)
	if last := s.logs[len(s.logs)-1]; last != "silent stop (an empty answer): not continued, the editor holds a draft" {
		t.Errorf("the log says %q", last)
	}
	s.refuse = ""
	s.silent()
	s.want(1, 0)
}

// What a person does while a continuation is on its way: the file and the guard
// agree whether it arrives or not.
func TestWhileOnItsWay(t *testing.T) {
	for name, ev := range map[string]Event{"reset": Reset{"tui"}, "off": Switch{"tui", false}, "speaks": Spoken{Human: true}} {
		for _, sent := range []bool{true, false} {
			s := newStory(t)
			s.silent()
			c, ok := s.g.Step(Ended{Answers: []*pi.Message{said(t)}})[0].(Continue)
			if !ok {
				t.Fatal("nothing was sent")
			}
			if sent {
				s.record(c.Record) // the bridge was faster
			}
			s.step(ev)
			if name == "speaks" {
				s.write(map[string]any{"type": "message", "message": map[string]any{"role": "user", "content": "wait"}})
			}
			s.step(Delivered{Sent: sent, Reason: "late"})
			if got, want := s.g.state, s.state(); got != want {
				t.Errorf("%s, sent %v: the guard has %+v, the file says %+v", name, sent, got, want)
			}
		}
	}
}

func TestNothingIsWrittenWithoutASilentStop(t *testing.T) {
	s := newStory(t)
	before := len(s.lines)
	for _, m := range []*pi.Message{
		said(t, "Done."),
		parse(t, `{"role":"assistant","stopReason":"toolUse","content":[{"type":"toolCall","id":"1","name":"read","arguments":{}}]}`),
		parse(t, `{"role":"assistant","stopReason":"length","content":[{"type":"thinking","thinking":"hm"}]}`),
		parse(t, `{"role":"assistant","stopReason":"error","content":[]}`),
		parse(t, `{"role":"assistant","stopReason":"aborted","content":[]}`),
	} {
		s.step(Ended{Answers: []*pi.Message{m}})
		s.step(Ended{Answers: []*pi.Message{m}, Worked: true})
	}
	s.step(Reset{"pi"})
	if len(s.lines) != before || len(s.sent)+len(s.trips) > 0 {
		t.Errorf("it wrote %q", s.lines[before:])
	}
}

func TestDamagedRecords(t *testing.T) {
	s := newStory(t)
	s.silent()
	s.lines = append(s.lines,
		`{"type":"custom","id":"x1","customType":"piwatch.guard","data":"nonsense"}`,
		`{"type":"custom","id":"x2","customType":"piwatch.guard"}`,
		`{"type":"custom","id":"x3","customType":"piwatch.other","data":{"row":0}}`,
	)
	if got := s.state(); got.Row != 1 || got.Total != 1 {
		t.Errorf("%+v", got)
	}
	s.lines = append(s.lines, `{"type":"custom","id":"x4","customType":"piwatch.guard","data":{"row":-5,"total":-5}}`)
	if got := s.state(); got.Row != 0 || got.Total != 0 {
		t.Errorf("%+v", got)
	}
}

func TestStatus(t *testing.T) {
	s := newStory(t)
	text := func(want, short string) {
		t.Helper()
		if v := s.g.View(); v.StatusText() != want || v.Status() != short {
			t.Errorf("%q, %q; want %q, %q", v.StatusText(), v.Status(), want, short)
		}
	}
	text("Guard: on. Silent stops continued since your last message: 0 of 10, in a row: 0 of 3. Breaker: closed.", "")
	s.silent()
	text("Guard: on. Silent stops continued since your last message: 1 of 10, in a row: 1 of 3 (the last: an empty answer). Breaker: closed.", "guard 1/3")
	for range 3 {
		s.silent()
	}
	text("Guard: on. Silent stops continued since your last message: 3 of 10, in a row: 3 of 3 (the last: an empty answer). "+
		"Breaker: tripped, since the agent stopped without a word 4 times in a row; /guard reset closes it, and so does your next message.", "guard tripped")
	s.step(Switch{"pi", false})
	s.step(Switch{"pi", true})
	if !strings.Contains(s.reply.Text, "/guard reset") {
		t.Errorf("turned on with an open breaker: %+v", s.reply)
	}
	s.step(Reset{"pi"})
	s.want(3, 1)
	text("Guard: on. Silent stops continued since your last message: 0 of 10, in a row: 0 of 3. Breaker: closed.", "")
}

// An agent took "go ahead" in an automated text for the user's, and "continue
// thinking" for leave to think on.
func TestTexts(t *testing.T) {
	consent := regexp.MustCompile(`(?i)\b(yes|yep|ok|okay|sure|fine|agreed?|go ahead|go on|proceed|confirm(ed)?|approved|lgtm|permission|allowed|commit|push)\b`)
	think := regexp.MustCompile(`(?i)continue|think|exactly where`)
	for _, cause := range []Cause{Thought, Tagged, Blank, Empty} {
		text := texts[cause]
		switch {
		case consent.MatchString(text):
			t.Errorf("%s: consent: %s", string(cause), text)
		case think.MatchString(text):
			t.Errorf("%s: asks to think: %s", string(cause), text)
		case !strings.Contains(text, "not the user") || !strings.Contains(text, "Take the next action now"):
			t.Errorf("%s: %s", string(cause), text)
		case len(text) > 320:
			t.Errorf("%s: %d bytes are long", string(cause), len(text))
		case cause.String() == string(cause):
			t.Errorf("%s has no words", string(cause))
		}
	}
	if len(texts) != 4 || Cause("new").String() != "new" {
		t.Errorf("%d texts", len(texts))
	}
}
