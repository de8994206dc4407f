package pi

import (
	"fmt"
	"strconv"
	"time"
)

// Parser turns the lines of a session file into entries. Lines go in one by
// one, in file order, as they come; the zero value is ready. A Parser reads
// everything that can be read and reports the rest as Damage.
type Parser struct {
	// Lean leaves out Raw, signatures, images and the details of messages, and
	// cuts every text after LeanText bytes: for sessions that are watched but
	// not looked at. Set it before the first line.
	Lean bool
	// Text is where a Lean parser cuts the texts of messages instead, in bytes;
	// zero means LeanText.
	Text int

	header  *Header
	line    int
	records int
	entries int
	lastID  string    // of the last entry, the parent of one that names none
	ids     []string  // of the records of a version 1 file, header included
	newest  time.Time // of the last entry that had a time
	damage  DamageReport
	// salvageRead is how many bytes were read to find records in damaged lines.
	salvageRead int
}

// LeanText is the length, in bytes, at which a Lean parser cuts a text.
const LeanText = 4096

// Header is the session's header, and whether one was read.
func (p *Parser) Header() (Header, bool) {
	if p.header == nil {
		return Header{}, false
	}
	return *p.header, true
}

// Lines is the number of lines read.
func (p *Parser) Lines() int { return p.line }

// Damage is what was found wrong up to now.
func (p *Parser) Damage() DamageReport {
	var late DamageReport
	if p.header == nil && p.entries > 0 {
		late.add(Damage{Kind: DamageNoHeader, Line: 1, Detail: "Pi refuses to open the file"})
	}
	return p.damage.merge(late)
}

// Add reads one complete line, without its newline. offset is the place of its
// first byte in the file. The entries do not keep the line; the header is one
// of the entries, of Type "session".
func (p *Parser) Add(line []byte, offset int64) []Entry { return p.Place(nil, p.Draft(line, offset)) }

// Finish reads what follows the last newline of a file that is not being
// written any more. A complete record counts, as it does for Pi; anything else
// is a torn tail.
func (p *Parser) Finish(rest []byte, offset int64) []Entry {
	if len(rest) == 0 {
		return nil
	}
	return p.put(nil, p.Draft(rest, offset), false)
}

// place gives a record its id and parent, and checks it.
func (p *Parser) place(r *record) Entry {
	n := p.records
	p.records++
	offset := r.entry.Offset
	if r.odd != "" {
		p.wrong(DamageField, offset, "the field "+strconv.Quote(r.odd)+" is of another kind than Pi writes")
	}
	if r.badTime {
		p.wrong(DamageTime, offset, "unreadable timestamp")
	}
	e := r.entry
	e.Line = p.line
	if e.Type == TypeSession {
		p.placeHeader(&e)
		return e
	}
	if e.Type == "" {
		p.wrong(DamageNoType, offset, "a record without a type")
	}
	p.placeEntry(&e, r, n)
	return e
}

func (p *Parser) placeHeader(e *Entry) {
	switch {
	case p.header != nil:
		p.wrong(DamageExtraHeader, e.Offset, "the first header counts")
	default:
		if p.entries > 0 {
			p.wrong(DamageLateHeader, e.Offset, fmt.Sprintf("after %d entries", p.entries))
		}
		p.header = e.Header
	}
	p.ids = append(p.ids, "")
}

func (p *Parser) placeEntry(e *Entry, r *record, n int) {
	p.entries++
	first := p.version() < 2
	if e.ID == "" {
		if !first {
			p.wrong(DamageNoID, e.Offset, "an entry without an id")
		}
		e.ID = "v1-" + strconv.Itoa(n)
		if e.ParentID == "" {
			e.ParentID = p.lastID
		}
	}
	p.lastID = e.ID
	if first {
		p.ids = append(p.ids, e.ID)
		// Version 1 names the first kept entry by its index among the records.
		if i := r.firstKept; e.Compaction != nil && i != nil && *i >= 0 && *i < len(p.ids) {
			e.Compaction.FirstKeptEntryID = p.ids[*i]
		}
	}
	// Labels of a cloned session keep their old times at the end of the file.
	if e.Time.IsZero() || e.Type == TypeLabel {
		return
	}
	if e.Time.Before(p.newest) {
		p.wrong(DamageBackwards, e.Offset, p.newest.Sub(e.Time).String()+" before the entry above")
	}
	p.newest = e.Time
}

// version is the file's version. Entries without a header count as version 1,
// which only matters for those that have no id.
func (p *Parser) version() int {
	if p.header == nil {
		return 1
	}
	return p.header.Version
}

func (p *Parser) wrong(kind string, offset int64, detail string) {
	p.damage.add(Damage{Kind: kind, Line: p.line, Offset: offset, Detail: detail})
}

const jsonSpace = " \t\r\n"
