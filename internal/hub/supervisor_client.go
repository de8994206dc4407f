package hub

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"piwatch/internal/control"
	"piwatch/internal/loop"
	"piwatch/internal/timeline"
)

// asClient takes a method of a client for the supervisor; known is false when it
// is none.
func (v *supervisor) asClient(p *peer, method string, raw json.RawMessage) (reply any, known bool, err error) {
	var params control.TargetParams
	switch method {
	case control.LoopsList:
		return v.list(), true, nil
	case control.LoopsSet:
		var set control.LoopsSetParams
		if err := control.Decode(raw, &set); err != nil {
			return nil, true, err
		}
		return v.change(cmp.Or(set.By, p.client), set.Key, set.Value), true, nil
	case control.LoopsInspect, control.LoopsPause, control.LoopsResume, control.LoopsSteer:
		if err := control.Decode(raw, &params); err != nil {
			return nil, true, err
		}
	default:
		return nil, false, nil
	}
	t := v.targets[params.Target]
	if t == nil {
		return nil, true, fmt.Errorf("%w: the supervisor does not know %s", control.ErrNoSession, params.Target)
	}
	switch method {
	case control.LoopsInspect:
		return v.inspect(t, params.Limit), true, nil
	case control.LoopsSteer:
		return v.steerByHand(t, params.Message, params.Send, cmp.Or(params.By, p.client)), true, nil
	}
	return v.pause(t, method == control.LoopsPause), true, nil
}

// list gives all targets: those that may be stuck first, then those with a
// bridge, then by their ids.
func (v *supervisor) list() []control.Target {
	targets := make([]control.Target, 0, len(v.targets))
	for _, t := range v.targets {
		targets = append(targets, t.public())
	}
	rank := func(t control.Target) int {
		switch {
		case t.Finding != nil:
			return 0
		case t.Source == "bridge":
			return 1
		}
		return 2
	}
	slices.SortFunc(targets, func(a, b control.Target) int {
		return cmp.Or(rank(a)-rank(b), strings.Compare(a.ID, b.ID))
	})
	return targets
}

// defaultLimit is how many events are shown when nobody says how many.
const defaultLimit = 50

func (v *supervisor) inspect(t *target, limit int) control.TargetDetail {
	set, err := v.settings(t.cwd)
	d := control.TargetDetail{Target: t.public(), Origin: set.Origin, Trail: t.events(limit)}
	if set.Debug {
		d.Debug = t.debug
	}
	if err != nil {
		d.Problems = err.Error()
	}
	if d.Settings, err = json.Marshal(set.Settings); err != nil {
		d.Problems = err.Error()
	}
	return d
}

func (t *target) events(limit int) []control.TrailEvent {
	if limit <= 0 {
		limit = defaultLimit
	}
	events := []control.TrailEvent{}
	for _, e := range t.trail.Last(limit) {
		one := control.TrailEvent{
			N: e.N, At: e.At.UnixMilli(), Kind: e.Kind, Tool: timeline.OneLine(e.Tool), Error: e.Error, Preview: timeline.OneLine(e.Preview),
		}
		if e.Hash != 0 {
			one.Hash = e.Hash.String()
		}
		events = append(events, one)
	}
	return events
}

// pause holds the alerts of a session, or lets them go again.
func (v *supervisor) pause(t *target, on bool) control.CommandReply {
	if t.paused == on {
		return control.CommandReply{Level: "info", Text: map[bool]string{true: "Its alerts are held already.", false: "Its alerts are not held."}[on]}
	}
	t.paused = on
	v.show(t)
	if on {
		return control.CommandReply{Level: "info", Text: "Loop alerts of this session are held until they are resumed."}
	}
	return control.CommandReply{Level: "info", Text: "Loop alerts of this session are told again."}
}

// pauseInstead holds or releases the alerts of a session whose watchdog, by the
// reply, could not be paused or resumed: it is off. A watchdog that is paused
// holds them by itself.
func (v *supervisor) pauseInstead(s *session, reply control.CommandReply, on bool) control.CommandReply {
	t := v.targets[s.id]
	if t == nil || reply.Level != "error" && t.paused == on || !on && !t.paused {
		return reply
	}
	mine := v.pause(t, on && reply.Level == "error")
	if reply.Level == "error" {
		return mine
	}
	return reply
}

// statusText is what the supervisor adds to the status of a session.
func (v *supervisor) statusText(s *session) string {
	t := v.targets[s.id]
	if t == nil {
		return ""
	}
	text := ""
	if t.told != nil {
		text += fmt.Sprintf(" Maybe stuck (%s, %s): %s.", t.told.Rule, t.told.Confidence, t.told.Says[0])
	}
	if t.waits != nil {
		text += fmt.Sprintf(" Its child %s has ended, and it still waits in %s.", t.waits.Child, t.waits.Tool)
	}
	if t.paused {
		text += " Its loop alerts are held."
	}
	return text
}

