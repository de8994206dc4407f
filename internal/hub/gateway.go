package hub

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"piwatch/internal/control"
	"piwatch/internal/gateway"
	"piwatch/internal/watchdog"
)

// drainTime is how long answers may take to come to their end when the gateway
// closes; then they are cut, and Pi tries again without it.
const drainTime = 30 * time.Second

// pushEvery is how often clients are told of the gateway at most.
const pushEvery = 250 * time.Millisecond

// GatewayOptions are what a hub's gateway works with.
type GatewayOptions struct {
	// State is the file that keeps port, key and what is on; "" for a hub that
	// has no gateway. It is written with mode 0600.
	State    string
	Settings func() gateway.Settings   // nil: the defaults
	Backoff  func(n int) time.Duration // nil: a random one, as gateway.Options has it
}

// proxy is the hub's gateway. Its fields need the hub's mutex, which nobody holds
// while the state is written.
type proxy struct {
	changing sync.Mutex // one change of the state after the other; taken before the hub's
	options  GatewayOptions
	state    gatewayState
	gateway  *gateway.Gateway // nil: it was never on
	server   *gateway.Server  // nil: it is off
	failed   string           // why it is not on though it should be
	pushing  Timer            // a push to clients is due
	ended    bool             // the hub ends: it is not turned on any more
}

// pointing is what a bridge was told for its session's provider.
type pointing struct {
	provider control.ProviderEvent
	url      string // "" while it is not pointed
	upstream string
	why      string // it is not pointed though the gateway is on
}

// openGateway reads the state, and serves if the gateway was on.
func (h *Hub) openGateway() {
	g := &h.proxy
	g.options = h.options.Gateway
	if g.options.State == "" {
		return
	}
	var err error
	if g.state, err = readGatewayState(g.options.State); err != nil {
		h.log.Error("the gateway's state is not read; it is off", "err", err)
	}
	if g.state.on() && h.serveGateway() {
		h.keepGateway(g.state) // nobody waits for the mutex yet
	}
}

// serveGateway makes the gateway listen, at the port it had if that is free. It
// reports whether key or port are new and have to be kept.
func (h *Hub) serveGateway() bool {
	g := &h.proxy
	if g.server != nil {
		return false
	}
	before, newKey := g.state.Port, false
	if g.gateway == nil {
		var key gateway.Key
		if len(g.state.Key) == len(key) {
			copy(key[:], g.state.Key)
		} else {
			key, newKey = gateway.NewKey(), true
			g.state.Key = key[:]
		}
		g.gateway = gateway.New(key, gateway.Options{
			Settings: g.options.Settings, Backoff: g.options.Backoff, Observe: h.observe, Log: h.log,
		})
	}
	server, err := gateway.Serve(g.gateway, g.state.Port)
	if err != nil && g.state.Port != 0 {
		h.log.Warn("the gateway's port is taken; another one is used", "port", g.state.Port, "err", err)
		server, err = gateway.Serve(g.gateway, 0)
	}
	if err != nil {
		g.failed = err.Error()
		h.log.Error("the gateway does not listen", "err", err)
		return false
	}
	g.server, g.failed = server, ""
	g.state.Port = server.Port()
	h.log.Info("the gateway listens", "port", g.state.Port)
	return newKey || g.state.Port != before
}

// keepGateway writes the state, with no need for the mutex.
func (h *Hub) keepGateway(state gatewayState) {
	if err := state.save(h.options.Gateway.State); err != nil {
		h.log.Error("the gateway's state is not kept", "err", err)
	}
}

// endGateway stops to listen for good.
func (h *Hub) endGateway() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.proxy.ended = true
	h.stopGateway()
}

// stopGateway stops to listen. Answers come to their end, in a goroutine of
// drains.
func (h *Hub) stopGateway() {
	g := &h.proxy
	server := g.server
	g.server = nil
	if server == nil {
		return
	}
	if err := server.Stop(); err != nil {
		h.log.Warn("the gateway stopped to listen", "err", err)
	}
	h.drains.Go(func() { h.drain(server) })
}

func (h *Hub) drain(server *gateway.Server) {
	ctx, cancel := context.WithTimeout(context.Background(), drainTime)
	defer cancel()
	if err := server.Close(ctx); err != nil {
		h.log.Warn("the gateway closed", "err", err)
	}
}

// setGateway turns it on or off, for some providers or for all. The disk may be
// slow: all of that happens later.
func (h *Hub) setGateway(p control.GatewaySetParams) any {
	g := &h.proxy
	if g.options.State == "" {
		return control.CommandReply{Level: "error", Text: "This hub has no gateway."}
	}
	for _, name := range p.Providers {
		if name == "" || len(name) > 128 {
			return control.CommandReply{Level: "error", Text: "Nothing changed: a provider has a name of 1 to 128 bytes, as Pi writes it."}
		}
	}
	return control.Later(func(ctx context.Context) (any, error) {
		reply, told := h.switchGateway(p)
		err := await(ctx, told)
		h.stopUnused()
		return reply, err
	})
}

