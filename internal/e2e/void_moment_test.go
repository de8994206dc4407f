package e2e

import (
	"path/filepath"

	"piwatch/internal/watchdog"
)

// lateBash is a tool call that must not run: the check is void, and the answer
// to it still comes.
func lateBash(r Reply) Reply { return r.Call("bash", map[string]any{"command": "touch ran"}) }

func lateDecision(r Reply, d watchdog.Decision) Reply {
	return r.Call(watchdog.ToolName, map[string]any{"decision": d, "note": "late"})
}

// moment is a point in a check. reach brings the check there and returns what
// lets it go on.
type moment struct {
	name  string
	late  bool // a tool is called in the check, which is blocked
	reach func(p *play) (release func())
}

// gated is a moment in the model's answer.
func gated(name string, answer func(*Gate) Reply) moment {
	return moment{name: name, reach: func(p *play) func() {
		p.t.Helper()
		gate := p.h.Provider.NewGate(name)
		p.ask(answer(gate))
		gate.WaitReached()
		return gate.Release
	}}
}

func blocking(m moment) moment { m.late = true; return m }

// wired is a moment in which a line on the wire is held back.
func wired(name string, d watchdog.Decision, match func(wireLine) bool) moment {
	return moment{name: name, reach: func(p *play) func() {
		p.t.Helper()
		held := p.wire.hold(name, match)
		p.ask(lateDecision(Reply{}, d))
		held.WaitReached()
		return held.Release
	}}
}

// received waits until Pi is idle, too, and its release until the bridge has
// answered.
func received(m moment, method string) moment {
	reach := m.reach
	m.reach = func(p *play) func() {
		p.t.Helper()
		release := reach(p)
		p.idle()
		return func() {
			receipt := p.receipt(method)
			release()
			receipt()
		}
	}
	return m
}

// receipt returns what waits for the bridge's answer to the hub's next request.
func (p *play) receipt(method string) (wait func()) {
	held := p.wire.hold("the receipt of "+method, func(l wireLine) bool { return !l.fromHub && l.answer && l.method == method })
	held.Release() // it is only seen
	return held.WaitReached
}

// between is a moment in which Pi is held in one of its events, after a check
// that was answered continue.
func between(event string) moment {
	return moment{name: "in " + event, reach: func(p *play) func() {
		p.t.Helper()
		p.rpc.Prompt("/hold " + event)
		p.ask(lateDecision(Reply{}, watchdog.Continue))
		p.rpc.WaitStatus("hold", event, func(text string) bool { return text == event })
		return func() {
			p.rpc.State() // what was said before has reached Pi
			p.h.WriteFile(filepath.Join(p.h.Dir, "release"), "")
		}
	}}
}

// The moments before the check is answered; what comes late is a done, which
// must not end monitoring, or a tool, which must not run.
var (
	beforeAnswer = gated("before the answer", func(g *Gate) Reply { return lateDecision(Reply{}.Gate(g), watchdog.Done) })
	inText       = gated("in text, then done", func(g *Gate) Reply {
		return lateDecision(Text("Let me").Gate(g).Text(" see."), watchdog.Done)
	})
	inTextTool = blocking(gated("in text, then a tool", func(g *Gate) Reply { return lateBash(Text("Let me").Gate(g).Text(" see.")) }))
	inCall     = gated("in the call of done", func(g *Gate) Reply { return lateDecision(Reply{}, watchdog.Done).Gate(g) })
	inBatch    = blocking(gated("between done and a tool", func(g *Gate) Reply {
		return lateBash(lateDecision(Reply{}, watchdog.Done).Gate(g))
	}))
	// deciding: the tool executes, the hub has accepted the answer and the bridge
	// does not know yet.
	deciding = wired("while done is accepted", watchdog.Done, func(l wireLine) bool { return l.fromHub && l.answer && l.method == "decide" })
	// asking: the tool executes, the hub has not heard of it.
	asking = wired("while continue is told", watchdog.Continue, func(l wireLine) bool { return !l.fromHub && l.method == "decide" })
)

// The moments between the answer continue and the work message.
var (
	inTurnEnd = between("turn_end")
	inEnd     = between("agent_end")
	inSettled = between("agent_settled")
	// due: the hub has sent the work message, the bridge has not got it.
	due = received(wired("when the work message is due", watchdog.Continue, func(l wireLine) bool { return l.fromHub && l.method == "work" }), "work")
)
