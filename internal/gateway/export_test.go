package gateway

import (
	"io"
	"net/http"
	"strings"
	"time"
)

// BodyLimit is the size of the largest body that is sent again.
const BodyLimit = bodyLimit

// FullJitter is the wait before the n-th retry.
var FullJitter = fullJitter

// Held is how many bytes of requests are in memory.
func (g *Gateway) Held() int64 { return g.store.used.Load() }

// LimitBodies sets what is held of one body and of all.
func (g *Gateway) LimitBodies(each, all int64) { g.store.each, g.store.limit = each, all }

// Terminated reports whether a stream that came in these pieces has its
// terminator.
func Terminated(pieces ...string) bool {
	var end terminator
	for _, piece := range pieces {
		end.write([]byte(piece))
	}
	return end.seen()
}

// WaitingQuiet is how long the upstream of the request that waits is counted as
// silent.
func (g *Gateway) WaitingQuiet() time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	for x := range g.waiting {
		return x.quiet()
	}
	return 0
}

// Upload sends a body, in memory as far as held, and says how often it was
// noted that some was taken.
func Upload(held, rest string) (sent string, taken int) {
	b := body{held: []byte(held)}
	if rest != "" {
		b.rest = strings.NewReader(rest)
	}
	var r http.Request
	b.attach(&r, func() { taken++ })
	all, _ := io.ReadAll(r.Body)
	return string(all), taken
}
