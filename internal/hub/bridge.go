package hub

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"piwatch/internal/control"
	"piwatch/internal/guard"
	"piwatch/internal/loop"
	"piwatch/internal/watchdog"
)

// replyWithin is how long a bridge may take to answer; it answers in the tick
// in which it reads.
const replyWithin = 10 * time.Second

// bridge is the hub's end of one bridge. What the hub wants of it goes out one
// by one, in order, from a goroutine of its own: no event ever waits for a
// bridge.
type bridge struct {
	peer    *peer
	session *session
	hello   control.BridgeHello
	out     chan request
	done    chan struct{}
	pointed pointing
}

// request is one call of the bridge; got takes the receipt, with the hub's
// mutex held.
type request struct {
	method  string
	params  any
	got     func(control.Receipt)
	barrier chan<- struct{} // closed when everything before it is answered
}

// outLimit is how many requests may wait for one bridge; a bridge that lets
// them pile up is not answering any more.
const outLimit = 256

func newBridge(p *peer, s *session, hello control.BridgeHello) *bridge {
	b := &bridge{peer: p, session: s, hello: hello, out: make(chan request, outLimit), done: make(chan struct{})}
	go b.write()
	return b
}

func (b *bridge) close() { close(b.done) }

func (b *bridge) write() {
	for {
		select {
		case <-b.done:
			return
		case <-b.peer.conn.Done():
			return
		case r := <-b.out:
			b.call(r)
		}
	}
}

func (b *bridge) call(r request) {
	if r.barrier != nil {
		close(r.barrier)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), replyWithin)
	defer cancel()
	var receipt control.Receipt
	if err := b.peer.conn.Call(ctx, r.method, r.params, &receipt); err != nil {
		receipt = control.Receipt{Result: control.Refused, Reason: err.Error()}
	}
	h := b.peer.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	if b.peer.bridge != b {
		return // it left; what became of the request is in the record
	}
	if receipt.Result != control.Sent && receipt.Result != control.Queued {
		h.log.Warn("refused by the bridge", "session", b.session.id, "method", r.method, "result", receipt.Result, "reason", logText(receipt.Reason))
	}
	if r.got != nil {
		r.got(receipt)
	}
}

// send asks the bridge for something whose receipt nobody needs.
func (b *bridge) send(method string, params any) { b.enqueue(request{method: method, params: params}) }

func (b *bridge) enqueue(r request) {
	select {
	case b.out <- r:
	default:
		b.peer.hub.log.Error("a bridge does not answer: its connection is closed", "session", b.session.id)
		go func() { _ = b.peer.conn.Close() }()
	}
}

// barrier is closed once the bridge has answered everything that was asked of it
// before.
func (b *bridge) barrier() <-chan struct{} {
	passed := make(chan struct{})
	b.enqueue(request{barrier: passed})
	return passed
}

// deliver sends a check or a work message and tells the engine what became of
// it.
func (b *bridge) deliver(method string, params any, check string, work bool) {
	b.enqueue(request{method: method, params: params, got: func(r control.Receipt) {
		if b.session.driver() != b {
			return
		}
		b.session.step(watchdog.Delivered{
			Check: check, Work: work,
			Sent: r.Result == control.Sent || r.Result == control.Queued, Reason: r.Reason, Facts: r.Facts,
		})
	}})
}

// handle takes one message of the bridge.
func (b *bridge) handle(method string, params json.RawMessage) (any, error) {
	take, known := bridgeMethods[method]
	if !known {
		return nil, fmt.Errorf("%w: %s", control.ErrUnknownMethod, method)
	}
	if b.session.driver() != b && method != control.Bye {
		switch method {
		case control.Command:
			return control.CommandReply{Level: "error", Text: "piwatch: another Pi has this session open and is watched; this one is not."}, nil
		case control.Decide:
			return control.DecideReply{Text: watchdog.AnswerOff}, nil
		}
		return struct{}{}, nil
	}
	return take(b, params)
}

