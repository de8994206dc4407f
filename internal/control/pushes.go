package control

import (
	"context"
	"sync"
)

// maxNotices is how many notices wait for a slow reader; older ones go.
const maxNotices = 256

// Push is one thing the hub tells a client that watches. One field is set.
type Push struct {
	Session *Session // new or changed
	Gone    string   // id of a session that has no bridge any more
	Notice  *Notice
	Gateway *GatewayState // new or changed
	Target  *Target       // new or changed
}

// waiting is a Push in the queue. Its key names the session it is about; it is
// empty for a notice.
type waiting struct {
	key  string
	push Push
}

// pushes is the queue between the connection, which must not wait, and a
// reader that may be slow.
type pushes struct {
	mu      sync.Mutex
	on      bool
	queue   []*waiting
	latest  map[string]*waiting // by key, what is in the queue
	notices int                 // in the queue
	wake    chan struct{}
}

func newPushes() *pushes {
	return &pushes{latest: map[string]*waiting{}, wake: make(chan struct{}, 1)}
}

// begin starts to keep pushes; it is false when that was so already.
func (p *pushes) begin() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	was := p.on
	p.on = true
	return !was
}

func (p *pushes) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.on, p.queue, p.notices = false, nil, 0
	clear(p.latest)
}

func (p *pushes) put(key string, push Push) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.on {
		return
	}
	if old := p.latest[key]; old != nil {
		old.push = push
		return
	}
	item := &waiting{key, push}
	if key != "" {
		p.latest[key] = item
	} else if p.notices++; p.notices > maxNotices {
		p.dropNotice()
	}
	p.queue = append(p.queue, item)
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// dropNotice drops the oldest notice; the caller holds mu.
func (p *pushes) dropNotice() {
	for i, item := range p.queue {
		if item.key == "" {
			p.queue = append(p.queue[:i], p.queue[i+1:]...)
			p.notices--
			return
		}
	}
}

func (p *pushes) take() (Push, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.queue) == 0 {
		return Push{}, false
	}
	item := p.queue[0]
	p.queue = p.queue[1:]
	if item.key == "" {
		p.notices--
	}
	delete(p.latest, item.key)
	return item.push, true
}

// deliver hands the queue to out until ctx or the connection ends.
func (p *pushes) deliver(ctx context.Context, closed <-chan struct{}, out chan<- Push) {
	defer close(out)
	defer p.end()
	for {
		push, ok := p.take()
		if !ok {
			select {
			case <-p.wake:
				continue
			case <-closed:
				// What came before the end is still delivered.
				if push, ok = p.take(); !ok {
					return
				}
			case <-ctx.Done():
				return
			}
		}
		select {
		case out <- push:
		case <-ctx.Done():
			return
		}
	}
}
