package guard

// Type is the custom type of what the guard leaves in a session: of the
// messages that ask for the next action (Pi type "custom_message"; details:
// Details) and of its records (Pi type "custom"; data: Record).
const Type = "piwatch.guard"

// Details are the details of a message. Pi does not send them to the model.
type Details struct {
	Cause Cause `json:"cause"`
	Row   int   `json:"row"`   // the number of the message in a row
	Total int   `json:"total"` // and since the last message of the user
}

// What says what a record tells.
type What string

// What a record tells.
const (
	Continued What = "continued" // a silent stop is being continued; written in the tick of the send
	Moved     What = "moved"     // a visible word or a tool call ended the row
	Tripped   What = "tripped"   // the breaker tripped
	WasReset  What = "reset"     // a person reset breaker and counts
	TurnedOn  What = "on"        // a person turned it on
	TurnedOff What = "off"       // a person turned it off
)

// Choice is what a person chose for a session; empty: what is configured
// holds.
type Choice string

// The choices.
const (
	ChoseOn  Choice = "on"
	ChoseOff Choice = "off"
)

// Record is what happened, and all of the state after it: the last record of a
// branch and the messages of the user after it say where the guard stands.
type Record struct {
	Event   What   `json:"event"`
	By      string `json:"by,omitempty"`    // pi, tui, cli: who reset or switched it
	Cause   Cause  `json:"cause,omitempty"` // of the silent stop
	Row     int    `json:"row"`             // silent stops that were continued in a row
	Total   int    `json:"total"`           // and since the last message of the user
	Tripped string `json:"tripped,omitempty"`
	Choice  Choice `json:"choice,omitempty"`
}
