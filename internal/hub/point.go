package hub

import (
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"

	"piwatch/internal/control"
	"piwatch/internal/gateway"
)

// unpointable are the APIs of Pi that do not go where a base URL points, and
// why.
var unpointable = map[string]string{
	"openai-codex-responses":  "Codex talks over a WebSocket, which does not pass the gateway",
	"bedrock-converse-stream": "Bedrock is asked by the SDK of AWS, which signs for its own address",
	"google-vertex":           "the SDK of Vertex makes its own address",
	"azure-openai-responses":  "the address of Azure comes from the environment",
}

// ownAddress are providers whose address comes with the login.
var ownAddress = map[string]bool{"github-copilot": true, "radius": true}

// provider takes which provider the session's model is of.
func (b *bridge) provider(e control.ProviderEvent) any {
	before := b.pointed
	b.pointed.provider = e
	if before.url != "" && before.provider.Name != e.Name {
		b.send(control.Point, control.PointParams{Provider: before.provider.Name})
		b.pointed.url = ""
	}
	if b.session.driver() == b {
		b.point()
		if before.url != "" && b.pointed.url == "" && e.Other != "" {
			b.peer.hub.notice(b.session.id, "warning", "gateway: "+e.Name+" goes direct: "+e.Other)
		}
	}
	return nil
}

// pointFirst is where the session's provider is to be pointed when the bridge
// has just joined: the answer to its hello says it, so that Pi's first request
// passes too.
func (b *bridge) pointFirst() *control.PointParams {
	h := b.peer.hub
	address, upstream, why := h.addressFor(b)
	b.pointed.url, b.pointed.upstream, b.pointed.why = address, upstream, why
	h.pushGateway()
	if address == "" {
		return nil
	}
	return &control.PointParams{Provider: b.pointed.provider.Name, URL: address}
}

// point points the session's provider at the gateway, or back, or leaves it as
// it is where that is right already.
func (b *bridge) point() {
	h, name := b.peer.hub, b.pointed.provider.Name
	address, upstream, why := h.addressFor(b)
	b.pointed.upstream, b.pointed.why = upstream, why
	if name == "" || address == b.pointed.url {
		return
	}
	b.pointed.url = address
	b.enqueue(request{method: control.Point, params: control.PointParams{Provider: name, URL: address}, got: func(r control.Receipt) {
		if r.Result == control.Sent || b.pointed.provider.Name != name || b.pointed.url != address {
			return
		}
		b.pointed.url, b.pointed.why = "", r.Reason
		h.notice(b.session.id, "warning", "gateway: "+name+" goes direct: "+r.Reason)
		h.pushGateway()
	}})
	h.pushGateway()
}

// addressFor is where the provider of a bridge's session is to be pointed; with
// no address, why not.
func (h *Hub) addressFor(b *bridge) (address, upstream, why string) {
	g, p := &h.proxy, b.pointed.provider
	if !g.state.on() {
		return "", "", ""
	}
	if p.Name == "" {
		return "", "", "the session has no model"
	}
	if !g.state.wants(p.Name) {
		return "", "", "off for this provider"
	}
	if why, known := unpointable[p.API]; known {
		return "", "", why
	}
	switch {
	case ownAddress[p.Name]:
		return "", "", "its address comes with its login"
	case p.Other != "":
		return "", "", p.Other + "; it is left alone"
	case len(p.URLs) == 0:
		return "", "", "its models have no address"
	case len(p.URLs) > 1:
		return "", "", fmt.Sprintf("its models have %d different addresses, and Pi takes one for all of them", len(p.URLs))
	case g.server == nil:
		return "", "", "the gateway does not listen: " + g.failed
	}
	upstream, err := gateway.Upstream(p.URLs[0])
	if err == nil && g.isSelf(p.URLs[0]) {
		return "", upstream, "it is pointed at the gateway already, not by this bridge"
	}
	if err == nil {
		address, err = g.gateway.URL(g.server.Base(), b.session.id, p.Name, p.URLs[0])
	}
	if err != nil {
		return "", "", "its address does not pass: " + err.Error()
	}
	return address, upstream, ""
}

// gatewayText is what the status of the guard says of the gateway, from a new
// line on: how it stands, whether the session's provider passes it, and what of
// the session did. It is empty for a hub that has none.
func (s *session) gatewayText() string {
	if s.hub.proxy.options.State == "" {
		return ""
	}
	state := s.hub.gatewayState()
	state.Sessions = slices.DeleteFunc(state.Sessions, func(p control.PointedAt) bool { return p.Session != s.id })
	lines := state.Lines(s.hub.clock.Now())
	if state.Traffic != nil {
		for _, one := range state.Traffic.Sessions {
			if one.Session == s.id {
				lines = append(lines, fmt.Sprintf("of this session: %d", one.Requests)+control.TriedAgain(one.Counts))
			}
		}
	}
	return "\n" + strings.Join(lines, "\n")
}

// isSelf reports whether a URL leads to the gateway itself.
func (g *proxy) isSelf(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Port() == fmt.Sprint(g.server.Port()) && (u.Hostname() == "localhost" || ip != nil && ip.IsLoopback())
}