// change makes a setting at run time: what a person may.
func (v *supervisor) change(by, key, value string) control.CommandReply {
	parsed := loop.ParseValue(value)
	if _, err := loop.DefaultSettings().With(key, parsed); err != nil {
		return control.CommandReply{Level: "error", Text: "Nothing changed: " + err.Error()}
	}
	v.changes = slices.DeleteFunc(v.changes, func(c loop.Change) bool { return c.Key == key })
	v.changes = append(v.changes, loop.Change{Key: key, Value: parsed})
	for _, t := range v.targets {
		v.configure(t)
		v.wake(t)
	}
	text := fmt.Sprintf("%s is %s for all sessions, until the hub ends.", key, value)
	v.hub.notice("", "info", by+": "+text)
	return control.CommandReply{Level: "info", Text: text}
}

// steerByHand steers a session because a person said so: alertMode is about
// what piwatch does by itself.
func (v *supervisor) steerByHand(t *target, text string, send bool, by string) control.CommandReply {
	text = cmp.Or(strings.TrimSpace(text), t.set.RescueMessage)
	key := ""
	if t.told != nil {
		key = t.told.Key
	}
	if !send {
		return control.CommandReply{Level: "info", Text: "Dry run, nothing is sent. It would be: " + timeline.OneLine(text)}
	}
	what := v.send(t, text, key, by)
	if what != sentWords {
		return control.CommandReply{Level: "error", Text: what + "."}
	}
	return control.CommandReply{Level: "info", Text: what + "."}
}

// command takes a word after /watchdog in Pi that is for the supervisor; known
// is false when it is none.
func (v *supervisor) command(s *session, word, rest string) (reply control.CommandReply, known bool) {
	t := v.targets[s.id]
	if t == nil {
		return reply, false
	}
	rest = strings.TrimSpace(rest)
	switch word {
	case "config":
		return v.configText(t), true
	case "set":
		key, value, _ := strings.Cut(rest, " ")
		if !slices.ContainsFunc(loop.Fields(), func(f loop.Field) bool { return f.Name == key }) {
			return reply, false // a setting of the watchdog
		}
		return v.change("pi", key, strings.TrimSpace(value)), true
	case "inspect":
		return v.inspectText(s, rest), true
	case "supervise":
		if !t.asked {
			t.asked = true
			s.driver().send(control.RegTools, control.ToolsParams{Tools: superviseTools()})
		}
		return control.CommandReply{Level: "info", Text: "This session has the tools of a supervisor now: watchdog_list_targets and others. See: piwatch supervise --prompt"}, true
	}
	return reply, false
}

func (v *supervisor) configText(t *target) control.CommandReply {
	set, err := v.settings(t.cwd)
	var lines []string
	for _, f := range loop.Fields() {
		value, _ := json.Marshal(f.Get(&set.Settings)) // texts, numbers and truths
		line := fmt.Sprintf("%s = %s", f.Name, value)
		if from := set.Origin[f.Name]; from != "" && from != "default" {
			line += " (" + from + ")"
		}
		lines = append(lines, line)
	}
	if err != nil {
		return control.CommandReply{Level: "warning", Text: strings.Join(append(lines, err.Error()), "\n")}
	}
	return control.CommandReply{Level: "info", Text: strings.Join(lines, "\n")}
}

func (v *supervisor) inspectText(s *session, id string) control.CommandReply {
	t, err := v.find(cmp.Or(id, s.id))
	if err != nil {
		return control.CommandReply{Level: "error", Text: err.Error()}
	}
	const events, longest = 10, 160
	d := v.inspect(t, events)
	d.Debug = nil // in full it is for the screen
	lines := d.Lines()
	for i, line := range lines {
		lines[i] = cutText(timeline.OneLine(line), longest)
	}
	return control.CommandReply{Level: "info", Text: strings.Join(lines, "\n")}
}

// find finds a target by its id or a unique beginning of it.
func (v *supervisor) find(id string) (*target, error) {
	if t := v.targets[id]; t != nil {
		return t, nil
	}
	var hits []*target
	for _, t := range v.targets {
		if id != "" && strings.HasPrefix(t.id, id) {
			hits = append(hits, t)
		}
	}
	switch len(hits) {
	case 0:
		return nil, fmt.Errorf("no session %q is known", id)
	case 1:
		return hits[0], nil
	}
	return nil, fmt.Errorf("%d sessions begin with %q", len(hits), id)
}
