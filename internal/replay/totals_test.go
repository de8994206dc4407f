package replay

import (
	"encoding/json"
	"strings"
	"testing"

	"piwatch/internal/pi"
)

func TestTotals(t *testing.T) {
	r := Run(script(t,
		"0 user build", "1 thinks Hm.", "2 user on", "3 empty", "4 user on", "5 length cut", "6 user on", "7 aborted no",
		"8 user on", "9 error 502", "10 error 502", "11 says A.", "100 user on", // asked at 71, 29 s earlier
		"101 calls bash", "102 user on", "103 error Request was aborted", "104 user on",
		"105 says B.", "165 check "+checkOne, "165 ask", "165 thinks Hm.", "166 error 502", "170 outcome "+sayGoOn, "171 work on",
		"172 says C.", "300 ext x", // asked at 232, 68 s earlier
		"301 says D.", "361 check "+checkOne, "362 outcome "+sayDone, "900 user on", "901 says E.",
	), Options{Settings: settings(t, "")})
	want := Totals{
		Idle: 10, Asked: 4, EarlierSeconds: 29 + 68, ThinkingOnly: 1, Empty: 1, Length: 1, Aborted: 2, Errors: 2, CutOff: 1, Recorded: 2,
	}
	if r.Totals != want {
		t.Errorf("got\n%+v, want\n%+v; of\n%s", r.Totals, want, strings.Join(told(r), "\n"))
	}
}

func TestShapes(t *testing.T) {
	for _, c := range []struct {
		message string
		want    Shape
	}{
		{`{"content":[]}`, Empty},
		{`{}`, Empty},
		{`{"content":[{"type":"text","text":" \n\t"}]}`, Empty},
		{`{"content":[{"type":"thinking","thinking":"","thinkingSignature":"x"}]}`, Thinking},
		{`{"content":[{"type":"thinking","thinking":"Hm."}]}`, Thinking},
		{`{"content":[{"type":"thinking","redacted":true}]}`, Thinking},
		{`{"content":[{"type":"text","text":"<think>Hm.</think> \n"}]}`, Thinking},
		{`{"content":[{"type":"text","text":"<thought>Hm.</thought><reasoning>So."}]}`, Thinking},
		{`{"content":[],"reasoning_content":"Hm."}`, Thinking},
		{`{"content":[{"type":"text","text":"<think>Hm.</think>Yes."}]}`, Text},
		{`{"content":"Yes."}`, Text},
		{`{"content":[{"type":"toolCall","name":"bash"}]}`, Call},
		{`{"content":[{"type":"text","text":"Yes."},{"type":"tool_use","name":"bash"}]}`, Call},
		{`{"content":[],"tool_calls":[{"function":{"name":"bash"}}]}`, Call},
	} {
		var parser pi.Parser
		var m map[string]any
		if err := json.Unmarshal([]byte(c.message), &m); err != nil {
			t.Fatal(err)
		}
		m["role"] = pi.RoleAssistant
		line, err := json.Marshal(map[string]any{"type": pi.TypeMessage, "id": "a", "message": m})
		if err != nil {
			t.Fatal(err)
		}
		entries := parser.Add(line, 0)
		if got := ShapeOf(entries[0].Message); got != c.want {
			t.Errorf("%s: %s, want %s", c.message, got, c.want)
		}
	}
}

// What is left out of a long text that was cut when it was read may be visible.
func TestShapeOfCutText(t *testing.T) {
	m := &pi.Message{Content: []pi.Block{{Type: "text", Text: "<think>Hm.", Cut: 1}}}
	if got := ShapeOf(m); got != Text {
		t.Error(got)
	}
}
