package demo

import (
	"context"
	"sync"
	"time"

	"piwatch/internal/control"
)

// The times of the real bridge.
const (
	replyTime  = 3 * time.Second // a hub that answers later counts as gone
	firstRetry = 50 * time.Millisecond
	lastRetry  = 4 * time.Second
)

// link is one connection to the hub. What is told and asked goes out in order.
type link struct {
	conn     *control.Conn
	welcomed bool // guarded by the lock of the Pi

	mu    sync.Mutex
	queue []func()
	wake  chan struct{}
	ended bool // nothing is queued any more
}

// push queues work; after the end it is done at once, and fails as it must.
func (l *link) push(work func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		work()
		return
	}
	l.queue = append(l.queue, work)
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// finish closes the connection when all that is queued is sent.
func (l *link) finish() { l.push(func() { _ = l.conn.Close() }) }

// pump works until the connection or the context ends.
func (l *link) pump(ctx context.Context) {
	for {
		l.mu.Lock()
		work := l.queue
		l.queue = nil
		l.mu.Unlock()
		for _, f := range work {
			f()
		}
		if len(work) > 0 {
			continue
		}
		select {
		case <-l.wake:
		case <-ctx.Done():
			l.finish() // after what is queued
			ctx = context.Background()
		case <-l.conn.Done():
			l.mu.Lock()
			defer l.mu.Unlock()
			l.ended = true
			for _, f := range l.queue {
				f()
			}
			return
		}
	}
}

// connect keeps the bridge connected until the context ends. Starting a hub
// is not a stand-in's business.
func (p *Pi) connect(ctx context.Context, reason string) {
	retry := time.Duration(0)
	for p.trying(ctx, false) {
		if p.meet(ctx, reason) {
			retry, reason = 0, "reconnect"
		}
		retry = min(max(2*retry, firstRetry), lastRetry)
		if !p.trying(ctx, true) || p.clock.Sleep(ctx, retry) != nil {
			return
		}
	}
}

// trying notes how far the bridge is with connecting; false: it is another
// bridge by now.
func (p *Pi) trying(ctx context.Context, waits bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if ctx.Err() != nil {
		return false
	}
	p.waiting = waits
	if !waits {
		p.tries++
	}
	p.bump()
	return true
}

// meet is one connection from hello to its end; it reports whether the hub
// welcomed the bridge.
func (p *Pi) meet(ctx context.Context, reason string) bool {
	p.mu.Lock()
	instance := p.instance
	p.mu.Unlock()
	conn, err := control.Dial(ctx, p.setup.Socket, p.serve(instance))
	if err != nil {
		return false
	}
	l := &link{conn: conn, wake: make(chan struct{}, 1)}
	p.mu.Lock()
	if ctx.Err() != nil || p.instance != instance {
		p.mu.Unlock()
		_ = conn.Close()
		return false
	}
	p.link = l
	hello := p.hello(reason)
	p.mu.Unlock()

	p.greet(l, hello) // what is told meanwhile waits in the queue
	l.pump(ctx)

	p.mu.Lock()
	defer p.mu.Unlock()
	if p.link == l {
		p.link = nil
		p.lost(conn.Err())
	}
	return l.welcomed
}

func (p *Pi) greet(l *link, hello control.BridgeHello) {
	ctx, cancel := context.WithTimeout(p.ctx, replyTime)
	defer cancel()
	var welcome control.BridgeWelcome
	err := l.conn.Call(ctx, control.Hello, hello, &welcome)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.link != l {
		return
	}
	if err != nil {
		p.note(Event{Kind: Gone, Text: err.Error()})
		l.finish()
		return
	}
	l.welcomed = true
	p.welcome, p.watching = welcome, welcome.On
	if welcome.Driver {
		p.closeOrphan()
	}
	if p.watching {
		p.register(welcome.Tool)
	}
	p.footer(welcome.Status)
	p.note(Event{Kind: Joined})
}

// lost is called when the hub went away: its check is void, tools are free.
func (p *Pi) lost(cause error) {
	if p.ctx.Err() != nil {
		return
	}
	if p.check != nil {
		p.check.makeVoid(wentAway)
		if !p.running {
			p.closeIdle()
		}
	}
	if p.watching {
		p.footer(p.welcome.Texts.Lost)
	}
	text := "the hub closed the connection"
	if cause != nil {
		text = cause.Error()
	}
	p.note(Event{Kind: Gone, Text: text})
}

// tell sends a notification; without a hub it is dropped. The caller holds mu.
func (p *Pi) tell(method string, params any) {
	if l := p.link; l != nil {
		l.push(func() { _ = l.conn.Notify(p.ctx, method, params) })
	}
}

// ask sends a request whose answer holds no news; what is told later waits
// until it is answered.
func (p *Pi) ask(method string, params any) {
	if l := p.link; l != nil {
		l.push(func() {
			ctx, cancel := context.WithTimeout(p.ctx, replyTime)
			defer cancel()
			_ = l.conn.Call(ctx, method, params, nil)
		})
	}
}

// call sends a request; the channel gives its error when result is filled.
func (p *Pi) call(method string, params, result any) <-chan error {
	done := make(chan error, 1)
	l := p.link
	if l == nil {
		done <- control.ErrClosed
		return done
	}
	l.push(func() {
		p.work.Go(func() {
			ctx, cancel := context.WithTimeout(p.ctx, replyTime)
			defer cancel()
			done <- l.conn.Call(ctx, method, params, result)
		})
	})
	return done
}
