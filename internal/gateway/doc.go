// Package gateway is an HTTP reverse proxy on loopback between Pi and its
// providers. It tries a request again that a provider's own gateway dropped,
// and passes everything else on as it is.
//
// The parts:
//
//   - [Key], [Route]: the address of an upstream behind the gateway; its token
//     says for whom it was made and is good for that upstream only
//   - [Gateway]: the handler; [Server] serves it on 127.0.0.1
//   - exchange.go: one request of Pi, and its attempts
//   - fault.go, retry.go: what is tried again, when, and how often
//   - stream.go, terminator.go: an answer on its way: cut, silent, without its
//     terminator
//   - redirect.go: a redirect to the same upstream stays behind the gateway
//   - counts.go: what was seen, for people
//
// # What reaches Pi
//
// Status, headers and body of the last attempt, unchanged but for hop-by-hop
// headers and the Location of a redirect to the same upstream, which leads
// through the gateway. Where there was no answer at all (refused, reset, no such host, a
// failed handshake) the connection to Pi is closed without one, which Pi takes
// for what it was: a connection error. The gateway makes up no answer but the
// refusals of what it does not serve.
//
// The headers of an answer of status 2xx are passed on together with the first
// byte of its body, so that an answer that breaks before it had one can be
// tried again. Afterwards nothing is held back.
//
// # Pi's own retries
//
// Pi repeats a failed request by itself, up to three times, with the same
// bytes. Retried again each time, one turn would cost 4 × 4 requests. So the
// gateway remembers for five minutes which requests it has spent retries on, by
// a hash of route and body: the same request again has only the retries that
// are left, which after a failure is none. One turn costs 1 + 3 requests and
// those that Pi repeats, at most 7 with Pi's defaults. An answer that comes to
// its proper end gives a request its retries back.
//
// When three requests in a row to one upstream have failed, its breaker opens:
// for a minute every request has one attempt, and the fault reaches Pi at once.
// The breaker refuses nothing.
package gateway
