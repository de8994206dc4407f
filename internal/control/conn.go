package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"sync/atomic"

	"github.com/sourcegraph/jsonrpc2"
)

// maxOpen bounds the requests of one direction that wait for an answer.
const maxOpen = 1024

// Handler answers what the other side calls. For one connection it is called
// for one message at a time, in the order of arrival, and nothing else is read
// meanwhile: it must be quick. A [Conn.Call] over the same Conn with its ctx
// is refused, since the answer could never be read. A handler whose answer
// takes time returns a [Later].
//
// params is nil when the message has none. An error is sent as the answer,
// see [ErrUnknownMethod] and its neighbours; the error of a notification goes
// to [OnError]. A panic counts as an [ErrInternal].
type Handler func(ctx context.Context, c *Conn, method string, params json.RawMessage) (result any, err error)

// Later is a result that takes time. It runs in a goroutine of its own while
// the connection goes on, and may call over the same Conn; what it returns is
// the answer. ctx ends with the connection.
type Later func(ctx context.Context) (result any, err error)

// Conn is one connection. Both ends are alike. Its methods may be called from
// any goroutine.
//
// Nothing that is sent waits for the other side to read: messages are queued,
// up to 8 MiB. A side that lets the queue fill, or takes no byte for 10 s, is
// given up: the connection ends with [ErrSlowPeer].
type Conn struct {
	rpc     *jsonrpc2.Conn
	ready   chan struct{} // rpc is set
	lines   *lines
	handler Handler
	onError func(method string, err error)

	ids    atomic.Uint64
	asked  atomic.Int64 // our requests without an answer
	laters atomic.Int64 // their requests that a Later works on
}

// Option changes a Conn.
type Option func(*Conn)

// OnError is told what no one else hears of: the errors of handlers of
// notifications, panics with their stack, and answers that could not be sent.
// It is called from the goroutine that reads and must be quick.
func OnError(f func(method string, err error)) Option {
	return func(c *Conn) { c.onError = f }
}

// NewConn starts a connection over rwc, which it owns from now on. It ends
// with ctx, with Close, or with the other side. A nil h answers every method
// as unknown. h may be called before NewConn returns: what it needs of the
// Conn it takes from its own parameter.
func NewConn(ctx context.Context, rwc io.ReadWriteCloser, h Handler, options ...Option) *Conn {
	c := &Conn{
		ready:   make(chan struct{}),
		lines:   newLines(rwc, writeTimeout),
		handler: h,
		onError: func(string, error) {},
	}
	if h == nil {
		c.handler = func(_ context.Context, _ *Conn, method string, _ json.RawMessage) (any, error) {
			return nil, fmt.Errorf("%w: %s", ErrUnknownMethod, method)
		}
	}
	for _, option := range options {
		option(c)
	}
	c.rpc = jsonrpc2.NewConn(ctx, c.lines, (*receiver)(c), jsonrpc2.SetLogger(silent{}), jsonrpc2.OnRecv(c.received))
	close(c.ready)
	return c
}

// silent drops the library's log: what it says is in Err and OnError.
type silent struct{}

func (silent) Printf(string, ...any) {}

// Call calls a method of the other side and waits for the answer or the end of
// ctx. params may be nil; a nil result drops the answer. The error is an
// [*Error] or a [*ProtocolError] when the other side answered one, and
// [ErrClosed] when the connection ended first.
func (c *Conn) Call(ctx context.Context, method string, params, result any) error {
	if ctx.Value(inHandler{}) == c {
		return fmt.Errorf("call %s: a handler must not wait for its own connection", method)
	}
	if c.asked.Add(1) > maxOpen {
		c.asked.Add(-1)
		return fmt.Errorf("call %s: %w", method, ErrBusy)
	}
	// Not the library's own numbers: they begin with 0, which is also what it
	// reads an id of null as.
	id := jsonrpc2.PickID(jsonrpc2.ID{Num: c.ids.Add(1)})
	answer, err := c.rpc.DispatchCall(ctx, method, params, id)
	if err != nil {
		c.asked.Add(-1)
	} else {
		err = answer.Wait(ctx, result)
	}
	return c.explain("call", method, err)
}

