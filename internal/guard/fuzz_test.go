package guard

import (
	"encoding/json"
	"testing"
	"unicode/utf8"

	"piwatch/internal/pi"
)

func FuzzClassify(f *testing.F) {
	for _, raw := range []string{
		`{"role":"assistant","stopReason":"stop","content":[{"type":"thinking","thinking":"hm","thinkingSignature":"s"}]}`,
		`{"role":"assistant","stopReason":"stop","content":"<think>a<think>b</think>"}`,
		"{\"stopReason\":\"stop\",\"content\":[{\"type\":\"text\",\"text\":\"```\\n<think>\\n```\"},{\"text\":\"x\",\"thought\":true}]}",
		`{"stopReason":"length","content":null,"tool_calls":[{"function":{"name":"a"}}],"reasoning_content":"hm"}`,
	} {
		f.Add([]byte(raw))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, err := pi.ParseMessage(raw)
		if err != nil {
			return
		}
		a := Classify(m)
		switch {
		case (a.Kind == Silent) != (a.Cause != ""):
			t.Errorf("%+v", a)
		case a.Kind == Silent && (a.Visible || m.HasToolCall() || m.StopReason != pi.StopStop):
			t.Errorf("silent: %+v", a)
		case a.Kind == Spoke && !a.Visible:
			t.Errorf("spoke without a word: %+v", a)
		}
		// A call of a tool is never silent, wherever it stands.
		m.Content = append(m.Content, pi.Block{Type: "tool_use"})
		if a := Classify(m); a.Kind == Silent || a.Kind == Spoke || a.Kind == Cut {
			t.Errorf("with a call: %+v", a)
		}
	})
}

func FuzzVisible(f *testing.F) {
	for _, text := range []string{"", "a", " \u200b", "<think>a</think>", "<think>", "</think>", "```\na\n```", "`<think>`", "\x1b[1m", "<think>a<reasoning>b</think>", "\xff"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		seen := visible(text)
		if seen && !utf8.ValidString(text) {
			return // JSON changes it
		}
		if seen && !visibleRunes(text) {
			t.Errorf("%q is seen and holds nothing that is", text)
		}
		// A word in a text of its own is always seen.
		if !visible(text, "word") {
			t.Errorf("%q hides the text after it", text)
		}
		// What is within a pair of tags is not, unless it has tags of its own.
		if _, hasTag := firstTag(text); !hasTag && visible("<think>"+text+"</think>") {
			t.Errorf("%q is seen inside a tag", text)
		}
		// Text without tags, marks of code and escapes is what its characters are.
		if plain(text) && seen != visibleRunes(text) {
			t.Errorf("%q: %v", text, seen)
		}
		raw, err := json.Marshal(map[string]any{"stopReason": "stop", "content": text})
		if err != nil {
			t.Fatal(err)
		}
		m, err := pi.ParseMessage(raw)
		if err != nil {
			t.Fatal(err)
		}
		if got := Classify(m); (got.Kind == Silent) == seen {
			t.Errorf("%q is %s, and seen: %v", text, got.Kind, seen)
		}
	})
}

func firstTag(text string) (at int, ok bool) {
	for i := range len(text) {
		if _, ok := tagAt(text[i:]); ok {
			return i, true
		}
	}
	return 0, false
}

func plain(text string) bool {
	for _, r := range text {
		if r == '`' || r == '~' || r == '<' || r == 0x1b {
			return false
		}
	}
	return true
}
