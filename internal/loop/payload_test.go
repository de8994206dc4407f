package loop

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// The same conversation in the shape of each kind of provider, as Pi writes it:
// a call with its result, then another with other arguments or another result.
var shapes = map[string]func(arg, result string) string{
	"chat completions": func(arg, result string) string {
		return fmt.Sprintf(`{"model":"m","messages":[{"role":"developer","content":"be good"},{"role":"user","content":[{"type":"text","text":"hi"}]},
			{"role":"assistant","content":null,"tool_calls":[{"id":"call_%[3]d","type":"function","function":{"name":"read","arguments":"{\"path\":\"%[1]s\"}"}}]},
			{"role":"tool","content":%[2]q,"tool_call_id":"call_%[3]d"}]}`, arg, result, random())
	},
	"responses": func(arg, result string) string {
		return fmt.Sprintf(`{"model":"m","input":[{"role":"user","content":[{"type":"input_text","text":"hi"}]},
			{"type":"reasoning","id":"rs_%[3]d","encrypted_content":"x%[3]d","summary":[]},
			{"type":"message","role":"assistant","content":[{"type":"output_text","text":"so"}]},
			{"type":"function_call","id":"fc_%[3]d","call_id":"call_%[3]d","name":"read","arguments":"{\"path\":\"%[1]s\"}"},
			{"type":"function_call_output","call_id":"call_%[3]d","output":%[2]q}]}`, arg, result, random())
	},
	"anthropic": func(arg, result string) string {
		return fmt.Sprintf(`{"model":"m","system":"be good","messages":[{"role":"user","content":"hi"},
			{"role":"assistant","content":[{"type":"thinking","thinking":"t%[3]d","signature":"s%[3]d"},{"type":"tool_use","id":"toolu_%[3]d","name":"read","input":{"path":%[1]q}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_%[3]d","content":[{"type":"text","text":%[2]q}],"is_error":false,"cache_control":{"type":"ephemeral"}}]}]}`, arg, result, random())
	},
	"google": func(arg, result string) string {
		return fmt.Sprintf(`{"model":"m","contents":[{"role":"user","parts":[{"text":"hi"}]},
			{"role":"model","parts":[{"text":"so","thoughtSignature":"s%[3]d"},{"functionCall":{"name":"read","args":{"path":%[1]q}}}]},
			{"role":"user","parts":[{"functionResponse":{"name":"read","response":{"output":%[2]q}}}]}],"config":{"systemInstruction":"be good"}}`, arg, result, random())
	},
	"bedrock": func(arg, result string) string {
		return fmt.Sprintf(`{"modelId":"m","messages":[{"role":"user","content":[{"text":"hi"}]},
			{"role":"assistant","content":[{"toolUse":{"toolUseId":"t%[3]d","name":"read","input":{"path":%[1]q}}}]},
			{"role":"user","content":[{"toolResult":{"toolUseId":"t%[3]d","content":[{"text":%[2]q}],"status":"success"}}]}]}`, arg, result, random())
	},
	"pi": func(arg, result string) string {
		return fmt.Sprintf(`{"messages":[{"role":"user","content":"hi"},
			{"role":"assistant","content":[{"type":"toolCall","id":"t%[3]d","name":"read","arguments":{"path":%[1]q}}]},
			{"role":"toolResult","toolCallId":"t%[3]d","toolName":"read","content":[{"type":"text","text":%[2]q}],"isError":false}]}`, arg, result, random())
	},
}

// random is another number each time: ids are no content.
func random() int { made++; return made * 7919 }

var made int

