package hub

import (
	"context"
	"encoding/json"
	"path/filepath"
	"time"

	"piwatch/internal/control"
	"piwatch/internal/loop"
	"piwatch/internal/timeline"
	"piwatch/internal/watchdog"
)

// keepTargets is how many sessions without a bridge are remembered.
const keepTargets = 200

// supervisor watches every session for loops: those with a bridge by what the
// bridge tells, the others by their files. Its methods need the hub's mutex.
type supervisor struct {
	hub       *Hub
	targets   map[string]*target // by session id
	files     map[string]*followed
	artefacts map[string][]artefact // by session file
	cooldown  loop.Cooldown
	changes   []loop.Change // made at run time
}

// The states of a target.
const (
	stateWorking = "working"
	stateIdle    = "idle"
	stateDone    = "done"   // it ended after an answer
	stateFailed  = "failed" // it ended after an error or an abort
	stateGone    = "gone"   // its process ended without a word
)

// target is one session the supervisor knows.
type target struct {
	id, cwd, name string
	file          string // clean, "" for none
	pid           int
	session       *session // nil without a bridge
	link          control.Link
	plain         control.Link // without what tools named
	call          string       // of the parent that named its file, "" for a link of another kind
	born          time.Time    // when its process came, or the link was made
	made          time.Time    // when the header of its file was, zero when that is not known
	resumed       time.Time    // when its process went on with a session that was there, zero for never

	detector *loop.Detector
	trail    loop.Trail
	set      Supervision
	timer    Timer

	state  string
	since  time.Time
	over   time.Time // when its run was, by its file
	bye    string    // how it said that it ends
	failed bool      // its last answer failed
	paused bool
	asked  bool // it has the tools of the supervisor
	told   *control.Finding
	shown  control.Target

	debug *control.Exchange // the last one with the provider, when it is kept
	open  []openCall
	waits *control.Waits
}

// openCall is a tool that runs.
type openCall struct {
	id, tool string
	since    time.Time
}

func newSupervisor(h *Hub) *supervisor {
	return &supervisor{hub: h, targets: map[string]*target{}, files: map[string]*followed{}, artefacts: map[string][]artefact{}}
}

func (v *supervisor) stop() {
	for _, t := range v.targets {
		if t.timer != nil {
			t.timer.Stop()
		}
	}
}

// target finds a session or begins to watch it.
func (v *supervisor) target(id, cwd string) *target {
	t := v.targets[id]
	if t == nil {
		t = &target{id: id, cwd: cwd, since: v.hub.clock.Now()}
		t.set, _ = v.settings(cwd)
		t.detector = loop.New(t.set.Rules())
		v.targets[id] = t
		v.forget()
	}
	return t
}

// setFile says which session file is that of t, "" for none.
func (t *target) setFile(path string) {
	t.file = ""
	if path != "" {
		t.file = filepath.Clean(path)
	}
}

// forget lets go of those without a bridge that changed first, when there are
// too many.
func (v *supervisor) forget() {
	for len(v.targets) > keepTargets {
		var oldest *target
		ended := 0
		for _, t := range v.targets {
			if t.session == nil {
				ended++
				if oldest == nil || t.since.Before(oldest.since) {
					oldest = t
				}
			}
		}
		if ended <= keepTargets {
			return
		}
		v.cooldown.Forget(oldest.id)
		v.forgetCalls(oldest.id)
		delete(v.targets, oldest.id)
	}
}

// settings reads the settings for a folder; what is wrong in the files is told
// as an error and left out.
func (v *supervisor) settings(cwd string) (Supervision, error) {
	if v.hub.options.Supervisor != nil {
		return v.hub.options.Supervisor(cwd, v.changes)
	}
	s := Supervision{Settings: loop.DefaultSettings(), Origin: map[string]string{}}
	var err error
	for _, c := range v.changes {
		if s.Settings, err = s.With(c.Key, c.Value); err != nil {
			return s, err
		}
	}
	return s, nil
}

// configure reads the settings of a target again.
func (v *supervisor) configure(t *target) {
	set, err := v.settings(t.cwd)
	if err != nil {
		v.hub.log.Error("config of the supervisor", "session", t.id, "err", err)
	}
	t.set = set
	t.detector.Configure(set.Rules())
}

// joined takes in a session whose bridge drives it now. It returns the tools of
// the supervisor, when the session asks for them.
func (v *supervisor) joined(s *session) []control.ToolDef {
	hello := s.hello
	t := v.target(hello.Session, hello.Cwd)
	if t.session == nil && t.state != "" && t.pid == 0 {
		t.detector = loop.New(t.set.Rules()) // it was judged from its file: the bridge knows better
	}
	t.session, t.cwd, t.name, t.pid, t.bye = s, hello.Cwd, hello.Name, hello.Pid, ""
	t.setFile(hello.File)
	t.failed = false
	v.configure(t)
	v.become(t, stateOf(s))
	if value := hello.Env[superviseEnv]; value == "1" || value == "true" {
		t.asked = true
	}
	if !t.asked {
		return nil
	}
	return superviseTools()
}

func stateOf(s *session) string {
	if s.engine.Busy() {
		return stateWorking
	}
	return stateIdle
}

// left: the last bridge of a session is gone.
func (v *supervisor) left(s *session) {
	t := v.targets[s.id]
	if t == nil {
		return
	}
	t.session, t.open, t.waits = nil, nil, nil
	v.callsEnded(t.id)
	state := stateGone
	switch {
	case t.bye != "" && t.failed:
		state = stateFailed
	case t.bye != "":
		state = stateDone
	}
	v.hear(t, loop.Ended{})
	v.become(t, state)
	v.ended(t)
}