// switchGateway keeps and makes a change; told are closed when the bridges have
// pointed their providers. The caller does not hold the mutex.
func (h *Hub) switchGateway(p control.GatewaySetParams) (reply control.CommandReply, told []<-chan struct{}) {
	g := &h.proxy
	g.changing.Lock()
	defer g.changing.Unlock()
	h.mu.Lock()
	next := g.state
	next.set(p.On, p.Providers)
	h.mu.Unlock()
	if err := next.save(g.options.State); err != nil {
		return control.CommandReply{Level: "error", Text: "Nothing changed: " + err.Error()}, nil
	}
	h.mu.Lock()
	g.state = next
	reply = control.CommandReply{Level: "info", Text: next.say()}
	isNew := false
	if !next.on() {
		g.failed = ""
	} else if !g.ended {
		isNew = h.serveGateway()
		if g.failed != "" {
			reply = control.CommandReply{Level: "error", Text: "The gateway is not on: " + g.failed}
		}
	}
	for _, s := range h.sessions {
		if b := s.driver(); b != nil {
			b.point()
			told = append(told, b.barrier())
		}
	}
	h.pushGateway()
	if next.on() {
		sessions := h.gatewayState().Sessions
		for _, line := range sessions {
			if !line.On && line.Why != "" {
				reply.Text += "\n" + line.Provider + ": " + line.Why
			}
		}
		if text := unused(p.Providers, sessions); p.On && text != "" && reply.Level == "info" {
			reply.Level, reply.Text = "warning", reply.Text+"\n"+text
		}
	}
	next = g.state
	h.mu.Unlock()
	if isNew {
		h.keepGateway(next)
	}
	return reply, told
}

// await returns when all of these are closed, or have taken too long. The error
// is that of ctx.
func await(ctx context.Context, all []<-chan struct{}) error {
	late := time.NewTimer(replyWithin)
	defer late.Stop()
	for _, passed := range all {
		select {
		case <-passed:
		case <-late.C:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// stopUnused closes the gateway when it is off: not before the bridges have
// pointed their providers back, so that Pi never asks where nobody listens.
func (h *Hub) stopUnused() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.proxy.server == nil || h.proxy.state.on() { // it may have been turned on meanwhile
		return
	}
	h.stopGateway()
	h.pushGateway()
}

// gatewayState is how it stands, for clients.
func (h *Hub) gatewayState() control.GatewayState {
	g := &h.proxy
	state := control.GatewayState{
		On: g.state.on(), All: g.state.All, Providers: g.state.Providers, Except: g.state.Except,
		Error: g.failed, Sessions: []control.PointedAt{},
	}
	if g.server != nil {
		state.Port = g.server.Port()
	}
	if g.gateway != nil {
		traffic := g.gateway.Status()
		state.Traffic = &traffic
	}
	for _, s := range h.sessions {
		if b := s.driver(); b != nil && b.pointed.provider.Name != "" {
			state.Sessions = append(state.Sessions, control.PointedAt{
				Session: s.id, Provider: b.pointed.provider.Name, Upstream: b.pointed.upstream,
				On: b.pointed.url != "", Why: b.pointed.why,
			})
		}
	}
	slices.SortFunc(state.Sessions, func(a, b control.PointedAt) int { return strings.Compare(a.Session, b.Session) })
	return state
}

// pushGateway tells clients that watch, not more often than they can look.
func (h *Hub) pushGateway() {
	g := &h.proxy
	if g.pushing != nil {
		return
	}
	g.pushing = h.clock.AfterFunc(pushEvery, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		g.pushing = nil
		h.push(control.GatewayPush, h.gatewayState())
	})
}

// observe takes what the gateway tells, from the goroutine of a request.
func (h *Hub) observe(e gateway.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.pushGateway()
	s := h.sessions[e.Route.Session]
	if e.Kind == gateway.Done || s == nil || s.driver() == nil {
		return
	}
	record := watchdog.Gateway{
		Kind: string(e.Kind), Provider: e.Route.Provider, Cause: e.Cause, Retry: e.Retry, Of: e.Of,
		Seconds: (e.Wait + e.Silent).Round(100 * time.Millisecond).Seconds(), Cut: e.Cut,
	}
	s.do(watchdog.Append{Type: watchdog.RecordGateway, Data: record})
	if e.Kind != gateway.Retry && e.Kind != gateway.Recovered {
		h.notice(s.id, "warning", "gateway: "+record.Text())
	}
}

// testGateway asks a URL through the gateway, as Pi would.
func (h *Hub) testGateway(p control.GatewayTestParams) any {
	g := &h.proxy
	if g.server == nil {
		return control.CommandReply{Level: "error", Text: "The gateway is off; see: piwatch gateway on"}
	}
	through, err := g.gateway.URL(g.server.Base(), "", "", p.URL)
	if err != nil {
		return control.CommandReply{Level: "error", Text: "This does not pass the gateway: " + err.Error()}
	}
	return control.Later(func(ctx context.Context) (any, error) {
		return probe(ctx, through), nil
	})
}

// probe says what came of a request through the gateway.
func probe(ctx context.Context, address string) control.CommandReply {
	began := time.Now()
	status, err := gateway.Probe(ctx, address)
	took := time.Since(began).Round(time.Millisecond)
	if err != nil { // its text holds the address
		return control.CommandReply{Level: "error", Text: fmt.Sprintf("No answer after %v. piwatch hub log says what failed.", took)}
	}
	return control.CommandReply{Level: "info", Text: fmt.Sprintf("Answered %d after %v. Any status will do: it came from there.", status, took)}
}
