package e2e

import (
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
