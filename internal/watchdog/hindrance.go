package watchdog

import "time"

// hindrance says why nothing may be sent or counted now, "" when nothing is in
// the way. resumes: a countdown goes on afterwards with the time that was left.
func (e *Engine) hindrance() (why string, resumes bool) {
	for _, h := range hindrances {
		if h.is(e) {
			why := h.why
			if h.because != nil {
				why += h.because(e)
			}
			return why, h.resumes
		}
	}
	return "", false
}

// hindrances in the order in which they are told. Each is a state in which
// piwatch sends nothing.
var hindrances = []struct {
	why     string
	because func(*Engine) string
	phase   Phase
	resumes bool
	is      func(*Engine) bool
}{
	{why: "off", because: func(e *Engine) string {
		if e.offWhy == "" {
			return ""
		}
		return ": " + e.offWhy
	}, phase: Off, is: func(e *Engine) bool { return !e.on }},
	{why: "no bridge is connected", phase: Lost, is: func(e *Engine) bool { return !e.joined }},
	{why: "suspended after ", because: func(e *Engine) string { return string(e.last) + "; the user's next message resumes it" },
		phase: Suspended, is: func(e *Engine) bool { return e.suspended }},
	{why: "paused by hand", phase: Paused, resumes: true, is: func(e *Engine) bool { return e.paused }},
	{why: "interrupted; waits for the user's next message", phase: Interrupted,
		is: func(e *Engine) bool { return e.interrupted }},
	{why: "the check is void; its turn ends", phase: Working, is: func(e *Engine) bool { return e.check != nil && e.check.void }},
	{why: "a check is open", phase: Checking, is: func(e *Engine) bool { return e.check != nil }},
	{why: "an exchange is rolled back", phase: Working, is: func(e *Engine) bool { return e.undo != nil && e.undo.asked }},
	{why: "Pi is compacting", phase: Working, is: func(e *Engine) bool { return e.facts.Compacting }},
	{why: "the agent is working", phase: Working, is: func(e *Engine) bool { return !e.facts.Idle }},
	{why: "a message was submitted; its run starts", phase: Working, is: func(e *Engine) bool { return !e.submitted.IsZero() }},
	{why: "a message is queued", phase: Working, is: func(e *Engine) bool { return e.facts.Queued }},
	{why: "a dialog is open in Pi", phase: Typing, resumes: true, is: func(e *Engine) bool { return e.facts.Dialog }},
	{why: "a child session is running", phase: Working, is: func(e *Engine) bool { return e.children > 0 }},
	{why: "the session has no message of the user yet", phase: Waiting, is: func(e *Engine) bool { return !e.human }},
	{why: "no run has finished in this process yet; send the agent a message", phase: Waiting,
		is: func(e *Engine) bool { return e.facts.Runs == 0 && !e.byHand }},
	{why: "the editor holds a draft", phase: Typing, resumes: true, is: func(e *Engine) bool { return e.facts.Draft }},
	{why: "keys were pressed", phase: Typing, resumes: true, is: func(e *Engine) bool { return !e.lastKey.IsZero() }},
	{why: "this check was skipped by hand; waits for the next settle", phase: Waiting,
		is: func(e *Engine) bool { return e.skipped }},
	{why: "refused: ", because: func(e *Engine) string { return e.refusal + "; waits for the next settle" }, phase: Waiting,
		is: func(e *Engine) bool { return e.refused >= refusalsPerSettle }},
}

// onItsWay is said while a work message is with the bridge.
const onItsWay = "the work message is on its way"

// View is what people see at that time.
func (e *Engine) View(now time.Time) View {
	v := View{
		Count: e.count, Settings: e.settings, Deadline: e.deadline, Left: e.left,
		Last: e.last, Note: e.note, Exchange: e.exchange, Phase: Counting, Paused: e.on && e.paused,
	}
	if e.check != nil {
		v.Check = e.check.id
	}
	for _, h := range hindrances {
		if h.is(e) {
			v.Phase = h.phase
			break
		}
	}
	v.Why, _ = e.hindrance()
	if v.Paused && v.Phase != Paused {
		v.Why += "; also paused by hand"
	}
	v.Capped = v.Phase == Off && e.offWhy == capReached(e.settings) && e.count >= e.settings.Max
	if v.Phase == Counting && e.deadline.IsZero() {
		v.Phase, v.Why = Working, onItsWay
	}
	return v
}
