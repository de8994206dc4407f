package timeline

import (
	"time"

	"piwatch/internal/watchdog"
)

// Standing says where a session stands, by its file alone.
type Standing string

// The standings.
const (
	Fresh   Standing = ""        // nothing happened yet
	Working Standing = "working" // the last row is not the end of a run
	Stopped Standing = "stopped" // a run ended
	Asks    Standing = "asks"    // the agent waits for the user
	IsDone  Standing = "done"    // the agent says it is done
	Broken  Standing = "failed"  // the provider failed, or the agent went silent
	Halted  Standing = "halted"  // the user stopped a run
)

// Story is what the active branch says of the session as a whole.
type Story struct {
	Standing Standing
	Time     time.Time // of the last entry with a time
	First    string    // first line of the user's first message
	Watched  bool      // monitoring is on, as far as the file knows
	Paused   bool
	Settings watchdog.Settings
	Count    int               // checks since the user's last message
	Decision watchdog.Decision // the last one since the user's last message
	Note     string
	Why      string // why monitoring ended
	Wait     Wait
}

// Story is the story of the active branch.
func (b *Builder) Story() Story {
	b.Rows()
	return b.show.story
}

func (s *Story) user(n *node) {
	if s.First == "" && len(n.rows) > 0 {
		s.First = n.rows[0].Title
	}
	s.Standing, s.Count, s.Decision, s.Note = Working, 0, "", ""
	s.Wait = Wait{}
	s.Wait.asked(n.time)
}

func (s *Story) agent(n *node, ev agentEvent) {
	s.Wait.answered(n, ev)
	s.Standing = Stopped
	if len(ev.calls) > 0 {
		s.Standing = Working
	}
	if len(n.rows) == 0 {
		return
	}
	switch n.rows[len(n.rows)-1].Kind {
	case Failed, Silent, Cut:
		s.Standing = Broken
	case Aborted:
		s.Standing = Halted
	}
}

// edited takes in an edit of the context.
func (s *Story) edited(ev editEvent) {
	if ev.omit && s.Wait.retried(ev.target) {
		s.Standing = Working
	}
}

func (s *Story) checkOpened(c Card) {
	s.Standing = Working
	s.Count = max(s.Count+1, c.N)
}

func (s *Story) outcome(c Card) {
	s.Decision, s.Note, s.Wait = c.Decision, c.Note, Wait{}
	switch {
	case c.Decision == watchdog.WaitUser:
		s.Standing = Asks
	case c.Decision == watchdog.Done:
		s.Standing = IsDone
	case c.End == watchdog.EndError:
		s.Standing = Broken
	default:
		s.Standing = Stopped
	}
	if c.Decision.Valid() && c.Decision != watchdog.Continue && s.Settings.Mode == watchdog.Once {
		s.Watched, s.Why = false, "the agent answered "+string(c.Decision)
	}
}

func (s *Story) event(n *node, ev any) {
	switch ev := ev.(type) {
	case startEvent:
		s.Watched, s.Paused, s.Settings, s.Why = true, false, ev.settings, ""
	case setEvent:
		s.Settings = ev.settings
	case pauseEvent:
		s.Paused = ev.on
	case modelEvent:
		if s.Wait.For == ForQuota { // another model, another quota
			s.Wait = Wait{}
		}
	case onwardEvent:
		s.Count = max(s.Count+1, ev.n)
	case stopEvent:
		s.Watched, s.Why = false, ev.reason
	case workEvent, guardEvent:
		s.Standing = Working
		s.Wait = Wait{}
		s.Wait.asked(n.time)
	}
}
