package gateway

import (
	"io"
	"mime"
	"net/http"
	"strings"
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
		x.cutEnd = x.unended && x.gateway.settings().Cut && knownAPI(x.target.Path)
		if x.cutEnd {
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

// isPacked reports whether a body is compressed: Pi asks for that, and what it
// gets is passed on as it came.
func isPacked(h http.Header) bool {
	packing := strings.TrimSpace(h.Get("Content-Encoding"))
	return packing != "" && !strings.EqualFold(packing, "identity")
}