// Notify sends a message that has no answer.
func (c *Conn) Notify(ctx context.Context, method string, params any) error {
	return c.explain("notify", method, c.rpc.Notify(ctx, method, params))
}

func (c *Conn) explain(what, method string, err error) error {
	var answered *jsonrpc2.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &answered):
		return fromWire(answered)
	case !errors.Is(err, jsonrpc2.ErrClosed):
		return fmt.Errorf("%s %s: %w", what, method, err)
	}
	if cause := c.Err(); cause != nil {
		return fmt.Errorf("%s %s: %w: %w", what, method, ErrClosed, cause)
	}
	return fmt.Errorf("%s %s: %w", what, method, ErrClosed)
}

// Close sends what is queued, for a second at most, and ends the connection.
// It is a success also when the connection had ended before.
func (c *Conn) Close() error {
	if err := c.rpc.Close(); err != nil && !errors.Is(err, jsonrpc2.ErrClosed) {
		return err
	}
	return nil
}

// Done is closed when the connection has ended.
func (c *Conn) Done() <-chan struct{} { return c.rpc.DisconnectNotify() }

// Err says why the connection ended. It is nil while it lives, and when one of
// the two sides just closed it.
func (c *Conn) Err() error { return c.lines.err() }

func (c *Conn) received(request *jsonrpc2.Request, response *jsonrpc2.Response) {
	if request != nil && response != nil {
		c.asked.Add(-1)
	}
}

type inHandler struct{}

// receiver is a Conn as the library sees it.
type receiver Conn

// Handle is called in the order of arrival.
func (r *receiver) Handle(ctx context.Context, _ *jsonrpc2.Conn, request *jsonrpc2.Request) {
	<-r.ready
	(*Conn)(r).dispatch(ctx, request)
}

func (c *Conn) dispatch(ctx context.Context, request *jsonrpc2.Request) {
	params := c.lines.params
	result, err := c.guard(request.Method, func() (any, error) {
		return c.handler(context.WithValue(ctx, inHandler{}, c), c, request.Method, params)
	})
	later, ok := result.(Later)
	if !ok || err != nil {
		c.answer(ctx, request, result, err)
		return
	}
	if c.laters.Add(1) > maxOpen {
		c.laters.Add(-1)
		c.answer(ctx, request, nil, ErrBusy)
		return
	}
	go func() {
		defer c.laters.Add(-1)
		result, err := c.guard(request.Method, func() (any, error) { return later(ctx) })
		c.answer(ctx, request, result, err)
	}()
}

func (c *Conn) guard(method string, f func() (any, error)) (result any, err error) {
	defer func() {
		if r := recover(); r != nil {
			result, err = nil, fmt.Errorf("%w in %s", ErrInternal, method)
			c.onError(method, fmt.Errorf("panic: %v\n%s", r, debug.Stack()))
		}
	}()
	return f()
}

func (c *Conn) answer(ctx context.Context, request *jsonrpc2.Request, result any, err error) {
	if request.Notif {
		if err != nil {
			c.onError(request.Method, err)
		}
		return
	}
	response := &jsonrpc2.Response{ID: request.ID}
	if err == nil {
		err = response.SetResult(result)
	}
	if err != nil {
		response.Error = toWire(err)
	}
	err = c.rpc.SendResponse(ctx, response)
	if err == nil || errors.Is(err, jsonrpc2.ErrClosed) {
		return
	}
	c.onError(request.Method, fmt.Errorf("answer: %w", err))
	// The other side waits: it gets an error that is short enough.
	short := toWire(fmt.Errorf("%w: the answer to %s could not be sent: %w", ErrInternal, request.Method, err))
	_ = c.rpc.SendResponse(ctx, &jsonrpc2.Response{ID: request.ID, Error: short})
}
