package watchdog

import (
	"cmp"
	"encoding/json"

	"piwatch/internal/pi"
)

// State is what the record says of a watchdog: enough to go on where it
// stood, also after the death of every process.
type State struct {
	Started   bool // it was started at some time
	On        bool
	Settings  Settings
	Count     int // checks since the last user message
	Paused    bool
	Suspended bool
	Human     bool   // the branch holds a message of the user
	Said      string // how the last message of the user begins
	Instance  string // the load of the bridge in which it was started by hand
	OffWhy    string
	Last      Decision
	Note      string
	Wrong     bool   // the last check got no valid answer
	Open      string // id of a check that has no outcome
	Void      string // id of a check that was open when it was started anew
	Owed      string // id of the check whose answer continue has no work message yet
	// Interrupted: the last answer on the branch was aborted.
	Interrupted bool
}

// Rebuild reads the state from the entries of a branch, root first. Damaged
// records count as absent.
func Rebuild(branch []pi.Entry) State {
	s := State{Settings: Defaults()}
	for i := range branch {
		s.read(&branch[i])
	}
	return s
}

func (s *State) read(e *pi.Entry) {
	switch {
	case e.Message != nil && e.Message.Role == "user":
		s.Human, s.Count, s.Suspended, s.Owed, s.Interrupted, s.Wrong = true, 0, false, "", false, false
		s.Last, s.Note = "", ""
		s.Said = Beginning(e.Message.Text())
	case e.Message != nil && e.Message.Role == "assistant":
		if s.Interrupted = e.Message.StopReason == "aborted"; s.Interrupted {
			s.Owed = ""
		}
	case e.CustomMessage != nil && e.CustomMessage.CustomType == MessageWork:
		s.Owed = ""
	case e.Custom != nil:
		s.readRecord(e.Custom)
	}
}

func (s *State) readRecord(c *pi.Custom) {
	switch c.CustomType {
	case RecordStart:
		if r, ok := decode[Start](c.Data); ok {
			fresh := State{Started: true, On: true, Settings: r.Settings, Human: s.Human, Said: s.Said, Interrupted: s.Interrupted, Instance: r.Instance, Count: r.Count, Void: cmp.Or(s.Open, s.Void)}
			if r.By == ByEnv {
				fresh.Count = s.Count // a start that nobody asked for resets no limit
			}
			*s = fresh
		}
	case RecordSet:
		if r, ok := decode[Set](c.Data); ok {
			s.Settings = r.Settings
		}
	case RecordPause:
		if r, ok := decode[Pause](c.Data); ok {
			if !r.On && !s.Paused { // a pause is lifted first, then what else holds it
				s.Suspended = false
			}
			s.Paused = r.On
		}
	case RecordStop:
		if r, ok := decode[Stop](c.Data); ok {
			s.On, s.Paused, s.Suspended, s.Owed, s.OffWhy = false, false, false, "", offWhy(r.Reason, s.Settings)
		}
	case RecordCheck:
		if r, ok := decode[Check](c.Data); ok {
			s.Count, s.Open, s.Owed = r.N, r.ID, ""
		}
	case RecordOnward:
		if r, ok := decode[Check](c.Data); ok {
			s.Count, s.Owed = r.N, ""
		}
	case RecordOutcome:
		if r, ok := decode[Outcome](c.Data); ok && !r.Again {
			s.readOutcome(r)
		}
	}
}

func (s *State) readOutcome(o Outcome) {
	if o.Check == s.Open {
		s.Open = ""
	}
	if o.Check != "" {
		s.Wrong = o.End == EndNoAnswer
	}
	if o.End != EndAnswered || !s.On || o.Check != "" && o.Check == s.Void {
		return
	}
	s.Last, s.Note = o.Decision, o.Note
	switch {
	case o.Decision == Continue:
		s.Owed = o.Check
	case s.Settings.Mode == Keep:
		s.Suspended = true
	default:
		s.On, s.OffWhy = false, "the agent answered "+string(o.Decision)
	}
}

func offWhy(r StopReason, s Settings) string {
	switch r {
	case StopByHand:
		return "stopped by hand"
	case StopMax:
		return capReached(s)
	default:
		return "ended: " + string(r)
	}
}

func decode[T any](data json.RawMessage) (T, bool) {
	var v T
	err := json.Unmarshal(data, &v)
	return v, err == nil
}
