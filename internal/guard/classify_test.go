package guard

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"piwatch/internal/pi"
)

func parse(t testing.TB, raw string) *pi.Message {
	t.Helper()
	m, err := pi.ParseMessage([]byte(raw))
	if err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return m
}

// said is an assistant message that stopped, with text blocks.
func said(t testing.TB, texts ...string) *pi.Message {
	t.Helper()
	blocks := []any{}
	for _, text := range texts {
		blocks = append(blocks, map[string]any{"type": "text", "text": text})
	}
	raw, err := json.Marshal(map[string]any{"role": "assistant", "stopReason": "stop", "content": blocks})
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, string(raw))
}

func TestShapes(t *testing.T) {
	const thinking = `{"type":"thinking","thinking":"hm","thinkingSignature":"s1"}`
	for _, c := range []struct {
		name, raw string
		kind      Kind
		cause     Cause
	}{
		// Silent stops.
		{"thinking only", `{"content":[` + thinking + `],"stopReason":"stop"}`, Silent, Thought},
		{"two thinking blocks", `{"content":[` + thinking + `,` + thinking + `],"stopReason":"stop"}`, Silent, Thought},
		{"a signature is no content", `{"content":[{"type":"thinking","thinking":"","thinkingSignature":"abc"}],"stopReason":"stop"}`, Silent, Thought},
		{"redacted thinking", `{"content":[{"type":"redacted_thinking","data":"abc"}],"stopReason":"stop"}`, Silent, Thought},
		{"redacted flag", `{"content":[{"type":"thinking","thinking":"","redacted":true}],"stopReason":"stop"}`, Silent, Thought},
		{"reasoning block", `{"content":[{"type":"reasoning","text":"hm"}],"stopReason":"stop"}`, Silent, Thought},
		{"reasoning details of a relay", `{"content":[{"type":"reasoning.encrypted","data":"x"},{"type":"reasoning.text","text":"hm"}],"stopReason":"stop"}`, Silent, Thought},
		{"a thought part", `{"content":[{"text":"hm","thought":true}],"stopReason":"stop"}`, Silent, Thought},
		{"thinking and blank text", `{"content":[` + thinking + `,{"type":"text","text":" \n"}],"stopReason":"stop"}`, Silent, Thought},
		{"a text signature is no text", `{"content":[{"type":"text","text":"","textSignature":"msg_1"}],"stopReason":"stop"}`, Silent, Empty},
		{"empty list", `{"content":[],"stopReason":"stop"}`, Silent, Empty},
		{"no content", `{"stopReason":"stop"}`, Silent, Empty},
		{"null", `{"content":null,"stopReason":"stop"}`, Silent, Empty},
		{"empty string", `{"content":"","stopReason":"stop"}`, Silent, Empty},
		{"empty text block", `{"content":[{"type":"text","text":""}],"stopReason":"stop"}`, Silent, Empty},
		{"blank string", `{"content":" \t\r\n ","stopReason":"stop"}`, Silent, Blank},
		{"blank block", `{"content":[{"type":"text","text":"\n\n"}],"stopReason":"stop"}`, Silent, Blank},
		{"reasoning_content beside nothing", `{"content":[],"reasoning_content":"hm","stopReason":"stop"}`, Silent, Thought},
		{"reasoning_content beside null", `{"content":null,"reasoning_content":"hm","stopReason":"stop"}`, Silent, Thought},
		{"reasoning beside nothing", `{"content":"","reasoning":"hm","stopReason":"stop"}`, Silent, Thought},
		{"blank reasoning_content", `{"content":"","reasoning_content":" ","stopReason":"stop"}`, Silent, Empty},
		{"think in a string", `{"content":"<think>hm</think>","stopReason":"stop"}`, Silent, Tagged},
		{"no tool calls", `{"content":[],"tool_calls":[],"stopReason":"stop"}`, Silent, Empty},
		{"null tool calls", `{"content":[],"tool_calls":null,"stopReason":"stop"}`, Silent, Empty},
		{"output_text", `{"content":[{"type":"output_text","text":""}],"stopReason":"stop"}`, Silent, Empty},

		// Calls of tools.
		{"toolCall", `{"content":[{"type":"toolCall","id":"1","name":"read","arguments":{}}],"stopReason":"stop"}`, Called, ""},
		{"tool_use", `{"content":[` + thinking + `,{"type":"tool_use","id":"1","name":"read","input":{}}],"stopReason":"stop"}`, Called, ""},
		{"tool_call", `{"content":[{"type":"tool_call","id":"1","name":"read","args":{}}],"stopReason":"stop"}`, Called, ""},
		{"function", `{"content":[{"type":"function","id":"1","function":{"name":"read","arguments":"{}"}}],"stopReason":"stop"}`, Called, ""},
		{"tool_calls", `{"content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"read","arguments":"{}"}}],"stopReason":"stop"}`, Called, ""},
		{"tool_calls without a type", `{"content":"","tool_calls":[{"id":"1","function":{"name":"read"}}],"stopReason":"stop"}`, Called, ""},
		{"toolCalls", `{"content":[],"toolCalls":[{"id":"1","name":"read"}],"stopReason":"stop"}`, Called, ""},
		{"function_call", `{"content":null,"function_call":{"name":"read","arguments":"{}"},"stopReason":"stop"}`, Called, ""},
		{"toolUse", `{"content":[{"type":"toolCall","id":"1","name":"read","arguments":{}}],"stopReason":"toolUse"}`, Called, ""},
		{"length with a call", `{"content":[{"type":"toolCall","id":"1","name":"read","arguments":{}}],"stopReason":"length"}`, Called, ""},

		// Words, and what nobody knows.
		{"a word", `{"content":[{"type":"text","text":"Done."}],"stopReason":"stop"}`, Spoke, ""},
		{"a word in a string", `{"content":"Done.","stopReason":"stop"}`, Spoke, ""},
		{"a word after thinking", `{"content":[` + thinking + `,{"type":"text","text":"."}],"stopReason":"stop"}`, Spoke, ""},
		{"a block without a type", `{"content":[{"text":"Done."}],"stopReason":"stop"}`, Spoke, ""},
		{"an image", `{"content":[{"type":"image","data":"x","mimeType":"image/png"}],"stopReason":"stop"}`, Spoke, ""},
		{"a refusal", `{"content":[{"type":"refusal","refusal":"no"}],"stopReason":"stop"}`, Spoke, ""},
		{"a part that is no thought", `{"content":[{"text":"Done.","thought":false}],"stopReason":"stop"}`, Spoke, ""},

		// Other ends.
		{"length", `{"content":[{"type":"text","text":"and then"}],"stopReason":"length"}`, Cut, ""},
		{"length after thinking", `{"content":[` + thinking + `],"stopReason":"length"}`, Cut, ""},
		{"error", `{"content":[],"stopReason":"error","errorMessage":"502"}`, Failed, ""},
		{"aborted", `{"content":[],"stopReason":"aborted","errorMessage":"Request was aborted."}`, Aborted, ""},
		{"Esc in a tool", `{"content":[],"stopReason":"error","errorMessage":"Operation aborted"}`, Aborted, ""},
		{"Esc in a request", `{"content":[],"stopReason":"error","errorMessage":"Request was aborted."}`, Aborted, ""},
		{"a call in an error is not running", `{"content":[{"type":"toolCall","id":"1","name":"read","arguments":{}}],"stopReason":"error"}`, Failed, ""},
		{"toolUse without a call", `{"content":[],"stopReason":"toolUse"}`, Other, ""},
		{"deferred", `{"content":[],"stopReason":"deferred"}`, Other, ""},
		{"unknown", `{"content":[],"stopReason":"refusal"}`, Other, ""},
		{"none", `{"content":[]}`, Other, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := Classify(parse(t, c.raw))
			if a.Kind != c.kind || a.Cause != c.cause {
				t.Errorf("%s (%s), want %s (%s)", a.Kind, string(a.Cause), c.kind, string(c.cause))
			}
			if want := parse(t, c.raw).StopReason; a.Reason != want {
				t.Errorf("stop reason %q, want %q", a.Reason, want)
			}
			if a.Visible && a.Kind == Silent || a.Progress() != (a.Visible || a.Kind == Called) {
				t.Errorf("%+v does not fit together", a)
			}
		})
	}
}

