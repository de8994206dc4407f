package hub

import (
	"context"
	"fmt"

	"piwatch/internal/control"
)

// exchangeChange is a change of an ended exchange by hand. The bridge decides
// whether it can be: it sees the branch.
type exchangeChange struct {
	method string
	params func(check string) any
	done   string // said when it was done
}

// exchanges are the methods of a client for one ended exchange.
var exchanges = map[string]exchangeChange{
	control.Fold: {control.FoldRows, func(id string) any { return control.FoldParams{Check: id, On: true} },
		"The exchange is out of the context again."},
	control.Unfold: {control.FoldRows, func(id string) any { return control.FoldParams{Check: id} },
		"The exchange is back in the context."},
	control.Rollback: {control.RollbackTo, func(id string) any { return control.RollbackParams{Check: id} },
		"The exchange is off the branch and off Pi's screen."},
}

// ask has the bridge do it; the answer comes when the bridge has answered.
func (c exchangeChange) ask(s *session, check string) any {
	if check == "" {
		check = s.engine.View(s.hub.clock.Now()).Exchange
	}
	if check == "" {
		return control.CommandReply{Level: "error", Text: "No check has ended in this session since the hub knows it; name one by its id."}
	}
	receipts := make(chan control.Receipt, 1)
	b := s.driver()
	b.enqueue(request{method: c.method, params: c.params(check), got: func(r control.Receipt) { receipts <- r }})
	return control.Later(func(ctx context.Context) (any, error) {
		select {
		case r := <-receipts:
			if r.Result == control.Sent || r.Result == control.Queued {
				return control.CommandReply{Level: "info", Text: c.done}, nil
			}
			return control.CommandReply{Level: "error", Text: fmt.Sprintf("Nothing changed: %s.", r.Reason)}, nil
		case <-b.done:
			return control.CommandReply{Level: "error", Text: "Nothing changed: the session ended."}, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	})
}
