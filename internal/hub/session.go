package hub

import (
	"encoding/json"
	"reflect"
	"time"

	"piwatch/internal/control"
	"piwatch/internal/guard"
	"piwatch/internal/pi"
	"piwatch/internal/watchdog"
)

// session is one session of Pi with at least one bridge. Its methods need the
// hub's mutex.
type session struct {
	hub    *Hub
	id     string
	hello  control.BridgeHello // of the driver; name and model are kept up to date
	engine *watchdog.Engine
	guard  *guard.Guard
	// bridges in the order of arrival: the first drives, the others watch and
	// take over when it is gone. Two Pis can have one session file open.
	bridges  []*bridge
	timer    Timer
	footer   string          // as last sent to Pi
	shown    control.Session // as last pushed to clients
	children int             // running child sessions
}

func (s *session) driver() *bridge {
	if len(s.bridges) == 0 {
		return nil
	}
	return s.bridges[0]
}

// join takes a bridge in and says what it has to know.
func (h *Hub) join(p *peer, hello control.BridgeHello) control.BridgeWelcome {
	s := h.sessions[hello.Session]
	if s == nil {
		s = &session{hub: h, id: hello.Session}
	}
	for _, old := range s.bridges {
		if old.hello.Pid == hello.Pid {
			h.leave(old) // the same Pi again: after a reload, or its old connection is not noticed dead yet
		}
	}
	h.sessions[s.id] = s // also after the last bridge of it was just taken out
	hello.Parent = h.loops.family(hello)
	b := newBridge(p, s, hello)
	if hello.Provider != nil {
		b.pointed.provider = *hello.Provider
	}
	p.bridge = b
	s.bridges = append(s.bridges, b)
	welcome := control.BridgeWelcome{
		Protocol: control.Protocol, Hub: h.options.Version,
		Texts: control.Texts{Blocked: watchdog.BlockedText, Gone: watchdog.GoneText, Lost: watchdog.LostStatus},
		Tool:  toolDef(),
	}
	if s.driver() != b {
		b.send(control.Notify, control.NotifyParams{Level: "warning", Text: "piwatch: another Pi has this session open and is watched; this one is not."})
		return welcome
	}
	s.footer = "" // what it shows comes with the welcome
	s.takeOver(b)
	welcome.Gateway = b.pointFirst()
	welcome.Tools = h.loops.joined(s)
	view := s.engine.View(h.clock.Now())
	welcome.Driver = true
	welcome.On, welcome.Status = view.Phase != watchdog.Off, s.footer
	return welcome
}

// takeOver makes b the driver: the engine is rebuilt from what b remembers.
func (s *session) takeOver(b *bridge) {
	h, hello := s.hub, b.hello
	s.hello = hello
	records := entries(hello.Records)
	state := watchdog.Rebuild(records)
	s.engine = watchdog.New(state, randomID)
	s.guard = guard.New(guard.Rebuild(records), s.guardOff())
	s.children = 0
	s.step(watchdog.Joined{
		Facts: hello.Facts, Instance: hello.Instance,
		Headless: hello.Mode == "print" || hello.Mode == "json",
		Rollback: s.rollsBack(),
	})
	s.startFromEnv(state)
	s.tellGuardEnv()
	if hello.Other != "" && hello.Reason != "reconnect" && hello.Reason != "tree" {
		b.send(control.Notify, control.NotifyParams{Level: "warning", Text: "piwatch: " + hello.Other + ". Use one of the two."})
	}
	h.countChildren(s)
	if hello.Parent != nil {
		h.countChildren(h.sessions[hello.Parent.Session])
	}
}

func (s *session) rollsBack() bool {
	if value, set := s.hello.Env["PI_WATCHDOG_ROLLBACK"]; set {
		return value == "1" || value == "true"
	}
	return s.hub.preferences().Rollback
}

