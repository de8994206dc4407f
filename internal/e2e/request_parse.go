package e2e

import (
	"encoding/json"
	"strings"
)

// parse reads what the APIs have in common, as far as it can: chat completions
// and Anthropic have "messages", responses has "input", Google has "contents".
func (r *Request) parse() {
	var body struct {
		Model    string          `json:"model"`
		System   json.RawMessage `json:"system"`
		Messages []wireMessage   `json:"messages"`
		Input    []wireMessage   `json:"input"`
		Tools    []struct {
			Name     string `json:"name"`
			Function struct {
				Name string `json:"name"`
			} `json:"function"`
			Google []struct {
				Name string `json:"name"`
			} `json:"functionDeclarations"`
		} `json:"tools"`
		googleBody
	}
	if err := json.Unmarshal(r.Body, &body); err != nil {
		return
	}
	r.Model = body.Model
	if blocks := contentBlocks(body.System); len(blocks) > 0 {
		r.messages = append(r.messages, Message{Role: "system", Text: joinText(blocks)})
	}
	for _, m := range append(body.Messages, body.Input...) {
		r.messages = m.addTo(r.messages)
	}
	r.messages = append(r.messages, body.googleBody.messages()...)
	for _, tool := range body.Tools {
		for _, one := range tool.Google {
			r.tools = append(r.tools, one.Name)
		}
		if name := tool.Name + tool.Function.Name; name != "" {
			r.tools = append(r.tools, name)
		}
	}
}

// wireMessage is a message of any API, or an item of responses.
type wireMessage struct {
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	Reasoning string          `json:"reasoning_content"`
	ToolID    string          `json:"tool_call_id"`
	Calls     []struct {
		ID       string `json:"id"`
		Function struct {
			Name string `json:"name"`
			Args string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`

	Type    string          `json:"type"` // items of responses
	CallID  string          `json:"call_id"`
	Name    string          `json:"name"`
	Args    string          `json:"arguments"`
	Output  json.RawMessage `json:"output"`
	Summary json.RawMessage `json:"summary"`
}

// block is a piece of a message's content.
type block struct {
	Type     string          `json:"type"`
	Text     string          `json:"text"`
	Thinking string          `json:"thinking"`
	ID       string          `json:"id"` // Anthropic's tool_use
	Name     string          `json:"name"`
	Input    json.RawMessage `json:"input"`
	ToolID   string          `json:"tool_use_id"` // Anthropic's tool_result
	Content  json.RawMessage `json:"content"`
}

// addTo appends what m is to messages. The items of one assistant turn, which
// responses lists one by one, become one message.
func (m wireMessage) addTo(messages []Message) []Message {
	switch m.Type {
	case "function_call_output":
		return append(messages, Message{Role: "tool", Text: joinText(contentBlocks(m.Output)), CallID: m.CallID})
	case "function_call":
		return joinAssistant(messages, Message{Calls: []ToolCall{{ID: m.CallID, Name: m.Name, Args: m.Args}}})
	case "reasoning":
		return joinAssistant(messages, Message{Thinking: joinText(contentBlocks(m.Summary))})
	}
	message := Message{Role: m.Role, Thinking: m.Reasoning, CallID: m.ToolID}
	var own []block
	for _, b := range contentBlocks(m.Content) {
		switch b.Type {
		case "tool_result":
			messages = append(messages, Message{Role: "tool", Text: joinText(contentBlocks(b.Content)), CallID: b.ToolID})
			continue
		case "tool_use":
			message.Calls = append(message.Calls, ToolCall{ID: b.ID, Name: b.Name, Args: string(b.Input)})
		}
		message.Thinking += b.Thinking
		own = append(own, b)
	}
	message.Text = joinText(own)
	for _, c := range m.Calls {
		message.Calls = append(message.Calls, ToolCall{ID: c.ID, Name: c.Function.Name, Args: c.Function.Args})
	}
	switch {
	case m.Type == "message" && m.Role == "assistant":
		return joinAssistant(messages, message)
	case m.Role == "user" && len(own) == 0 && len(m.Content) > 2 && m.Content[0] == '[':
		return messages // it held tool results alone
	}
	return append(messages, message)
}

// joinAssistant adds m to the assistant's message at the end, or begins one.
func joinAssistant(messages []Message, m Message) []Message {
	if n := len(messages); n == 0 || messages[n-1].Role != "assistant" {
		messages = append(messages, Message{Role: "assistant"})
	}
	last := &messages[len(messages)-1]
	last.Text += m.Text
	last.Thinking += m.Thinking
	last.Calls = append(last.Calls, m.Calls...)
	return messages
}

// contentBlocks are the blocks of a content field; a string is one of text.
func contentBlocks(raw json.RawMessage) []block {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		if text == "" {
			return nil
		}
		return []block{{Type: "text", Text: text}}
	}
	var blocks []block
	if json.Unmarshal(raw, &blocks) != nil {
		return nil
	}
	return blocks
}

func joinText(blocks []block) string {
	var out strings.Builder
	for _, b := range blocks {
		out.WriteString(b.Text)
	}
	return out.String()
}
