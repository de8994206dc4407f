package gateway

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
