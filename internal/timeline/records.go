package timeline

import (
	"encoding/json"
	"fmt"
	"strings"

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

// digestCustom tells the records of piwatch from the entries of others.
func digestCustom(c *pi.Custom, row func(Kind, string, string)) any {
	switch c.CustomType {
	case watchdog.RecordTool:
		return nil // the same on every start: not part of the story
	case watchdog.RecordCheck:
		if v, ok := read[watchdog.Check](c.Data); ok {
			return checkEvent{v}
		}
	case watchdog.RecordOutcome:
		if v, ok := read[watchdog.Outcome](c.Data); ok {
			return outcomeEvent{v}
		}
	case watchdog.RecordStart:
		if v, ok := read[watchdog.Start](c.Data); ok {
			row(Watch, "started"+by(v.By)+": "+v.Settings.String(), "")
			return startEvent{v.Settings}
		}
	case watchdog.RecordSet:
		if v, ok := read[watchdog.Set](c.Data); ok {
			row(Watch, "set"+by(v.By)+": "+v.Settings.String(), "")
			return setEvent{v.Settings}
		}
	case watchdog.RecordPause:
		if v, ok := read[watchdog.Pause](c.Data); ok {
			row(Watch, pauseTitle(v), "")
			return pauseEvent{v.On}
		}
	case watchdog.RecordStop:
		if v, ok := read[watchdog.Stop](c.Data); ok {
			row(Watch, stopTitle(v), "")
			return stopEvent{string(v.Reason)}
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

func read[T any](data json.RawMessage) (v T, ok bool) {
	return v, json.Unmarshal(data, &v) == nil
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

func stopTitle(s watchdog.Stop) string {
	switch s.Reason {
	case watchdog.StopMax:
		return "stopped: the cap of checks is reached"
	case watchdog.StopBreaker:
		return "stopped: the breaker tripped after silent stops in a row"
	case watchdog.StopByHand:
		return "stopped" + by(s.By)
	}
	return fmt.Sprintf("stopped%s: %s", by(s.By), s.Reason)
}
