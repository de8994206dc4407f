package timeline

import (
	"fmt"
	"io"
)

// Printer prints a timeline as it grows, one line a row: for a place without a
// screen. A row is printed when it is complete; a card when it opens, and again
// when it ends.
type Printer struct {
	// Name is the session's, at the start of what each line says; it may be
	// empty.
	Name string

	out  io.Writer
	said map[string]string // row key → what was printed last
}

// NewPrinter makes a Printer that writes to out.
func NewPrinter(out io.Writer) *Printer {
	return &Printer{out: out, said: map[string]string{}}
}

// Skip takes rows for printed: those that were there before.
func (p *Printer) Skip(rows []*Row) {
	for _, r := range rows {
		if r.Tool == nil || r.Tool.Done {
			p.said[r.Key] = Sentence(r)
		}
	}
}

// Print prints the rows that are new, and those of which there is more to say.
// The error is that of the writer.
func (p *Printer) Print(rows []*Row) error {
	for _, r := range rows {
		last, known := p.said[r.Key]
		now := Sentence(r)
		switch {
		case r.Tool != nil && !r.Tool.Done:
			continue // it is printed with its result
		case known && (r.Card == nil || last == now):
			continue
		}
		p.said[r.Key] = now
		if _, err := fmt.Fprintln(p.out, Line(r, p.Name)); err != nil {
			return fmt.Errorf("print the timeline: %w", err)
		}
	}
	return nil
}
