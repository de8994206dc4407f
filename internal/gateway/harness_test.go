package gateway_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"piwatch/internal/gateway"
	"piwatch/internal/leaks"
)

func TestMain(m *testing.M) { leaks.Main(m) }

// patience is how long a test waits for what must happen.
const patience = 20 * time.Second

// rig is a gateway on loopback with a scripted upstream behind it.
type rig struct {
	t        testing.TB
	key      gateway.Key
	gateway  *gateway.Gateway
	base     string // of the gateway
	upstream string
	url      string // of the upstream, through the gateway
	client   *http.Client
	log      *text

	mu       sync.Mutex
	requests []*http.Request
	bodies   []string
	events   []gateway.Event
	heard    chan struct{} // there is a new event
}

// text is a log that a test can read while it is written.
type text struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (t *text) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.buf.Write(p)
}

func (t *text) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.buf.String()
}

// newRig starts a gateway; answer gives the n-th answer of the upstream, from 1
// on. Retries follow at once, unless change says otherwise.
func newRig(t testing.TB, answer func(n int, w http.ResponseWriter, r *http.Request), change ...func(*gateway.Options)) *rig {
	t.Helper()
	r := &rig{t: t, key: gateway.NewKey(), log: &text{}, heard: make(chan struct{}, 1)}
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return
		}
		r.mu.Lock()
		r.requests, r.bodies = append(r.requests, req), append(r.bodies, string(body))
		n := len(r.requests)
		r.mu.Unlock()
		answer(n, w, req)
	}))
	upstream.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug)
	t.Cleanup(upstream.Close)
	r.upstream = upstream.URL
	options := gateway.Options{
		Backoff: func(int) time.Duration { return 0 },
		Observe: r.observe,
		Log:     slog.New(slog.NewTextHandler(r.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	for _, f := range change {
		f(&options)
	}
	r.gateway = gateway.New(r.key, options)
	server, err := gateway.Serve(r.gateway, 0)
	if err != nil {
		t.Fatal(err)
	}
	r.client = &http.Client{Transport: &http.Transport{DisableCompression: true}}
	t.Cleanup(func() {
		r.client.CloseIdleConnections()
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := server.Close(ctx); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	r.base = server.Base()
	r.url = r.address("session-1", r.upstream)
	return r
}

func (r *rig) address(session, upstream string) string {
	r.t.Helper()
	url, err := r.gateway.URL(r.base, session, "scripted", upstream)
	if err != nil {
		r.t.Fatal(err)
	}
	return url
}

func (r *rig) observe(e gateway.Event) {
	r.mu.Lock()
	r.events = append(r.events, e)
	r.mu.Unlock()
	select {
	case r.heard <- struct{}{}:
	default: // somebody is to look already
	}
}

// event waits for an event of a kind.
func (r *rig) event(kind gateway.Kind) gateway.Event {
	r.t.Helper()
	deadline := time.After(patience)
	for {
		r.mu.Lock()
		for _, e := range r.events {
			if e.Kind == kind {
				r.mu.Unlock()
				return e
			}
		}
		r.mu.Unlock()
		select {
		case <-r.heard:
		case <-deadline:
			r.t.Fatalf("no event %q", kind)
		}
	}
}

// count is how many requests the upstream has had.
func (r *rig) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.requests)
}

// request is the n-th request of the upstream, from 1 on, with its body.
func (r *rig) request(n int) (*http.Request, string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.requests[n-1], r.bodies[n-1]
}

// post sends a body to a path below the upstream's.
func (r *rig) post(path, body string) (*http.Response, error) {
	return r.client.Post(r.url+path, "application/json", strings.NewReader(body))
}

// want sends a body and expects this answer.
func (r *rig) want(body string, status int, text string) {
	r.t.Helper()
	res, err := r.post("/v1/chat/completions", body)
	if err != nil {
		r.t.Fatal(err)
	}
	got, err := io.ReadAll(res.Body)
	_ = res.Body.Close()
	if err != nil || res.StatusCode != status || string(got) != text {
		r.t.Fatalf("answer %d %q, %v; want %d %q", res.StatusCode, got, err, status, text)
	}
}

// wantError sends a body and expects that there is no answer.
func (r *rig) wantError(body string) {
	r.t.Helper()
	if res, err := r.post("/v1/chat/completions", body); err == nil {
		_ = res.Body.Close()
		r.t.Fatalf("answered %d, want no answer", res.StatusCode)
	}
}

// settled waits until no request goes on and returns the status.
func (r *rig) settled() gateway.Status {
	r.t.Helper()
	var status gateway.Status
	eventually(r.t, "no active request", func() bool {
		status = r.gateway.Status()
		for _, p := range status.Providers {
			if p.Active != 0 {
				return false
			}
		}
		return true
	})
	return status
}

// eventually waits for a state that nothing announces.
func eventually(t testing.TB, what string, done func() bool) {
	t.Helper()
	ticker := time.NewTicker(2 * time.Millisecond)
	defer ticker.Stop()
	deadline := time.After(patience)
	for !done() {
		select {
		case <-ticker.C:
		case <-deadline:
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// reset ends the connection of an answer with a TCP reset.
func reset(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err)
	}
	_ = conn.(*net.TCPConn).SetLinger(0)
	_ = conn.Close()
}

func status(code int, body string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}
}

// dial sends a request on a connection of its own.
func (r *rig) dial(method, body string) net.Conn {
	r.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(r.base, "http://"))
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = conn.Close() })
	request, err := http.NewRequest(method, r.url+"/", strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	if err := request.Write(conn); err != nil {
		r.t.Fatal(err)
	}
	return conn
}
