package gateway

import (
	"bytes"
	"strings"
)

// terminator looks for the end of a model's stream of events. The APIs say it
// in different ways, near the beginning of their last event or, where there is
// no such event, with the reason to finish in one of the last.
type terminator struct {
	any  bool   // there was a byte
	done bool   // an event that ends a stream began
	line []byte // the beginning of the current line
	seam []byte // the last bytes of the current line, where a reason may have begun
	ends bool   // there was a reason to finish
	more int    // bytes since the last one began
}

const (
	lineHead = 256     // bytes of a line that are looked at
	seamSize = 64      // bytes that a reason may take
	tailSize = 2 << 10 // bytes that may come from a reason to the end
)

// lastEvents are the names of the last event of a stream, in its event field or
// as the type in its data: Anthropic messages, responses, Pi's own messages (Pi
// 1.6.0 reads a stream of those up to done or error), and errors of all.
var lastEvents = map[string]bool{
	"message_stop":        true,
	"response.completed":  true,
	"response.incomplete": true,
	"response.failed":     true,
	"done":                true,
	"error":               true,
}

// reasons stand in the tail of a stream that has come to its end, before a text: of
// chat completions without [DONE], and of Gemini.
var reasons = [][]byte{[]byte(`"finish_reason"`), []byte(`"finishReason"`)}

// knownAPI reports whether a request is of an API whose streams are known to
// have a terminator, by the paths that Pi asks.
func knownAPI(path string) bool {
	for _, end := range []string{"/chat/completions", "/messages", "/responses", ":streamGenerateContent"} {
		if strings.HasSuffix(path, end) {
			return true
		}
	}
	return false
}

func (t *terminator) write(p []byte) {
	t.any = true
	t.lookForReason(p)
	// CR ends a line too, and so do both. It is looked for within what LF ends: that
	// each is looked for alone is what makes it fast.
	for {
		lines, rest, ended := bytes.Cut(p, []byte{'\n'})
		t.split(lines)
		if !ended {
			return
		}
		t.endLine()
		p = rest
	}
}

// split reads lines that CR ends, and the beginning of another.
func (t *terminator) split(p []byte) {
	for {
		line, rest, ended := bytes.Cut(p, []byte{'\r'})
		if room := lineHead - len(t.line); room > 0 {
			t.line = append(t.line, line[:min(room, len(line))]...)
		}
		if !ended {
			return
		}
		t.endLine()
		p = rest
	}
}

func (t *terminator) endLine() {
	t.look()
	t.line = t.line[:0]
}

// lookForReason looks for the last reason to finish that ends in p. Only its place
// is kept: there may be a thousand streams.
func (t *terminator) lookForReason(p []byte) {
	t.more += len(p)
	tail := p[max(0, len(p)-tailSize):] // one before it is too far from the end
	if at := lastReason(tail); at >= 0 {
		t.ends, t.more = true, len(tail)-at
	} else if before := len(t.seam); before > 0 {
		t.seam = append(t.seam, p[:min(len(p), seamSize)]...)
		if at := lastReason(t.seam); at >= 0 {
			t.ends, t.more = true, len(p)+before-at
		}
		t.seam = t.seam[:before]
	}
	t.keepSeam(p)
}

// keepSeam makes the seam that of a stream that came as far as p.
func (t *terminator) keepSeam(p []byte) {
	p = p[max(0, len(p)-seamSize):]
	if end := bytes.LastIndexByte(p, '\n'); end >= 0 || len(p) == seamSize {
		t.seam, p = t.seam[:0], p[end+1:]
	}
	if over := len(t.seam) + len(p) - seamSize; over > 0 {
		t.seam = t.seam[:copy(t.seam, t.seam[over:])]
	}
	t.seam = append(t.seam, p...)
}

// lastReason is where the last reason in p begins, or -1. What all reasons have and
// little else is found first.
func lastReason(p []byte) int {
	last := -1
	for from := 0; ; {
		at := bytes.Index(p[from:], []byte("inish"))
		if at < 0 {
			return last
		}
		from += at
		if begin := from - len(`"f`); begin >= 0 && isReason(p[begin:]) {
			last = begin
		}
		from++
	}
}

func isReason(p []byte) bool {
	for _, key := range reasons {
		if rest, found := bytes.CutPrefix(p, key); found {
			return bytes.HasPrefix(value(rest), []byte(`"`))
		}
	}
	return false
}

// look reads the beginning of a line. The space after the colon of a field is
// the sender's choice, and so is white space within JSON.
func (t *terminator) look() {
	if t.done {
		return
	}
	if name, found := bytes.CutPrefix(t.line, []byte("event:")); found {
		t.done = lastEvents[string(bytes.TrimSpace(name))]
	} else if data, found := bytes.CutPrefix(t.line, []byte("data:")); found {
		t.done = isLast(bytes.TrimSpace(data))
	}
}

// isLast reports whether the data of an event that begin so end a stream. A key
// within a text of the model does not count: its quotes are escaped.
func isLast(data []byte) bool {
	if string(data) == "[DONE]" {
		return true
	}
	object, found := bytes.CutPrefix(data, []byte("{"))
	if !found {
		return false
	}
	object = bytes.TrimSpace(object)
	if rest, found := bytes.CutPrefix(object, []byte(`"error"`)); found {
		return !bytes.HasPrefix(value(rest), []byte("null"))
	}
	_, rest, found := bytes.Cut(object, []byte(`"type"`))
	if !found {
		return false
	}
	text, found := bytes.CutPrefix(value(rest), []byte(`"`))
	name, _, closed := bytes.Cut(text, []byte(`"`))
	return found && closed && lastEvents[string(name)]
}

// value is what follows a key of JSON, without the colon.
func value(rest []byte) []byte {
	return bytes.TrimLeft(bytes.TrimPrefix(bytes.TrimLeft(rest, " \t"), []byte(":")), " \t")
}

func (t *terminator) seen() bool {
	t.look() // a last line without its end
	return t.done || t.ends && t.more <= tailSize
}