// seen says what a person sees of texts: nothing of those that are "" here.
func TestVisible(t *testing.T) {
	for _, c := range []struct {
		name  string
		texts []string
		want  bool
	}{
		{"nothing", nil, false},
		{"a letter", []string{"a"}, true},
		{"a full stop", []string{"."}, true},
		{"an emoji", []string{"✅"}, true},
		{"a sign of a font of one's own", []string{"\ue0b0"}, true},
		{"a character of tomorrow", []string{"\U0001fbfa"}, true},
		{"Arabic number sign, a format that is drawn", []string{"\u0600"}, true},
		{"letters that join", []string{"\u200bक\u200dष"}, true},
		{"broken UTF-8", []string{"\xff"}, true},

		{"blanks of all kinds", []string{" \t\r\n\v\f\u00a0\u1680\u2003\u2028\u2029\u202f\u3000"}, false},
		{"zero-width characters", []string{"\u200b\u200c\u200d\u2060\ufeff"}, false},
		{"soft hyphen, joiners, fillers", []string{"\u00ad\u034f\u115f\u1160\u17b4\u180e\u3164\uffa0\u2800"}, false},
		{"marks of direction", []string{"\u200e\u200f\u202a\u202e\u2066\u2069\u061c"}, false},
		{"variation selectors and tags", []string{"\ufe0f\U000e0020\U000e0101"}, false},
		{"a mark without a letter", []string{"\u0301"}, false},
		{"controls", []string{"\x00\x07\x7f\u0085"}, false},
		{"escape sequences", []string{"\x1b[0m\x1b]0;title\x07\x1b[2J"}, false},
		{"a word in colour", []string{"\x1b[31mred\x1b[0m"}, true},

		{"think", []string{"<think>hm</think>"}, false},
		{"thinking", []string{"<thinking>hm</thinking>\n"}, false},
		{"thought", []string{"<thought>hm</thought>"}, false},
		{"reasoning", []string{"<reasoning>hm</reasoning>"}, false},
		{"capitals", []string{"<THINK>hm</Think>"}, false},
		{"attributes", []string{`<think type="long" n=1>hm</think >`}, false},
		{"a tag that is both", []string{"<think/>"}, false},
		{"nothing in it", []string{"<think></think>"}, false},
		{"several", []string{"<think>a</think> <reasoning>b</reasoning>\n<think>c</think>"}, false},
		{"a word after it", []string{"<think>hm</think>Done."}, true},
		{"a word before it", []string{"Done.<think>hm</think>"}, true},
		{"a word between", []string{"<think>a</think>x<think>b</think>"}, true},
		{"never closed", []string{"<think>hm\n\nand on"}, false},
		{"a word before one that is never closed", []string{"Done. <think>hm"}, true},
		{"nested", []string{"<think>a<think>b</think>c</think>"}, false},
		{"nested in another", []string{"<think>a<reasoning>b</reasoning>c</think>"}, false},
		{"closed by another name", []string{"<think>a</reasoning>b"}, false},
		{"spoken of inside, answered after", []string{"<think>I write the <think> tag</think>Done."}, true},
		{"opened in the prompt", []string{"hm, so\nI will\n</think>\n\n"}, false},
		{"opened in the prompt, then a word", []string{"hm\n</think>\n\nDone."}, true},
		{"closed twice", []string{"<think>a</think>\n</think>"}, false},
		{"an answer before a stray end", []string{"<think>a</think>Done.\n</think>"}, true},
		{"a sentence that ends with the tag", []string{"The answer ends with </think>"}, true},
		{"another tag", []string{"<thinker>hm</thinker>"}, true},
		{"no tag", []string{"1 <think 2"}, true},

		{"inside a code fence", []string{"```\n<think>hm</think>\n```"}, true},
		{"inside a fence with a name", []string{"~~~~html\n<think>\n~~~~"}, true},
		{"a fence that is never closed", []string{"```\n<think>hm"}, true},
		{"a fence inside thinking", []string{"<think>\n```\ncode\n```\n</think>"}, false},
		{"a fence with nothing in it", []string{"```go\n\n```"}, false},
		{"a fence with the other mark in it", []string{"```\n~~~\n```"}, true},
		{"inside code in a line", []string{"`<think>`"}, true},
		{"inside code of two marks", []string{"``<think>`</think>``"}, true},
		{"a mark without its pair", []string{"`"}, true},
		{"code of blanks", []string{"` `"}, false},

		{"two blank texts", []string{" ", "\n"}, false},
		{"a word in the second", []string{"<think>a</think>", "Done."}, true},
		{"a tag over two texts", []string{"<think>a", "b</think>"}, false},
		{"a tag over two texts, then a word", []string{"<think>a", "b</think>c"}, true},
		{"never closed, and another text", []string{"<think>hm", "Done."}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := visible(c.texts...); got != c.want {
				t.Errorf("visible(%q) = %v", c.texts, got)
			}
			want := Silent
			if c.want {
				want = Spoke
			}
			// JSON replaces broken UTF-8, which is visible too.
			if got := Classify(said(t, c.texts...)); got.Kind != want {
				t.Errorf("%q is %s, want %s", c.texts, got.Kind, want)
			}
		})
	}
}

