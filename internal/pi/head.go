package pi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// DefaultHeadBytes is how much ReadHead reads at each end of a file when not
// told otherwise. Pi 1.6.0 writes 5 to 30 KB before the first user message.
const DefaultHeadBytes = 64 << 10

// previewRunes bounds the preview of the first user message, in characters.
const previewRunes = 200

// Head is what a list of sessions shows of one, got from both ends of the file.
type Head struct {
	Path      string
	Header    Header
	HasHeader bool
	// Name is the session's name, the last one that was found.
	Name string
	// NameSure says that no other name can be hidden in the part of the file
	// that was not read.
	NameSure bool
	// FirstMessage is the beginning of the first user message.
	FirstMessage string
	// Last is the last readable entry of the file, nil when there is none. It
	// is lean.
	Last *Entry
	// LastMessage is the last message entry in the part that was read.
	LastMessage *Entry
	// Size is in bytes, ModTime the file system's.
	Size    int64
	ModTime time.Time

	named bool // a session_info was seen in the part last read
}

// ReadHead reads at most n bytes (DefaultHeadBytes when n is not positive)
// from each end of a session file. Ids and lines in its entries are not those
// of the file. It fails when the file cannot be read.
func ReadHead(path string, n int64) (Head, error) {
	if n <= 0 {
		n = DefaultHeadBytes
	}
	file, err := os.Open(path)
	if err != nil {
		return Head{}, fmt.Errorf("read session head: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return Head{}, fmt.Errorf("read session head: %w", err)
	}
	if !info.Mode().IsRegular() {
		return Head{}, fmt.Errorf("read session head: %s is not a regular file", path)
	}
	h := Head{Path: path, Size: info.Size(), ModTime: info.ModTime()}
	start, err := readRange(file, 0, n)
	if err != nil {
		return Head{}, fmt.Errorf("read session head %s: %w", path, err)
	}
	whole := h.Size <= int64(len(start))
	h.readStart(start, whole)
	if whole {
		h.NameSure = true
		return h, nil
	}
	from := max(h.Size-n, int64(len(start)))
	end, err := readRange(file, from, h.Size-from)
	if err != nil {
		return Head{}, fmt.Errorf("read session head %s: %w", path, err)
	}
	h.readEnd(start, end, from)
	return h, nil
}

// readRange reads up to n bytes; the end of the file is no error.
func readRange(file *os.File, from, n int64) ([]byte, error) {
	data := make([]byte, n)
	got, err := file.ReadAt(data, from)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return data[:got], nil
}

func (h *Head) readStart(data []byte, whole bool) {
	parser := Parser{Lean: true}
	rest := h.readLines(&parser, data, 0)
	if whole {
		h.take(parser.Finish(rest, int64(len(data)-len(rest))))
	} else if h.FirstMessage == "" {
		h.FirstMessage = cutMessagePreview(rest)
	}
	h.Header, h.HasHeader = parser.Header()
}

// readEnd reads the end of a file whose start was read. The two may touch; the
// line that is cut between them is put together again then.
func (h *Head) readEnd(start, end []byte, from int64) {
	parser := Parser{Lean: true}
	touch := from == int64(len(start))
	startName := h.Name
	switch {
	case touch:
		cut := start[bytes.LastIndexByte(start, '\n')+1:]
		end = append(bytes.Clone(cut), end...)
		from -= int64(len(cut))
	default:
		line := bytes.IndexByte(end, '\n') + 1 // the line before began elsewhere
		end, from = end[line:], from+int64(line)
	}
	first := h.FirstMessage
	h.Name = ""
	named := h.named
	h.named = false
	rest := h.readLines(&parser, end, from)
	h.take(parser.Finish(rest, from+int64(len(end)-len(rest))))
	if !touch { // a message down here need not be the first one
		h.FirstMessage = first
	}
	h.NameSure = touch || h.named
	if !h.named {
		h.Name, h.named = startName, named
	}
}

// readLines takes the entries of the complete lines and returns the rest.
func (h *Head) readLines(parser *Parser, data []byte, offset int64) []byte {
	for {
		end := bytes.IndexByte(data, '\n')
		if end < 0 {
			return data
		}
		h.take(parser.Add(data[:end], offset))
		data, offset = data[end+1:], offset+int64(end)+1
	}
}

func (h *Head) take(entries []Entry) {
	for i := range entries {
		e := &entries[i]
		if e.Type == TypeSession {
			continue
		}
		h.Last = e
		if e.Message != nil {
			h.LastMessage = e
		}
		if e.SessionInfo != nil {
			h.Name, h.named = trimName(e.SessionInfo.Name), true
		}
		if h.FirstMessage == "" && e.IsRealUserMessage() {
			h.FirstMessage = preview(e.Message.Text())
		}
	}
}

// cutMessagePreview finds the beginning of a user message whose line goes on
// behind the part that was read.
func cutMessagePreview(line []byte) string {
	if !bytes.HasPrefix(line, []byte(`{"type":"message"`)) {
		return ""
	}
	_, rest, user := bytes.Cut(line, []byte(`"message":{"role":"user","content":`))
	if !user {
		return ""
	}
	if !bytes.HasPrefix(rest, []byte(`"`)) {
		if _, rest, user = bytes.Cut(rest, []byte(`"text":`)); !user {
			return ""
		}
	}
	// Enough for the preview whatever the escapes are, and an even number of
	// tries to end it between two of them.
	const enough = 12 * previewRunes
	rest = rest[:min(len(rest), enough)]
	for cut := len(rest); cut > 0 && cut > len(rest)-12; cut-- {
		var text string
		if json.Unmarshal(append(bytes.Clone(rest[:cut]), '"'), &text) == nil {
			return preview(text)
		}
	}
	return ""
}

// preview is the beginning of a text on one line. It is not safe to draw: it
// may hold control characters.
func preview(text string) string {
	var out strings.Builder
	n := 0
	for word := range strings.FieldsSeq(text) {
		if n > 0 {
			out.WriteByte(' ')
			n++
		}
		for _, r := range word {
			if n == previewRunes {
				return out.String()
			}
			out.WriteRune(r)
			n++
		}
	}
	return out.String()
}

func trimName(name string) string { return strings.TrimSpace(name) }
