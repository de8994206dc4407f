package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// Request is one model request as it arrived.
type Request struct {
	Number int // 1 for the provider's first; also in the reply's id
	API    API // "" if the path belongs to none
	Method string
	Path   string
	Header http.Header
	Body   []byte // untouched
	Model  string

	messages []Message
	tools    []string

	mu    sync.Mutex
	ended bool
	err   error
}

// Message is a message of a request, the same for all APIs. Tool results have
// role "tool".
type Message struct {
	Role     string
	Text     string
	Thinking string
	Calls    []ToolCall // by the assistant
	CallID   string     // of a tool result
}

// Messages are the request's messages, the system prompt included.
func (r *Request) Messages() []Message { return r.messages }

// Tools are the names of the tools the request declares, in order.
func (r *Request) Tools() []string { return r.tools }

// Roles are the roles of the messages in one string: "system user assistant".
func (r *Request) Roles() string {
	roles := make([]string, len(r.messages))
	for i, m := range r.messages {
		roles[i] = m.Role
	}
	return strings.Join(roles, " ")
}

// Last is the last message of the request; zero if there is none.
func (r *Request) Last() Message {
	if len(r.messages) == 0 {
		return Message{}
	}
	return r.messages[len(r.messages)-1]
}

// Contains reports whether a message's text or a tool call holds text.
func (r *Request) Contains(text string) bool {
	return slices.ContainsFunc(r.messages, func(m Message) bool {
		return strings.Contains(m.Text, text) || slices.ContainsFunc(m.Calls, func(c ToolCall) bool {
			return strings.Contains(c.Name, text) || strings.Contains(c.Args, text)
		})
	})
}

// Outcome says how the answer ended: ended is false while it is being sent, err
// is nil if it was sent whole.
func (r *Request) Outcome() (ended bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ended, r.err
}

// Cancelled reports whether the client went away before the answer was whole.
func (r *Request) Cancelled() bool {
	ended, err := r.Outcome()
	return ended && err != nil && err != errReset && err != errEarly
}

func (r *Request) end(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended, r.err = true, err
}

// String is the request in a line or a few, shortened, for messages.
func (r *Request) String() string {
	var out strings.Builder
	fmt.Fprintf(&out, "#%d %s %s, %d bytes, tools %v", r.Number, r.Method, r.Path, len(r.Body), r.tools)
	if ended, err := r.Outcome(); !ended {
		out.WriteString(", answer not finished")
	} else if err != nil {
		fmt.Fprintf(&out, ", %v", err)
	}
	for _, m := range r.messages {
		fmt.Fprintf(&out, "\n    %-9s %q", m.Role, shorten(m.Text, 160))
		for _, c := range m.Calls {
			fmt.Fprintf(&out, " %s(%s)", c.Name, shorten(c.Args, 120))
		}
	}
	return out.String()
}

// parse reads what the APIs have in common, as far as it can.
func (r *Request) parse() {
	var body struct {
		Model    string          `json:"model"`
		System   json.RawMessage `json:"system"`
		Messages []wireMessage   `json:"messages"`
		Tools    []struct {
			Name     string `json:"name"`
			Function struct {
				Name string `json:"name"`
			} `json:"function"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(r.Body, &body); err != nil {
		return
	}
	r.Model = body.Model
	if text := contentText(body.System); text != "" {
		r.messages = append(r.messages, Message{Role: "system", Text: text})
	}
	for _, m := range body.Messages {
		r.messages = append(r.messages, m.message())
	}
	for _, tool := range body.Tools {
		r.tools = append(r.tools, tool.Name+tool.Function.Name)
	}
}

type wireMessage struct {
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	Reasoning string          `json:"reasoning_content"`
	CallID    string          `json:"tool_call_id"`
	Calls     []struct {
		ID       string `json:"id"`
		Function struct {
			Name string `json:"name"`
			Args string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

func (m wireMessage) message() Message {
	message := Message{Role: m.Role, Text: contentText(m.Content), Thinking: m.Reasoning, CallID: m.CallID}
	for _, c := range m.Calls {
		message.Calls = append(message.Calls, ToolCall{ID: c.ID, Name: c.Function.Name, Args: c.Function.Args})
	}
	return message
}

// contentText is the text of a content field: a string, or a list of blocks.
func contentText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var blocks []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(raw, &blocks) != nil {
		return ""
	}
	var out strings.Builder
	for _, block := range blocks {
		out.WriteString(block.Text)
	}
	return out.String()
}
