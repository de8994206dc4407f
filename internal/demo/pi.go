package demo

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"sync"

	"piwatch/internal/control"
	"piwatch/internal/pi"
	"piwatch/internal/watchdog"
)

// Setup is what a stand-in is started with. The zero value of every field but
// Script works.
type Setup struct {
	Socket   string            // the hub's socket; "" for a Pi without a hub
	Sessions string            // the folder of session files; "" for a session without a file
	Cwd      string            // "" for the folder of this process
	Name     string            // the session's display name
	Provider string            // "" for demo
	Model    string            // "" for stand-in-1
	Mode     string            // "" for tui
	Pid      int               // 0 for this process
	Env      map[string]string // PI_WATCHDOG and its neighbours
	Parent   *control.Parent
	Clock    Clock // nil for the time of the machine
	Script   Script
	// Resume goes on with the session of a stand-in that was closed.
	Resume *Pi
}

// Pi is one Pi process with one session and the bridge in it. Its methods may
// be called from any goroutine.
//
// One lock stands for the one thread of JavaScript: what happens under it is
// one tick. A run gives it up only at its [Moment]s, so an answer without time
// and hold is one tick, tools included.
type Pi struct {
	setup Setup
	clock Clock
	ctx   context.Context
	end   context.CancelFunc
	work  sync.WaitGroup

	mu       sync.Mutex
	changed  chan struct{} // closed at the next change
	closed   bool
	log      []Event
	requests []Request
	session  *session

	// The agent.
	running    bool
	runCtx     context.Context // of the run
	cancelRun  context.CancelFunc
	ending     ending
	moment     Moment
	release    chan struct{} // of a held run
	compacting bool
	steering   []queued
	followUps  []queued
	tools      []toolRecord

	// The screen.
	draft   string
	dialogs int
	status  string

	bridge
}

// queued is a message that waits for its turn.
type queued struct {
	text       string
	customType string // "" for a message of the user
	details    any    // of a custom message
}

// bridge is what the extension inside Pi knows; a reload makes a new one.
type bridge struct {
	instance   string
	resumed    bool // it went on with a session that was there
	link       *link
	tries      int
	waiting    bool // between two tries
	stopLink   context.CancelFunc
	linkDone   chan struct{}
	welcome    control.BridgeWelcome
	watching   bool
	tool       *control.ToolDef // as registered
	check      *check
	selfStop   *selfStop
	ownRun     bool
	settle     int
	runs       int
	aborted    bool
	runAborted bool
	ownAbort   bool            // the bridge ended the run; no act of the user
	given      json.RawMessage // of the request that is being answered

	key       bool // pressed since
	draftSent bool
	timing    bool // a report is due
}

