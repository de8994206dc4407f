package e2e

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
)

// sse writes server-sent events, each flushed at once.
type sse struct {
	w   http.ResponseWriter
	err error // the first write that failed
}

// newSSE sends the headers of an event stream.
func newSSE(w http.ResponseWriter) *sse {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	w.WriteHeader(http.StatusOK)
	s := &sse{w: w}
	s.flush()
	return s
}

// event sends a named event with a JSON payload; no name, no event line.
func (s *sse) event(name string, payload any) {
	data, err := json.Marshal(payload)
	if err != nil {
		panic("e2e: event payload: " + err.Error())
	}
	if name != "" {
		s.write(fmt.Sprintf("event: %s\ndata: %s\n\n", name, data))
		return
	}
	s.write(fmt.Sprintf("data: %s\n\n", data))
}

func (s *sse) write(text string) {
	if s.err != nil {
		return
	}
	_, s.err = s.w.Write([]byte(text))
	s.flush()
}

func (s *sse) flush() {
	if err := http.NewResponseController(s.w).Flush(); err != nil && s.err == nil {
		s.err = err
	}
}

// reset closes the connection with a TCP reset.
func reset(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic("e2e: hijack: " + err.Error())
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}
