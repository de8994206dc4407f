package timeline

import (
	"encoding/json"
	"strings"

	"piwatch/internal/watchdog"
)

// The custom types of the extension pi-extension-watchdog. What their data
// holds differs by its version, so that only fields with plain names are read,
// and none is needed.
const (
	extNudge        = "pi-watchdog:nudge"
	extContinuation = "pi-watchdog:continuation"
	extFold         = "pi-watchdog:fold"
	extStopped      = "pi-watchdog:stopped"
	extDecision     = "pi-watchdog:decision"
)

// extData are the fields looked for in the extension's rows.
type extData struct {
	Decision string  `json:"decision"`
	Action   string  `json:"action"`
	Note     string  `json:"note"`
	Reason   string  `json:"reason"`
	Count    float64 `json:"count"`
	Nudge    float64 `json:"nudge"`
	Nudges   float64 `json:"nudges"`
	N        float64 `json:"n"`
	Max      float64 `json:"max"`
}

func readExt(data json.RawMessage) extData {
	var fields map[string]json.RawMessage
	var d extData
	if json.Unmarshal(data, &fields) != nil {
		return d
	}
	// One by one: a field of another kind must not hide the others.
	for name, to := range map[string]any{
		"decision": &d.Decision, "action": &d.Action, "note": &d.Note, "reason": &d.Reason,
		"count": &d.Count, "nudge": &d.Nudge, "nudges": &d.Nudges, "n": &d.N, "max": &d.Max,
	} {
		if v, ok := fields[name]; ok {
			_ = json.Unmarshal(v, to) // of another kind: as if absent
		}
	}
	return d
}

func (d extData) number() int { return int(max(d.N, d.Nudge, d.Nudges, d.Count)) }

// digestExtensionMessage reads a message of the extension; nil for all others.
func digestExtensionMessage(kind, text string, details json.RawMessage, row adder) any {
	d := readExt(details)
	switch kind {
	case extNudge:
		row(Ask, "", text)
		return extNudgeEvent{n: d.number(), max: int(d.Max), reason: OneLine(d.Reason)}
	case extContinuation:
		row(Work, "back to work", text)
		return workEvent{}
	case extFold:
		return extFoldEvent{}
	case extStopped:
		row(Watch, firstOf(OneLine(short(text, maxTitle)), "stopped"), "")
		return stopEvent{firstOf(OneLine(d.Reason), "stopped")}
	}
	return nil
}

// digestExtensionEntry reads a custom entry of the extension; nil for others.
func digestExtensionEntry(kind string, data json.RawMessage) any {
	d := readExt(data)
	switch kind {
	case extDecision:
		decision := watchdog.Decision(strings.ReplaceAll(OneLine(firstOf(d.Decision, d.Action)), "-", "_"))
		return extDecisionEvent{decision: decision, note: OneLine(firstOf(d.Note, d.Reason))}
	case extFold:
		return extFoldEvent{}
	}
	return nil
}
