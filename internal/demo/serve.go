package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"piwatch/internal/control"
	"piwatch/internal/guard"
	"piwatch/internal/pi"
	"piwatch/internal/watchdog"
)

// actions are what a hub may ask of the bridge; each is one tick.
var actions = map[string]func(p *Pi, params json.RawMessage) (control.Receipt, error){
	control.SendCheck: action((*Pi).openCheck),
	control.SendWork:  action((*Pi).sendWork),
	control.SendGuard: action((*Pi).sendGuard),
	control.Void:      action((*Pi).voidCheck),
	control.Record: action(func(p *Pi, params control.RecordParams) control.Receipt {
		e := p.session.addCustom(params.Type, params.Data, p.clock.Now())
		return control.Receipt{Result: control.Sent, Entry: e.id}
	}),
	control.Status: action(func(p *Pi, params control.StatusParams) control.Receipt {
		p.watching = params.Text != "" // a watchdog that is on always has a status
		p.footer(params.Text)
		return control.Receipt{Result: control.Sent}
	}),
	control.Notify: action(func(p *Pi, params control.NotifyParams) control.Receipt {
		p.note(Event{Kind: Shown, Text: params.Text})
		return control.Receipt{Result: control.Sent}
	}),
	control.RegTool: action(func(p *Pi, params control.ToolDef) control.Receipt {
		p.watching = true
		p.register(params)
		return control.Receipt{Result: control.Sent}
	}),
}

func action[T any](act func(*Pi, T) control.Receipt) func(*Pi, json.RawMessage) (control.Receipt, error) {
	return func(p *Pi, raw json.RawMessage) (control.Receipt, error) {
		var params T
		if err := control.Decode(raw, &params); err != nil {
			return control.Receipt{}, err
		}
		return act(p, params), nil
	}
}

// serve answers the hub on a connection of one instance of the bridge.
func (p *Pi) serve(instance string) control.Handler {
	return func(_ context.Context, _ *control.Conn, method string, params json.RawMessage) (any, error) {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.instance != instance || p.ctx.Err() != nil {
			return control.Receipt{Result: control.Stale, Reason: "the session was replaced"}, nil
		}
		act := actions[method]
		if act == nil {
			return control.Receipt{Result: control.Refused, Reason: fmt.Sprintf("this bridge does not know %s", method)}, nil
		}
		return act(p, params)
	}
}

// refusal compares the fence in the tick of the send; nil when it may be sent.
func (p *Pi) refusal(fence control.Fence) *control.Receipt {
	now := p.facts()
	for _, no := range []struct {
		is             bool
		result, reason string
	}{
		{p.check != nil, control.Refused, "a check is open"},
		{now.Compacting, control.Refused, "Pi is compacting"},
		{!now.Idle, control.Refused, "the agent is running"},
		{now.Queued, control.Refused, "a message is queued"},
		{now.Dialog, control.Refused, "a dialog is open"},
		{now.Draft, control.Refused, "the editor holds a draft"},
		{fence.Settle != now.Settle, control.Stale, "the agent settled again since"},
		{fence.Leaf != now.Leaf, control.Stale, "the session moved on since"},
	} {
		if no.is {
			return &control.Receipt{Result: no.result, Reason: no.reason, Facts: &now}
		}
	}
	return nil
}

func (p *Pi) openCheck(params control.CheckParams) control.Receipt {
	if no := p.refusal(params.Fence); no != nil {
		return *no
	}
	p.check = &check{id: params.Record.ID}
	p.session.addCustom(watchdog.RecordCheck, params.Record, p.clock.Now())
	p.ownRun = true
	p.startRun(queued{params.Text, watchdog.MessageCheck, watchdog.MessageDetails{Check: params.Record.ID}})
	return control.Receipt{Result: control.Sent}
}

func (p *Pi) sendWork(params control.WorkParams) control.Receipt {
	if no := p.refusal(params.Fence); no != nil {
		return *no
	}
	if params.Record != nil {
		p.session.addCustom(watchdog.RecordOnward, *params.Record, p.clock.Now())
	}
	p.ownRun = true
	p.startRun(queued{params.Text, watchdog.MessageWork, watchdog.MessageDetails{Check: params.Check}})
	return control.Receipt{Result: control.Sent}
}

