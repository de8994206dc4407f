package timeline

import (
	"slices"
	"time"

	"piwatch/internal/watchdog"
)

// The events: what an entry does besides adding its rows.
type (
	userEvent  struct{}
	agentEvent struct {
		calls     []Tool
		firstCall int // the row of the first call
		tokens    int
	}
	resultEvent struct {
		call   string
		failed bool
	}
	editEvent struct {
		target string
		omit   bool
	}
	checkEvent    struct{ watchdog.Check }
	askEvent      struct{ check string }
	workEvent     struct{ check string }
	onwardEvent   struct{ n int } // the agent is sent on without a check
	guardEvent    struct{}        // the agent was asked for its next action
	outcomeEvent  struct{ watchdog.Outcome }
	startEvent    struct{ settings watchdog.Settings }
	setEvent      struct{ settings watchdog.Settings }
	pauseEvent    struct{ on bool }
	stopEvent     struct{ reason string }
	extNudgeEvent struct {
		n, max int
		reason string
	}
	extDecisionEvent struct {
		decision watchdog.Decision
		note     string
	}
	extFoldEvent struct{}
	modelEvent   struct{}
)

// projection is the branch as rows, so far. It takes the nodes of the branch
// in order.
type projection struct {
	from  *Builder
	rows  []*Row
	cards map[string]*Row // check id → its card
	// cardRows are all cards, in order.
	cardRows []*Row
	open     *Row            // the card whose exchange runs
	last     *Row            // the last card
	tools    map[string]*Row // tool call id → its row
	edits    map[string]edit // target → the last edit of it
	running  []*Tool         // calls of the last answer without a result

	story Story
}

type edit struct {
	omit bool
	row  *Row
}

func (p *projection) start(b *Builder) {
	if p.from == nil {
		*p = projection{from: b, cards: map[string]*Row{}, tools: map[string]*Row{}, edits: map[string]edit{}}
	}
}

// take replays one node.
func (p *projection) take(n *node) {
	if !n.time.IsZero() {
		p.story.Time = n.time
	}
	switch ev := n.event.(type) {
	case userEvent:
		p.open = nil
		p.addAll(n)
		p.story.user(n)
	case agentEvent:
		p.agent(n, ev)
	case resultEvent:
		p.result(n, ev)
	case editEvent:
		p.edit(n, ev)
	case checkEvent:
		p.openCard(n, Card{Origin: ByWatchdog, ID: ev.ID, N: ev.N, Max: ev.Max, Reason: OneLine(ev.Reason), Waited: ev.Waited})
	case askEvent:
		if p.open == nil || p.open.Card.ID != ev.check {
			p.openCard(n, Card{Origin: ByWatchdog, ID: ev.check})
		}
		p.addAll(n)
		p.story.Wait.asked(n.time)
	case extNudgeEvent:
		p.openCard(n, Card{Origin: ByExtension, N: ev.n, Max: ev.max, Reason: ev.reason})
		p.addAll(n)
		p.story.Wait.asked(n.time)
	case outcomeEvent:
		p.outcome(n, ev.Outcome)
	case extDecisionEvent:
		p.extDecision(n, ev)
	case extFoldEvent:
		if p.last != nil {
			p.last.Card.Fold = FoldedByHook
			p.last.Version++
		}
	case workEvent:
		p.work(n, ev)
	case startEvent, setEvent, pauseEvent, stopEvent:
		p.addOutside(n)
		p.story.event(n, ev)
	default:
		p.addAll(n)
		p.story.event(n, ev)
	}
}

// addAll adds the rows of a node: to the open card, or to the timeline.
func (p *projection) addAll(n *node) []*Row {
	added := make([]*Row, len(n.rows))
	for i := range n.rows {
		added[i] = &n.rows[i]
		added[i].pristine()
	}
	if p.open != nil {
		p.open.Card.Rows = append(p.open.Card.Rows, added...)
		p.open.Version++
	} else {
		p.rows = append(p.rows, added...)
	}
	n.call = nil
	return added
}

// home are the rows that show an entry: its own, or that of the call whose
// result it is.
func (p *projection) home(entry string) []*Row {
	at, ok := p.from.byID[entry]
	if !ok {
		return nil
	}
	n := p.from.nodes[at]
	if n.call != nil {
		return []*Row{n.call}
	}
	rows := make([]*Row, len(n.rows))
	for i := range n.rows {
		rows[i] = &n.rows[i]
	}
	return rows
}

