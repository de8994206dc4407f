package pi

import (
	"bytes"
	"strconv"
	"unicode/utf8"
)

// Draft is a line that was read as far as that goes without the lines before
// it, which is most of the work. It shows the line until it has its place.
type Draft struct {
	line    []byte // NUL bytes replaced
	offset  int64
	nuls    int
	badText bool
	record  *record // nil when the line is not one record
}

// Draft reads one complete line, without its newline; offset is the place of
// its first byte in the file. It may be called in any goroutine, and for lines
// in any order.
func (p *Parser) Draft(line []byte, offset int64) Draft {
	d := Draft{line: line, offset: offset}
	if bytes.IndexByte(line, 0) >= 0 {
		d.nuls = bytes.Count(line, []byte{0})
		d.line = bytes.ReplaceAll(line, []byte{0}, []byte{' '})
	}
	start := skipSpace(d.line, 0)
	if start == len(d.line) {
		return d
	}
	d.badText = !utf8.Valid(d.line)
	if d.line[start] == '{' {
		if end, ok := scan(d.line[start:]); ok && skipSpace(d.line, start+end) == len(d.line) {
			d.record = p.readObject(d.line[start:start+end], offset+int64(start))
		}
	}
	return d
}

// Place gives a draft its place in the file, behind all that were placed
// before, and appends its entries to all. Drafts are placed one by one, in file
// order. The entries do not keep the line; the header is one of them, of Type
// "session".
func (p *Parser) Place(all []Entry, d Draft) []Entry { return p.put(all, d, true) }

func (p *Parser) put(all []Entry, d Draft, complete bool) []Entry {
	p.line++
	if d.nuls > 0 {
		p.wrong(DamageNUL, d.offset, strconv.Itoa(d.nuls)+" NUL bytes")
	}
	if d.badText {
		p.wrong(DamageUTF8, d.offset, "invalid UTF-8")
	}
	switch {
	case d.record != nil:
		return append(all, p.place(d.record))
	case skipSpace(d.line, 0) == len(d.line):
		return all
	}
	return append(all, p.salvage(d.line, d.offset, complete)...)
}

// readObject reads an object that scan has accepted, as fully as the parser
// keeps it.
func (p *Parser) readObject(object []byte, offset int64) *record {
	limit := 0
	if !p.Lean {
		object = bytes.Clone(object)
	} else if limit = p.Text; limit == 0 {
		limit = LeanText
	}
	r := readRecord(object, limit)
	r.entry.Offset, r.entry.Length = offset, int64(len(object))
	if p.Lean {
		r.entry.slim()
	} else {
		r.entry.Raw = object
	}
	return r
}