func (p *Pi) voidCheck(params control.VoidParams) control.Receipt {
	if p.check == nil || p.check.id != params.Check {
		return control.Receipt{Result: control.Stale, Reason: "that check is not open"}
	}
	p.check.makeVoid(params.Why)
	if !p.running {
		p.closeIdle()
	} else if params.Abort && !p.facts().Queued { // an abort would put them back into the editor
		p.abortOwn()
	}
	return control.Receipt{Result: control.Sent}
}

func (p *Pi) footer(text string) {
	if p.status != text {
		p.status = text
		p.note(Event{Kind: Footer, Text: text})
	}
}

// hello is what the bridge says of itself when it connects.
func (p *Pi) hello(reason string) control.BridgeHello {
	h := control.BridgeHello{
		Role: "bridge", Protocol: control.Protocol, Bridge: "stand-in", Instance: p.instance,
		Session: p.session.id, File: p.session.path, Cwd: p.session.cwd, Name: p.session.name, Model: p.modelName(),
		Pid: p.setup.Pid, Mode: p.setup.Mode, Reason: reason, Boundary: true, Parent: p.setup.Parent, Env: p.setup.Env, Facts: p.facts(),
		Created: p.session.created, Resumed: p.resumed,
	}
	if h.Env == nil {
		h.Env = map[string]string{}
	}
	branch := p.session.branch()
	h.History = p.session.hasHistory()
	h.Records = essence(branch)
	return h
}

// essence is what the hub needs of a branch to know where the watchdog stands:
// the records since the last start, of checks, outcomes and work messages the
// last each, the last outcome that stopped it, and how the last message of the
// user begins. What else was said stays in Pi.
func essence(branch []*entry) []json.RawMessage {
	user := func(e *entry) bool { return e.message != nil && e.message.Role == pi.RoleUser }
	record := func(kind string) func(*entry) bool {
		return func(e *entry) bool { return e.kind == pi.TypeCustom && e.customType == kind }
	}
	work := func(e *entry) bool { return e.kind == pi.TypeCustomMessage && e.customType == watchdog.MessageWork }
	single := []func(*entry) bool{user, record(watchdog.RecordCheck), record(watchdog.RecordOutcome), record(guard.Type), work}
	// A repeated outcome only changes a fold.
	ended := func(e *entry) bool {
		o, ok := e.data.(watchdog.Outcome)
		return ok && !o.Again
	}
	ending := func(e *entry) bool {
		o, ok := e.data.(watchdog.Outcome)
		return ok && !o.Again && o.End == watchdog.EndAnswered && o.Decision != watchdog.Continue
	}
	last := map[int]bool{}
	for _, is := range []func(*entry) bool{user, record(watchdog.RecordCheck), record(guard.Type), ended, work, ending} {
		last[lastIndex(branch, is)] = true
	}
	start := lastIndex(branch, record(watchdog.RecordStart))
	var records []json.RawMessage
	for i, e := range branch {
		one := record(watchdog.RecordTool)(e) || slices.ContainsFunc(single, func(is func(*entry) bool) bool { return is(e) })
		if last[i] || start >= 0 && i >= start && e.isRecord() && !one {
			records = append(records, e.slim())
		}
	}
	return records
}

func lastIndex(branch []*entry, is func(*entry) bool) int {
	for i, e := range slices.Backward(branch) {
		if is(e) {
			return i
		}
	}
	return -1
}

func (p *Pi) modelName() string { return p.setup.Provider + "/" + p.setup.Model }

// isRecord says whether the entry is a record of piwatch.
func (e *entry) isRecord() bool {
	return e.kind == pi.TypeCustom && strings.HasPrefix(e.customType, "piwatch.")
}

// slim is the record with no more than the beginning of a message.
func (e *entry) slim() json.RawMessage {
	if e.isRecord() {
		return e.raw
	}
	var record struct {
		Type string `json:"type"`
		place
		CustomType string  `json:"customType,omitempty"`
		Content    *string `json:"content,omitempty"`
		Message    *row    `json:"message,omitempty"`
	}
	if json.Unmarshal(e.raw, &record) != nil {
		return json.RawMessage("null") // an entry that could not be encoded
	}
	if record.Message != nil {
		var said strings.Builder
		for _, b := range e.message.blocks() {
			said.WriteString(b.Text)
		}
		record.Message = &row{Role: record.Message.Role, Content: textBlocks(watchdog.Beginning(said.String()))}
	}
	if record.Content != nil {
		*record.Content = ""
	}
	raw, err := encode(record)
	if err != nil {
		return json.RawMessage("null")
	}
	return raw
}
