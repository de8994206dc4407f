package e2e

import (
	"piwatch/internal/control"
	"piwatch/internal/watchdog"
)

// way is how the user speaks.
type way struct {
	name string
	say  func(p *play) *Pending
}

// ways are how the user speaks to an agent that is at work.
var ways = []way{
	{"steer", func(p *play) *Pending { return p.rpc.Start("steer", map[string]any{"message": voidSaid}) }},
	{"follow-up", func(p *play) *Pending { return p.rpc.Start("follow_up", map[string]any{"message": voidSaid}) }},
	{"prompt", func(p *play) *Pending {
		return p.rpc.Start("prompt", map[string]any{"message": voidSaid, "streamingBehavior": "steer"})
	}},
}

// plain is how the user speaks to an agent that is not.
var plain = way{"prompt", func(p *play) *Pending { return p.rpc.Start("prompt", map[string]any{"message": voidSaid}) }}

// voidBySpeech: the user speaks while a check is open. The check is void,
// whatever it answers then, and the message is worked on as if it had not been.
func voidBySpeech(s *stage) {
	for _, way := range ways {
		for _, m := range []moment{beforeAnswer, inText, inTextTool, inCall, inBatch, asking, deciding} {
			s.run(way.name+" "+m.name, func(p *play) {
				want := end{"void: the user spoke", watchdog.Counting, 0, 1}
				release := m.reach(p)
				if again := way.name == "follow-up" && m.late; again && !s.h.Pi.Modern() {
					// Pi 0.81.1 asks the model again after a blocked call, before it takes the
					// follow-up; that answer is void too.
					p.h.Provider.Enqueue(lateDecision(Reply{}, watchdog.Done))
					want.checks = 2
				}
				p.h.Provider.Enqueue(voidAnswers...)
				way.say(p).Must()
				release()
				p.over(want)
			})
		}
	}
}

// voidByExtension: a message of another extension makes a check void too,
// but it is not the user who spoke: the count goes on.
func voidByExtension(s *stage) {
	for _, m := range []moment{beforeAnswer, inTextTool, inCall, deciding} {
		s.run(m.name, func(p *play) {
			release := m.reach(p)
			p.h.Provider.Enqueue(voidAnswers[:2]...)
			p.rpc.Prompt("/interject " + voidSaid)
			release()
			p.said("It says: the note.")
			p.wait("counting", is(watchdog.Counting, 1))
			p.h.Provider.Enqueue(voidAnswers[2])
			p.over(end{"void: another extension sent a message", watchdog.Counting, 0, 1})
		})
	}
}

// voidAfterSwallowed: a message that another extension took for itself does
// not hide the next one.
func voidAfterSwallowed(s *stage) {
	s.run("steer", func(p *play) {
		p.rpc.Prompt("swallow this")
		p.h.Provider.Enqueue(Text("More of it is done."))
		p.turn("more of it")
		release := inText.reach(p)
		p.h.Provider.Enqueue(voidAnswers[:2]...)
		p.rpc.Steer(voidSaid)
		release()
		p.said("It says: the note.")
		p.wait("counting", is(watchdog.Counting, 0))
		wantLines(p.t, "outcomes", outcomes(p.h, p.file), "void: the user spoke")
		wantCount(p.t, p.h.Provider.Take(), 5)
	})
}

// checkAfterSteer: a message that came while the agent was at work is no
// reason to wait with the next check, and begins the count anew.
func checkAfterSteer(s *stage) {
	for _, way := range ways {
		s.run(way.name, func(p *play) {
			gate := p.h.Provider.NewGate("the work turn")
			p.ask(lateDecision(Reply{}, watchdog.Continue), Text("I").Gate(gate).Text(" go on."))
			gate.WaitReached()
			p.wait("at work", is(watchdog.Working, 1))
			p.h.Provider.Enqueue(voidAnswers[:2]...)
			p.h.Provider.Enqueue(decision(watchdog.Done, "all"))
			way.say(p).Must()
			p.begin(control.Set, "timeout=0")()
			gate.Release()
			p.wait("off", is(watchdog.Off, 1))
			wantLines(p.t, "outcomes", outcomes(p.h, p.file), "answered: continue: late", "answered: done: all")
			wantCount(p.t, p.h.Provider.Take(), 6)
		})
	}
}

// voidWork: the user speaks when the check has been answered continue, and
// the work message is not there yet. The answer is in the record; no work turn
// starts.
func voidWork(s *stage) {
	void := end{"void: continue: late: the user spoke", watchdog.Counting, 0, 1}
	answered := end{"answered: continue: late", watchdog.Counting, 0, 1}
	steer, followUp, prompt := ways[0], ways[1], ways[2]
	for _, scene := range []struct {
		way
		moment
		end
	}{
		{steer, inTurnEnd, void},
		{steer, inEnd, answered},
		{followUp, inTurnEnd, void},
		{followUp, inEnd, answered},
		{prompt, inTurnEnd, void},
		{prompt, inEnd, answered},
		// What is steered or followed up with here stays in Pi's queue until a run
		// is started, with or without piwatch: Pi has looked at its queues before.
		{prompt, inSettled, answered},
		{plain, due, answered},
	} {
		s.run(scene.way.name+" "+scene.moment.name, func(p *play) {
			release := scene.reach(p)
			stray := !s.h.Pi.Modern() && scene.way.name == followUp.name && scene.moment.name == inEnd.name
			if stray {
				// Pi 0.81.1 goes on from the answer of the check before it takes the
				// follow-up, and no extension can keep it from that.
				p.h.Provider.Enqueue(Text("As you wish."))
			}
			p.h.Provider.Enqueue(voidAnswers...)
			said := scene.say(p)
			release()
			said.Must()
			if stray {
				p.strayed(scene.end)
				return
			}
			p.over(scene.end)
		})
	}
	// The check itself is due: it is not asked.
	s.run("prompt when the check is due", func(p *play) {
		check := p.wire.hold("the check", func(l wireLine) bool { return l.fromHub && l.method == "check" })
		nudged := p.begin(control.Nudge, "")
		check.WaitReached()
		p.h.Provider.Enqueue(voidAnswers...)
		p.rpc.Prompt(voidSaid)
		check.Release()
		nudged()
		p.over(end{"", watchdog.Counting, 0, 0})
	})
}
