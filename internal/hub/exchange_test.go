package hub_test

import (
	"encoding/json"
	"strings"
	"testing"

	"piwatch/internal/control"
	"piwatch/internal/watchdog"
)

// Exchanges are changed by the bridge: the hub asks it, and says what it said.
func TestExchangesByHand(t *testing.T) {
	h, c, b := counting(t)
	p := control.SteerParams{Session: "s1"}
	c.steer(control.Fold, p, "error: No check has ended in this session since the hub knows it; name one by its id.")
	h.clock.advance(2 * sec)
	b.wants("status ⏱1s 0/3")
	check := b.check("check 1/3 at 1 leaf1")
	b.wants("status ⏱▶ 1/3")
	b.run(true)
	b.closed(watchdog.Outcome{Check: check, End: watchdog.EndNoAnswer, Rows: []string{"r1"}})
	b.settle()
	b.wants("status ⏱2s 1/3")
	for _, x := range []struct{ method, id, done, request string }{
		{control.Unfold, "", "The exchange is back in the context.", `fold {"check":"` + check + `","on":false}`},
		{control.Fold, "c7", "The exchange is out of the context again.", `fold {"check":"c7","on":true}`},
		{control.Rollback, "", "The exchange is off the branch and off Pi's screen.", `rollback {"check":"` + check + `"}`},
	} {
		p.Check = x.id
		c.steer(x.method, p, "info: "+x.done)
		if m := <-b.got; m.method+" "+string(m.params) != x.request {
			t.Errorf("the bridge was asked %s %s, want %s", m.method, m.params, x.request)
		}
		b.refuse(bridgeMethod(x.method), "the agent is running")
		c.steer(x.method, p, "error: Nothing changed: the agent is running.")
		<-b.got
	}
	c.refuses(control.Fold, control.SteerParams{Session: "nobody"}, control.ErrNoSession, "nobody")
	// A session that ends meanwhile.
	b.block()
	failed := make(chan control.CommandReply, 1)
	go func() {
		reply, err := c.Steer(h.ctx, control.Rollback, p)
		if err != nil {
			t.Error(err)
		}
		failed <- reply
	}()
	<-b.got
	b.leave()
	if r := <-failed; r.Level != "error" || !strings.HasPrefix(r.Text, "Nothing changed: ") {
		t.Errorf("a session that ended: %+v", r)
	}
}

func bridgeMethod(client string) string {
	if client == control.Rollback {
		return control.RollbackTo
	}
	return control.FoldRows
}

// PI_WATCHDOG_ROLLBACK: an ended exchange is rolled back before the work
// message is sent.
func TestRollbackByEnvironment(t *testing.T) {
	h := start(t)
	c := h.client()
	b := h.join(hello("s1", env("PI_WATCHDOG_ROLLBACK", "1")))
	c.start("s1", "timeout=2 max=3")
	b.wants("tool", startRecord(threeChecks), "status ⏱2s 0/3")
	h.clock.advance(2 * sec)
	b.wants("status ⏱1s 0/3")
	check := b.check("check 1/3 at 1 leaf1")
	b.wants("status ⏱▶ 1/3")
	b.run(true)
	b.decide(check, "continue", "")
	b.closed(watchdog.Outcome{Check: check, End: watchdog.EndAnswered, Decision: watchdog.Continue, Rows: []string{"r1"}})
	facts := b.facts
	facts.Settle, facts.Idle, facts.Leaf = 2, true, "before"
	b.answer(control.RollbackTo, control.Receipt{Result: control.Sent, Facts: &facts})
	b.settle()
	if m := <-b.got; m.method != control.RollbackTo || string(m.params) != string(must(json.Marshal(control.RollbackParams{Check: check}))) {
		t.Errorf("after the check %s %s", m.method, m.params)
	}
	b.wants("work at 2 before")
}

func must(data []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return data
}
