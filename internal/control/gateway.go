package control

import (
	"context"

	"piwatch/internal/gateway"
)

// The messages of the gateway.
const (
	// ProviderIs is a notification of the bridge: ProviderEvent. The session's
	// model is one of this provider.
	ProviderIs = "provider"
	// Point is a request to the bridge: PointParams.
	Point = "gateway"

	GatewayStatus = "gateway.status" // {} → GatewayState
	GatewaySet    = "gateway.set"    // GatewaySetParams → CommandReply
	GatewayTest   = "gateway.test"   // GatewayTestParams → CommandReply

	// GatewayPush is a notification to the clients that watch: GatewayState.
	GatewayPush = "gateway"
)

// ProviderEvent is what a bridge knows of the provider of its session's model.
type ProviderEvent struct {
	Name string   `json:"name"`
	API  string   `json:"api"`  // of the model, by Pi's name
	URLs []string `json:"urls"` // base URLs of its models, each once, without those of piwatch
	// Other says what another extension has done with it; empty for nothing.
	Other string `json:"other,omitempty"`
}

// PointParams points a provider at an address, or back.
type PointParams struct {
	Provider string `json:"provider"`
	URL      string `json:"url"` // "" to put it back as it was
}

// GatewaySetParams turns the gateway on or off.
type GatewaySetParams struct {
	On        bool     `json:"on"`
	Providers []string `json:"providers,omitempty"` // none for all
}

// GatewayTestParams asks for a request through the gateway.
type GatewayTestParams struct {
	URL string `json:"url"`
}

// GatewayState is what the hub says of its gateway.
type GatewayState struct {
	On        bool            `json:"on"`
	All       bool            `json:"all"`                 // for every provider, but those in Except
	Providers []string        `json:"providers,omitempty"` // for these, where it is not for all
	Except    []string        `json:"except,omitempty"`
	Port      int             `json:"port,omitempty"` // where it listens; 0: it does not
	Error     string          `json:"error,omitempty"`
	Sessions  []PointedAt     `json:"sessions"` // of sessions with a bridge
	Traffic   *gateway.Status `json:"traffic,omitempty"`
}

// PointedAt says whether a session's provider goes through the gateway.
type PointedAt struct {
	Session  string `json:"session"`
	Provider string `json:"provider"`
	Upstream string `json:"upstream,omitempty"`
	On       bool   `json:"on"`
	Why      string `json:"why,omitempty"` // it does not
}

// Gateway asks how the gateway stands.
func (c *Client) Gateway(ctx context.Context) (GatewayState, error) {
	var state GatewayState
	err := c.conn.Call(ctx, GatewayStatus, struct{}{}, &state)
	return state, err
}

// SetGateway turns the gateway on or off.
func (c *Client) SetGateway(ctx context.Context, params GatewaySetParams) (CommandReply, error) {
	var reply CommandReply
	err := c.conn.Call(ctx, GatewaySet, params, &reply)
	return reply, err
}

// TestGateway asks a URL through the gateway; the reply says what came of it.
func (c *Client) TestGateway(ctx context.Context, url string) (CommandReply, error) {
	var reply CommandReply
	err := c.conn.Call(ctx, GatewayTest, GatewayTestParams{url}, &reply)
	return reply, err
}
