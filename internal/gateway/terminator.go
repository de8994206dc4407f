package gateway

import (
	"bytes"
	"regexp"
	"strings"
)

// terminator looks for the end of a model's stream of events. The APIs say it
// in different ways, near the beginning of their last event or, where there is
// no such event, with the reason to finish in one of the last.
type terminator struct {
	any  bool   // there was a byte
	done bool   // an event that ends a stream began
	line []byte // the beginning of the current line
	seam []byte // the last bytes, where a reason may have begun
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

// reason stands in the tail of a stream that has come to its end: of chat
// completions without [DONE], and of Gemini.
var reason = regexp.MustCompile(`"finish(_r|R)eason"\s*:\s*"`)

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
	for len(p) > 0 {
		end := bytes.IndexAny(p, "\r\n") // each of them ends a line, and so do both
		line := p
		if end >= 0 {
			line = p[:end]
		}
		if room := lineHead - len(t.line); room > 0 {
			t.line = append(t.line, line[:min(room, len(line))]...)
		}
		if end < 0 {
			return
		}
		t.look()
		t.line = t.line[:0]
		p = p[end+1:]
	}
}

// lookForReason looks for the last reason to finish that ends in p. Only its place
// is kept: there may be a thousand streams.
func (t *terminator) lookForReason(p []byte) {
	before := len(t.seam)
	t.seam = append(t.seam, p[:min(len(p), seamSize)]...)
	t.more += len(p)
	if all := reason.FindAllIndex(t.seam, -1); all != nil {
		t.ends, t.more = true, len(p)+before-all[len(all)-1][0]
	}
	if all := reason.FindAllIndex(p, -1); all != nil {
		t.ends, t.more = true, len(p)-all[len(all)-1][0]
	}
	if len(p) >= seamSize {
		t.seam = append(t.seam[:0], p[len(p)-seamSize:]...)
	} else if over := len(t.seam) - seamSize; over > 0 {
		t.seam = t.seam[:copy(t.seam, t.seam[over:])]
	}
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
