// Package hub is the one process per user that holds the engines: it takes
// what bridges see, steps the engine of that session, and has bridges do what
// the engine wants. The TUI and the CLI are its clients.
//
// Nothing of value lives here only: an engine is rebuilt from the record of its
// session whenever a bridge connects. Sessions without a file are rebuilt from
// what their bridge remembers.
//
// All state is behind one mutex. An event costs microseconds; whatever waits
// (answers of bridges, hooks) waits in goroutines of its own.
package hub

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"sync"
	"time"

	"piwatch/internal/control"
	"piwatch/internal/loop"
	"piwatch/internal/watchdog"
)

// idleExit is how long a hub stays without a bridge and without a client.
const idleExit = 60 * time.Second

// hookGrace is how long a hub that ends waits for the on-stop commands it
// started, to note how they ended.
const hookGrace = 2 * time.Second

// Options are what a hub runs with.
type Options struct {
	Socket  string       // path of the socket; required
	Version string       // release of this program
	Log     *slog.Logger // nil: nothing is logged
	Clock   Clock        // nil: the machine's
	// Wall is the clock that people read; nil for the machine's, or for Clock
	// where there is one. Its jumps restart countdowns.
	Wall func() time.Time
	// Preferences are the user's, read each time they matter; nil for none. The
	// environment of a session goes before them.
	Preferences func() Preferences
	// IdleExit is how long it stays without a bridge and without a client; 0
	// for a minute, negative for ever.
	IdleExit time.Duration
	// Gateway is the proxy before the providers; without its State file there is
	// none.
	Gateway GatewayOptions
	// Ready, when set, is closed once the hub listens.
	Ready chan<- struct{}
	// Supervisor reads the settings of the supervisor for a folder, with what was
	// changed at run time; nil for the defaults.
	Supervisor func(folder string, changes []loop.Change) (Supervision, error)
	// SessionDirs are folders with session files: sessions without a bridge are
	// judged from them.
	SessionDirs []string
	// Ancestors are the processes above a process, the nearest first; nil for
	// what the machine says.
	Ancestors func(pid int) []int
}

// Supervision is what the supervisor runs with in a folder, and where each value
// comes from, by its name.
type Supervision struct {
	loop.Settings
	Origin map[string]string
}

// Preferences are what the user's config says for all sessions.
type Preferences struct {
	OnStop   string // shell command, run when monitoring ends or is suspended
	Rollback bool   // ended exchanges are rolled back, not only folded
	GuardOff bool   // silent stops are not continued where nobody turned the guard on
}

// Hub holds the sessions.
type Hub struct {
	options Options
	log     *slog.Logger
	clock   Clock
	stop    context.CancelCauseFunc

	mu       sync.Mutex
	jumps    jumps
	sessions map[string]*session // by Pi's session id
	peers    map[*peer]struct{}  // connections that said hello
	ending   bool                // the hub closes the connections itself
	idle     Timer               // runs while nobody is here
	loops    *supervisor
	hooks    sync.WaitGroup
	proxy    proxy
	drains   sync.WaitGroup // servers of the gateway that let answers end
}

var errStopped = errors.New("asked to stop")