// addOutside adds the rows of a node to the timeline, also while a card is
// open: what a person did to the watchdog is not what the agent saw.
func (p *projection) addOutside(n *node) {
	card := p.open
	p.open = nil
	p.addAll(n)
	p.open = card
}

func (p *projection) agent(n *node, ev agentEvent) {
	rows := p.addAll(n)
	p.bindCalls(n, rows, ev)
	if p.open != nil {
		p.open.Card.Tokens += ev.tokens
	}
	p.story.agent(n, ev)
}

// bindCalls gives the call rows their tools, so that results find them.
func (p *projection) bindCalls(n *node, rows []*Row, ev agentEvent) {
	p.running = p.running[:0]
	for i := range ev.calls {
		tool := &ev.calls[i]
		tool.Done, tool.Error, tool.Took = false, false, 0 // as in a replay before
		row := rows[ev.firstCall+i]
		row.Tool = tool
		p.running = append(p.running, tool)
		if tool.call != "" {
			p.tools[tool.call] = row
		}
	}
}

// result joins a tool's result with its call; a result without one is a row of
// its own.
func (p *projection) result(n *node, ev resultEvent) {
	p.running = slices.DeleteFunc(p.running, func(t *Tool) bool { return t.call == ev.call })
	p.story.Wait.ran(n.time, p.running)
	row, ok := p.tools[ev.call]
	if !ok {
		row = p.addAll(n)[0]
		row.Tool = &Tool{Name: row.Title}
	} else {
		delete(p.tools, ev.call)
		row.Body, row.Rest, row.joined, row.offset = n.rows[0].Body, n.rows[0].Rest, n.id, n.rows[0].offset
		n.call = row
	}
	row.Tool.Done, row.Tool.Error = true, ev.failed
	row.Tool.Took = took(row.Tool.from, n.time)
	row.Version++
	if p.open != nil {
		p.answered(row, ev.failed)
		p.open.Version++
	}
}

// answered takes an accepted answer for the decision of the open card, until
// its outcome says so.
func (p *projection) answered(row *Row, failed bool) {
	c := p.open.Card
	if d := row.Tool.decide; d != nil && !failed && d.Decision.Valid() && !c.Decision.Valid() {
		c.Decision, c.Note = d.Decision, OneLine(d.Note)
	}
}

func took(from, to time.Time) time.Duration {
	if from.IsZero() || to.IsZero() {
		return 0
	}
	return max(to.Sub(from), 0)
}

// edit hides or shows the rows of its target. An edit of piwatch is part of a
// card, which an outcome after it says: until then it waits.
func (p *projection) edit(n *node, ev editEvent) {
	p.story.edited(ev)
	row := n.rows[0]
	for _, r := range p.home(ev.target) {
		r.Hidden = ev.omit
		r.Version++
	}
	row.Title = editTitle(p.home(ev.target), ev.omit)
	if card := p.cardOf(ev.target); card != nil {
		card.Card.Fold = NotFolded
		if ev.omit {
			card.Card.Fold = FoldedByEdit
		} else if card.Card.folds(ev.target) {
			card.Card.Fold = Unfolded
		}
		card.Version++
		return
	}
	p.rows = append(p.rows, &row)
	p.edits[ev.target] = edit{ev.omit, &row}
}

// editTitle says what became of a row. Pi 1.6.0 takes a failed answer out when it
// is about to ask again.
func editTitle(target []*Row, omit bool) string {
	what := "a row that is not here"
	if len(target) > 0 {
		what = short(Sentence(target[0]), maxTitle)
	}
	switch {
	case !omit:
		return "replaced in the context: " + what
	case len(target) > 0 && target[len(target)-1].Kind == Failed:
		return "Pi asks again, without the failed answer"
	}
	return "taken out of the context: " + what
}

func (p *projection) work(n *node, ev workEvent) {
	card := p.cards[ev.check]
	if card == nil && ev.check == "" {
		card = p.last
	}
	p.open = nil
	if card != nil {
		card.Card.Worked = true
		card.Version++
	}
	p.addAll(n)
	p.story.event(n, ev)
}