// bridgeMethods are what a bridge may call, by name.
var bridgeMethods = map[string]func(*bridge, json.RawMessage) (any, error){
	control.Run:        event(func(e control.RunEvent) watchdog.Event { return watchdog.RunStarted{Own: e.Own} }),
	control.Activity:   event(func(e control.ActivityEvent) watchdog.Event { return watchdog.Activity{Key: e.Key, Draft: e.Draft} }),
	control.Dialog:     event(func(e control.DialogEvent) watchdog.Event { return watchdog.DialogChanged{Open: e.Open} }),
	control.Input:      method((*bridge).input),
	control.Compaction: event(func(e control.CompactionEvent) watchdog.Event { return watchdog.CompactionChanged{On: e.On} }),
	control.CheckClosed: event(func(e control.CheckClosedEvent) watchdog.Event {
		return watchdog.Closed{Outcome: e.Outcome}
	}),
	control.Ended:      method((*bridge).ended),
	control.Tree:       method((*bridge).moved),
	control.Renamed:    method((*bridge).renamed),
	control.Settled:    method((*bridge).settled),
	control.ProviderIs: method((*bridge).provider),
	control.Decide:     method((*bridge).decide),
	control.Command:    method(func(b *bridge, p control.CommandParams) any { return b.session.recorded(b.session.command(p)) }),
	control.Spoke:      toSupervisor(func(e control.SpokeEvent) loop.Event { return loop.Spoken{Text: e.Text} }),
	control.Called:     toSupervisor(func(e control.CalledEvent) loop.Event { return loop.Called{ID: e.ID, Tool: e.Tool, Args: e.Args} }),
	control.Returned: toSupervisor(func(e control.ReturnedEvent) loop.Event {
		return loop.Returned{ID: e.ID, Tool: e.Tool, Text: e.Text, Error: e.Error}
	}),
	control.Answered:  method((*bridge).answered),
	control.Artefact:  method((*bridge).artefact),
	control.Supervise: method((*bridge).supervise),
	control.Bye: method(func(b *bridge, e control.ByeEvent) any {
		b.peer.hub.loops.bye(b.session, e.Reason)
		b.peer.hub.leave(b)
		return nil
	}),
}

func method[P any](take func(*bridge, P) any) func(*bridge, json.RawMessage) (any, error) {
	return func(b *bridge, raw json.RawMessage) (any, error) {
		var params P
		if err := control.Decode(raw, &params); err != nil {
			return nil, err
		}
		return take(b, params), nil
	}
}

func event[P any](read func(P) watchdog.Event) func(*bridge, json.RawMessage) (any, error) {
	return method(func(b *bridge, params P) any {
		b.session.step(read(params))
		return nil
	})
}

func (b *bridge) input(e control.InputEvent) any {
	human := e.Source != "extension"
	b.session.step(watchdog.Spoken{Human: human, Said: e.Said})
	b.session.stepGuard(guard.Spoken{Human: human}, control.Facts{})
	return nil
}

// moved takes a branch that was changed by navigation: the watchdog stands where
// the record of that branch says.
func (b *bridge) moved(e control.TreeEvent) any {
	b.hello = b.session.hello
	b.hello.Reason, b.hello.Facts, b.hello.Records = "tree", e.Facts, e.Records
	b.session.takeOver(b)
	return nil
}

func (b *bridge) renamed(e control.RenamedEvent) any {
	b.session.hello.Name, b.session.hello.Model = e.Name, e.Model
	b.session.show()
	return nil
}

// settled is answered once everything that the settle led to is with Pi: in
// print mode the bridge waits for it, since Pi ends afterwards.
func (b *bridge) settled(e control.SettledEvent) any {
	b.session.step(watchdog.Settled{Facts: e.Facts})
	return b.afterAll()
}

// afterAll answers once everything that is asked of the bridge is with Pi.
func (b *bridge) afterAll() any {
	sent := b.barrier()
	return control.Later(func(ctx context.Context) (any, error) {
		select {
		case <-sent:
		case <-b.done:
		case <-ctx.Done():
		}
		return struct{}{}, nil
	})
}

func (b *bridge) decide(p control.DecideParams) any {
	answers := b.session.step(watchdog.Decided{Check: p.Check, Decision: watchdog.Decision(p.Decision), Note: p.Note})
	for _, effect := range answers {
		if a, ok := effect.(watchdog.Answer); ok {
			return control.DecideReply{Text: a.Text, Accepted: a.Accepted, Terminate: a.Terminate}
		}
	}
	return control.DecideReply{Text: watchdog.AnswerVoid, Terminate: true}
}