// Run serves until ctx ends, a client asks it to stop, or nobody has been here
// for a while; these ends are no errors. A second hub on the same socket
// returns control.ErrHubRunning.
func Run(ctx context.Context, options Options) error {
	listener, err := control.Listen(options.Socket)
	if err != nil {
		return fmt.Errorf("hub: %w", err)
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	h := newHub(options, stop)
	listener.Refused = func(uid int) { h.log.Warn("a peer of another user was turned away", "uid", uid) }
	h.log.Info("hub listens", "socket", options.Socket, "version", options.Version, "pid", os.Getpid())
	h.mu.Lock()
	h.watchIdle()
	h.openGateway()
	h.mu.Unlock()
	if options.Ready != nil {
		close(options.Ready)
	}

	var conns sync.WaitGroup
	if len(options.SessionDirs) > 0 {
		conns.Add(1)
		go func() {
			defer conns.Done()
			h.loops.follow(ctx, options.SessionDirs)
		}()
	}
	accepted := make(chan error, 1)
	conns.Add(1)
	go func() {
		defer conns.Done()
		accepted <- h.accept(ctx, listener, &conns)
	}()
	<-ctx.Done()
	h.log.Info("hub ends", "cause", context.Cause(ctx))
	h.endGateway() // its port is free for the hub to come
	err = listener.Close()
	conns.Wait()
	h.shutdown()
	return errors.Join(err, <-accepted)
}

func newHub(options Options, stop context.CancelCauseFunc) *Hub {
	h := &Hub{
		options: options, log: options.Log, clock: options.Clock, stop: stop,
		sessions: map[string]*session{}, peers: map[*peer]struct{}{},
	}
	if h.log == nil {
		h.log = slog.New(slog.DiscardHandler)
	}
	if h.options.Wall == nil {
		now := time.Now
		if h.clock != nil {
			now = h.clock.Now
		}
		h.options.Wall = func() time.Time { return now().Round(0) } // without the reading of time that passed
	}
	if h.clock == nil {
		h.clock = systemClock{}
	}
	h.loops = newSupervisor(h)
	if h.options.IdleExit == 0 {
		h.options.IdleExit = idleExit
	}
	return h
}

func (h *Hub) accept(ctx context.Context, listener *control.Listener, conns *sync.WaitGroup) error {
	for {
		conn, err := listener.Accept()
		switch {
		case err == nil:
		case ctx.Err() != nil || errors.Is(err, net.ErrClosed):
			return nil
		default:
			h.stop(err)
			return fmt.Errorf("hub: accept: %w", err)
		}
		p := &peer{hub: h}
		h.mu.Lock() // the connection reads before it is returned
		p.conn = control.NewConn(ctx, conn, p.handle, control.OnError(func(method string, err error) {
			h.log.Warn("message failed", "method", method, "err", err)
		}))
		h.mu.Unlock()
		conns.Add(1)
		go func() {
			defer conns.Done()
			select {
			case <-p.conn.Done():
			case <-ctx.Done():
				_ = p.conn.Close()
			}
			if ctx.Err() != nil {
				h.mu.Lock()
				h.ending = true
				h.mu.Unlock()
			}
			p.left()
		}()
	}
}

func (h *Hub) shutdown() {
	h.mu.Lock()
	for _, s := range h.sessions {
		s.stopTimer()
	}
	if h.idle != nil {
		h.idle.Stop()
	}
	if h.proxy.pushing != nil {
		h.proxy.pushing.Stop()
	}
	h.loops.stop()
	h.mu.Unlock()
	h.drains.Wait()
	// A hook that ends soon is heard out; one that does not outlives the hub.
	ended := make(chan struct{})
	go func() {
		h.hooks.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(hookGrace):
	}
}

// watchIdle starts or stops the timer that ends a hub nobody uses.
func (h *Hub) watchIdle() {
	if h.idle != nil {
		h.idle.Stop()
		h.idle = nil
	}
	if len(h.peers) == 0 && h.options.IdleExit > 0 {
		h.idle = h.clock.AfterFunc(h.options.IdleExit, func() {
			h.mu.Lock()
			defer h.mu.Unlock()
			if len(h.peers) == 0 {
				h.stop(fmt.Errorf("no bridge and no client for %s", h.options.IdleExit))
			}
		})
	}
}

// watchClock tells every engine when the machine slept or its clock was set:
// neither is idle time.
func (h *Hub) watchClock() {
	if !h.jumps.look(h.clock.Now(), h.options.Wall()) {
		return
	}
	h.log.Info("the clock on the wall jumped")
	for _, s := range h.sessions {
		s.step(watchdog.ClockJumped{})
	}
}

// push tells every client that watches.
func (h *Hub) push(method string, params any) { h.pushBut(nil, method, params) }

// pushBut tells every client that watches but one, who knows already. A hub that
// ends says nothing: its bridges go since it does, and come back to the next.
func (h *Hub) pushBut(knows *peer, method string, params any) {
	if h.ending {
		return
	}
	for p := range h.peers {
		if p.watches && p != knows {
			if err := p.conn.Notify(context.Background(), method, params); err != nil {
				h.log.Debug("push failed", "method", method, "err", err)
			}
		}
	}
}

func (h *Hub) notice(session, level, text string) { h.noticeBut(nil, session, level, text) }

// noticeBut is notice for all clients but one, who knows already.
func (h *Hub) noticeBut(knows *peer, session, level, text string) {
	h.logNotice(session, level, text)
	h.pushBut(knows, control.NoticePush, control.Notice{Session: session, Time: h.clock.Now().UnixMilli(), Level: level, Text: text})
}

func (h *Hub) preferences() Preferences {
	if h.options.Preferences == nil {
		return Preferences{}
	}
	return h.options.Preferences()
}

// hook runs the user's on-stop command, detached from hub and Pi.
func (h *Hub) hook(s *session, ended watchdog.Ended, count int) {
	command, set := s.hello.Env["PI_WATCHDOG_ON_STOP"]
	if !set {
		command = h.preferences().OnStop
	}
	if command == "" {
		return
	}
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir = s.hello.Cwd
	cmd.Env = append(os.Environ(),
		"PIWATCH_EVENT="+ended.Event,
		"PIWATCH_NOTE="+ended.Note,
		"PIWATCH_SESSION_ID="+s.id,
		"PIWATCH_SESSION_FILE="+s.hello.File,
		"PIWATCH_CWD="+s.hello.Cwd,
		fmt.Sprintf("PIWATCH_NUDGES=%d", count),
	)
	h.hooks.Add(1)
	go func() {
		defer h.hooks.Done()
		text := runHook(cmd)
		h.mu.Lock()
		defer h.mu.Unlock()
		h.notice(s.id, "info", "on_stop ("+ended.Event+"): "+text)
		if h.sessions[s.id] == s {
			s.do(watchdog.Append{Type: watchdog.RecordHook, Data: watchdog.Hook{Event: ended.Event, Result: text}})
		}
	}()
}
