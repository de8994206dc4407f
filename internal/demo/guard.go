package demo

import (
	"context"

	"piwatch/internal/control"
	"piwatch/internal/guard"
	"piwatch/internal/pi"
)

// ending is what a run leaves for the guard when it ends.
type ending struct {
	answers []*row // since the last result of a tool
	worked  bool   // tools were called before
	check   bool   // the last turn was that of a check, or the agent stopped the watchdog in it
	waits   bool   // the hub is being asked
	next    *queued
}

// agentEnd is Pi's agent_end with the bridge's handler: where the agent stopped
// by itself the hub may send a message into the same run. The caller holds mu,
// which is given up meanwhile.
func (p *Pi) agentEnd(ctx context.Context) {
	e := &p.ending
	if len(e.answers) == 0 || p.link == nil {
		return
	}
	event := control.EndedEvent{Worked: e.worked, Check: e.check || p.check != nil, Facts: p.facts()}
	for _, r := range e.answers {
		raw, err := encode(r)
		if err != nil {
			return
		}
		event.Answers = append(event.Answers, raw)
	}
	if ctx.Err() != nil || e.answers[len(e.answers)-1].StopReason != pi.StopStop {
		p.tell(control.Ended, event)
		return
	}
	answered := p.call(control.Ended, event, nil)
	e.waits = true
	p.moment = InEnd
	p.bump()
	p.mu.Unlock()
	<-answered // no answer, no message
	p.mu.Lock()
	e.waits = false
	p.moment = NoMoment
	p.bump()
}

// sendGuard takes a message for the run that is ending.
func (p *Pi) sendGuard(params control.GuardParams) control.Receipt {
	now := p.facts()
	for _, no := range []struct {
		is             bool
		result, reason string
	}{
		{!p.ending.waits, control.Stale, "the run is over"},
		{p.ending.next != nil, control.Refused, "a message is on its way"},
		{p.runAborted || p.runCtx.Err() != nil, control.Refused, "the run was aborted"},
		{now.Queued, control.Refused, "a message is queued"},
		{now.Dialog, control.Refused, "a dialog is open"},
		{now.Draft, control.Refused, "the editor holds a draft"},
		{params.Fence.Settle != now.Settle, control.Stale, "the agent settled again since"},
		{params.Fence.Leaf != now.Leaf, control.Stale, "the session moved on since"},
	} {
		if no.is {
			return control.Receipt{Result: no.result, Reason: no.reason, Facts: &now}
		}
	}
	p.session.addCustom(guard.Type, params.Record, p.clock.Now())
	p.ending.next = &queued{text: params.Text, customType: guard.Type, details: detailsOf(params.Record)}
	return control.Receipt{Result: control.Queued}
}

func detailsOf(r guard.Record) guard.Details {
	return guard.Details{Cause: r.Cause, Row: r.Row, Total: r.Total}
}

// spoke notes an answer of the run.
func (e *ending) spoke(r *row) { e.answers = append(e.answers, r) }

// called notes that tools were called.
func (e *ending) called() { e.answers, e.worked = nil, true }
