package pi

import (
	"bytes"
	"fmt"
)

// recordStart is how every record that Pi writes begins.
var recordStart = []byte(`{"type":"`)

// salvageEffort bounds the work on one damaged line, as a multiple of its
// length: without it a line of nothing but record starts costs its square.
const salvageEffort = 16

// salvage reads a line that is not one record: records glued together, the
// torn end of one before the next, bytes of another kind in between.
func (p *Parser) salvage(line []byte, offset int64, complete bool) []Entry {
	var entries []Entry
	budget := p.salvageRead + salvageEffort*len(line)
	lost := 0 // start of the bytes that belong to no record yet
	at := 0
	for at < len(line) {
		at += len(line[at:]) - len(bytes.TrimLeft(line[at:], jsonSpace))
		if at == len(line) {
			break
		}
		length, read := recordAt(line[at:], at > lost)
		p.salvageRead += read
		if length > 0 {
			p.lose(line[lost:at], offset+int64(lost), true)
			entries = append(entries, p.place(p.readObject(line[at:at+length], offset+int64(at))))
			at += length
			lost = at
			continue
		}
		if p.salvageRead >= budget {
			break
		}
		next := bytes.Index(line[at+1:], recordStart)
		if next < 0 {
			break
		}
		at += 1 + next
	}
	p.lose(line[lost:], offset+int64(lost), complete)
	if len(entries) > 1 {
		p.wrong(DamageGlued, offset, fmt.Sprintf("%d records on one line", len(entries)))
	}
	return entries
}

// lose counts bytes that are no record: the beginning of one, or anything.
func (p *Parser) lose(piece []byte, offset int64, complete bool) {
	offset += int64(len(piece) - len(bytes.TrimLeft(piece, jsonSpace)))
	piece = bytes.Trim(piece, jsonSpace)
	if len(piece) == 0 {
		return
	}
	d := Damage{Kind: DamageMalformed, Line: p.line, Offset: offset, Length: int64(len(piece))}
	d.Detail = fmt.Sprintf("%d bytes that are no record", len(piece))
	if piece[0] == '{' || !complete {
		d.Kind = DamageTorn
		d.Detail = fmt.Sprintf("%d bytes of a record without its end", len(piece))
	}
	p.damage.add(d)
}

// recordAt tells the length of the record that data begins with, 0 when there
// is none, and how many bytes it read to find out. inside says that data begins
// within something broken: then an object must prove to be a record, since the
// blocks of a torn message look much like one.
func recordAt(data []byte, inside bool) (length, read int) {
	if data[0] != '{' {
		return 0, 0
	}
	end, ok := scan(data)
	if !ok || inside && !provesRecord(data, end) {
		return 0, end
	}
	return end, end
}

// provesRecord tells a record from an object inside a torn one: Pi stamps
// every record with a time, and after a record comes the next or the end.
func provesRecord(data []byte, end int) bool {
	next := skipSpace(data, end)
	if next < len(data) && data[next] != '{' {
		return false
	}
	r := readRecord(data[:end], 0)
	return r.timed && !r.badTime
}
