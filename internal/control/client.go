package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// Client is a connection of the TUI or the CLI to the hub.
type Client struct {
	// Hub is what the hub said of itself.
	Hub ClientWelcome

	conn   *Conn
	pushes *pushes
}

// DialClient connects to the hub at path and says hello. version is the
// release of this program, name is tui or cli. The error is a *[DialError],
// also when the hub takes the connection but does not answer, or a
// *[ProtocolError].
func DialClient(ctx context.Context, path, version, name string) (*Client, error) {
	c, err := dialClient(ctx, path, version, name)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// dialClient also returns the Client when only the hello failed with a
// ProtocolError: it can still ask the hub to stop.
func dialClient(ctx context.Context, path, version, name string) (*Client, error) {
	if _, set := ctx.Deadline(); !set {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, dialTimeout)
		defer cancel()
	}
	c := &Client{pushes: newPushes()}
	var err error
	if c.conn, err = Dial(ctx, path, c.pushes.handle); err != nil {
		return nil, err
	}
	hello := ClientHello{Role: "client", Protocol: Protocol, Version: version, Name: name}
	err = c.conn.Call(ctx, Hello, hello, &c.Hub)
	var protocol *ProtocolError
	switch {
	case err == nil:
		return c, nil
	case errors.As(err, &protocol):
		return c, err
	case errors.Is(err, context.DeadlineExceeded):
		err = &DialError{path, ErrTimeout, err}
	}
	_ = c.Close()
	return nil, err
}

// Close ends the connection.
func (c *Client) Close() error { return c.conn.Close() }

// Done is closed when the connection has ended.
func (c *Client) Done() <-chan struct{} { return c.conn.Done() }

// Err says why the connection ended; nil when it was just closed.
func (c *Client) Err() error { return c.conn.Err() }

// Sessions lists the sessions with a bridge.
func (c *Client) Sessions(ctx context.Context) ([]Session, error) {
	var sessions []Session
	err := c.conn.Call(ctx, Sessions, struct{}{}, &sessions)
	return sessions, err
}

// Watch lists the sessions and then follows them. It can be called once for a
// Client. The channel is closed at the end of ctx or of the connection.
//
// A slow reader misses steps, never the end: of each session only the newest
// Push waits, and of the notices the newest 256. The connection never waits
// for the reader.
func (c *Client) Watch(ctx context.Context) ([]Session, <-chan Push, error) {
	if !c.pushes.begin() {
		return nil, nil, errors.New("watch: this client watches already")
	}
	var sessions []Session
	if err := c.conn.Call(ctx, Watch, struct{}{}, &sessions); err != nil {
		c.pushes.end()
		return nil, nil, err
	}
	out := make(chan Push)
	go c.pushes.deliver(ctx, c.Done(), out)
	return sessions, out, nil
}

// Steer calls one of the methods that steer a session.
func (c *Client) Steer(ctx context.Context, method string, params SteerParams) (CommandReply, error) {
	var reply CommandReply
	err := c.conn.Call(ctx, method, params, &reply)
	return reply, err
}

// Loops calls a method of the supervisor whose answer is for reply.
func (c *Client) Loops(ctx context.Context, method string, params, reply any) error {
	return c.conn.Call(ctx, method, params, reply)
}

// Inspect gives all that the supervisor knows of one session.
func (c *Client) Inspect(ctx context.Context, session string) (TargetDetail, error) {
	var d TargetDetail
	err := c.Loops(ctx, LoopsInspect, TargetParams{Target: session}, &d)
	return d, err
}

// StopHub asks the hub to end and waits until it has closed this connection.
func (c *Client) StopHub(ctx context.Context, why string) error {
	err := c.conn.Call(ctx, StopHub, StopHubParams{Why: why}, nil)
	if err != nil && !errors.Is(err, ErrClosed) {
		return err
	}
	select {
	case <-c.Done():
		return nil
	case <-ctx.Done():
		return fmt.Errorf("stop the hub: it is still there: %w", ctx.Err())
	}
}

// EndHub asks the hub at path to end and waits until it has. It works with a hub
// of any protocol. version is the release of this program.
func EndHub(ctx context.Context, path, version, why string) error {
	c, err := dialClient(ctx, path, version, "cli")
	if c == nil {
		return err
	}
	return errors.Join(c.StopHub(ctx, why), c.Close())
}

// handle takes what the hub pushes.
func (p *pushes) handle(_ context.Context, _ *Conn, method string, params json.RawMessage) (any, error) {
	switch method {
	case SessionPush:
		var session Session
		if err := Decode(params, &session); err != nil {
			return nil, err
		}
		p.put("session "+session.ID, Push{Session: &session})
	case GonePush:
		var gone GoneEvent
		if err := Decode(params, &gone); err != nil {
			return nil, err
		}
		p.put("session "+gone.ID, Push{Gone: gone.ID})
	case NoticePush:
		var notice Notice
		if err := Decode(params, &notice); err != nil {
			return nil, err
		}
		p.put("", Push{Notice: &notice})
	case GatewayPush:
		var state GatewayState
		if err := Decode(params, &state); err != nil {
			return nil, err
		}
		p.put("gateway", Push{Gateway: &state})
	case TargetPush:
		var target Target
		if err := Decode(params, &target); err != nil {
			return nil, err
		}
		p.put("target "+target.ID, Push{Target: &target})
	default:
		return nil, fmt.Errorf("%w: %s", ErrUnknownMethod, method)
	}
	return nil, nil
}
