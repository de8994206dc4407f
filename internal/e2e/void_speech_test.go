package e2e

import (
	"testing"

	"piwatch/internal/watchdog"
)

// ways are how the user speaks to an agent that is at work.
var ways = []struct {
	name string
	say  func(p *play)
}{
	{"steer", func(p *play) { p.rpc.Steer(voidSaid) }},
	{"follow-up", func(p *play) { p.rpc.FollowUp(voidSaid) }},
	{"prompt", func(p *play) {
		p.rpc.Start("prompt", map[string]any{"message": voidSaid, "streamingBehavior": "steer"}).Must()
	}},
}

// TestVoidBySpeech: the user speaks while a check is open. The check is void,
// whatever it answers then, and the message is worked on as if it had not been.
func TestVoidBySpeech(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		s := newStage(t, pi, HomeOptions{})
		for _, way := range ways {
			for _, m := range []moment{beforeAnswer, inText, inTextTool, inCall, inBatch, asking, deciding} {
				s.run(way.name+" "+m.name, func(p *play) {
					want := end{"void: the user spoke", watchdog.Counting, 0, 1}
					release := m.reach(p)
					if again := way.name == "follow-up" && m.late; again && !pi.Modern() {
						// Pi 0.81.1 asks the model again after a blocked call, before it takes the
						// follow-up; that answer is void too.
						p.h.Provider.Enqueue(lateDecision(Reply{}, watchdog.Done))
						want.checks = 2
					}
					p.h.Provider.Enqueue(voidAnswers...)
					way.say(p)
					release()
					p.over(want)
				})
			}
		}
	})
}

// TestVoidWork: the user speaks when the check has been answered continue, and
// the work message is not there yet. The answer is in the record; no work turn
// starts.
func TestVoidWork(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		s := newStage(t, pi, HomeOptions{})
		want := end{"answered: continue: late", watchdog.Counting, 0, 1}
		for _, way := range ways {
			for _, m := range []moment{inTurnEnd, inEnd, inSettled} {
				s.run(way.name+" "+m.name, func(p *play) {
					release := m.reach(p)
					p.h.Provider.Enqueue(voidAnswers...)
					way.say(p)
					release()
					p.over(want)
				})
			}
		}
		s.run("prompt "+due.name, func(p *play) {
			release := due.reach(p)
			p.h.Provider.Enqueue(voidAnswers...)
			p.rpc.Prompt(voidSaid)
			release()
			p.over(want)
		})
	})
}
