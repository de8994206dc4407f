package hub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"piwatch/internal/control"
)

// peer is one connection: nobody until it said hello, then a bridge or a
// client.
type peer struct {
	hub     *Hub
	conn    *control.Conn
	client  string // name of the client, "" for a bridge
	watches bool
	bridge  *bridge
}

// handle takes one message; the connection calls it in the order of arrival.
func (p *peer) handle(_ context.Context, _ *control.Conn, method string, params json.RawMessage) (any, error) {
	p.hub.mu.Lock()
	defer p.hub.mu.Unlock()
	switch {
	case method == control.Hello:
		return p.hello(params)
	case p.bridge != nil:
		return p.bridge.handle(method, params)
	case p.client != "":
		return p.asClient(method, params)
	}
	return nil, fmt.Errorf("%w: %s before hello", control.ErrUnknownMethod, method)
}

func (p *peer) hello(params json.RawMessage) (any, error) {
	var who struct {
		Role     string `json:"role"`
		Protocol int    `json:"protocol"`
		Name     string `json:"name"`
	}
	if err := control.Decode(params, &who); err != nil {
		return nil, err
	}
	if p.bridge != nil || p.client != "" {
		return nil, errors.New("hello was said already")
	}
	if who.Protocol != control.Protocol {
		if who.Role == "client" {
			p.client = who.Name // it may ask an older hub to stop
		}
		return nil, &control.ProtocolError{Hub: control.Protocol, Peer: who.Protocol, Version: p.hub.options.Version}
	}
	switch who.Role {
	case "client":
		p.client = who.Name
		if p.client == "" {
			p.client = "client"
		}
		p.hub.arrived(p)
		return control.ClientWelcome{Protocol: control.Protocol, Hub: p.hub.options.Version, Pid: os.Getpid()}, nil
	case "bridge":
		var hello control.BridgeHello
		if err := control.Decode(params, &hello); err != nil {
			return nil, err
		}
		if hello.Session == "" {
			return nil, errors.New("hello of a bridge names no session")
		}
		p.hub.arrived(p)
		return p.hub.join(p, hello), nil
	}
	return nil, fmt.Errorf("role %q: allowed are bridge and client", who.Role)
}

func (h *Hub) arrived(p *peer) {
	h.peers[p] = struct{}{}
	h.watchIdle()
}

// left takes the end of the connection.
func (p *peer) left() {
	h := p.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	if p.bridge != nil {
		h.leave(p.bridge)
	}
	delete(h.peers, p)
	h.watchIdle()
}

func (p *peer) asClient(method string, params json.RawMessage) (any, error) {
	h := p.hub
	switch method {
	case control.Sessions:
		return h.list(), nil
	case control.Watch:
		p.watches = true
		h.pushGateway()
		h.loops.greet(p)
		return h.list(), nil
	case control.GatewayStatus:
		return h.gatewayState(), nil
	case control.GatewaySet:
		return ask(params, h.setGateway)
	case control.GatewayTest:
		return ask(params, h.testGateway)
	case control.StopHub:
		var stop control.StopHubParams
		if err := control.Decode(params, &stop); err != nil {
			return nil, err
		}
		h.stop(fmt.Errorf("%w: %s", errStopped, stop.Why))
		return struct{}{}, nil
	}
	if reply, known, err := h.loops.asClient(p, method, params); known {
		return reply, err
	}
	verb, known := steering[method]
	change, byHand := exchanges[method]
	if !known && !byHand {
		return nil, fmt.Errorf("%w: %s", control.ErrUnknownMethod, method)
	}
	var steer control.SteerParams
	if err := control.Decode(params, &steer); err != nil {
		return nil, err
	}
	s := h.sessions[steer.Session]
	if s == nil || s.driver() == nil {
		return nil, fmt.Errorf("%w: %s is not live: it has ended, or its Pi runs without the bridge", control.ErrNoSession, steer.Session)
	}
	if byHand {
		return change.ask(s, steer.Check), nil
	}
	who := asker{by: steer.By, peer: p}
	if who.by == "" {
		who.by = p.client
	}
	return s.recorded(verb(s, who, steer)), nil
}

// ask reads the parameters of a method and calls it.
func ask[P any](raw json.RawMessage, method func(P) any) (any, error) {
	var params P
	if err := control.Decode(raw, &params); err != nil {
		return nil, err
	}
	return method(params), nil
}

func (h *Hub) list() []control.Session {
	sessions := make([]control.Session, 0, len(h.sessions))
	for _, s := range h.sessions {
		sessions = append(sessions, s.public())
	}
	return sessions
}
