package cli

import (
	"fmt"
	"time"

	"piwatch/internal/timeline"
)

// loggedRow is one row of piwatch log --json.
type loggedRow struct {
	Key    string      `json:"key"`   // of the row: the same when it comes again
	Entry  string      `json:"entry"` // id of the entry in the session file
	Kind   string      `json:"kind"`
	Time   *time.Time  `json:"time,omitempty"`
	Text   string      `json:"text"`             // one line, as without --json
	Body   string      `json:"body,omitempty"`   // all of the text, where there is more of it
	Cut    int         `json:"cut,omitempty"`    // bytes that were left out of body
	Hidden bool        `json:"hidden,omitempty"` // the agent does not see it any more
	Tool   *loggedTool `json:"tool,omitempty"`
	Check  *loggedCard `json:"check,omitempty"`
}

type loggedTool struct {
	Name    string  `json:"name"`
	Arg     string  `json:"arg"`
	Done    bool    `json:"done"`
	Error   bool    `json:"error"`
	Seconds float64 `json:"seconds"`
}

type loggedCard struct {
	ID       string  `json:"id"`
	Origin   string  `json:"origin"` // watchdog, agent, or pi-extension-watchdog
	N        int     `json:"n"`
	Max      int     `json:"max"`
	Reason   string  `json:"reason"`
	Waited   float64 `json:"waited"` // seconds of idleness before it
	End      string  `json:"end"`    // "" while it is open
	Decision string  `json:"decision"`
	Note     string  `json:"note"`
	Why      string  `json:"why"`
	Wrong    int     `json:"wrong"`
	Tokens   int     `json:"tokens"`
	Fold     string  `json:"fold"` // "" when the agent still sees it
	Rows     int     `json:"rows"` // of the exchange
}

func loggedOf(r *timeline.Row) loggedRow {
	l := loggedRow{
		Key: r.Key, Entry: r.Entry, Kind: string(r.Kind), Text: timeline.Sentence(r), Body: r.Body, Cut: r.Rest, Hidden: r.Hidden,
	}
	if !r.Time.IsZero() {
		l.Time = &r.Time
	}
	if t := r.Tool; t != nil {
		l.Tool = &loggedTool{t.Name, t.Arg, t.Done, t.Error, t.Took.Seconds()}
	}
	if c := r.Card; c != nil {
		l.Check = &loggedCard{
			c.ID, string(c.Origin), c.N, c.Max, c.Reason, c.Waited, string(c.End), string(c.Decision), c.Note, c.Why,
			c.Wrong, c.Tokens, string(c.Fold), len(c.Rows),
		}
	}
	return l
}

// jsonRows prints each row as it came to be, and again when it changed.
type jsonRows struct {
	write func(loggedRow) error
	said  map[string]string // row key → what was printed last
}

func (j *jsonRows) print(rows []*timeline.Row) error {
	for _, r := range rows {
		if r.Tool != nil && !r.Tool.Done && j.said[r.Key] != "" {
			continue
		}
		l := loggedOf(r)
		now := fmt.Sprintf("%+v %+v %+v", l.Text, l.Tool, l.Check)
		if j.said[r.Key] == now {
			continue
		}
		j.said[r.Key] = now
		if err := j.write(l); err != nil {
			return err
		}
	}
	return nil
}

func (j *jsonRows) skip(rows []*timeline.Row) {
	for _, r := range rows {
		l := loggedOf(r)
		j.said[r.Key] = fmt.Sprintf("%+v %+v %+v", l.Text, l.Tool, l.Check)
	}
}
