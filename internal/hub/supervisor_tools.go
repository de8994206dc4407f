package hub

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"piwatch/internal/control"
	"piwatch/internal/loop"
	"piwatch/internal/timeline"
)

// superviseEnv asks for the tools of the supervisor in a session.
const superviseEnv = "PI_WATCHDOG_SUPERVISOR"

// superviseTool is a tool for an agent that supervises others.
type superviseTool struct {
	name, says, parameters string
	do                     func(v *supervisor, asker *target, args json.RawMessage) (any, error)
}

var superviseToolTable = []superviseTool{
	{
		"watchdog_list_targets", "List the agent sessions that can be supervised, and which may be stuck.",
		`{"includeCompleted":{"type":"boolean","description":"also those that ended; default false"}}`,
		(*supervisor).toolList,
	},
	{
		"watchdog_read_events", "Read the last events of a session, as short previews.",
		`{"targetId":{"type":"string"},"limit":{"type":"integer","minimum":1,"maximum":200,"description":"default 50"}}`,
		(*supervisor).toolEvents,
	},
	{
		"watchdog_detect_stuck", "Say whether a session may be stuck, with evidence and a message that may help.",
		`{"targetId":{"type":"string"}}`,
		(*supervisor).toolDetect,
	},
	{
		"watchdog_alert_main", "Tell the parent session of a target, and the user, that something is wrong.",
		`{"targetId":{"type":"string"},"message":{"type":"string"},"severity":{"enum":["info","warning","critical"],"description":"default warning"}}`,
		(*supervisor).toolAlert,
	},
	{
		"watchdog_steer_subagent", "Send a message into a session that runs. The user's policy decides whether it is really sent.",
		`{"targetId":{"type":"string"},"message":{"type":"string","description":"default: the rescue message"},"dryRun":{"type":"boolean","description":"only show what would be sent; default as the policy says"}}`,
		(*supervisor).toolSteer,
	},
	{
		"watchdog_config", "Read the policy, or change what does not widen it.",
		`{"action":{"enum":["get","set"]},"config":{"type":"object","description":"settings to change, by name"}}`,
		(*supervisor).toolConfig,
	},
}

// required are the parameters a tool cannot do without.
var required = map[string][]string{
	"watchdog_read_events": {"targetId"}, "watchdog_detect_stuck": {"targetId"}, "watchdog_steer_subagent": {"targetId"},
	"watchdog_alert_main": {"targetId", "message"}, "watchdog_config": {"action"},
}

func superviseTools() []control.ToolDef {
	defs := make([]control.ToolDef, 0, len(superviseToolTable))
	for _, t := range superviseToolTable {
		need := []byte("[]")
		if names := required[t.name]; len(names) > 0 {
			need, _ = json.Marshal(names) // names are texts
		}
		defs = append(defs, control.ToolDef{
			Name: t.name, Label: strings.ReplaceAll(strings.TrimPrefix(t.name, "watchdog_"), "_", " "), Description: t.says,
			Parameters: fmt.Appendf(nil, `{"type":"object","properties":%s,"required":%s}`, t.parameters, need),
		})
	}
	return defs
}

// supervise answers a tool of the supervisor.
func (b *bridge) supervise(p control.SuperviseParams) any {
	v := b.peer.hub.loops
	asker := v.targets[b.session.id]
	if asker == nil || !asker.asked {
		return control.SuperviseReply{Error: true, Text: "This session did not ask to supervise: /watchdog supervise, or " + superviseEnv + "=1."}
	}
	for _, t := range superviseToolTable {
		if t.name != p.Tool {
			continue
		}
		result, err := t.do(v, asker, p.Args)
		if err != nil {
			return control.SuperviseReply{Error: true, Text: err.Error()}
		}
		text, err := json.Marshal(result)
		if err != nil {
			return control.SuperviseReply{Error: true, Text: err.Error()}
		}
		return control.SuperviseReply{Text: string(text)}
	}
	return control.SuperviseReply{Error: true, Text: "This hub does not know " + p.Tool + "."}
}

