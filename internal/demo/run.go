package demo

import (
	"context"
	"slices"
	"strings"

	"piwatch/internal/control"
	"piwatch/internal/guard"
	"piwatch/internal/pi"
	"piwatch/internal/watchdog"
)

// startRun begins a run with a message, as Pi's agent loop does; the caller
// holds mu and has seen that Pi is idle.
func (p *Pi) startRun(first queued) {
	ctx, cancel := context.WithCancel(p.ctx)
	p.running, p.runCtx, p.cancelRun = true, ctx, cancel
	p.agentStart()
	p.work.Go(func() {
		defer cancel()
		p.mu.Lock()
		defer p.mu.Unlock()
		p.loop(ctx, []queued{first})
		p.agentEnd(ctx)
		// A failed run leaves its queue, and a message may be sent into a run that
		// ends. Pi goes on with them before it settles (1.6.0, read); after an abort
		// it does not.
		for pending := p.next(ctx); len(pending) > 0; pending = p.next(ctx) {
			p.agentStart()
			p.loop(ctx, pending)
			p.agentEnd(ctx)
		}
		if p.ctx.Err() == nil { // else the process is gone
			p.beforeSettle()
			p.settled()
		}
		p.running = false
		p.bump()
	})
}

// agentStart is Pi's agent_start with the bridge's handler.
func (p *Pi) agentStart() {
	p.runAborted, p.ending = false, ending{}
	p.tell(control.Run, control.RunEvent{Own: p.ownRun})
	p.ownRun = false
	p.bump()
}

// next is the message that a run without an abort still has to deliver.
func (p *Pi) next(ctx context.Context) []queued {
	if ctx.Err() != nil {
		return nil
	}
	if steer := poll(&p.steering); steer != nil {
		return steer
	}
	if follow := poll(&p.followUps); follow != nil {
		return follow
	}
	if next := p.ending.next; next != nil {
		return []queued{*next}
	}
	return nil
}

// loop is one run of Pi's agent loop: turns as long as tools were called or the
// user steers, then the follow-ups, each one at a time.
func (p *Pi) loop(ctx context.Context, pending []queued) {
	for ; len(pending) > 0; pending = poll(&p.followUps) {
		for more := true; more || len(pending) > 0; pending = poll(&p.steering) {
			p.deliver(pending)
			row, a := p.answer(ctx)
			if p.ctx.Err() != nil {
				return
			}
			p.tellAnswer(row)
			e := p.session.addMessage(row, p.clock.Now())
			if p.check != nil {
				p.check.decideInBatch = p.callsTool(row)
			}
			p.ending.spoke(row)
			kind, text := Replied, textOf(row)
			if strings.TrimSpace(text) == "" && len(row.calls()) == 0 {
				kind = Silent
			}
			p.note(Event{Kind: kind, Text: text, Entry: e.id})
			if row.StopReason == pi.StopError || row.StopReason == pi.StopAborted {
				p.turnEnd(ctx.Err() != nil, e, nil)
				return
			}
			results, terminate := p.execute(ctx, row, a)
			if p.ctx.Err() != nil {
				return
			}
			if len(results) > 0 {
				p.ending.called()
			}
			more = len(results) > 0 && !terminate
			p.turnEnd(ctx.Err() != nil, e, results)
		}
	}
}

// poll takes the oldest message of a queue: Pi delivers one at a time.
func poll(queue *[]queued) []queued {
	if len(*queue) == 0 {
		return nil
	}
	next := (*queue)[:1:1]
	*queue = (*queue)[1:]
	return next
}

// deliver appends messages, and before them the system row that declares tools
// the branch does not know yet.
func (p *Pi) deliver(messages []queued) {
	p.declare()
	for _, m := range messages {
		now := p.clock.Now()
		if m.customType == "" {
			if p.check != nil && p.check.void != "" {
				p.closeCheck()
			}
			e := p.session.addMessage(&row{Role: pi.RoleUser, Content: textBlocks(m.text), Timestamp: now.UnixMilli()}, now)
			p.note(Event{Kind: Prompted, Text: m.text, Entry: e.id})
			continue
		}
		e := p.session.addCustomMessage(m.customType, m.text, m.details, now)
		if d, ok := m.details.(watchdog.MessageDetails); ok {
			e.check = d.Check
		}
		kind := Worked
		switch m.customType {
		case watchdog.MessageCheck:
			kind = Asked
		case guard.Type:
			kind = Urged
		}
		p.note(Event{Kind: kind, Text: m.text, Entry: e.id})
	}
}

func (p *Pi) declare() {
	known := map[string]bool{}
	for _, name := range p.session.declared() {
		known[name] = true
	}
	r := &row{Role: pi.RoleSystem, Content: "", Timestamp: p.clock.Now().UnixMilli()}
	if len(known) == 0 {
		r.Sections = map[string]string{"preamble": "You are the stand-in of a coding agent.", "cwd": p.session.cwd}
	}
	for _, t := range p.tools {
		if !known[t.Name] {
			r.ToolsAdded = append(r.ToolsAdded, t)
		}
	}
	if len(r.ToolsAdded) > 0 {
		p.session.addMessage(r, p.clock.Now())
	}
}

// settled is Pi's agent_settled, with the bridge's handler.
func (p *Pi) settled() {
	p.running = false
	if p.check != nil && p.runAborted {
		p.check.makeVoid(interrupted)
	}
	p.closeIdle()
	p.settle++
	p.runs++
	p.aborted = p.runAborted && !p.ownAbort
	p.ownAbort = false
	p.note(Event{Kind: Rest})
	p.ask(control.Settled, control.SettledEvent{Facts: p.facts()})
}

// abort ends the run. In the TUI what waits in the queues goes back into the
// editor, whoever aborts (Pi 1.6.0, read). The caller holds mu.
func (p *Pi) abort() {
	if !p.running {
		return
	}
	var parts []string
	for _, q := range slices.Concat(p.steering, p.followUps) {
		parts = append(parts, q.text)
	}
	if p.hasDraft() {
		parts = append(parts, p.draft)
	}
	p.draft = strings.Join(parts, "\n\n")
	p.steering, p.followUps = nil, nil
	p.note(Event{Kind: Interrupt})
	p.cancelRun()
}
