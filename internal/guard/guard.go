package guard

import (
	"fmt"

	"piwatch/internal/pi"
)

// The limits of the guard.
const (
	RowLimit     = 3  // continuations in a row
	EpisodeLimit = 10 // continuations between two messages of the user
)

// Guard is the guard of one session. It is not safe for concurrent use.
type Guard struct {
	state State
	off   string  // why it is off where no person chose, "" when it is on
	asked *Record // of the continuation that is with the bridge; it counts already
	last  Cause   // of the last silent stop
}

// New gives a guard that continues from a rebuilt state; the zero State is a
// session in which nothing happened yet. Off says why it is off as long as no
// person turned it on in the session, "" when it is on.
func New(s State, off string) *Guard { return &Guard{state: s, off: off} }

// Event is something that happened to a session, or that a person wants of its
// guard.
type Event interface{ isEvent() }

// The events.
type (
	// Ended: a run came to its end, before Pi settles. A follow-up that is sent
	// now belongs to the same run.
	Ended struct {
		// Answers are the answers since the last call of a tool in the run, or since
		// its start, in order.
		Answers []*pi.Message
		Worked  bool // tools were called before
		Check   bool // it was a turn of a check, which has its own rules
	}
	// Delivered: the bridge's receipt for a continuation.
	Delivered struct {
		Sent   bool
		Reason string // why it was not sent
	}
	// Spoken: a message was submitted; Human when a person did it.
	Spoken struct{ Human bool }
	// Switch: a person turns it on or off.
	Switch struct {
		By string
		On bool
	}
	// Reset: a person resets breaker and counts.
	Reset struct{ By string }
)

func (Ended) isEvent()     {}
func (Delivered) isEvent() {}
func (Spoken) isEvent()    {}
func (Switch) isEvent()    {}
func (Reset) isEvent()     {}

// Effect is what the guard wants done.
type Effect interface{ isEffect() }

// The effects.
type (
	// Continue sends a message into the run that is ending. The bridge writes
	// the record in the same tick.
	Continue struct {
		Record Record
		Text   string
	}
	// Append writes a record into the session file.
	Append struct{ Record Record }
	// Trip: the breaker tripped. The user is told once, and the on-stop hook
	// runs.
	Trip struct {
		Text  string // for people
		Count int    // continuations since the last message of the user
	}
	// Log is one line for the log: also for every silent stop that was not
	// continued, why.
	Log struct{ Level, Text string }
	// Reply answers a person.
	Reply struct{ Level, Text string }
)

func (Continue) isEffect() {}
func (Append) isEffect()   {}
func (Trip) isEffect()     {}
func (Log) isEffect()      {}
func (Reply) isEffect()    {}

// Step takes one event and says what is to be done for it.
func (g *Guard) Step(ev Event) []Effect {
	switch ev := ev.(type) {
	case Ended:
		return g.ended(ev)
	case Delivered:
		return g.delivered(ev)
	case Spoken:
		if ev.Human {
			g.state.spoken()
			g.asked = nil // sent or not, a new count begins
		}
	case Switch:
		return g.turn(ev)
	case Reset:
		return g.reset(ev)
	}
	return nil
}

func (g *Guard) ended(ev Ended) []Effect {
	g.asked = nil
	if ev.Check {
		return nil
	}
	progress := ev.Worked
	var last Answer
	for _, m := range ev.Answers {
		last = Classify(m)
		progress = progress || last.Progress()
	}
	var out []Effect
	if progress && g.state.Row > 0 && g.state.Tripped == "" {
		g.state.Row = 0
		out = append(out, Append{g.record(Moved)})
	}
	if last.Kind != Silent {
		return out
	}
	g.last = last.Cause
	return append(out, g.silent(last.Cause)...)
}

