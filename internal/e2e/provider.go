package e2e

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
)

// API is a wire format of model requests, by Pi's name for it in models.json.
type API string

// The wire formats that the provider speaks.
const (
	ChatCompletions   API = "openai-completions"
	AnthropicMessages API = "anthropic-messages"
	Responses         API = "openai-responses"
	GoogleGenerative  API = "google-generative-ai"
)

// endpoint is where an API's requests go, below the base URL.
type endpoint struct {
	api     API
	base    string // of the base URL
	path    string
	encoder func(model string) encoder
}

var endpoints = []endpoint{
	{ChatCompletions, "/v1", "/v1/chat/completions", newChatEncoder},
	{AnthropicMessages, "", "/v1/messages", newAnthropicEncoder},
	{Responses, "/v1", "/v1/responses", newResponsesEncoder},
	{GoogleGenerative, "/v1beta", "/v1beta/models/" + ModelName + ":streamGenerateContent", newGoogleEncoder},
}

// encoder writes a reply as the events of one API's stream.
type encoder interface {
	// start opens the message; n counts the provider's replies.
	start(w *sse, n int)
	text(w *sse, text string)
	thinking(w *sse, text string)
	call(w *sse, call ToolCall)
	// finish ends the message, in the words of chat completions.
	finish(w *sse, reason string, usage Usage)
}

// Provider is the scripted model behind a loopback HTTP server. It answers
// requests from the queue of [Provider.Enqueue], then by the function of
// [Provider.Handle]; a request that neither expects fails the test. It keeps
// every request.
type Provider struct {
	home     *Home
	server   *httptest.Server
	stopping context.Context
	requests journal[*Request]
	ended    journal[*Request]

	mu      sync.Mutex
	queue   []Reply
	handler func(*Request) Reply
	replies int
	calls   int
	strays  []string
}

func newProvider(h *Home) *Provider {
	stopping, stop := context.WithCancel(context.Background())
	p := &Provider{home: h, stopping: stopping}
	p.server = httptest.NewServer(http.HandlerFunc(p.serve))
	h.report.add("requests", p.describe)
	h.t.Cleanup(func() {
		stop()
		p.server.CloseClientConnections()
		p.server.Close()
		for _, stray := range p.strays {
			h.t.Errorf("unexpected model request: %s", stray)
		}
	})
	return p
}

// URL is the base URL for models.json, in the form that the home's API wants.
func (p *Provider) URL() string {
	for _, e := range endpoints {
		if e.api == p.home.options.API {
			return p.server.URL + e.base
		}
	}
	p.home.t.Fatalf("no endpoint for the API %q", p.home.options.API)
	return ""
}

// Enqueue adds answers for the coming requests.
func (p *Provider) Enqueue(replies ...Reply) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.queue = append(p.queue, replies...)
}

// Handle sets the function that answers when the queue is empty. It runs in
// the server's goroutines, one call at a time.
func (p *Provider) Handle(answer func(*Request) Reply) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.handler = answer
}

// NewGate makes a gate for one reply; it opens by itself when the test ends.
func (p *Provider) NewGate(name string) *Gate {
	return &Gate{name: name, home: p.home, reached: make(chan struct{}), released: make(chan struct{})}
}

// Requests are the requests so far, in the order of their arrival.
func (p *Provider) Requests() []*Request { return p.requests.all() }

// WaitRequests blocks until n requests have arrived since the start or the last
// [Provider.Take], and returns the first n.
func (p *Provider) WaitRequests(n int) []*Request {
	p.home.t.Helper()
	var got []*Request
	err := p.requests.wait(Timeout(), func(items []*Request) bool { got = items; return len(items) >= n })
	if err != nil {
		p.home.Fatalf("%d model requests, want %d: %v", len(got), n, err)
	}
	return got[:n]
}

// WaitEnded blocks until the answers of n requests have ended: sent to the end,
// or given up because the client went away.
func (p *Provider) WaitEnded(n int) {
	p.home.t.Helper()
	var count int
	err := p.ended.wait(Timeout(), func(items []*Request) bool { count = len(items); return count >= n })
	if err != nil {
		p.home.Fatalf("%d answers have ended, want %d: %v", count, n, err)
	}
}

