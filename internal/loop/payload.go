package loop

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
)

// ErrNoMessages says that a payload holds no conversation in a known shape.
var ErrNoMessages = errors.New("the payload holds no messages, input or contents")

// ReadPayload reads what was new in a request to a provider: what follows the
// last answer of the model. It knows chat completions, OpenAI's responses,
// Anthropic's messages, Google's contents, Bedrock's converse and Pi's own
// shape, and reads the body whole or only its end from the last answer on.
func ReadPayload(body json.RawMessage) (Input, error) {
	var p struct {
		Messages json.RawMessage `json:"messages"`
		Input    json.RawMessage `json:"input"`
		Contents json.RawMessage `json:"contents"`
	}
	if err := json.Unmarshal(body, &p); err != nil {
		return Input{}, err
	}
	for _, list := range []json.RawMessage{p.Messages, p.Input, p.Contents} {
		if len(list) == 0 {
			continue
		}
		var w wire
		if text, ok := jsonText(list); ok {
			w.input.AddText(text)
			return w.input, nil
		}
		var items []wireItem
		if err := json.Unmarshal(list, &items); err != nil {
			return Input{}, err
		}
		for i := range items {
			w.take(&items[i])
		}
		return w.input, nil
	}
	return Input{}, ErrNoMessages
}

// wireItem is a message, or a part of one, in any of the shapes.
type wireItem struct {
	Type    string          `json:"type"`
	Role    string          `json:"role"`
	Text    string          `json:"text"`
	Content json.RawMessage `json:"content"`
	Parts   []wireItem      `json:"parts"`

	// Calls.
	ID        string          `json:"id"`
	CallID    string          `json:"call_id"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	Args      json.RawMessage `json:"args"`
	Input     json.RawMessage `json:"input"`
	Function  *wireItem       `json:"function"`
	ToolCalls []wireItem      `json:"tool_calls"`
	ToolUse   *wireItem       `json:"toolUse"`
	GCall     *wireItem       `json:"functionCall"`

	// Results.
	ToolCallID string          `json:"tool_call_id"`
	ToolUseID  string          `json:"tool_use_id"`
	PiCallID   string          `json:"toolCallId"`
	BedrockID  string          `json:"toolUseId"`
	Output     json.RawMessage `json:"output"`
	Error      json.RawMessage `json:"error"`
	IsError    bool            `json:"is_error"`
	PiIsError  bool            `json:"isError"`
	Status     string          `json:"status"`
	ToolResult *wireItem       `json:"toolResult"`
	GResponse  *wireItem       `json:"functionResponse"`
	Response   *wireItem       `json:"response"`
}

// wire walks over a conversation.
type wire struct {
	calls    []Call // of the last answer, those whose results came taken out
	input    Input
	answered bool // the item before was the model's
}

func (w *wire) take(m *wireItem) {
	if m.Role == "assistant" || m.Role == "model" || modelItems[m.Type] {
		if !w.answered {
			w.calls, w.input = nil, Input{}
		}
		w.answered = true
		w.addCalls(m)
		return
	}
	w.answered = false
	switch {
	case m.Role == "system" || m.Role == "developer":
	case m.Role == "tool" || m.Role == "toolResult" || strings.HasSuffix(m.Type, "_call_output"):
		w.result(m)
	default:
		w.content(m)
	}
}

// modelItems are the items of the responses API that the model made.
var modelItems = map[string]bool{"function_call": true, "custom_tool_call": true, "reasoning": true}

func (w *wire) addCalls(m *wireItem) {
	one := m
	for _, inner := range []*wireItem{m.Function, m.ToolUse, m.GCall} {
		if inner != nil {
			one = inner
		}
	}
	if one.Name != "" {
		id := first(one.CallID, one.BedrockID, m.ID, one.ID)
		w.calls = append(w.calls, Call{id, one.Name, unwrap(firstRaw(one.Arguments, one.Args, one.Input))})
	}
	for _, list := range [][]wireItem{m.ToolCalls, m.Parts, parts(m.Content)} {
		for i := range list {
			w.addCalls(&list[i])
		}
	}
}

// content reads a message in the role of the user: texts and results.
func (w *wire) content(m *wireItem) {
	if text, ok := jsonText(m.Content); ok {
		w.input.AddText(text)
		return
	}
	list := m.Parts
	if len(list) == 0 {
		list = parts(m.Content)
	}
	for i := range list {
		switch one := &list[i]; {
		case one.ToolResult != nil:
			w.result(one.ToolResult)
		case one.GResponse != nil:
			w.result(one.GResponse)
		case one.Type == "tool_result":
			w.result(one)
		case one.Text != "":
			w.input.AddText(one.Text)
		}
	}
}

func (w *wire) result(m *wireItem) {
	id := first(m.ToolCallID, m.ToolUseID, m.PiCallID, m.BedrockID, m.CallID, m.ID)
	c := w.callOf(id, m.Name)
	failed := m.IsError || m.PiIsError || m.Status == "error"
	content := firstRaw(m.Content, m.Output)
	if m.Response != nil { // Google's
		content = firstRaw(m.Response.Output, m.Response.Error)
		failed = len(m.Response.Error) > 0
	}
	w.input.AddResult(c.Tool, c.Args, resultText(content), failed)
}

// callOf finds the call of a result. Google's older models have no ids: results
// come in the order of the calls there.
func (w *wire) callOf(id, name string) Call {
	for i, c := range w.calls {
		if id != "" && c.ID == id || id == "" && c.Tool == name {
			w.calls = append(w.calls[:i:i], w.calls[i+1:]...)
			return c
		}
	}
	return Call{ID: id, Tool: name}
}

// resultText is the text of a result; what is no text stands in it as a hash.
func resultText(content json.RawMessage) string {
	if text, ok := jsonText(content); ok {
		return text
	}
	var raws []json.RawMessage
	if json.Unmarshal(content, &raws) != nil {
		return string(content)
	}
	var b strings.Builder
	for _, raw := range raws {
		var one struct{ Text *string }
		if json.Unmarshal(raw, &one) == nil && one.Text != nil {
			b.WriteString(*one.Text)
		} else {
			b.WriteString(hashStart.bytes(raw).String())
		}
		if len(raws) > 1 {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// parts are the parts of a content that is a list.
func parts(content json.RawMessage) []wireItem {
	var list []wireItem
	if json.Unmarshal(content, &list) != nil {
		return nil
	}
	return list
}

func jsonText(raw json.RawMessage) (string, bool) {
	if raw = bytes.TrimSpace(raw); len(raw) == 0 || raw[0] != '"' {
		return "", false
	}
	var text string
	return text, json.Unmarshal(raw, &text) == nil
}

// unwrap turns arguments that are a JSON text into the value they hold.
func unwrap(raw json.RawMessage) json.RawMessage {
	if text, ok := jsonText(raw); ok && json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	return raw
}

func first(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}

func firstRaw(raws ...json.RawMessage) json.RawMessage {
	for _, raw := range raws {
		if len(raw) > 0 && string(raw) != "null" {
			return raw
		}
	}
	return nil
}
