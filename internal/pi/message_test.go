package pi

import (
	"encoding/json"
	"testing"
	"time"
)

func TestToolCallShapes(t *testing.T) {
	tests := map[string]string{
		"toolCall":        `{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"read","arguments":{"path":"x"}}]}`,
		"tool_use":        `{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"read","input":{"path":"x"}}]}`,
		"tool_call":       `{"role":"assistant","content":[{"type":"tool_call","toolCallId":"c1","toolName":"read","args":{"path":"x"}}]}`,
		"function":        `{"role":"assistant","content":[{"type":"function","id":"c1","function":{"name":"read","arguments":"{\"path\":\"x\"}"}}]}`,
		"tool_calls":      `{"role":"assistant","content":"","tool_calls":[{"id":"c1","type":"function","function":{"name":"read","arguments":"{\"path\":\"x\"}"}}]}`,
		"untyped calls":   `{"role":"assistant","content":null,"tool_calls":[{"id":"c1","function":{"name":"read","arguments":{"path":"x"}}}]}`,
		"toolCalls":       `{"role":"assistant","content":[],"toolCalls":[{"id":"c1","name":"read","arguments":{"path":"x"}}]}`,
		"function_call":   `{"role":"assistant","content":null,"function_call":{"id":"c1","name":"read","arguments":"{\"path\":\"x\"}"}}`,
		"among the texts": `{"role":"assistant","content":["hello",{"type":"text","text":"x"},{"type":"toolCall","id":"c1","name":"read","arguments":{"path":"x"}}]}`,
	}
	for name, raw := range tests {
		t.Run(name, func(t *testing.T) {
			m, err := ParseMessage([]byte(raw))
			if err != nil {
				t.Fatal(err)
			}
			calls := m.ToolCalls()
			if !m.HasToolCall() || len(calls) != 1 {
				t.Fatalf("%d calls", len(calls))
			}
			c := calls[0]
			if c.ToolCallID != "c1" || c.ToolName != "read" || string(c.Arguments) != `{"path":"x"}` || !json.Valid(c.Raw) {
				t.Errorf("call %+v, arguments %s", c, c.Arguments)
			}
		})
	}
}

func TestContentShapes(t *testing.T) {
	tests := []struct {
		name, raw      string
		text, thinking string
		blocks         int
	}{
		{"bare string", `{"role":"user","content":"hi"}`, "hi", "", 1},
		{"blocks", `{"role":"user","content":[{"type":"text","text":"a"},{"type":"image","mimeType":"image/png","data":"x"},{"type":"text","text":"b"}]}`, "a\nb", "", 3},
		{"thinking only", `{"role":"assistant","content":[{"type":"thinking","thinking":"hm","thinkingSignature":"opaque"}]}`, "", "hm", 1},
		{"redacted", `{"role":"assistant","content":[{"type":"thinking","thinking":"","redacted":true,"thinkingSignature":"opaque"}]}`, "", "", 1},
		{"reasoning_content", `{"role":"assistant","content":[],"reasoning_content":"hm"}`, "", "hm", 0},
		{"reasoning beside the content", `{"role":"assistant","content":"","reasoning":"hm"}`, "", "hm", 1},
		{"reasoning that is no text", `{"role":"assistant","content":[],"reasoning":{"effort":"low"}}`, "", "", 0},
		{"empty", `{"role":"assistant","content":[]}`, "", "", 0},
		{"null", `{"role":"assistant","content":null}`, "", "", 0},
		{"absent", `{"role":"assistant"}`, "", "", 0},
		{"one block without its list", `{"role":"user","content":{"type":"text","text":"a"}}`, "a", "", 1},
		{"a number", `{"role":"user","content":7}`, "", "", 1},
		{"odd elements", `{"role":"user","content":[null,7,{"type":"text","text":3},{"type":"text","text":"a"}]}`, "\na", "", 4},
		{"summary", `{"role":"branchSummary","summary":"what was"}`, "what was", "", 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			m, err := ParseMessage([]byte(test.raw))
			if err != nil {
				t.Fatal(err)
			}
			if m.Text() != test.text || m.ThinkingText() != test.thinking || len(m.Content) != test.blocks {
				t.Errorf("text %q, thinking %q, %d blocks", m.Text(), m.ThinkingText(), len(m.Content))
			}
			if m.HasToolCall() || m.ToolCalls() != nil {
				t.Error("a call was seen where none is")
			}
		})
	}
}