// Take returns the requests so far and starts the log and the count of tool
// calls anew, so that the same script makes the same bytes again. What is left
// of the script stays.
func (p *Provider) Take() []*Request {
	p.mu.Lock()
	p.calls = 0
	p.mu.Unlock()
	p.ended.clear()
	return p.requests.clear()
}

// Pending is the number of queued answers that no request has asked for yet.
func (p *Provider) Pending() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.queue)
}

func (p *Provider) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client went away
	}
	request := &Request{Method: r.Method, Path: r.URL.Path, Header: r.Header.Clone(), Body: body}
	var encode func(model string) encoder
	for _, e := range endpoints {
		if e.path == r.URL.Path {
			request.API, encode = e.api, e.encoder
		}
	}
	request.parse()
	reply := p.next(request, encode != nil)
	p.requests.add(request)
	defer p.ended.add(request)
	if reply.status == 0 && encode == nil {
		reply = Status(http.StatusNotFound, `{"error":{"message":"no such endpoint"}}`)
	}
	p.answer(w, r, request, reply, encode)
}

// next takes the answer for request from the script.
func (p *Provider) next(request *Request, known bool) Reply {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.replies++
	request.Number = p.replies
	switch {
	case known && len(p.queue) > 0:
		reply := p.queue[0]
		p.queue = p.queue[1:]
		return p.numbered(reply)
	case known && p.handler != nil:
		return p.numbered(p.handler(request))
	}
	p.strays = append(p.strays, request.String())
	// 400 is an error that neither version of Pi tries again.
	return Status(http.StatusBadRequest, `{"error":{"message":"the script has no answer for this request"}}`)
}

// numbered gives ids to the reply's tool calls.
func (p *Provider) numbered(reply Reply) Reply {
	parts := make([]part, len(reply.parts))
	copy(parts, reply.parts)
	for i, part := range parts {
		if part.call != nil && part.call.ID == "" {
			p.calls++
			call := *part.call
			call.ID = fmt.Sprintf("call_%d", p.calls)
			parts[i].call = &call
		}
	}
	reply.parts = parts
	return reply
}

func (p *Provider) answer(w http.ResponseWriter, r *http.Request, request *Request, reply Reply, encode func(string) encoder) {
	gone, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(p.stopping, cancel)()
	for name, values := range reply.header {
		w.Header()[name] = values
	}
	if reply.status != 0 {
		if w.Header().Get("Content-Type") == "" {
			w.Header().Set("Content-Type", "application/json")
		}
		w.WriteHeader(reply.status)
		_, err := io.WriteString(w, reply.body)
		request.end(err)
		return
	}
	if reply.ending == endReset && len(reply.parts) == 0 {
		request.end(errReset)
		reset(w)
		return
	}
	stream := newSSE(w)
	enc := encode(request.Model)
	enc.start(stream, request.Number)
	for _, part := range reply.parts {
		switch {
		case part.gate != nil:
			part.gate.pass(gone.Done())
		case part.call != nil:
			enc.call(stream, *part.call)
		case part.thinking != "":
			enc.thinking(stream, part.thinking)
		default:
			enc.text(stream, part.text)
		}
		if gone.Err() != nil {
			request.end(errClientGone)
			return
		}
	}
	switch reply.ending {
	case endReset:
		request.end(errReset)
		reset(w)
		return
	case endEarly:
		request.end(errEarly)
		return
	}
	usage := Usage{Input: len(request.Body) / 4, Output: 10}
	if reply.usage != nil {
		usage = *reply.usage
	}
	enc.finish(stream, reply.finishReason(), usage)
	request.end(stream.err)
}

var (
	errClientGone = errors.New("the client went away")
	errReset      = errors.New("reset by the script")
	errEarly      = errors.New("ended early by the script")
)

// describe lists the requests for a report.
func (p *Provider) describe() string {
	var out strings.Builder
	for _, request := range p.Requests() {
		fmt.Fprintln(&out, request)
	}
	fmt.Fprintf(&out, "%d scripted answers left\n", p.Pending())
	return out.String()
}