func TestPayloads(t *testing.T) {
	read := func(body string) Input {
		in, err := ReadPayload([]byte(body))
		if err != nil {
			t.Fatal(err)
		}
		return in
	}
	var want Input // whatever the provider, and from a session file
	want.AddResult("read", []byte(`{"path":"a.go"}`), "package a", false)
	for name, body := range shapes {
		t.Run(name, func(t *testing.T) {
			base := read(body("a.go", "package a"))
			if base.hash != want.hash || base.n != 1 {
				t.Errorf("%+v, want %+v", base, want)
			}
			if again := read(body("a.go", "package a")); again.hash != base.hash {
				t.Error("the same input differs when its ids do")
			}
			if other := read(body("a.go", "package b")); other.hash == base.hash {
				t.Error("another result is the same input")
			}
			if other := read(body("b.go", "package a")); other.hash == base.hash {
				t.Error("another argument is the same input")
			}
			// The end from the last answer on is enough.
			whole := body("a.go", "package a")
			list := map[string]string{"responses": "input", "google": "contents"}[name]
			if list == "" {
				list = "messages"
			}
			rest := whole[strings.Index(whole, "\n"):] // behind the user's message
			if end := read(`{"` + list + `":[` + rest); end.hash != base.hash {
				t.Errorf("the end alone: %+v", end)
			}
		})
	}
}

func TestPayloadTexts(t *testing.T) {
	var want Input
	want.AddText("go on")
	for name, body := range map[string]string{
		"text alone":    `{"input":"go on"}`,
		"chat":          `{"messages":[{"role":"assistant","content":"x"},{"role":"user","content":"go on"}]}`,
		"chat, blocks":  `{"messages":[{"role":"assistant","content":"x"},{"role":"user","content":[{"type":"text","text":"go on"}]}]}`,
		"responses":     `{"input":[{"role":"assistant","content":[]},{"role":"user","content":[{"type":"input_text","text":"go on"}]}]}`,
		"google":        `{"contents":[{"role":"model","parts":[]},{"role":"user","parts":[{"text":"go on"}]}]}`,
		"system behind": `{"messages":[{"role":"assistant","content":"x"},{"role":"user","content":"go on"},{"role":"system","content":"tools changed"}]}`,
	} {
		in, err := ReadPayload([]byte(body))
		if err != nil || in.hash != want.hash {
			t.Errorf("%s: %+v, %v, want %+v", name, in, err, want)
		}
	}
	if in, err := ReadPayload([]byte(`{"messages":[{"role":"user","content":"x"},{"role":"assistant","content":"y"}]}`)); err != nil || !in.Empty() {
		t.Errorf("nothing after the answer: %+v, %v", in, err)
	}
	if _, err := ReadPayload([]byte(`{"prompt":"x"}`)); !errors.Is(err, ErrNoMessages) {
		t.Errorf("an unknown shape: %v", err)
	}
}

func TestPayloadErrorsOfTools(t *testing.T) {
	var failed, well Input
	failed.AddResult("read", []byte(`{"p":1}`), "no", true)
	well.AddResult("read", []byte(`{"p":1}`), "no", false)
	if failed.hash == well.hash {
		t.Fatal("an error is a result")
	}
	for name, body := range map[string]string{
		"anthropic": `{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"read","input":{"p":1}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"no","is_error":true}]}]}`,
		"google":    `{"contents":[{"role":"model","parts":[{"functionCall":{"id":"1","name":"read","args":{"p":1}}}]},{"role":"user","parts":[{"functionResponse":{"id":"1","name":"read","response":{"error":"no"}}}]}]}`,
		"bedrock":   `{"messages":[{"role":"assistant","content":[{"toolUse":{"toolUseId":"1","name":"read","input":{"p":1}}}]},{"role":"user","content":[{"toolResult":{"toolUseId":"1","content":[{"text":"no"}],"status":"error"}}]}]}`,
	} {
		if in, err := ReadPayload([]byte(body)); err != nil || in.hash != failed.hash {
			t.Errorf("%s: %+v, %v, want %+v", name, in, err, failed)
		}
	}
}

func FuzzReadPayload(f *testing.F) {
	for _, body := range shapes {
		f.Add([]byte(body("a", "b\x00\xff")))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		a, errA := ReadPayload(body)
		b, errB := ReadPayload(body)
		if (errA == nil) != (errB == nil) || a != b {
			t.Errorf("%v, %v and %v, %v", a, errA, b, errB)
		}
	})
}
