package gateway

import (
	"cmp"
	"encoding/json"
	"errors"
	"log"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Settings are the user's, read each time they matter.
type Settings struct {
	// Silence is how long an upstream may say nothing before that is told.
	Silence time.Duration
	// Cut ends an answer that went silent, and makes an error of a stream that
	// ended without its terminator, so that Pi tries again.
	Cut bool
	// RetryAfter is the longest wait that an upstream may ask for; an answer
	// that asks for more is passed on at once.
	RetryAfter time.Duration
}

// DefaultSettings are what holds where the user says nothing.
func DefaultSettings() Settings {
	return Settings{Silence: 480 * time.Second, RetryAfter: time.Minute}
}

// MinSilence is the least that Settings.Silence should be: models have been
// silent for 325 s and then answered.
const MinSilence = 300 * time.Second

// Bodies up to bodyLimit bytes can be sent again, as long as all of them
// together stay below storeLimit.
const (
	bodyLimit  = 64 << 20
	storeLimit = 512 << 20
)

// Options are what a gateway works with. The zero value is one with the
// defaults.
type Options struct {
	Settings func() Settings // nil: the defaults
	// Transport asks the upstreams; nil for NewTransport. It must not follow
	// redirects nor unpack bodies.
	Transport http.RoundTripper
	// Backoff is the wait before the n-th retry, from 1 on; nil for a random one
	// that grows from 1 s to 8 s.
	Backoff func(n int) time.Duration
	// Observe is told what happened, from the goroutine of the request, which
	// waits for it.
	Observe func(Event)
	Log     *slog.Logger // nil: nothing is logged. No header, path or body ever is.
}

// Gateway is the handler of all requests. Make one with New.
type Gateway struct {
	key       Key
	options   Options
	settings  func() Settings
	transport http.RoundTripper
	own       *http.Transport // nil: the transport is somebody else's
	log       *slog.Logger
	errorLog  *log.Logger
	store     store
	spent     *spent
	buffers   sync.Pool

	mu        sync.Mutex
	began     time.Time
	upstreams map[Route]*counts // by route without its session
	sessions  map[string]*counts
	waiting   map[*exchange]Wait
	refused   int
}

// New makes a gateway whose addresses are signed with key.
func New(key Key, options Options) *Gateway {
	g := &Gateway{
		key: key, options: options, settings: options.Settings, transport: options.Transport, log: options.Log,
		store: store{limit: storeLimit, each: bodyLimit}, spent: newSpent(), began: time.Now(),
		upstreams: map[Route]*counts{}, sessions: map[string]*counts{}, waiting: map[*exchange]Wait{},
	}
	g.buffers.New = func() any { buf := make([]byte, plainBuffer); return &buf }
	if g.settings == nil {
		g.settings = DefaultSettings
	}
	if g.transport == nil {
		g.own = NewTransport()
		g.transport = g.own
	}
	if g.options.Backoff == nil {
		g.options.Backoff = fullJitter
	}
	if g.log == nil {
		g.log = slog.New(slog.DiscardHandler)
	}
	// What net/http has to say names addresses, never headers or paths.
	g.errorLog = slog.NewLogLogger(g.log.Handler(), slog.LevelDebug)
	return g
}

// Close ends the connections that are kept for later requests.
func (g *Gateway) Close() {
	if g.own != nil {
		g.own.CloseIdleConnections()
	}
}

// URL is the address of baseURL behind the gateway that is served at base. What
// passes for no provider is not counted. The error says what is wrong with baseURL.
func (g *Gateway) URL(base, session, provider, baseURL string) (string, error) {
	return g.key.URL(base, session, provider, baseURL)
}

// ServeHTTP passes a request on. It panics with http.ErrAbortHandler where the
// upstream gave no whole answer.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	route, target, err := g.key.find(r)
	if err != nil {
		g.refuse(w, r, err)
		return
	}
	body, err := g.store.hold(w, r)
	if err != nil {
		g.log.Debug("a request did not arrive", "provider", route.Provider, "upstream", route.Upstream)
		panic(http.ErrAbortHandler) // what is left of it cannot be told from the next request
	}
	x := &exchange{gateway: g, route: route, target: target, in: r, body: body, began: time.Now()}
	x.mark = fingerprint{route: route, method: r.Method, path: target.EscapedPath(), body: body.held}
	x.allowed = g.retries(x)
	x.serve(w)
}

// refuse answers a request that is not served.
func (g *Gateway) refuse(w http.ResponseWriter, r *http.Request, err error) {
	status := http.StatusForbidden
	var refused *refusal
	if errors.As(err, &refused) {
		status = refused.status
	}
	g.mu.Lock()
	g.refused++
	g.mu.Unlock()
	g.log.Warn("a request was refused", "method", oneWord(r.Method), "why", err)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Connection", "close") // its body is not read
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]string{
		"type": "piwatch_gateway", "message": "piwatch gateway: " + err.Error(),
	}})
}

// oneWord is a method as it may be logged.
func oneWord(method string) string {
	return cmp.Or(strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r
		}
		return -1
	}, method[:min(len(method), 16)]), "?")
}