// arguments reads what a tool was called with; what it does not know is refused.
func arguments(raw json.RawMessage, into any) error {
	if len(raw) == 0 {
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	dec.UseNumber()
	if err := dec.Decode(into); err != nil {
		return fmt.Errorf("the arguments do not fit: %w", err)
	}
	return nil
}

// visible finds a target of an agent: of its family, or in its folder, and not
// the agent itself.
func (v *supervisor) visible(asker *target, id string) (*target, error) {
	t := v.targets[id]
	if t == nil || t == asker || !v.related(asker, t) {
		return nil, fmt.Errorf("no target %q; see watchdog_list_targets", id)
	}
	return t, nil
}

// listed is a target as an agent sees it.
type listed struct {
	ID          string `json:"id"`
	Name        string `json:"name,omitempty"`
	State       string `json:"state"`
	Parent      string `json:"parent,omitempty"`
	LikelyStuck bool   `json:"likelyStuck"`
	Rule        string `json:"rule,omitempty"`
	ParentWaits string `json:"waitsForEndedChild,omitempty"`
}

func (v *supervisor) toolList(asker *target, raw json.RawMessage) (any, error) {
	var args struct {
		IncludeCompleted bool `json:"includeCompleted"`
	}
	if err := arguments(raw, &args); err != nil {
		return nil, err
	}
	targets := []listed{}
	for _, p := range v.list() {
		t := v.targets[p.ID]
		ended := p.State == stateDone || p.State == stateFailed || p.State == stateGone
		if t == asker || !v.related(asker, t) || ended && !args.IncludeCompleted {
			continue
		}
		one := listed{ID: p.ID, Name: cutText(timeline.OneLine(p.Name), 80), State: p.State, Parent: p.Link.Parent, LikelyStuck: p.Finding != nil}
		if p.Finding != nil {
			one.Rule = p.Finding.Rule
		}
		if p.Waits != nil {
			one.ParentWaits = p.Waits.Child
		}
		targets = append(targets, one)
	}
	return map[string]any{"targets": targets}, nil
}

func (v *supervisor) toolEvents(asker *target, raw json.RawMessage) (any, error) {
	args := struct {
		TargetID string `json:"targetId"`
		Limit    int    `json:"limit"`
	}{Limit: defaultLimit}
	if err := arguments(raw, &args); err != nil {
		return nil, err
	}
	t, err := v.visible(asker, args.TargetID)
	if err != nil {
		return nil, err
	}
	if args.Limit < 1 || args.Limit > 200 {
		return nil, fmt.Errorf("limit: %d does not fit; allowed: a whole number from 1 to 200", args.Limit)
	}
	return map[string]any{"events": t.events(args.Limit)}, nil
}

// detected is what watchdog_detect_stuck answers.
type detected struct {
	LikelyStuck   bool     `json:"likelyStuck"`
	Rule          string   `json:"rule,omitempty"`
	Confidence    string   `json:"confidence,omitempty"`
	Evidence      []string `json:"evidence"`
	RescueMessage string   `json:"suggestedRescueMessage,omitempty"`
}

func (v *supervisor) toolDetect(asker *target, raw json.RawMessage) (any, error) {
	var args struct {
		TargetID string `json:"targetId"`
	}
	if err := arguments(raw, &args); err != nil {
		return nil, err
	}
	t, err := v.visible(asker, args.TargetID)
	if err != nil {
		return nil, err
	}
	if t.told == nil {
		return detected{Evidence: []string{}}, nil
	}
	return detected{true, t.told.Rule, t.told.Confidence, t.told.Says, t.set.RescueMessage}, nil
}

func (v *supervisor) toolAlert(asker *target, raw json.RawMessage) (any, error) {
	args := struct {
		TargetID string `json:"targetId"`
		Message  string `json:"message"`
		Severity string `json:"severity"`
	}{Severity: "warning"}
	if err := arguments(raw, &args); err != nil {
		return nil, err
	}
	t, err := v.visible(asker, args.TargetID)
	if err != nil {
		return nil, err
	}
	levels := map[string]string{"info": "info", "warning": "warning", "critical": "error"}
	text := cutText(timeline.OneLine(args.Message), 2000)
	switch {
	case levels[args.Severity] == "":
		return nil, fmt.Errorf("severity: %q does not fit; allowed: info, warning, critical", args.Severity)
	case text == "":
		return nil, errors.New("message: it is empty")
	}
	if why := v.held(t); why != "" {
		return map[string]any{"told": false, "why": why}, nil
	}
	v.hub.notice(t.id, levels[args.Severity], fmt.Sprintf("A supervising agent (%s): %s", asker.title(), text))
	main := v.targets[t.link.Parent]
	switch {
	case !t.set.TellsMain():
		return map[string]any{"told": false, "why": fmt.Sprintf("alertMode=%s", t.set.AlertMode)}, nil
	case main == nil || main.session == nil:
		return map[string]any{"told": false, "why": "the target has no parent session with a bridge; the user was told"}, nil
	case main == asker:
		return map[string]any{"told": false, "why": "you are its parent session; the user was told"}, nil
	}
	v.alert(t, main, fmt.Sprintf("piwatch (automated, not the user), %s of a supervising agent about your sub-agent %s: %s", args.Severity, t.title(), text))
	return map[string]any{"told": true}, nil
}

func (v *supervisor) toolSteer(asker *target, raw json.RawMessage) (any, error) {
	var args struct {
		TargetID string `json:"targetId"`
		Message  string `json:"message"`
		DryRun   *bool  `json:"dryRun"`
	}
	if err := arguments(raw, &args); err != nil {
		return nil, err
	}
	t, err := v.visible(asker, args.TargetID)
	if err != nil {
		return nil, err
	}
	v.configure(t)
	text := cmp.Or(strings.TrimSpace(args.Message), t.set.RescueMessage)
	dry := t.set.DryRun()
	if args.DryRun != nil {
		dry = *args.DryRun
	}
	no := func(why string) (any, error) {
		v.hub.notice(t.id, "warning", fmt.Sprintf("A supervising agent (%s) may not steer: %s.", asker.title(), why))
		return map[string]any{"sent": false, "dryRun": dry, "message": text, "why": why}, nil
	}
	switch why := v.held(t); {
	case v.above(t, asker):
		return no("the target is above you")
	case why != "":
		return no(why)
	case !dry && !t.set.Steers():
		return no(fmt.Sprintf("alertMode=%s; only the user can change it", t.set.AlertMode))
	case dry:
		v.record(t, loop.Record{Event: loop.RecordDryRun, By: "agent " + asker.id, Text: text})
		return map[string]any{"sent": false, "dryRun": true, "message": text}, nil
	}
	key := ""
	if t.told != nil {
		key = t.told.Key
	}
	what := v.send(t, text, key, "agent "+asker.id)
	return map[string]any{"sent": what == sentWords, "dryRun": false, "message": text, "why": what}, nil
}

// usersAlone are the settings that an agent cannot change, whatever the value.
var usersAlone = []string{"enabled", "alertMode", "steerDryRunDefault"}

func (v *supervisor) toolConfig(asker *target, raw json.RawMessage) (any, error) {
	var args struct {
		Action string         `json:"action"`
		Config map[string]any `json:"config"`
	}
	if err := arguments(raw, &args); err != nil {
		return nil, err
	}
	switch args.Action {
	case "get":
		set, _ := v.settings(asker.cwd) // what is wrong in a file is the user's to see
		return map[string]any{"config": set.Settings, "usersAlone": usersAlone}, nil
	case "set":
	default:
		return nil, fmt.Errorf("action: %q does not fit; allowed: get, set", args.Action)
	}
	next := asker.set.Settings
	for key, value := range args.Config {
		if slices.Contains(usersAlone, key) {
			v.hub.notice(asker.id, "warning", fmt.Sprintf("The agent wanted to change %s, which is the user's alone: refused.", key))
			if asker.session != nil {
				asker.session.driver().send(control.Notify, control.NotifyParams{Level: "warning", Text: "piwatch: the agent wanted to change " + key + ", which is yours alone: refused."})
			}
			return nil, fmt.Errorf("%s is the user's alone; nothing changed", key)
		}
		var err error
		if next, err = next.With(key, value); err != nil {
			return nil, fmt.Errorf("nothing changed: %w", err)
		}
	}
	for key, value := range args.Config {
		text, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		v.change("agent "+asker.id, key, string(text))
	}
	set, _ := v.settings(asker.cwd)
	return map[string]any{"config": set.Settings}, nil
}