// New starts a stand-in. Its context is its life: when it ends, the process is
// gone as by a kill.
func New(ctx context.Context, setup Setup) (*Pi, error) {
	if setup.Script == nil {
		return nil, errors.New("a stand-in needs a script")
	}
	if setup.Cwd == "" {
		cwd, err := os.Getwd()
		if err != nil {
			return nil, err
		}
		setup.Cwd = cwd
	}
	for _, d := range []struct {
		field *string
		value string
	}{{&setup.Provider, "demo"}, {&setup.Model, "stand-in-1"}, {&setup.Mode, "tui"}} {
		if *d.field == "" {
			*d.field = d.value
		}
	}
	if setup.Pid == 0 {
		setup.Pid = os.Getpid()
	}
	if setup.Clock == nil {
		setup.Clock = RealClock{}
	}
	p := &Pi{setup: setup, clock: setup.Clock, changed: make(chan struct{}), tools: standInTools()}
	reason := "startup"
	if setup.Resume != nil {
		p.session, reason = setup.Resume.session, "resume"
	} else {
		s, err := newSession(setup.Sessions, setup.Cwd, p.clock.Now())
		if err != nil {
			return nil, err
		}
		p.session = s
		p.session.add(&entry{kind: pi.TypeModelChange}, p.clock.Now(), func(at place) any {
			return modelRecord{pi.TypeModelChange, at, setup.Provider, setup.Model}
		})
		p.session.add(&entry{kind: pi.TypeThinkingLevel}, p.clock.Now(), func(at place) any {
			return levelRecord{pi.TypeThinkingLevel, at, "medium"}
		})
		if setup.Name != "" {
			p.session.rename(setup.Name, p.clock.Now())
		}
	}
	p.ctx, p.end = context.WithCancel(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.load(reason)
	return p, nil
}

// load starts the bridge, as Pi does when it loads its extensions. The caller
// holds mu.
func (p *Pi) load(reason string) {
	var b [8]byte
	_, _ = rand.Read(b[:])
	p.bridge = bridge{instance: hex.EncodeToString(b[:]), resumed: (reason == "startup" || reason == "resume") && p.session.hasHistory()}
	if held, ok := p.heldTool(); ok {
		p.register(held)
	}
	if p.setup.Socket == "" {
		return
	}
	ctx, stop := context.WithCancel(p.ctx)
	p.stopLink, p.linkDone = stop, make(chan struct{})
	done := p.linkDone
	p.work.Go(func() {
		defer close(done)
		p.connect(ctx, reason)
	})
}

// unload ends the bridge; the caller holds mu. What it leaves unsaid is said.
func (p *Pi) unload(reason string) {
	if p.check != nil {
		p.check.makeVoid("the session ended (" + reason + ")")
		p.closeIdle()
	}
	p.tell(control.Bye, control.ByeEvent{Reason: reason})
	if p.link != nil {
		p.link.finish()
		p.link = nil
	}
	if p.stopLink != nil {
		p.stopLink()
	}
}

// Close ends the process as a kill does: nothing is said to anyone. It returns
// when nothing of it runs any more, with the error of the session file.
func (p *Pi) Close() error {
	p.end()
	p.work.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	p.bump()
	return p.session.err
}

// Quit ends the process as the user does: a run is aborted, the bridge says
// good-bye.
func (p *Pi) Quit() error {
	p.mu.Lock()
	p.abort()
	done := p.linkDone
	p.unload("quit")
	p.mu.Unlock()
	if done != nil {
		<-done
	}
	return p.Close()
}

// bump tells those who wait that something changed; the caller holds mu.
func (p *Pi) bump() {
	close(p.changed)
	p.changed = make(chan struct{})
}

// State is what a stand-in shows at one moment.
type State struct {
	Facts     control.Facts
	Connected bool   // the hub welcomed the bridge
	Watching  bool   // monitoring is or was on: the tool is registered
	Moment    Moment // where a run waits
	Held      bool   // a run is held there
	Draft     string // the editor's text
	Status    string // Pi's footer
	Requests  int    // calls of the model so far
	Tries     int    // how often this bridge tried to connect
	Waiting   bool   // no hub: the bridge waits until it tries again
	Reporting bool   // keys were reported less than 250 ms ago, the next ones wait
	Closed    bool
}

// State is the state now.
func (p *Pi) State() State {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.state()
}

func (p *Pi) state() State {
	return State{
		Facts: p.facts(), Connected: p.link != nil && p.link.welcomed, Watching: p.watching, Moment: p.moment,
		Tries: p.tries, Waiting: p.waiting, Reporting: p.timing, Held: p.release != nil, Draft: p.draft, Status: p.status, Requests: len(p.requests), Closed: p.closed,
	}
}

// Wait returns when the state is as wanted, or with the context's error.
// wanted must not call the stand-in.
func (p *Pi) Wait(ctx context.Context, wanted func(State) bool) error {
	for {
		p.mu.Lock()
		ok, changed := wanted(p.state()), p.changed
		p.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Settled wants a state: idle, after n settles or more.
func Settled(n int) func(State) bool {
	return func(s State) bool { return s.Facts.Idle && s.Facts.Settle >= n }
}

// Requests are the calls of the model so far.
func (p *Pi) Requests() []Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.requests)
}

// Context is what the model would be sent now.
func (p *Pi) Context() ([]Message, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.session.context()
}

// Session is Pi's id of the session.
func (p *Pi) Session() string { return p.session.id }

// File is where the session file is or will be, "" for a session without one.
func (p *Pi) File() string { return p.session.path }

// Err is the first error of writing the session file.
func (p *Pi) Err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.session.err
}

func (p *Pi) facts() control.Facts {
	f := control.Facts{
		Idle:       !p.running && !p.compacting,
		Compacting: p.compacting,
		Queued:     len(p.steering)+len(p.followUps) > 0,
		Dialog:     p.dialogs > 0,
		Draft:      p.hasDraft(),
		Settle:     p.settle,
		Leaf:       p.fenceLeaf(),
		Runs:       p.runs,
		Aborted:    p.aborted,
		Cut:        p.session.cut(),
	}
	if p.check != nil {
		f.Check = p.check.id
	}
	return f
}

// fenceLeaf is the last entry on the branch that is neither a record of
// piwatch nor one of its folds, and no compaction, which does not move the
// session on.
func (p *Pi) fenceLeaf() string {
	s := p.session
	e := s.byID[s.leaf]
	for e != nil && (e.isRecord() || e.kind == pi.TypeContextEdit || e.kind == pi.TypeCompaction) {
		e = s.byID[e.parent]
	}
	if e == nil {
		return ""
	}
	return e.id
}

func (p *Pi) heldTool() (control.ToolDef, bool) {
	e := p.session.last(watchdog.RecordTool)
	if e == nil {
		return control.ToolDef{}, false
	}
	def, ok := e.data.(control.ToolDef)
	return def, ok
}
