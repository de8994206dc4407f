package tail

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"syscall"
)

const (
	// markSize is how many bytes are remembered from the start of the file and
	// from before the place that was read up to. Pi's migration of an old file
	// changes the first line.
	markSize = 1 << 10
	// chunkSize is how much is read at a time.
	chunkSize = 256 << 10
)

// place is how far a file was read, and what is known of the bytes before.
type place struct {
	read int64 // bytes read
	// buffer holds what was read last: lines that were delivered, up to used,
	// and the beginning of the next one.
	buffer []byte
	used   int
	head   []byte // the first bytes of the file
	mark   []byte // the last bytes that were read
}

func (p *place) offset() int64 { return p.read - int64(len(p.buffer)-p.used) }

// more reads what follows of a file of that size, at most a chunk, and returns
// the complete lines in it; they are good until the next call.
func (p *place) more(file io.ReaderAt, size int64) ([]Line, error) {
	if p.used > 0 {
		p.buffer, p.used = p.buffer[:copy(p.buffer, p.buffer[p.used:])], 0
	}
	scanned := len(p.buffer)                            // no newline in there
	chunk := int(min(max(size-p.read, 0)+1, chunkSize)) // the one byte more finds the end
	p.buffer = slices.Grow(p.buffer, chunk)
	n, err := file.ReadAt(p.buffer[scanned:scanned+chunk], p.read)
	data := p.buffer[scanned : scanned+n]
	p.buffer = p.buffer[:scanned+n]
	if room := markSize - len(p.head); room > 0 {
		p.head = append(p.head, data[:min(room, n)]...)
	}
	p.mark = append(p.mark, data[max(0, n-markSize):]...)
	p.mark = p.mark[max(0, len(p.mark)-markSize):]

	p.read += int64(n)
	start := p.offset()
	var lines []Line
	for {
		end := bytes.IndexByte(p.buffer[scanned:], '\n')
		if end < 0 {
			break
		}
		end += scanned
		lines = append(lines, Line{Data: p.buffer[p.used:end:end], Offset: start + int64(p.used)})
		p.used, scanned = end+1, end+1
	}
	return lines, err
}

// rest lets go of the buffer, but for the beginning of a line. One that still
// grows is not copied each time.
func (p *place) rest() {
	if p.used > 0 {
		p.buffer, p.used = bytes.Clone(p.buffer[p.used:]), 0
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

// deliver reads from the place on to the end of the file. The end is told also
// where there is no line: no reader waits for what does not come.
func (f *Follower) deliver(ctx context.Context, file *os.File, size int64, emit func(Event)) (told bool, err error) {
	defer f.place.rest()
	open := f.place.read == 0 // the end was not told
	for ctx.Err() == nil {
		lines, err := f.place.more(file, size)
		more := f.place.read < size
		if len(lines) > 0 || open && !more {
			emit(Event{Kind: Lines, Lines: lines, More: more})
			told, open = told || len(lines) > 0, more
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return told, err
		}
	}
	return told, nil
}

// isNotFolder says that a part of the path is a file: the folder the path
// names is not there.
func isNotFolder(err error) bool { return errors.Is(err, syscall.ENOTDIR) }
