package demo

import (
	"encoding/json"
	"strings"

	"piwatch/internal/control"
	"piwatch/internal/pi"
)

// What the bridge tells the supervisor of the hub. The texts of a script are
// short, so none is cut.

// ownTools begins the names of piwatch's tools: their calls are no work.
const ownTools = "watchdog_"

func (p *Pi) isWork(tool string) bool {
	return p.check == nil && !strings.HasPrefix(tool, ownTools)
}

// tellAnswer tells of an assistant row, with what the request had added.
func (p *Pi) tellAnswer(r *row) {
	given := p.given
	p.given = nil
	if p.check != nil {
		return
	}
	e := control.AnsweredEvent{Given: given, Stop: r.StopReason}
	texts := make([]string, 0, len(r.blocks()))
	for _, b := range r.blocks() {
		texts = append(texts, b.Text)
	}
	e.Text = strings.Join(texts, "\n")
	for _, c := range r.calls() {
		e.Calls = append(e.Calls, control.CalledEvent{ID: c.ID, Tool: c.Name, Args: p.encoded(c.Arguments)})
	}
	if r.StopReason == pi.StopError || r.StopReason == pi.StopAborted {
		if e.Failed = r.ErrorMessage; e.Failed == "" {
			e.Failed = r.StopReason
		}
	}
	p.tell(control.Answered, e)
}

func (p *Pi) tellCall(c ToolCall) {
	if p.isWork(c.Name) {
		p.tell(control.Called, control.CalledEvent{ID: c.ID, Tool: c.Name, Args: p.encoded(c.Args)})
	}
}

func (p *Pi) tellResult(c ToolCall, r *result) {
	if p.isWork(c.Name) {
		p.tell(control.Returned, control.ReturnedEvent{ID: c.ID, Tool: c.Name, Text: r.text, Error: r.isError})
	}
}

// encoded is a value of a script as JSON. One that cannot be written is an error
// of the session.
func (p *Pi) encoded(v any) json.RawMessage {
	raw, err := encode(v)
	if err != nil && p.session.err == nil {
		p.session.err = err
	}
	return raw
}

// The messages of a request to chat completions, which a stand-in says it uses.
type (
	chatMessage struct {
		Role    string     `json:"role"`
		Content string     `json:"content"`
		Calls   []chatCall `json:"tool_calls,omitempty"`
		Call    string     `json:"tool_call_id,omitempty"`
	}
	chatCall struct {
		ID       string       `json:"id"`
		Type     string       `json:"type"`
		Function chatFunction `json:"function"`
	}
	chatFunction struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	}
)

// newestPart is the end of a request from the last answer of the model on.
func (p *Pi) newestPart(messages []Message) json.RawMessage {
	from := len(messages) - 1
	for from > 0 && messages[from].Role != pi.RoleAssistant {
		from--
	}
	for from > 0 && messages[from-1].Role == pi.RoleAssistant {
		from--
	}
	chat := []chatMessage{}
	for _, m := range messages[max(from, 0):] {
		chat = append(chat, p.chat(m))
	}
	return p.encoded(map[string]any{"messages": chat})
}

func (p *Pi) chat(m Message) chatMessage {
	out := chatMessage{Role: m.Role, Call: m.Call}
	if m.Role == pi.RoleToolResult {
		out.Role = "tool"
	}
	var blocks []block
	if err := json.Unmarshal(m.Content, &blocks); err != nil && p.session.err == nil {
		p.session.err = err
	}
	for _, b := range blocks {
		out.Content += b.Text
		if b.Type == "toolCall" {
			out.Calls = append(out.Calls, chatCall{b.ID, "function", chatFunction{b.Name, string(p.encoded(b.Arguments))}})
		}
	}
	return out
}
