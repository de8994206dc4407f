package guard

import (
	"testing"

	"pgregory.net/rapid"

	"piwatch/internal/pi"
)

// What must hold of any story, told without the guard's own counts.
func TestAnyStory(t *testing.T) {
	silent, spoke, called := said(t), said(t, "Done."), parse(t, `{"role":"assistant","stopReason":"toolUse","content":[{"type":"toolCall","id":"1","name":"read","arguments":{}}]}`)
	failed, aborted := parse(t, `{"role":"assistant","stopReason":"error","content":[]}`), parse(t, `{"role":"assistant","stopReason":"aborted","content":[]}`)
	rapid.Check(t, func(r *rapid.T) {
		s := &story{t: t, g: New(State{}, "")}
		human, off, open := false, false, false // open: the breaker has tripped
		row, episode := 0, 0
		sent, trips := 0, 0
		steps := rapid.SliceOfN(rapid.SampledFrom([]string{
			"silent", "silent", "silent", "silent", "refused", "worked, silent", "spoke", "called", "failed", "aborted", "check",
			"user", "extension", "off", "on", "reset", "restart",
		}), 1, 120).Draw(r, "story")
		for _, step := range steps {
			stop := false
			switch step {
			case "silent", "refused", "worked, silent":
				if step == "refused" {
					s.refuse = "a draft"
				}
				if step == "worked, silent" && !open {
					row = 0
				}
				s.step(Ended{Answers: []*pi.Message{silent}, Worked: step == "worked, silent"})
				s.refuse = ""
				stop = true
			case "spoke":
				s.step(Ended{Answers: []*pi.Message{spoke}})
				if !open {
					row = 0
				}
			case "called":
				s.step(Ended{Answers: []*pi.Message{failed, called}})
				if !open {
					row = 0
				}
			case "failed":
				s.step(Ended{Answers: []*pi.Message{failed}})
			case "aborted":
				s.step(Ended{Answers: []*pi.Message{aborted}})
			case "check":
				s.step(Ended{Answers: []*pi.Message{silent}, Check: true})
			case "user":
				s.speak()
				human, open, row, episode = true, false, 0, 0
			case "extension":
				s.step(Spoken{})
			case "off", "on":
				s.step(Switch{"pi", step == "on"})
				off = step == "off"
			case "reset":
				s.step(Reset{"pi"})
				open, row, episode = false, 0, 0
			case "restart":
				s.restart()
			}
			if stop && human && !off && !open {
				switch {
				case row == 3 || episode == 10:
					open = true
					trips++
				case step != "refused":
					row++
					episode++
					sent++
				}
			}
			if len(s.sent) != sent || len(s.trips) != trips {
				r.Fatalf("after %s: %d sent, %d trips; by the rules %d, %d", step, len(s.sent), len(s.trips), sent, trips)
			}
			if got, want := s.g.state, s.state(); got != want {
				r.Fatalf("after %s: the guard has %+v, the file says %+v", step, got, want)
			}
		}
	})
}
