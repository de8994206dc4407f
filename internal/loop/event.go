package loop

import "encoding/json"

// Event is something that happened in a session.
type Event interface{ event() }

// Spoken: a human sent a message. Everything starts anew.
type Spoken struct{ Text string }

// Began: a run started.
type Began struct{}

// Ended: the run is over; whatever stood is over with it.
type Ended struct{}

// Called: a tool starts.
type Called struct {
	ID, Tool string
	Args     json.RawMessage
}

// Returned: a tool has ended. A call that was not seen to start is named here.
type Returned struct {
	ID, Tool string
	Args     json.RawMessage // only when Called was not seen
	Text     string
	Error    bool
}

// Given is what the model was given since its last answer, once the answer to it
// has come: a request that is tried again counts once.
type Given struct{ Input Input }

// Answered is one answer of the model, without its thinking.
type Answered struct {
	Text  string
	Calls []Call
}

// Children: so many child sessions work now. A parent that waits is not idle.
type Children struct{ Working int }

// Ticked: time has passed; see Detector.Due.
type Ticked struct{}

func (Spoken) event()   {}
func (Began) event()    {}
func (Ended) event()    {}
func (Called) event()   {}
func (Returned) event() {}
func (Given) event()    {}
func (Answered) event() {}
func (Children) event() {}
func (Ticked) event()   {}

// Call is a call of a tool as the model wrote it.
type Call struct {
	ID   string          `json:"id"`
	Tool string          `json:"tool"`
	Args json.RawMessage `json:"args,omitempty"`
}