func TestCutTextIsNotSilent(t *testing.T) {
	parser := pi.Parser{Lean: true}
	long := "<think>" + strings.Repeat("x", 2*pi.LeanText)
	line := fmt.Sprintf(`{"type":"message","id":"1","message":{"role":"assistant","stopReason":"stop","content":[{"type":"text","text":%q}]}}`, long+"</think>Done.")
	if got := Classify(parser.Add([]byte(line), 0)[0].Message); got.Kind != Spoke {
		t.Errorf("an answer of which the end is not known is %s", got.Kind)
	}
	if got := Classify(said(t, long)); got.Kind != Silent {
		t.Errorf("the whole of it is %s", got.Kind)
	}
}

// readLines reads a session file.
func readLines(t testing.TB, file string) []pi.Entry {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var parser pi.Parser
	var all []pi.Entry
	for line := range bytes.Lines(data) {
		all = append(all, parser.Add(bytes.TrimRight(line, "\n"), 0)...)
	}
	return all
}

// Thinking-only stops of public sessions, in their shape, with words of our own.
// All were benign: an edit was done, and the next row is the user's, who goes
// on with something else. Each is one request of the guard and an answer in one
// line.
func TestRealSilentStops(t *testing.T) {
	var found []string
	g := New(State{}, "")
	rows := readLines(t, filepath.Join("testdata", "silent.jsonl"))
	for i, e := range rows {
		switch m := e.Message; {
		case m == nil:
		case m.Role == pi.RoleUser:
			g.Step(Spoken{Human: true})
		case m.Role == pi.RoleAssistant && m.StopReason == pi.StopStop:
			before, after := rows[i-1].Message.Role, rows[i+1].Message.Role
			found = append(found, fmt.Sprint(string(Classify(m).Cause), " after ", before, ", then ", after))
			effects := g.Step(Ended{Answers: []*pi.Message{m}, Worked: true})
			if c, ok := effects[0].(Continue); !ok || c.Record.Row != 1 || c.Record.Total != 1 {
				t.Errorf("%v", effects)
			}
		}
	}
	want := slices.Repeat([]string{"thought after toolResult, then user"}, 4)
	if !slices.Equal(found, want) {
		t.Errorf("found %q", found)
	}
}

// The same in the files themselves, where they are at hand.
func TestSilentStopsInSessions(t *testing.T) {
	folder := os.Getenv("PIWATCH_SESSIONS")
	if folder == "" {
		t.Log("PIWATCH_SESSIONS names no folder: nothing to read")
		return
	}
	for name, want := range map[string]int{
		"cuts/thinking-only-benign.jsonl": 4, "pi-1.6.0/thinking_only_stop.jsonl": 2, "pi-0.81.1/thinking_only_stop.jsonl": 2,
		"pi-1.6.0/plain_turn.jsonl": 0, "pi-1.6.0/tool_turn.jsonl": 0, "pi-0.81.1/aborted_esc.jsonl": 0, "pi-0.81.1/error_stop.jsonl": 0,
	} {
		found := 0
		for _, e := range readLines(t, filepath.Join(folder, name)) {
			if e.Message != nil && e.Message.Role == pi.RoleAssistant && Classify(e.Message).Kind == Silent {
				found++
			}
		}
		if found != want {
			t.Errorf("%s: %d silent stops, want %d", name, found, want)
		}
	}
}