// startFromEnv obeys PI_WATCHDOG. A reload or a broken channel is no new start;
// a session that is watched already keeps its count.
func (s *session) startFromEnv(state watchdog.State) {
	switch s.hello.Reason {
	case "reload", "reconnect", "tree":
		if state.Started {
			return
		}
	}
	settings, on, err := watchdog.FromEnv(s.hello.Env["PI_WATCHDOG"])
	switch {
	case on && s.hello.Other != "":
		text := "PI_WATCHDOG: not started, so that two watchdogs do not both ask: " + s.hello.Other + "."
		s.driver().send(control.Notify, control.NotifyParams{Level: "warning", Text: text})
		s.hub.notice(s.id, "warning", text)
	case err != nil:
		text := "PI_WATCHDOG: " + err.Error() + " The watchdog is not started."
		s.driver().send(control.Notify, control.NotifyParams{Level: "error", Text: text})
		s.hub.notice(s.id, "error", text)
	case !on:
	case !state.On:
		s.step(watchdog.StartWatch{By: watchdog.ByEnv, Settings: settings})
	case state.Settings != settings:
		s.step(watchdog.ChangeSettings{By: watchdog.ByEnv, Settings: settings})
	}
}

func entries(records []json.RawMessage) []pi.Entry {
	var parser pi.Parser
	var out []pi.Entry
	for _, record := range records {
		out = append(out, parser.Add(record, 0)...)
	}
	return out
}

// leave takes a bridge out.
func (h *Hub) leave(b *bridge) {
	s := b.session
	b.close()
	b.peer.bridge = nil
	wasDriver := s.driver() == b
	for i, other := range s.bridges {
		if other == b {
			s.bridges = append(s.bridges[:i:i], s.bridges[i+1:]...)
			break
		}
	}
	if !wasDriver {
		return
	}
	parent := s.hello.Parent
	if next := s.driver(); next != nil {
		go func() { _ = next.peer.conn.Close() }() // it comes back with what it knows now, and drives
	} else {
		s.step(watchdog.Left{})
		s.stopTimer()
		delete(h.sessions, s.id)
		h.loops.left(s)
		h.push(control.GonePush, control.GoneEvent{ID: s.id})
	}
	if parent != nil {
		h.countChildren(h.sessions[parent.Session])
	}
}

// countChildren tells the engine of s how many child sessions run: a child
// counts from its bridge, not from guesses.
func (h *Hub) countChildren(s *session) {
	if s == nil {
		return
	}
	running := 0
	for _, other := range h.sessions {
		if parent := other.hello.Parent; parent != nil && parent.Session == s.id && other != s && other.driver() != nil && other.engine.Busy() {
			running++
		}
	}
	if running != s.children {
		s.children = running
		s.step(watchdog.ChildrenChanged{Running: running})
	}
}

// step gives the engine one event and does what it wants done. The effects for
// the one who asked are returned.
func (s *session) step(ev watchdog.Event) []watchdog.Effect {
	s.hub.watchClock()
	now := s.hub.clock.Now()
	busy := s.engine.Busy()
	var answers []watchdog.Effect
	for _, effect := range s.engine.Step(now, ev) {
		if !s.do(effect) {
			answers = append(answers, effect)
		}
	}
	s.hub.loops.heard(s, ev)
	s.show()
	s.setTimer()
	if parent := s.hello.Parent; parent != nil && busy != s.engine.Busy() {
		s.hub.countChildren(s.hub.sessions[parent.Session])
	}
	return answers
}

