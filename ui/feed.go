package ui

import (
	"context"
	"errors"
	"sync"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"piwatch/internal/control"
)

// feed runs what must not run in the model: reading files and talking to the
// hub. All of it sends messages into one channel, which the model empties.
type feed struct {
	ctx context.Context
	out chan tea.Msg
	wg  sync.WaitGroup
	// last is when messages were handed out; next alone uses it.
	last time.Time

	watch  fileWatch
	listed []string           // folders whose sessions are listed; nil: none are
	stop   context.CancelFunc // ends the follower of the open session
}

// fed are messages of the feed, in order.
type fed []tea.Msg

const (
	feedBuffer = 256
	fedAtOnce  = 1024 // messages taken in before the next frame
	// framePause is the least time between two frames that the feed leads to.
	framePause = 20 * time.Millisecond
	fedEntries = 2048 // and entries of a session file
)

func newFeed(ctx context.Context) *feed {
	return &feed{ctx: ctx, out: make(chan tea.Msg, feedBuffer), stop: func() {}}
}

// wait returns when all goroutines of the feed have ended.
func (f *feed) wait() {
	f.wg.Wait()
	f.watch.close()
}

// next waits for messages. What comes until the next frame is due comes with
// them: each frame costs the same, however much has changed.
func (f *feed) next() tea.Msg {
	var batch fed
	select {
	case <-f.ctx.Done():
		return nil
	case msg := <-f.out:
		batch = fed{msg}
	}
	entries := entriesIn(batch[0])
	due := time.NewTimer(framePause - time.Since(f.last))
	defer due.Stop()
	for len(batch) < fedAtOnce && entries < fedEntries {
		select {
		case <-f.ctx.Done():
			return nil
		case msg := <-f.out:
			batch = append(batch, msg)
			entries += entriesIn(msg)
			continue
		case <-due.C:
		}
		break
	}
	f.last = time.Now()
	return batch
}

// later gives a message after a time; it ends with the feed.
func (f *feed) later(d time.Duration, msg tea.Msg) tea.Cmd {
	return func() tea.Msg {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-f.ctx.Done():
			return nil
		case <-timer.C:
			return msg
		}
	}
}

func entriesIn(msg tea.Msg) int {
	if came, ok := msg.(entriesCame); ok {
		return len(came.entries)
	}
	return 0
}

func (f *feed) send(ctx context.Context, msg tea.Msg) {
	select {
	case <-ctx.Done():
	case f.out <- msg:
	}
}

// spawn runs work beside the model. A panic there would leave the terminal
// raw: it becomes a message instead, on which the model quits.
func (f *feed) spawn(what string, work func()) {
	f.wg.Go(func() {
		defer caught(what, func(err error) { f.send(f.ctx, crashed{err}) })
		work()
	})
}

// The messages about the hub.
type (
	hubUp struct {
		hub      Hub
		sessions []control.Session
	}
	hubPush struct{ control.Push }
	hubDown struct{ err error }
)

// errNoHub is said when there is no way to a hub.
var errNoHub = errors.New("no hub")

const (
	firstBackoff = time.Second
	lastBackoff  = 5 * time.Second
)

// watchHub keeps a connection to the hub: it watches, and dials again when the
// connection ends.
func (f *feed) watchHub(first Hub, redial func(context.Context) (Hub, error)) {
	f.spawn("watch the hub", func() {
		hub, err, backoff := first, errNoHub, firstBackoff
		for f.ctx.Err() == nil {
			if hub == nil && redial != nil {
				hub, err = redial(f.ctx)
			}
			if hub != nil {
				var worked bool
				if worked, err = f.pump(hub); worked {
					backoff = firstBackoff
				}
				if hub != first {
					_ = hub.Close() // it is of no use any more
				}
				hub = nil
			}
			f.send(f.ctx, hubDown{err})
			if redial == nil {
				return
			}
			timer := time.NewTimer(backoff)
			select {
			case <-f.ctx.Done():
				timer.Stop()
				return
			case <-timer.C:
			}
			backoff = min(2*backoff, lastBackoff)
		}
	})
}

// pump passes on what the hub says until it says no more.
func (f *feed) pump(hub Hub) (worked bool, err error) {
	sessions, pushes, err := hub.Watch(f.ctx)
	if err != nil {
		return false, err
	}
	for i := range sessions {
		f.cover(sessions[i].File)
	}
	f.send(f.ctx, hubUp{hub, sessions})
	for {
		select {
		case <-f.ctx.Done():
			return true, f.ctx.Err()
		case push, ok := <-pushes:
			if !ok {
				return true, errors.New("the hub closed the connection")
			}
			if push.Session != nil {
				f.cover(push.Session.File)
			}
			f.send(f.ctx, hubPush{push})
		}
	}
}