// silent takes a silent stop.
func (g *Guard) silent(cause Cause) []Effect {
	stop := "silent stop (" + cause.String() + "): "
	if why := g.hindrance(); why != "" {
		return []Effect{Log{"info", stop + "not continued, " + why}}
	}
	if why := g.limit(); why != "" {
		g.state.Tripped = why
		r := g.record(Tripped)
		r.Cause = cause
		text := "The agent " + why + ". The guard's breaker tripped: the guard does nothing more until you write, or reset it (/guard reset). A watchdog that is on still counts down and asks."
		return []Effect{Append{r}, Trip{text, g.state.Total}, Log{"warning", stop + "the breaker tripped, since the agent " + why}}
	}
	g.state.Row++
	g.state.Total++
	r := g.record(Continued)
	r.Cause = cause
	g.asked = &r
	return []Effect{Continue{r, texts[cause]}}
}

// hindrance says why a silent stop is not continued, "" when it may be.
func (g *Guard) hindrance() string {
	switch on, why := g.on(); {
	case !on:
		return "the guard is off " + why
	case !g.state.Human:
		return "the session has no message of the user"
	case g.state.Tripped != "":
		return "the breaker has tripped"
	}
	return ""
}

// limit says which limit is reached, "" for none.
func (g *Guard) limit() string {
	switch {
	case g.state.Row >= RowLimit:
		return fmt.Sprintf("stopped without a word %d times in a row", g.state.Row+1)
	case g.state.Total >= EpisodeLimit:
		return fmt.Sprintf("stopped without a word %d times since your last message", g.state.Total+1)
	}
	return ""
}

func (g *Guard) on() (on bool, why string) {
	switch {
	case g.state.Choice == ChoseOn:
		return true, ""
	case g.state.Choice == ChoseOff:
		return false, "by hand"
	}
	return g.off == "", g.off
}

func (g *Guard) delivered(ev Delivered) []Effect {
	r := g.asked
	g.asked = nil
	switch {
	case r == nil:
		return nil
	case !ev.Sent:
		g.state.Row--
		g.state.Total--
		return []Effect{Log{"warning", "silent stop (" + r.Cause.String() + "): not continued, " + ev.Reason}}
	}
	return []Effect{Log{"info", fmt.Sprintf("silent stop (%s): asked for the next action, %d of %d in a row, %d of %d since the user's message",
		r.Cause, r.Row, RowLimit, r.Total, EpisodeLimit)}}
}

func (g *Guard) turn(ev Switch) []Effect {
	word := "off"
	if ev.On {
		word = "on"
	}
	if on, _ := g.on(); on == ev.On {
		return []Effect{Reply{"warning", "The guard is " + word + " already." + g.trippedHint()}}
	}
	what := TurnedOff
	g.state.Choice = ChoseOff
	if ev.On {
		what, g.state.Choice = TurnedOn, ChoseOn
	}
	g.asked = nil // its count is in this record now
	r := g.record(what)
	r.By = ev.By
	return []Effect{Append{r}, Reply{"info", "Guard turned " + word + " in this session." + g.trippedHint()}}
}

func (g *Guard) trippedHint() string {
	if on, _ := g.on(); on && g.state.Tripped != "" {
		return " Its breaker has tripped: /guard reset."
	}
	return ""
}

func (g *Guard) reset(ev Reset) []Effect {
	if g.state.Total == 0 && g.state.Row == 0 && g.state.Tripped == "" {
		return []Effect{Reply{"warning", "There is nothing to reset: the guard has continued nothing since your last message."}}
	}
	g.state.Row, g.state.Total, g.state.Tripped, g.asked = 0, 0, "", nil
	r := g.record(WasReset)
	r.By = ev.By
	return []Effect{Append{r}, Reply{"info", "Guard reset: the breaker is closed, and the counts begin anew."}}
}

// record is the state as it is now.
func (g *Guard) record(what What) Record {
	s := g.state
	return Record{Event: what, Row: s.Row, Total: s.Total, Tripped: s.Tripped, Choice: s.Choice}
}
