package pi

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
)

// File is a session file that was read whole.
type File struct {
	Path string
	// Header is the session's header; zero when HasHeader is false.
	Header    Header
	HasHeader bool
	Tree      Tree
	// Damage is everything wrong with the lines and with the tree.
	Damage DamageReport
	// Size is the number of bytes read.
	Size int64
}

// Load reads a session file whole. Only a file that cannot be opened or read
// is an error; damage is not.
func Load(path string) (*File, error) { return load(path, false) }

// LoadLean is Load with a Lean parser: a fraction of the memory for sessions
// with large messages.
func LoadLean(path string) (*File, error) { return load(path, true) }

func load(path string, lean bool) (*File, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read session: %w", err)
	}
	defer file.Close()
	f := &File{Path: path}
	parser := Parser{Lean: lean}
	add := func(entries []Entry) {
		for _, e := range entries {
			f.Tree.Add(e)
		}
	}
	rest, size, err := eachLine(file, func(line []byte, offset int64) { add(parser.Add(line, offset)) })
	if err != nil {
		return nil, fmt.Errorf("read session %s: %w", path, err)
	}
	add(parser.Finish(rest, size-int64(len(rest))))
	f.Size = size
	f.Header, f.HasHeader = parser.Header()
	f.Damage = parser.Damage().merge(f.Tree.Damage())
	return f, nil
}

// eachLine calls add for every complete line; the line is only good for the
// call. It returns what follows the last newline, and the bytes read in all.
func eachLine(r io.Reader, add func(line []byte, offset int64)) (rest []byte, size int64, err error) {
	const bufferSize = 256 << 10
	in := bufio.NewReaderSize(r, bufferSize)
	var long []byte // the parts of a line longer than the buffer
	for {
		part, err := in.ReadSlice('\n')
		offset := size - int64(len(long))
		size += int64(len(part))
		switch {
		case err == nil && len(long) == 0:
			add(part[:len(part)-1], offset)
		case err == nil:
			long = append(long, part...)
			add(long[:len(long)-1], offset)
			long = long[:0]
		case errors.Is(err, bufio.ErrBufferFull):
			long = append(long, part...)
		case errors.Is(err, io.EOF):
			return append(long, part...), size, nil
		default:
			return nil, size, err
		}
	}
}

// ReadEntry reads one entry again in full, where a Lean parser left parts out.
// It fails when the file has other bytes there by now.
func ReadEntry(path string, e Entry) (Entry, error) {
	file, err := os.Open(path)
	if err != nil {
		return Entry{}, fmt.Errorf("read entry: %w", err)
	}
	defer file.Close()
	record := make([]byte, e.Length)
	if _, err := file.ReadAt(record, e.Offset); err != nil {
		return Entry{}, fmt.Errorf("read entry at byte %d of %s: %w", e.Offset, path, err)
	}
	var parser Parser
	found := parser.Add(bytes.TrimRight(record, "\n"), e.Offset)
	if len(found) != 1 || found[0].Type != e.Type || !found[0].Time.Equal(e.Time) {
		return Entry{}, fmt.Errorf("read entry at byte %d of %s: the file was rewritten", e.Offset, path)
	}
	full := found[0]
	full.ID, full.ParentID, full.Line = e.ID, e.ParentID, e.Line
	if full.Compaction != nil && e.Compaction != nil {
		full.Compaction.FirstKeptEntryID = e.Compaction.FirstKeptEntryID
	}
	return full, nil
}
