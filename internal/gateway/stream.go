package gateway

import (
	"bytes"
	"io"
	"mime"
	"net/http"
)

// answer is the body of an upstream's answer on its way to Pi. It notes when
// the last byte came and whether the stream had its terminator.
type answer struct {
	io.ReadCloser
	exchange *exchange
	first    []byte // read already
	stream   bool   // server-sent events
	end      terminator
}

// readFirst reads the first bytes of a body, so that an answer that breaks
// before them can be tried again.
func (a *answer) readFirst() error {
	buf := make([]byte, firstRead)
	for {
		n, err := a.ReadCloser.Read(buf)
		switch {
		case n > 0: // an error comes again with the next Read
			a.first = buf[:n]
			return nil
		case err == io.EOF: // this too
			return nil
		case err != nil:
			return err
		}
	}
}

// firstRead is how many bytes the first read takes at most.
const firstRead = 2 << 10

func (a *answer) Read(buf []byte) (int, error) {
	var n int
	var err error
	if len(a.first) > 0 {
		n = copy(buf, a.first)
		if a.first = a.first[n:]; len(a.first) == 0 {
			a.first = nil
		}
	} else {
		n, err = a.ReadCloser.Read(buf)
	}
	x := a.exchange
	x.heard()
	if a.stream && n > 0 {
		a.end.write(buf[:n])
	}
	switch {
	case err == io.EOF:
		x.ended, x.unended = true, a.stream && a.end.any && !a.end.seen()
		if x.unended && x.gateway.settings().Cut {
			return n, io.ErrUnexpectedEOF
		}
	case err != nil:
		x.broken = err
	}
	return n, err
}

func isStream(h http.Header) bool {
	kind, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	return err == nil && kind == "text/event-stream"
}

// terminator looks for the end of a model's stream of events. The APIs say it
// in different ways, near the beginning of their last event or, where there is
// no such event, with the reason to finish in one of the last.
type terminator struct {
	any  bool   // there was a byte
	done bool   // an event that ends a stream began
	line []byte // the beginning of the current line
	tail []byte // the last bytes
}

const (
	lineHead = 96 // bytes of a line that are looked at
	tailSize = 2 << 10
)

// lastEvents begin the last event of a stream: chat completions, Anthropic
// messages, responses (completed, incomplete and failed).
var lastEvents = [][]byte{
	[]byte("data: [DONE]"), []byte("data:[DONE]"),
	[]byte("event: message_stop"), []byte(`data: {"type":"message_stop"`),
	[]byte("event: response.completed"), []byte(`data: {"type":"response.completed"`),
	[]byte("event: response.incomplete"), []byte(`data: {"type":"response.incomplete"`),
	[]byte("event: response.failed"), []byte(`data: {"type":"response.failed"`),
	[]byte("event: error"), []byte(`data: {"error"`),
}

// reasons stand in the tail of a stream that has come to its end.
var reasons = [][]byte{
	[]byte(`"finish_reason":"`), []byte(`"finish_reason": "`), // chat completions without [DONE]
	[]byte(`"finishReason":"`), []byte(`"finishReason": "`), // Gemini
}

func (t *terminator) write(p []byte) {
	t.any = true
	if len(p) >= tailSize {
		t.tail = append(t.tail[:0], p[len(p)-tailSize:]...)
	} else {
		if over := len(t.tail) + len(p) - tailSize; over > 0 {
			t.tail = t.tail[:copy(t.tail, t.tail[over:])]
		}
		t.tail = append(t.tail, p...)
	}
	for len(p) > 0 {
		end := bytes.IndexByte(p, '\n')
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

func (t *terminator) look() {
	if t.done || len(t.line) == 0 {
		return
	}
	for _, begin := range lastEvents {
		if bytes.HasPrefix(t.line, begin) {
			t.done = true
			return
		}
	}
}

func (t *terminator) seen() bool {
	t.look() // a last line without its end
	if t.done {
		return true
	}
	for _, reason := range reasons {
		if bytes.Contains(t.tail, reason) {
			return true
		}
	}
	return false
}
