package control

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/sourcegraph/jsonrpc2"
)

// What can go wrong on a connection. They come wrapped, so compare with
// errors.Is.
var (
	ErrClosed      = errors.New("the connection is closed")
	ErrLineTooLong = fmt.Errorf("a message is longer than %d bytes", MaxLine)
	ErrMalformed   = errors.New("a line is not a JSON-RPC message")
	ErrSlowPeer    = errors.New("the other side does not read its messages")
	ErrBusy        = errors.New("too many requests wait for an answer")
)

// What a handler can answer so that the other side can tell it apart with
// errors.Is. Every other error of a handler arrives as an [Error] that only
// holds its text.
var (
	ErrUnknownMethod = errors.New("unknown method")
	ErrParams        = errors.New("bad parameters")
	ErrNoSession     = errors.New("no such session")
	ErrInternal      = errors.New("internal error")
)

// codeOther is the code of an error without a code of its own;
// codeProtocol is the code of a ProtocolError.
const (
	codeOther    = -32000
	codeProtocol = -32002
)

var codes = []struct {
	code int64
	err  error
}{
	{jsonrpc2.CodeMethodNotFound, ErrUnknownMethod},
	{jsonrpc2.CodeInvalidParams, ErrParams},
	{jsonrpc2.CodeInternalError, ErrInternal},
	{-32001, ErrNoSession},
}

// Error is an error that the other side answered.
type Error struct {
	Code    int64 // a code of JSON-RPC, or of piwatch from -32000 down
	Message string
}

func (e *Error) Error() string { return e.Message }

// Is makes errors.Is work across the wire.
func (e *Error) Is(target error) bool {
	for _, c := range codes {
		if c.code == e.Code {
			return c.err == target
		}
	}
	return false
}

// ProtocolError answers a hello of another protocol version.
type ProtocolError struct {
	Hub     int    `json:"hub"`     // protocol version of the hub
	Peer    int    `json:"peer"`    // protocol version of the other side
	Version string `json:"version"` // release of the hub
}

func (e *ProtocolError) Error() string {
	return fmt.Sprintf("the hub (piwatch %s) speaks protocol %d, this side speaks %d", e.Version, e.Hub, e.Peer)
}

// Hint says what a person can do about it.
func (e *ProtocolError) Hint() string {
	if e.Hub < e.Peer {
		return "the hub is of an older piwatch; end it, and the next start brings a new one: piwatch hub stop"
	}
	return "the hub is of a newer piwatch: use that one, or end it: piwatch hub stop"
}

// Decode reads parameters into a value. Its error is an [ErrParams].
func Decode(params json.RawMessage, into any) error {
	if len(params) == 0 {
		params = json.RawMessage("{}")
	}
	if err := json.Unmarshal(params, into); err != nil {
		return fmt.Errorf("%w: %w", ErrParams, err)
	}
	return nil
}

func toWire(err error) *jsonrpc2.Error {
	var answered *Error
	if errors.As(err, &answered) {
		return &jsonrpc2.Error{Code: answered.Code, Message: err.Error()}
	}
	var protocol *ProtocolError
	if errors.As(err, &protocol) {
		wire := &jsonrpc2.Error{Code: codeProtocol, Message: err.Error()}
		wire.SetError(protocol)
		return wire
	}
	for _, c := range codes {
		if errors.Is(err, c.err) {
			return &jsonrpc2.Error{Code: c.code, Message: err.Error()}
		}
	}
	return &jsonrpc2.Error{Code: codeOther, Message: err.Error()}
}

func fromWire(wire *jsonrpc2.Error) error {
	if wire.Code == codeProtocol && wire.Data != nil {
		protocol := &ProtocolError{}
		if json.Unmarshal(*wire.Data, protocol) == nil {
			return protocol
		}
	}
	return &Error{Code: wire.Code, Message: wire.Message}
}
