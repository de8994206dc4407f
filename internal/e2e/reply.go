package e2e

import (
	"encoding/json"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Reply is the answer to one model request: parts that are streamed in order.
// Build it with [Text], [Thinking], [Call], [Empty], [Status] or [Reset] and
// add parts with the methods; each returns the longer reply. A reply without a
// finish of its own ends with "stop", or "tool_calls" if it called a tool.
type Reply struct {
	parts  []part
	status int
	header http.Header
	body   string
	finish string
	usage  *Usage
	ending ending
}

// Usage is the token count that a reply reports.
type Usage struct {
	Input  int // tokens of the prompt, cached ones included
	Output int
	Cached int // prompt tokens that came from the cache
}

type ending int

const (
	endDone  ending = iota // the stream ends as the API wants it
	endReset               // the connection is reset where the parts end
	endEarly               // the body ends with no terminator
)

// part is one piece of a stream; one field is set.
type part struct {
	text     string
	thinking string
	call     *ToolCall
	gate     *Gate
}

// ToolCall is a call of a tool by the model.
type ToolCall struct {
	ID   string
	Name string
	Args string // JSON, or what the model makes of it
}

// Text replies with visible text.
func Text(text string) Reply { return Reply{}.Text(text) }

// Thinking replies with thinking; without a later part this is a silent stop.
func Thinking(text string) Reply { return Reply{}.Thinking(text) }

// Call replies with a tool call. args is marshalled to JSON; a string or a
// json.RawMessage goes out as it is, valid or not.
func Call(name string, args any) Reply { return Reply{}.Call(name, args) }

// Empty replies with no content at all and finish reason stop.
func Empty() Reply { return Reply{} }

// Status replies with an HTTP status and a body instead of a stream.
func Status(code int, body string) Reply { return Reply{status: code, body: body} }

// Reset drops the connection before any header.
func Reset() Reply { return Reply{ending: endReset} }

// Text adds a piece of visible text.
func (r Reply) Text(text string) Reply { return r.with(part{text: text}) }

// Thinking adds a piece of thinking.
func (r Reply) Thinking(text string) Reply { return r.with(part{thinking: text}) }

// Call adds a tool call whose id the provider counts: call_1, call_2, …
func (r Reply) Call(name string, args any) Reply { return r.CallID("", name, args) }

// CallID adds a tool call with an id of the test's choice.
func (r Reply) CallID(id, name string, args any) Reply {
	var text string
	switch args := args.(type) {
	case string:
		text = args
	case json.RawMessage:
		text = string(args)
	case nil:
		text = "{}"
	default:
		data, err := json.Marshal(args)
		if err != nil {
			panic("e2e: tool arguments: " + err.Error())
		}
		text = string(data)
	}
	return r.with(part{call: &ToolCall{ID: id, Name: name, Args: text}})
}

// Gate stops the stream here, all before it sent, until the gate is released.
func (r Reply) Gate(g *Gate) Reply { return r.with(part{gate: g}) }

// Finish sets the finish reason, in the words of chat completions: stop,
// length, tool_calls, content_filter.
func (r Reply) Finish(reason string) Reply { r.finish = reason; return r }

// Usage sets the token counts that the reply reports.
func (r Reply) Usage(u Usage) Reply { r.usage = &u; return r }

// Reset ends the reply by a connection reset after its parts.
func (r Reply) Reset() Reply { r.ending = endReset; return r }

// Early ends the body after the parts, with no finish reason and no terminator.
func (r Reply) Early() Reply { r.ending = endEarly; return r }

// Header adds a response header.
func (r Reply) Header(name, value string) Reply {
	r.header = r.header.Clone()
	if r.header == nil {
		r.header = http.Header{}
	}
	r.header.Add(name, value)
	return r
}

func (r Reply) with(p part) Reply {
	r.parts = append(slices.Clip(r.parts), p)
	return r
}

// finishReason is the reason to report for the reply.
func (r Reply) finishReason() string {
	if r.finish != "" {
		return r.finish
	}
	if slices.ContainsFunc(r.parts, func(p part) bool { return p.call != nil }) {
		return "tool_calls"
	}
	return "stop"
}

// Gate holds a reply back: the test waits until the stream arrived at it, looks
// around, and releases it. Made by [Provider.NewGate].
type Gate struct {
	name     string
	home     *Home
	reached  chan struct{}
	released chan struct{}
	reach    sync.Once
	release  sync.Once
}

// WaitReached blocks until a reply stands at the gate.
func (g *Gate) WaitReached() {
	g.home.t.Helper()
	timer := time.NewTimer(Timeout())
	defer timer.Stop()
	select {
	case <-g.reached:
	case <-timer.C:
		g.home.Fatalf("no request arrived at the gate %q within %v", g.name, Timeout())
	}
}

// Release lets the reply go on; later replies pass the gate without a stop.
func (g *Gate) Release() { g.release.Do(func() { close(g.released) }) }

// pass is the provider's side: stop until released or given up.
func (g *Gate) pass(gone <-chan struct{}) {
	g.reach.Do(func() { close(g.reached) })
	select {
	case <-g.released:
	case <-gone:
	}
}