func (v *supervisor) bye(s *session, reason string) {
	if t := v.targets[s.id]; t != nil && s.hub.sessions[s.id] == s && len(s.bridges) == 1 {
		t.bye = reason
	}
}

// heard takes what the watchdog of a session is told.
func (v *supervisor) heard(s *session, ev watchdog.Event) {
	t := v.targets[s.id]
	if t == nil || t.session != s {
		return
	}
	switch ev := ev.(type) {
	case watchdog.Spoken:
		if ev.Human {
			v.hear(t, loop.Spoken{})
		}
	case watchdog.RunStarted:
		v.hear(t, loop.Began{})
	case watchdog.Settled:
		t.open, t.waits = nil, nil
		v.callsEnded(t.id)
		v.hear(t, loop.Ended{})
	case watchdog.ChildrenChanged:
		v.hear(t, loop.Children{Working: ev.Running})
	}
	v.become(t, stateOf(s))
}

// toSupervisor takes an event that is for the supervisor alone.
func toSupervisor[P any](read func(P) loop.Event) func(*bridge, json.RawMessage) (any, error) {
	return method(func(b *bridge, params P) any {
		v := b.peer.hub.loops
		if t := v.targets[b.session.id]; t != nil && t.session == b.session {
			v.hear(t, read(params))
		}
		return nil
	})
}

// answered takes an answer of the model, with what it was given.
func (b *bridge) answered(e control.AnsweredEvent) any {
	v := b.peer.hub.loops
	t := v.targets[b.session.id]
	if t == nil || t.session != b.session {
		return nil
	}
	t.failed = e.Failed != ""
	t.keep(v.hub.clock.Now(), e)
	if t.failed {
		return nil // its calls do not run, and Pi may ask again
	}
	if in, err := loop.ReadPayload(e.Given); err == nil {
		v.hear(t, loop.Given{Input: in})
	}
	answer := loop.Answered{Text: e.Text}
	for _, c := range e.Calls {
		answer.Calls = append(answer.Calls, loop.Call{ID: c.ID, Tool: c.Tool, Args: c.Args})
	}
	v.hear(t, answer)
	return nil
}

// keep keeps the last exchange with the provider, when the settings ask for it.
func (t *target) keep(now time.Time, e control.AnsweredEvent) {
	t.debug = nil
	if !t.set.Debug {
		return
	}
	calls, _ := json.Marshal(e.Calls) // what was read is written
	t.debug = &control.Exchange{At: now.UnixMilli(), Given: string(e.Given), Text: e.Text, Calls: string(calls), Stop: e.Stop, Failed: e.Failed}
}

// hear gives the detector of a session an event and does what follows.
func (v *supervisor) hear(t *target, ev loop.Event) {
	now := v.hub.clock.Now()
	t.note(now, ev)
	t.trail.Add(now, ev, t.set.MaxEventsPerAgent, t.set.MaxPreviewLines)
	for _, f := range t.detector.Step(now, ev) {
		v.found(t, f)
	}
	if t.told != nil && t.detector.Standing() == nil {
		v.cleared(t)
	}
	v.wake(t)
}

// note keeps which tools run.
func (t *target) note(now time.Time, ev loop.Event) {
	const many = 64
	switch ev := ev.(type) {
	case loop.Called:
		if len(t.open) < many {
			t.open = append(t.open, openCall{ev.ID, timeline.OneLine(ev.Tool), now})
		}
	case loop.Returned:
		for i := range t.open {
			if t.open[i].id == ev.ID {
				t.open = append(t.open[:i:i], t.open[i+1:]...)
				t.waits = nil
				break
			}
		}
	}
}

// wake waits for the time at which time alone changes something. A session
// without a bridge may have ended: its file does not say.
func (v *supervisor) wake(t *target) {
	if t.timer != nil {
		t.timer.Stop()
		t.timer = nil
	}
	due := t.detector.Due()
	if due.IsZero() || t.session == nil {
		return
	}
	var timer Timer
	timer = v.hub.clock.AfterFunc(max(due.Sub(v.hub.clock.Now()), 0), func() {
		v.hub.mu.Lock()
		defer v.hub.mu.Unlock()
		if t.timer == timer {
			t.timer = nil
			v.hear(t, loop.Ticked{})
			v.show(t)
		}
	})
	t.timer = timer
}

// become puts a target into a state and tells the clients what changed.
func (v *supervisor) become(t *target, state string) {
	if t.state != state {
		t.state, t.since = state, v.hub.clock.Now()
	}
	v.show(t)
}

// show brings the clients up to date. The number of events alone is no news.
func (v *supervisor) show(t *target) {
	public := t.public()
	before := t.shown
	before.Events = public.Events
	if before != public {
		t.shown = public
		v.hub.push(control.TargetPush, public)
	}
}

// greet tells a client that begins to watch what may be stuck, and whose child is
// whose.
func (v *supervisor) greet(p *peer) {
	for _, t := range v.targets {
		if t.told != nil || t.waits != nil || t.link.Parent != "" {
			if err := p.conn.Notify(context.Background(), control.TargetPush, t.public()); err != nil {
				v.hub.log.Debug("push failed", "method", control.TargetPush, "err", err)
			}
		}
	}
}

func (t *target) public() control.Target {
	source := "file"
	if t.session != nil {
		source = "bridge"
	}
	return control.Target{
		ID: t.id, File: t.file, Cwd: t.cwd, Name: t.name, Pid: t.pid, Source: source, State: t.state, Since: t.since.UnixMilli(),
		Link: t.link, Finding: t.told, Waits: t.waits, Paused: t.paused, Events: t.trail.Seen(),
	}
}

// stuck is why a session may be stuck, nil when it is not.
func (v *supervisor) stuck(id string) *control.Finding {
	if t := v.targets[id]; t != nil {
		return t.told
	}
	return nil
}
