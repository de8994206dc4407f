package gateway

import (
	"bytes"
	"io"
	"net/http"
	"sync/atomic"
	"time"
)

// bodyPause is how long a request's body may stand still while it arrives.
const bodyPause = 30 * time.Second

// store is the memory for bodies that may have to be sent again, shared by all
// requests.
type store struct {
	limit, each int64 // bytes
	used        atomic.Int64
}

// take reserves n bytes; false: there are none left.
func (s *store) take(n int64) bool {
	if s.used.Add(n) > s.limit {
		s.used.Add(-n)
		return false
	}
	return true
}

// body is the body of a request as far as it is in memory.
type body struct {
	store *store
	held  []byte
	taken int64     // reserved in the store
	rest  io.Reader // what did not fit; nil: all is held
	size  int64     // as the sender said, -1 if it did not
}

// firstHold is how much is set aside for a body that does not say its length,
// in bytes; and no more is for one that does, before it has arrived.
const firstHold = 1 << 20

// hold reads a request's body into memory, up to what the store has for it. The
// error is that of a sender that leaves, lies or stands still.
func (s *store) hold(w http.ResponseWriter, r *http.Request) (*body, error) {
	b := &body{store: s, size: r.ContentLength}
	if r.Body == nil || r.ContentLength == 0 {
		return b, nil
	}
	in := &paced{r.Body, http.NewResponseController(w)}
	b.rest = in
	if r.ContentLength > s.each {
		return b, nil
	}
	size := int64(firstHold)
	if r.ContentLength > 0 {
		size = min(size, r.ContentLength+1) // one more, to see its end
	}
	for ; s.take(size - b.taken); size = min(2*size, s.each+1) {
		b.taken = size
		b.held = append(make([]byte, 0, size), b.held...)
		for int64(len(b.held)) < size {
			n, err := in.Read(b.held[len(b.held):size])
			b.held = b.held[:len(b.held)+n]
			if err == io.EOF {
				b.rest = nil
				return b, nil
			}
			if err != nil {
				b.free()
				return nil, err
			}
		}
		if size > s.each {
			break
		}
	}
	return b, nil
}

// again reports whether the body can be sent more than once.
func (b *body) again() bool { return b.rest == nil }

// attach gives an attempt its body; taken is called when some of it is taken.
func (b *body) attach(r *http.Request, taken func()) {
	switch {
	case b.rest != nil:
		r.Body = io.NopCloser(upload{io.MultiReader(bytes.NewReader(b.held), b.rest), taken})
		r.ContentLength, r.GetBody = b.size, nil
	case len(b.held) == 0:
		r.Body, r.ContentLength, r.GetBody = nil, 0, nil
	default:
		held := b.held
		r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(upload{bytes.NewReader(held), taken}), nil }
		r.Body, _ = r.GetBody()
		r.ContentLength = int64(len(held))
	}
}

// upload is a request's body on its way to the upstream.
type upload struct {
	io.Reader
	taken func()
}

func (u upload) Read(buf []byte) (int, error) {
	u.taken()
	return u.Reader.Read(buf)
}

// free gives the memory back; the body is not used any more.
func (b *body) free() {
	b.store.used.Add(-b.taken)
	b.held, b.taken = nil, 0
}

// paced reads a request's body and gives up on a sender that stands still.
type paced struct {
	in   io.ReadCloser
	conn *http.ResponseController
}

func (p *paced) Read(buf []byte) (int, error) {
	// A writer without deadlines is one of a test.
	_ = p.conn.SetReadDeadline(time.Now().Add(bodyPause))
	n, err := p.in.Read(buf)
	if err == io.EOF {
		// The server goes on reading, to see a client leave.
		_ = p.conn.SetReadDeadline(time.Time{})
	}
	return n, err
}
