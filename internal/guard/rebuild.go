package guard

import (
	"encoding/json"

	"piwatch/internal/pi"
)

// State is where a guard stands, as the session file tells it.
type State struct {
	Human   bool   // the branch holds a message of the user
	Row     int    // silent stops that were continued in a row
	Total   int    // and since the last message of the user
	Tripped string // why the breaker tripped, "" when it did not
	Choice  Choice // of a person, for this session
}

// Rebuild reads the state from the entries of a branch, root first. It needs
// the last record and what the user said; a damaged record counts as absent.
func Rebuild(branch []pi.Entry) State {
	var s State
	for i := range branch {
		switch e := &branch[i]; {
		case e.IsRealUserMessage():
			s.spoken()
		case e.Custom != nil && e.Custom.CustomType == Type:
			var r Record
			if json.Unmarshal(e.Custom.Data, &r) == nil {
				s.Row, s.Total = max(r.Row, 0), max(r.Total, 0)
				s.Tripped, s.Choice = r.Tripped, r.Choice
			}
		}
	}
	return s
}

func (s *State) spoken() {
	s.Human, s.Row, s.Total, s.Tripped = true, 0, 0, ""
}