func TestMessageFields(t *testing.T) {
	m, err := ParseMessage([]byte(`{"role":"bashExecution","command":"ls","output":"x\n","exitCode":2,"cancelled":true,"truncated":true,"fullOutputPath":"/t","excludeFromContext":true,"timestamp":1767322815123}`))
	if err != nil {
		t.Fatal(err)
	}
	if m.Command != "ls" || m.Output != "x\n" || m.ExitCode == nil || *m.ExitCode != 2 || !m.Cancelled || !m.Truncated || m.FullOutputPath != "/t" || !m.ExcludeFromContext {
		t.Errorf("bash execution %+v", m)
	}
	if want := time.UnixMilli(1767322815123); !m.Timestamp.Equal(want) {
		t.Errorf("timestamp %v, want %v", m.Timestamp, want)
	}
	m, err = ParseMessage([]byte(`{"role":"assistant","content":[],"stopReason":"error","errorMessage":"502","api":"a","provider":"p","model":"m","usage":{"input":1,"output":2,"cacheRead":3,"cacheWrite":4,"reasoning":1,"totalTokens":10,"cost":{"total":0.5}}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := Usage{Input: 1, Output: 2, CacheRead: 3, CacheWrite: 4, Reasoning: 1, TotalTokens: 10, Cost: Cost{Total: 0.5}}
	if m.StopReason != StopError || m.ErrorMessage != "502" || m.API != "a" || m.Provider != "p" || m.Model != "m" || m.Usage == nil || *m.Usage != want {
		t.Errorf("assistant %+v, usage %+v", m, m.Usage)
	}
	if _, err := ParseMessage([]byte(`{"role":`)); err == nil {
		t.Error("half a message was read")
	}
}

func TestTypedEntries(t *testing.T) {
	r := readAll([]byte(lines(header,
		`{"type":"model_change","id":"1","parentId":null,"provider":"p","modelId":"m"}`,
		`{"type":"thinking_level_change","id":"2","parentId":"1","thinkingLevel":"high"}`,
		`{"type":"usage","id":"3","parentId":"2","kind":"cache_warm","provider":"p","model":"m","note":"n","usage":{"totalTokens":5}}`,
		`{"type":"label","id":"4","parentId":"3","targetId":"1","label":"l"}`,
		`{"type":"custom","id":"5","parentId":"4","customType":"t","data":[1]}`,
		`{"type":"custom_message","id":"6","parentId":"5","customType":"t","content":"c","display":true,"details":{"k":1}}`,
		`{"type":"compaction","id":"7","parentId":"6","summary":"s","firstKeptEntryId":"5","tokensBefore":9,"fromHook":true}`,
		`{"type":"branch_summary","id":"8","parentId":"7","summary":"b","fromId":"6"}`,
		`{"type":"context_edit","id":"9","parentId":"8","targetId":"6","replacement":null}`,
		`{"type":"context_edit","id":"10","parentId":"9","targetId":"6"}`,
		`{"type":"from_the_future","id":"11","parentId":"10","x":{"y":1}}`,
	)))
	get := func(id string) Entry {
		e, ok := r.tree.Get(id)
		if !ok {
			t.Fatalf("no entry %s", id)
		}
		return e
	}
	if m := get("1").ModelChange; *m != (ModelChange{"p", "m"}) {
		t.Errorf("%+v", m)
	}
	if l := get("2").ThinkingLevel; l.Level != "high" {
		t.Errorf("%+v", l)
	}
	if u := get("3").Usage; u.Kind != "cache_warm" || u.Provider != "p" || u.Model != "m" || u.Note != "n" || u.Usage.TotalTokens != 5 {
		t.Errorf("%+v", u)
	}
	if l := get("4").Label; *l != (Label{"1", "l"}) {
		t.Errorf("%+v", l)
	}
	if c := get("5").Custom; c.CustomType != "t" || string(c.Data) != "[1]" {
		t.Errorf("%+v", c)
	}
	e := get("6")
	if c := e.CustomMessage; c.CustomType != "t" || c.Text() != "c" || !c.Display || string(c.Details) != `{"k":1}` {
		t.Errorf("%+v", c)
	}
	if e.IsRealUserMessage() {
		t.Error("an extension's message counts as a human's")
	}
	if c := get("7").Compaction; c.Summary != "s" || c.FirstKeptEntryID != "5" || c.TokensBefore != 9 || !c.FromHook {
		t.Errorf("%+v", c)
	}
	if b := get("8").BranchSummary; b.Summary != "b" || b.FromID != "6" {
		t.Errorf("%+v", b)
	}
	if c := get("9").ContextEdit; c.TargetID != "6" || !c.Omit || c.Content() != nil {
		t.Errorf("%+v", c)
	}
	if c := get("10").ContextEdit; c.Omit || c.Content() != nil {
		t.Errorf("an edit without a replacement: %+v", c)
	}
	if e := get("11"); e.Type != "from_the_future" || string(e.Raw) != `{"type":"from_the_future","id":"11","parentId":"10","x":{"y":1}}` {
		t.Errorf("%+v", e)
	}
}