// do carries out an effect; false: it is an answer for the one who asked.
func (s *session) do(effect watchdog.Effect) bool {
	if e, ok := effect.(watchdog.Log); ok {
		s.hub.notice(s.id, e.Level, e.Text)
		return true
	}
	b := s.driver()
	if b == nil {
		return true // the bridge is gone, and with it everything to be done there
	}
	switch e := effect.(type) {
	case watchdog.AskCheck:
		b.deliver(control.SendCheck, control.CheckParams{Record: e.Record, Text: e.Text, Fence: fence(e.Settle, e.Leaf)}, e.Record.ID, false)
	case watchdog.SendWork:
		b.deliver(control.SendWork, control.WorkParams{Check: e.Check, Record: e.Record, Text: e.Text, Fence: fence(e.Settle, e.Leaf)}, e.Check, true)
	case watchdog.VoidCheck:
		b.send(control.Void, control.VoidParams{Check: e.Check, Why: e.Why, Abort: e.Abort})
	case watchdog.Rollback:
		b.enqueue(request{method: control.RollbackTo, params: control.RollbackParams{Check: e.Check}, got: func(r control.Receipt) {
			if s.driver() == b {
				s.step(watchdog.RolledBack{Check: e.Check, Done: r.Result == control.Sent, Reason: r.Reason, Facts: r.Facts})
			}
		}})
	case watchdog.Append:
		data, err := json.Marshal(e.Data)
		if err != nil {
			s.hub.log.Error("record", "type", e.Type, "err", err)
			return true
		}
		b.send(control.Record, control.RecordParams{Type: e.Type, Data: data})
	case watchdog.RegisterTool:
		b.send(control.RegTool, toolDef())
	case watchdog.Ended:
		s.hub.hook(s, e, s.engine.View(s.hub.clock.Now()).Count)
	default:
		return false
	}
	return true
}

func toolDef() control.ToolDef {
	return control.ToolDef{
		Name: watchdog.ToolName, Label: watchdog.ToolLabel,
		Description: watchdog.ToolDescription, Parameters: watchdog.ToolParameters(),
	}
}

func fence(settle int, leaf string) control.Fence {
	return control.Fence{Settle: settle, Leaf: leaf, Until: time.Now().Add(replyWithin).UnixMilli()}
}

// show brings Pi's footer and the clients up to date.
func (s *session) show() {
	now := s.hub.clock.Now()
	public := s.public()
	if text := public.Watch.Status(now, watchdog.Symbols); text != s.footer {
		s.footer = text
		if b := s.driver(); b != nil {
			b.send(control.Status, control.StatusParams{Text: text})
		}
	}
	if !reflect.DeepEqual(public, s.shown) {
		s.shown = public
		s.hub.push(control.SessionPush, public)
	}
}

func (s *session) public() control.Session {
	return control.Session{
		ID: s.id, File: s.hello.File, Cwd: s.hello.Cwd, Name: s.hello.Name, Model: s.hello.Model, Pid: s.hello.Pid,
		Mode: s.hello.Mode, Pi: s.hello.Pi, Bridge: s.hello.Bridge, Other: s.hello.Other, Parent: s.hello.Parent, Live: s.driver() != nil,
		Watch: s.engine.View(s.hub.clock.Now()), Guard: s.guard.View(), Facts: s.engine.Facts(), Stuck: s.hub.loops.stuck(s.id),
	}
}

// setTimer waits for the engine's next tick, and while a countdown is shown for
// the next whole second.
func (s *session) setTimer() {
	s.stopTimer()
	now := s.hub.clock.Now()
	wake, any := s.engine.Wake()
	if view := s.engine.View(now); view.Phase == watchdog.Counting {
		if second := view.Deadline.Add(-wholeSeconds(view.Deadline.Sub(now))); second.After(now) && (!any || second.Before(wake)) {
			wake, any = second, true
		}
	}
	if !any {
		return
	}
	var timer Timer
	timer = s.hub.clock.AfterFunc(max(wake.Sub(now), 0), func() {
		s.hub.mu.Lock()
		defer s.hub.mu.Unlock()
		if s.timer == timer { // not replaced while this call waited for the mutex
			s.timer = nil
			s.step(watchdog.Tick{})
		}
	})
	s.timer = timer
}

// wholeSeconds is the time left once the second now shown has run out.
func wholeSeconds(left time.Duration) time.Duration {
	return (left - 1).Truncate(time.Second)
}

func (s *session) stopTimer() {
	if s.timer != nil {
		s.timer.Stop()
		s.timer = nil
	}
}
