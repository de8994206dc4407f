package guard

import "fmt"

// View is what a person sees of a guard.
type View struct {
	Off bool `json:"off,omitempty"`
	// Why says why it is off.
	Why   string `json:"why,omitempty"`
	Row   int    `json:"row"`   // silent stops that were continued in a row
	Total int    `json:"total"` // and since the last message of the user
	// Tripped says why the breaker tripped; empty: it did not.
	Tripped string `json:"tripped,omitempty"`
	// Last is the cause of the last silent stop that this hub saw.
	Last Cause `json:"last,omitempty"`
}

// View is what people see now.
func (g *Guard) View() View {
	v := View{Row: g.state.Row, Total: g.state.Total, Tripped: g.state.Tripped, Last: g.last}
	on, why := g.on()
	v.Off, v.Why = !on, why
	return v
}

// StatusText is the answer to /guard status.
func (v View) StatusText() string {
	text := "Guard: on"
	if v.Off {
		text = "Guard: off " + v.Why
	}
	text += fmt.Sprintf(". Silent stops continued since your last message: %d of %d, in a row: %d of %d", v.Total, EpisodeLimit, v.Row, RowLimit)
	if v.Last != "" && v.Row > 0 {
		text += fmt.Sprintf(" (the last: %s)", v.Last)
	}
	if v.Tripped != "" {
		return text + ". Breaker: tripped, since the agent " + v.Tripped + "; /guard reset closes it, and so does your next message."
	}
	return text + ". Breaker: closed."
}

// Status is the state in a few words for a status bar, empty when there is
// nothing to tell.
func (v View) Status() string {
	switch {
	case v.Off:
		return "guard off"
	case v.Tripped != "":
		return "guard tripped"
	case v.Total > 0:
		return fmt.Sprintf("guard %d/%d", v.Row, RowLimit)
	}
	return ""
}
