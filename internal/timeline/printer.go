package timeline

import (
	"fmt"
	"io"
)

// Printer prints a timeline as it grows, one line a row: for a place without a
// screen. A row is printed when it is complete; a card when it opens, when it
// ends, and when its fold is changed later.
type Printer struct {
	// Name is the session's, at the start of what each line says; it may be
	// empty.
	Name string

	out  io.Writer
	said map[string]told // by row key
	days *Days
}

// told is what was printed of a row.
type told struct {
	sentence string
	ended    bool // of a card
	fold     FoldState
}

// NewPrinter makes a Printer that writes to out; days are those of all lines
// there.
func NewPrinter(out io.Writer, days *Days) *Printer {
	return &Printer{out: out, said: map[string]told{}, days: days}
}

// Skip takes rows for printed: those that were there before.
func (p *Printer) Skip(rows []*Row) {
	for _, r := range rows {
		if r.Tool == nil || r.Tool.Done {
			p.said[r.Key] = tell(asked(r))
		}
	}
}

// Print prints the rows that are new, and those of which there is more to say.
// The error is that of the writer.
func (p *Printer) Print(rows []*Row) error {
	for _, r := range rows {
		if r.Tool != nil && !r.Tool.Done {
			continue // it is printed with its result
		}
		r := asked(r)
		now := tell(r)
		last, known := p.said[r.Key]
		if known && !(r.Card != nil && last.wants(now)) {
			continue
		}
		p.said[r.Key] = now
		line := p.days.Heading(r.Time) + Line(r, p.Name)
		if _, err := fmt.Fprintln(p.out, line); err != nil {
			return fmt.Errorf("print the timeline: %w", err)
		}
	}
	return nil
}

// asked is a row as it is printed. An answer that is not recorded will be in a
// moment, with what came of it: until then the card is open.
func asked(r *Row) *Row {
	if r.Card == nil || r.Card.End != "" {
		return r
	}
	row, card := *r, *r.Card
	card.Decision, card.Note, card.Fold = "", "", ""
	row.Card = &card
	return &row
}

func tell(r *Row) told {
	t := told{sentence: Sentence(r)}
	if r.Card != nil {
		t.ended, t.fold = r.Card.End != "", r.Card.Fold
	}
	return t
}

// wants says whether a card is worth another line. That its exchange is folded
// when it ends is none, since that is always so.
func (t told) wants(now told) bool {
	switch {
	case !t.ended:
		return now.ended
	case t.fold == "" && (now.fold == FoldedByEdit || now.fold == FoldedByHook || now.fold == FoldedByBranch):
		return false
	}
	return t.sentence != now.sentence
}
