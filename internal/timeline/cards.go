package timeline

import (
	"slices"

	"piwatch/internal/watchdog"
)

// openCard begins a card; the rows after it are its exchange.
func (p *projection) openCard(n *node, c Card) *Row {
	row := p.newCard(n, c)
	p.open = row
	p.story.checkOpened(c)
	return row
}

func (p *projection) newCard(n *node, c Card) *Row {
	row := &Row{Key: n.id + ":card", Entry: n.id, Kind: CheckCard, Time: n.time, Card: &c}
	p.open = nil
	p.rows = append(p.rows, row)
	p.cardRows = append(p.cardRows, row)
	p.last = row
	if c.ID != "" {
		p.cards[c.ID] = row
	}
	return row
}

// outcome closes a card. The card may not be on the branch: a fold by branch
// leaves its rows on a branch of their own, below the check's record.
func (p *projection) outcome(n *node, o watchdog.Outcome) {
	row := p.cards[o.Check]
	switch {
	case o.Check == "":
		row = p.newCard(n, Card{Origin: ByAgent})
	case row == nil:
		row = p.openCard(n, Card{Origin: ByWatchdog, ID: o.Check})
		p.gather(row)
	case len(row.Card.Rows) == 0:
		p.gather(row)
	}
	if p.open == row {
		p.open = nil
	}
	c := row.Card
	was := c.Fold
	c.End, c.Decision = o.End, watchdog.Decision(OneLine(string(o.Decision)))
	c.Note, c.Why, c.Wrong = OneLine(o.Note), OneLine(o.Why), o.Wrong
	if o.Tokens > 0 {
		c.Tokens = o.Tokens
	}
	c.folded = o.Rows
	p.claim(row)
	c.Fold = foldState(o, was, p.edits)
	row.Version++
	if !o.Again { // a change by hand says nothing of where the session stands
		p.story.outcome(*c)
	}
}

func foldState(o watchdog.Outcome, was FoldState, edits map[string]edit) FoldState {
	switch o.Fold {
	case watchdog.FoldEdit:
		return FoldedByEdit
	case watchdog.FoldBranch:
		return FoldedByBranch
	case watchdog.FoldHook:
		return FoldedByHook
	case watchdog.FoldRollback:
		return RolledBack
	}
	if o.Unfolded != watchdog.FoldNone {
		return Unfolded
	}
	for _, id := range o.Rows {
		if edits[id].omit {
			return FoldedByEdit
		}
	}
	if was != NotFolded {
		return Unfolded
	}
	return NotFolded
}

// claim moves rows of the exchange that stand in the timeline into the card:
// the calls of a stop by the agent itself, rows that came after the card was
// closed, and the edits that folded them.
func (p *projection) claim(card *Row) {
	c := card.Card
	mine := map[*Row]bool{}
	for _, id := range c.folded {
		for _, r := range p.home(id) {
			if r.Kind != User {
				mine[r] = true
			}
		}
		if e, ok := p.edits[id]; ok {
			mine[e.row] = true
		}
	}
	if c.Origin == ByAgent {
		p.claimDecision(mine)
	}
	if len(mine) == 0 {
		return
	}
	p.rows = slices.DeleteFunc(p.rows, func(r *Row) bool {
		if !mine[r] {
			return false
		}
		if r.Kind != Edit {
			c.Rows = append(c.Rows, r)
		}
		return true
	})
}

// claimDecision finds the call by which the agent stopped: the last one. The
// text beside it was a delivery and stays where it is.
func (p *projection) claimDecision(mine map[*Row]bool) {
	for r := range mine {
		if r.Kind != ToolCall && r.Kind != Edit {
			delete(mine, r)
		}
	}
	for i := len(p.rows) - 1; i >= 0 && p.rows[i].Kind != User; i-- {
		if r := p.rows[i]; r.Tool != nil && r.Tool.Name == decideTool {
			mine[r] = true
			return
		}
	}
}

// gather takes the exchange of a card from the branch that it was left on:
// the rows below the check's record, as far as the exchange goes.
func (p *projection) gather(card *Row) {
	at, ok := p.from.check[card.Card.ID]
	if !ok {
		return
	}
	record := p.from.nodes[at]
	if ev, ok := record.event.(checkEvent); ok {
		c := card.Card
		c.N, c.Max, c.Reason, c.Waited = ev.N, ev.Max, OneLine(ev.Reason), ev.Waited
	}
	card.Time = record.time
	was := p.open
	p.open = card
	p.descend(record)
	p.open = was
}

func (p *projection) descend(n *node) {
	for at := n.child; at != 0; at = p.from.nodes[at].next {
		k := p.from.nodes[at]
		switch ev := k.event.(type) {
		case askEvent:
			if ev.check != p.open.Card.ID {
				continue
			}
			p.addAll(k)
		case agentEvent:
			p.bindCalls(k, p.addAll(k), ev)
			p.open.Card.Tokens += ev.tokens
		case resultEvent:
			p.result(k, ev)
		case nil:
			p.addAll(k)
		default:
			continue // the user, work, another check: not the exchange any more
		}
		p.descend(k)
	}
}

// extDecision is the answer to the extension's last check.
func (p *projection) extDecision(n *node, ev extDecisionEvent) {
	row := p.last
	if row == nil || row.Card.Origin != ByExtension || !row.Card.Open() {
		row = p.newCard(n, Card{Origin: ByExtension})
	}
	row.Card.End, row.Card.Decision, row.Card.Note = watchdog.EndAnswered, ev.decision, ev.note
	row.Version++
	p.story.outcome(*row.Card)
}

// cardOf finds the card whose exchange holds an entry.
func (p *projection) cardOf(entry string) *Row {
	for _, r := range p.home(entry) {
		for _, card := range []*Row{p.open, p.last} {
			if card != nil && slices.Contains(card.Card.Rows, r) {
				return card
			}
		}
	}
	for _, card := range p.cards {
		if card.Card.folds(entry) {
			return card
		}
	}
	return nil
}

func (c *Card) folds(entry string) bool { return slices.Contains(c.folded, entry) }
