package hub

import (
	"encoding/json"
	"fmt"
	"strings"

	"piwatch/internal/control"
	"piwatch/internal/guard"
	"piwatch/internal/pi"
	"piwatch/internal/watchdog"
)

// guardOff says why the guard of a session is off as long as nobody turned it
// on there, "" when it is on.
func (s *session) guardOff() string {
	switch on, err := s.guardFromEnv(); {
	case on == nil || err != nil:
		if s.hub.preferences().GuardOff {
			return "in the config"
		}
	case !*on:
		return "by " + guardEnv
	}
	return ""
}

// guardEnv is the variable of Pi's environment that turns the guard off, or on.
const guardEnv = "PI_WATCHDOG_GUARD"

// guardFromEnv reads the variable; nil when it is not set, or empty.
func (s *session) guardFromEnv() (on *bool, err error) {
	switch value := strings.TrimSpace(s.hello.Env[guardEnv]); value {
	case "":
		return nil, nil
	case "0", "false":
		return new(false), nil
	case "1", "true":
		return new(true), nil
	default:
		return nil, fmt.Errorf("%s: must be 0 or 1, and is %q", guardEnv, value)
	}
}

// tellGuardEnv says what is wrong in the variable, once for each Pi.
func (s *session) tellGuardEnv() {
	switch s.hello.Reason {
	case "reload", "reconnect", "tree":
		return
	}
	if _, err := s.guardFromEnv(); err != nil {
		text := err.Error() + ". The guard is as configured."
		s.driver().send(control.Notify, control.NotifyParams{Level: "error", Text: text})
		s.hub.notice(s.id, "error", text)
	}
}

// ended takes the end of a run. It is answered once what it led to is with Pi,
// which does not settle before.
func (b *bridge) ended(e control.EndedEvent) any {
	event := guard.Ended{Worked: e.Worked, Check: e.Check}
	for _, raw := range e.Answers {
		m, err := pi.ParseMessage(raw)
		if err != nil { // nothing is known of it, so nothing is sent for it
			b.peer.hub.log.Warn("an answer cannot be read", "session", b.session.id, "err", err)
			return struct{}{}
		}
		for i := range m.Content {
			if e.Short && m.Content[i].IsText() {
				m.Content[i].Cut++
			}
		}
		event.Answers = append(event.Answers, m)
	}
	b.session.stepGuard(event, e.Facts)
	return b.afterAll()
}

// stepGuard gives the guard one event and does what it wants done. The facts are
// what a send is fenced by; the reply is for a person who asked.
func (s *session) stepGuard(ev guard.Event, facts control.Facts) control.CommandReply {
	var reply control.CommandReply
	for _, effect := range s.guard.Step(ev) {
		switch e := effect.(type) {
		case guard.Log:
			s.hub.notice(s.id, e.Level, e.Text)
		case guard.Reply:
			reply = control.CommandReply{Level: e.Level, Text: e.Text}
		default:
			s.doGuard(effect, facts)
		}
	}
	s.show()
	return reply
}

// doGuard carries out what is for the bridge.
func (s *session) doGuard(effect guard.Effect, facts control.Facts) {
	b := s.driver()
	if b == nil {
		return
	}
	switch e := effect.(type) {
	case guard.Continue:
		params := control.GuardParams{Record: e.Record, Text: e.Text, Fence: fence(facts.Settle, facts.Leaf)}
		b.enqueue(request{method: control.SendGuard, params: params, got: func(r control.Receipt) {
			if s.driver() == b {
				s.stepGuard(guard.Delivered{Sent: r.Result == control.Sent || r.Result == control.Queued, Reason: r.Reason}, control.Facts{})
			}
		}})
	case guard.Append:
		data, err := json.Marshal(e.Record)
		if err != nil {
			s.hub.log.Error("record", "type", guard.Type, "err", err)
			return
		}
		b.send(control.Record, control.RecordParams{Type: guard.Type, Data: data})
	case guard.Trip:
		b.send(control.Notify, control.NotifyParams{Level: "warning", Text: "piwatch: " + e.Text})
		s.hub.hook(s, watchdog.Ended{Event: "breaker", Note: e.Text}, e.Count)
	}
}

// askGuard is what a person wants of the guard. What was done is told to
// everybody else, and in Pi unless it was said there.
func (s *session) askGuard(who asker, ev guard.Event) control.CommandReply {
	reply := s.stepGuard(ev, control.Facts{})
	if reply.Level != "info" {
		return reply
	}
	s.hub.noticeBut(who.peer, s.id, reply.Level, who.by+": "+reply.Text)
	if b := s.driver(); b != nil && who.peer != nil {
		b.send(control.Notify, control.NotifyParams{Level: reply.Level, Text: reply.Text + " (" + who.by + ")"})
	}
	return reply
}

// guardVerbs are the words after /guard.
var guardVerbs = map[string]string{
	"": control.GuardStatus, "status": control.GuardStatus, "on": control.GuardOn, "off": control.GuardOff, "reset": control.GuardReset,
}

// guardCommand takes what the user typed after /guard in Pi.
func (s *session) guardCommand(args string) control.CommandReply {
	method, known := guardVerbs[strings.TrimSpace(args)]
	if !known {
		return control.CommandReply{Level: "error", Text: fmt.Sprintf("/guard %s: the words are status, on, off and reset.", strings.TrimSpace(args))}
	}
	return steering[method](s, asker{by: "pi"}, control.SteerParams{Session: s.id})
}
