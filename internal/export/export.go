// Package export writes a timeline as a page to share: HTML that stands alone, or
// Markdown. It is a function of the rows. All text in them is foreign: it is
// escaped, whatever it holds, and a page asks nothing of the network.
package export

import (
	"fmt"
	"strings"
	"time"

	"piwatch/internal/timeline"
)

// Page is what is written.
type Page struct {
	Title   string // the session's name, else its folder
	Session string // its id
	Cwd     string
	Model   string
	Version string // of piwatch
	Zone    *time.Location
	Rows    []*timeline.Row
}

// item is a row as it is written.
type item struct {
	Kind    timeline.Kind
	Label   string
	Time    string // hh:mm:ss, "" when the file does not say
	Day     string // set on the first row of a day
	Title   string
	Text    string // all of it, shown at once
	More    string // what opens on demand
	Cut     int    // bytes that the timeline left out
	Hidden  bool   // the agent does not see it any more
	Tool    *timeline.Tool
	Check   *check
	Inner   []item // of a check: what the agent saw and said in it
	Summary string // of what opens
}

// check is the card of a check.
type check struct {
	Number, Cause, Answer, Note, Fold string
	Decision                          string // for the colour: continue, done, wait_user, or ""
	Tokens, Saved, Wrong              int
	Worked                            bool
}

// quiet are the kinds whose text opens on demand: there is much of it, and it is
// not what was said.
var quiet = map[timeline.Kind]string{
	timeline.Thinking: "thinking", timeline.ToolCall: "output", timeline.Shell: "output", timeline.Ask: "the message",
	timeline.Work: "the message", timeline.Compaction: "the summary", timeline.Branch: "the summary", timeline.Message: "the message",
	timeline.Unknown: "the entry", timeline.Edit: "the entry", timeline.Damage: "the line",
}

func (p *Page) items() []item {
	day := ""
	return p.itemsOf(p.Rows, &day)
}

func (p *Page) itemsOf(rows []*timeline.Row, day *string) []item {
	var items []item
	for _, r := range rows {
		it := item{Kind: r.Kind, Label: r.Kind.Label(), Title: timeline.Sentence(r), Hidden: r.Hidden, Cut: r.Rest, Tool: r.Tool}
		if !r.Time.IsZero() {
			at := r.Time.In(p.zone())
			it.Time = at.Format(time.TimeOnly)
			if date := at.Format(time.DateOnly); date != *day {
				*day, it.Day = date, date
			}
		}
		body := strings.TrimSpace(r.Body)
		summary, opens := quiet[r.Kind]
		switch {
		case r.Card != nil:
			it.Check = checkOf(r.Card)
			inner := *day
			it.Inner = p.itemsOf(r.Card.Rows, &inner)
			it.Summary = "what the agent saw and said in it"
		case body == "":
		case opens:
			it.More, it.Summary = body, summary
		default: // the title is only its beginning
			it.Title, it.Text = "", body
		}
		items = append(items, it)
	}
	return items
}

func checkOf(c *timeline.Card) *check {
	k := &check{
		Number: c.Number(), Cause: c.Cause(), Answer: c.Answer(), Note: c.Note, Fold: c.Fold.Words(),
		Tokens: c.Tokens, Wrong: c.Wrong, Worked: c.Worked,
	}
	if c.Decision.Valid() {
		k.Decision = string(c.Decision)
	}
	if c.Folded() {
		k.Saved = c.Saved()
	}
	return k
}

// facts are what stands below the answer of a check.
func (k *check) facts() []string {
	var all []string
	if k.Worked {
		all = append(all, "sent back to work")
	}
	if k.Wrong > 0 {
		all = append(all, plural(k.Wrong, "wrong answer"))
	}
	if k.Tokens > 0 {
		all = append(all, plural(k.Tokens, "token"))
	}
	if k.Fold != "" {
		text := k.Fold
		if k.Saved > 0 {
			text += fmt.Sprintf(", about %s fewer in each request since", plural(k.Saved, "token"))
		}
		all = append(all, text)
	}
	return all
}

// Facts is facts as one text.
func (k *check) Facts() string { return strings.Join(k.facts(), " · ") }

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func (p *Page) zone() *time.Location {
	if p.Zone == nil {
		return time.Local
	}
	return p.Zone
}

// counts say what a session was, in one line.
func (p *Page) counts() string {
	var users, tools, checks int
	for _, r := range p.Rows {
		switch r.Kind {
		case timeline.User:
			users++
		case timeline.ToolCall:
			tools++
		case timeline.CheckCard:
			checks++
		}
	}
	return strings.Join([]string{plural(users, "message"), plural(tools, "tool call"), plural(checks, "check")}, ", ")
}
