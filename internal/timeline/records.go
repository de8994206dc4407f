package timeline

import (
	"encoding/json"
	"fmt"
	"strings"

	"piwatch/internal/guard"
	"piwatch/internal/loop"
	"piwatch/internal/pi"
	"piwatch/internal/watchdog"
)

// decideTool is the tool by which the agent answers.
const decideTool = "watchdog_decide"

// recordPrefix begins the custom types of piwatch's own entries.
const recordPrefix = "piwatch."

// decide is an answer as it stands in a tool call.
type decide struct {
	Decision watchdog.Decision `json:"decision"`
	Note     string            `json:"note"`
}

// decideOf reads a call of the decide tool; nil for another tool.
func decideOf(tool string, args json.RawMessage) *decide {
	if tool != decideTool {
		return nil
	}
	d := &decide{}
	_ = json.Unmarshal(args, d) // a call with bad arguments is a wrong answer, shown as a call
	return d
}

// adder adds a row to those of an entry. An empty title is the first line of
// the body. Both are foreign text: it cleans them.
type adder func(kind Kind, title, body string)

// records is what the records of piwatch become: by their custom type the rows,
// and the event for project.go, nil when there is none. ok is false for data
// that cannot be read, which is shown as it is.
var records = map[string]func(data json.RawMessage, row adder) (event any, ok bool){
	watchdog.RecordTool: func(json.RawMessage, adder) (any, bool) {
		return nil, true // the same on every start: not part of the story
	},
	watchdog.RecordCheck:   of(func(v watchdog.Check, _ adder) any { return checkEvent{v} }),
	watchdog.RecordOutcome: of(func(v watchdog.Outcome, _ adder) any { return outcomeEvent{v} }),
	watchdog.RecordStart: of(func(v watchdog.Start, row adder) any {
		row(Watch, "started"+by(v.By)+": "+v.Settings.String(), "")
		return startEvent{v.Settings}
	}),
	watchdog.RecordSet: of(func(v watchdog.Set, row adder) any {
		row(Watch, "set"+by(v.By)+": "+v.Settings.String(), "")
		return setEvent{v.Settings}
	}),
	watchdog.RecordPause: of(func(v watchdog.Pause, row adder) any {
		row(Watch, pauseTitle(v), "")
		return pauseEvent{v.On}
	}),
	watchdog.RecordStop: of(func(v watchdog.Stop, row adder) any {
		row(Watch, stopTitle(v), "")
		return stopEvent{string(v.Reason)}
	}),
	watchdog.RecordOnward: of(func(v watchdog.Check, row adder) any {
		row(Watch, fmt.Sprintf("%d/%d without a check: %s", v.N, v.Max, v.Reason), "")
		return onwardEvent{v.N}
	}),
	guard.Type: of(func(v guard.Record, row adder) any {
		if title := guardTitle(v); title != "" {
			row(Watch, "guard: "+title, "")
		}
		return nil
	}),
	watchdog.RecordGateway: of(func(v watchdog.Gateway, row adder) any {
		row(Watch, "gateway: "+v.Text(), "")
		return nil
	}),
	watchdog.RecordHook: of(func(v watchdog.Hook, row adder) any {
		row(Watch, "on-stop command for "+v.Event+": "+v.Result, "")
		return nil
	}),
	loop.RecordType: of(func(v loop.Record, row adder) any {
		title, body := loopTexts(v)
		row(Watch, title, body)
		return nil
	}),
}

// of reads the data of a record before it is digested.
func of[T any](digest func(v T, row adder) any) func(json.RawMessage, adder) (any, bool) {
	return func(data json.RawMessage, row adder) (any, bool) {
		var v T
		if json.Unmarshal(data, &v) != nil {
			return nil, false
		}
		return digest(v, row), true
	}
}

// digestCustom tells the records of piwatch from the entries of others.
func digestCustom(c *pi.Custom, row adder) any {
	if digest := records[c.CustomType]; digest != nil {
		if ev, ok := digest(c.Data, row); ok {
			return ev
		}
	}
	if ev := digestExtensionEntry(c.CustomType, c.Data); ev != nil {
		return ev
	}
	kind := Message
	if strings.HasPrefix(c.CustomType, recordPrefix) {
		kind = Watch
	}
	row(kind, strings.TrimSpace(strings.TrimPrefix(c.CustomType, recordPrefix)+" "+short(string(c.Data), maxTitle)), "")
	return nil
}

// guardTitle tells a record of the guard; "" for one that is not worth a row:
// the message says that a silent stop was continued.
func guardTitle(r guard.Record) string {
	switch r.Event {
	case guard.Continued, guard.Moved:
		return ""
	case guard.Tripped:
		return "the breaker tripped: the agent " + r.Tripped
	case guard.WasReset:
		return "reset" + by(r.By)
	case guard.TurnedOn, guard.TurnedOff:
		return "turned " + string(r.Event) + by(r.By)
	}
	return string(r.Event)
}

func guardCounts(row, total int) string {
	if row == 0 {
		return ""
	}
	return fmt.Sprintf(", %d of %d in a row, %d of %d since the user's message", row, guard.RowLimit, total, guard.EpisodeLimit)
}

func by(who string) string {
	if who == "" {
		return ""
	}
	return " by " + who
}

func pauseTitle(p watchdog.Pause) string {
	if p.On {
		return "paused" + by(p.By)
	}
	return "resumed" + by(p.By)
}

// loopTexts are the title and the body of what the supervisor found or did.
func loopTexts(r loop.Record) (title, body string) {
	switch r.Event {
	case loop.RecordFound:
		return "maybe stuck: " + strings.Join(append(r.Says, r.Rule+", "+r.Confidence), "; "), strings.Join(r.Told, "\n")
	case loop.RecordCleared:
		return "not stuck any more", ""
	case loop.RecordSteered:
		return "steered" + by(r.By) + ": " + r.Text, ""
	case loop.RecordDryRun:
		return "dry run" + by(r.By) + ", nothing was sent: " + r.Text, ""
	}
	return "loops: " + r.Event, ""
}

func stopTitle(s watchdog.Stop) string {
	switch s.Reason {
	case watchdog.StopMax:
		return "stopped: the cap of checks is reached"
	case watchdog.StopByHand:
		return "stopped" + by(s.By)
	}
	return fmt.Sprintf("stopped%s: %s", by(s.By), s.Reason)
}
