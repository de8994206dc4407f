// Package timeline turns the entries of a session file into the rows a person
// reads: what the user and the agent said, the tools that ran, and a card for
// each check of the watchdog. It is pure: no I/O, no clock. All text in a row
// is clean: it can be drawn, logged or printed as it is.
package timeline

import (
	"time"

	"piwatch/internal/watchdog"
)

// Row is one row of the timeline. A row that changed has a higher Version.
type Row struct {
	Key   string // stable over rebuilds: the entry's id and the part of it
	Entry string // id of the entry
	Kind  Kind
	Time  time.Time // zero when the file does not say
	Title string    // one line
	Body  string    // all of the text, cut at the limit; empty when Title says it all
	// Rest is the number of bytes of the text that were left out of Body.
	Rest int
	// Hidden says that the row is out of the agent's context, by an edit.
	Hidden bool
	Tool   *Tool // for ToolCall
	Card   *Card // for CheckCard
	// Version counts the changes of the row.
	Version int

	// joined is the id of the entry that the body is of, the result of a call;
	// empty when the body is of the row's own entry.
	joined string
	offset int64 // of the entry that the body is of
}

// Source is the entry that the body is of: its id, and where it is in the file.
func (r *Row) Source() (id string, offset int64) {
	if r.joined != "" {
		return r.joined, r.offset
	}
	return r.Entry, r.offset
}

// pristine makes the row what it was when its entry came, for another replay.
func (r *Row) pristine() {
	if r.joined != "" {
		r.Body, r.Rest, r.joined = "", 0, ""
	}
	r.Hidden, r.Tool = false, nil
	r.Version++
}

// Tool is a tool call with its result.
type Tool struct {
	Name  string
	Arg   string // the main argument, one line
	Done  bool   // there is a result
	Error bool
	// Took is the time from the call's entry to the result's: the tool's own
	// time, and of a batch the time of those before it too. Zero when unknown.
	Took time.Duration

	call   string
	from   time.Time
	decide *decide
}

// FoldState says whether the agent still sees an exchange.
type FoldState string

// The fold states.
const (
	NotFolded      FoldState = ""         // the agent still sees it
	FoldedByEdit   FoldState = "edit"     // taken out by context edits
	FoldedByBranch FoldState = "branch"   // on a branch that was left
	FoldedByHook   FoldState = "hook"     // left out by a running extension only
	Unfolded       FoldState = "unfolded" // was folded, and came back by hand
	RolledBack     FoldState = "rollback" // on a branch that was left, and off Pi's screen too
)

// Origin says whose check a card shows.
type Origin string

// The origins of a card.
const (
	ByWatchdog  Origin = "watchdog"              // a check of piwatch
	ByAgent     Origin = "agent"                 // the agent stopped by itself, outside a check
	ByExtension Origin = "pi-extension-watchdog" // a check of that extension
)

// Card is a check: what was asked and why, what the agent saw and answered,
// and what became of the exchange.
type Card struct {
	Origin Origin
	ID     string
	N, Max int     // number of the check and the cap; 0 when unknown
	Reason string  // why it fired
	Waited float64 // seconds of idleness before it

	// End is how the exchange ended; empty while it is open.
	End      watchdog.End
	Decision watchdog.Decision
	Note     string
	Why      string // the cause of an end without an answer
	Wrong    int    // wrong answers before the end
	Tokens   int    // output tokens of the exchange
	Fold     FoldState
	// Worked says that the agent was sent back to work.
	Worked bool
	// Rows are the exchange: what the agent saw and said in the check.
	Rows []*Row

	folded []string // entries taken out of the context
}

// Open says that the check has not ended yet.
func (c *Card) Open() bool { return c.End == "" }

// Folded says that the agent does not see the exchange any more.
func (c *Card) Folded() bool {
	switch c.Fold {
	case FoldedByEdit, FoldedByBranch, FoldedByHook, RolledBack:
		return true
	}
	return false
}

// bytesPerToken is the usual length of a token in English text.
const bytesPerToken = 4

// Saved is about how many tokens each request after a fold is shorter: those
// that the provider counted for the answers, and the other rows by their
// length.
func (c *Card) Saved() int {
	bytes := 0
	for _, r := range c.Rows {
		switch {
		case r.Kind == Ask && r.Body == "":
			bytes += len(r.Title)
		case r.Kind == Ask, r.Kind == ToolCall: // the body of a call is its result
			bytes += len(r.Body) + r.Rest
		}
	}
	return c.Tokens + (bytes+bytesPerToken-1)/bytesPerToken
}
