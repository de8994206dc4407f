package tail

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"syscall"
)

const (
	// markSize is how many bytes are remembered from the start of the file and
	// from before the place that was read up to. Pi's migration of an old file
	// changes the first line.
	markSize = 1 << 10
	// chunkSize is how much is read at a time, keepSize how much buffer stays
	// for the next line when a long one is through.
	chunkSize = 256 << 10
	keepSize  = 1 << 20
)

// place is how far a file was read, and what is known of the bytes before.
type place struct {
	read    int64  // bytes read
	pending []byte // of them, those after the last newline
	head    []byte // the first bytes of the file
	mark    []byte // the last bytes that were read
}

func (p *place) offset() int64 { return p.read - int64(len(p.pending)) }

// advance takes the bytes that follow and returns the complete lines among
// them; they are good until the next call.
func (p *place) advance(data []byte) []Line {
	if room := markSize - len(p.head); room > 0 {
		p.head = append(p.head, data[:min(room, len(data))]...)
	}
	p.mark = append(p.mark, data[max(0, len(data)-markSize):]...)
	p.mark = p.mark[max(0, len(p.mark)-markSize):]

	start := p.offset()
	scanned := len(p.pending) // no newline in there
	p.pending = append(p.pending, data...)
	p.read += int64(len(data))
	var lines []Line
	used := 0
	for {
		end := bytes.IndexByte(p.pending[scanned:], '\n')
		if end < 0 {
			break
		}
		end += scanned
		lines = append(lines, Line{Data: p.pending[used:end:end], Offset: start + int64(used)})
		used, scanned = end+1, end+1
	}
	p.keep(used)
	return lines
}

// keep lets the used bytes go. The lines still show them, so the rest moves to
// a buffer of its own.
func (p *place) keep(used int) {
	switch {
	case used == 0:
	case used == len(p.pending) && cap(p.pending) <= keepSize:
		p.pending = p.pending[len(p.pending):]
	default:
		p.pending = bytes.Clone(p.pending[used:])
	}
}

// matches says whether the file still holds the bytes that were read.
func (p *place) matches(file *os.File) (bool, error) {
	same, err := holds(file, p.head, 0)
	if err != nil || !same {
		return false, err
	}
	return holds(file, p.mark, p.read-int64(len(p.mark)))
}

func holds(file *os.File, want []byte, offset int64) (bool, error) {
	if len(want) == 0 {
		return true, nil
	}
	got := make([]byte, len(want))
	n, err := file.ReadAt(got, offset)
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	return n == len(want) && bytes.Equal(got, want), nil
}

// deliver reads from the place on to the end of the file.
func (f *Follower) deliver(ctx context.Context, file *os.File, size int64, emit func(Event)) (told bool, err error) {
	if f.buffer == nil {
		f.buffer = make([]byte, chunkSize)
	}
	for ctx.Err() == nil {
		n, err := file.ReadAt(f.buffer, f.place.read)
		if n > 0 {
			lines := f.place.advance(f.buffer[:n])
			if len(lines) > 0 {
				emit(Event{Kind: Lines, Lines: lines, More: f.place.read < size})
				told = true
			}
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return told, err
		}
	}
	f.buffer = nil
	return told, nil
}

// isNotFolder says that a part of the path is a file: the folder the path
// names is not there.
func isNotFolder(err error) bool { return errors.Is(err, syscall.ENOTDIR) }
