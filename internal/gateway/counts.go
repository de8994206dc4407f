package gateway

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Kind is what an Event tells of.
type Kind string

// The kinds of events.
const (
	Retry        Kind = "retry"        // another attempt follows after Wait
	Recovered    Kind = "recovered"    // an attempt after the first was answered
	Failed       Kind = "failed"       // passed on as it was: nothing helped, or nothing was left to try
	Broken       Kind = "broken"       // an answer broke on its way
	Silent       Kind = "silent"       // an answer said nothing for the limit
	Unterminated Kind = "unterminated" // a stream ended without its terminator
	Done         Kind = "done"         // ended in no other way: the counts changed
)

// Event is one thing that happened to a request.
type Event struct {
	Kind   Kind
	Time   time.Time
	Route  Route
	Cause  string // status or fault, as in Counts.Retries; for Recovered the status of the answer
	Retry  int    // which retry: the one to come, or how many there were
	Of     int    // retries the request has at most
	Wait   time.Duration
	Cut    bool          // the answer was ended so that Pi tries again
	Silent time.Duration // how long the upstream said nothing
}

// Counts are numbers of requests.
type Counts struct {
	Requests     int            `json:"requests"`     // that came from Pi and have ended or go on
	Active       int            `json:"active"`       // of them go on
	Answers      map[string]int `json:"answers"`      // that reached Pi, by status
	Retries      map[string]int `json:"retries"`      // attempts made again, by the status or fault before them
	Recovered    int            `json:"recovered"`    // answered after a retry
	Failed       map[string]int `json:"failed"`       // passed on as faults, by status or fault
	Broken       int            `json:"broken"`       // answers that broke on their way
	Silent       int            `json:"silent"`       // answers that were silent for the limit
	Unterminated int            `json:"unterminated"` // streams that ended without their terminator
	Left         int            `json:"left"`         // given up by Pi
}

// counts are the Counts of one upstream or session, and what goes with them.
type counts struct {
	Counts
	breaker breaker
	used    time.Time
}

// Wait is a request that waits for its next attempt.
type Wait struct {
	Session  string    `json:"session,omitempty"`
	Provider string    `json:"provider"`
	Upstream string    `json:"upstream"`
	Cause    string    `json:"cause"`
	Retry    int       `json:"retry"` // the one to come, from 1 on
	Of       int       `json:"of"`
	Until    time.Time `json:"until"`
}

// ProviderStatus is what the gateway knows of one upstream.
type ProviderStatus struct {
	Provider string `json:"provider"`
	Upstream string `json:"upstream"`
	Counts
	Breaker BreakerStatus `json:"breaker"`
}

// BreakerStatus says whether retries are off for an upstream.
type BreakerStatus struct {
	Open   bool      `json:"open"`
	Until  time.Time `json:"until,omitzero"` // when it closes by itself
	Failed int       `json:"failed"`         // requests in a row
}

// SessionStatus is what the gateway knows of one session.
type SessionStatus struct {
	Session string `json:"session"`
	Counts
}

// Status is all that the gateway knows.
type Status struct {
	Since     time.Time        `json:"since"`
	Providers []ProviderStatus `json:"providers"`
	Sessions  []SessionStatus  `json:"sessions"`
	Waiting   []Wait           `json:"waiting"` // the next one first
	Refused   int              `json:"refused"` // requests that were not served
}

// maxSessions is how many sessions are counted one by one; the one that was
// heard of least lately goes first.
const maxSessions = 256

// maxUpstreams is how many upstreams are counted.
const maxUpstreams = 256

// Status says how things stand.
func (g *Gateway) Status() Status {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Now()
	status := Status{
		Since: g.began, Refused: g.refused,
		Providers: []ProviderStatus{}, Sessions: []SessionStatus{}, Waiting: []Wait{},
	}
	for route, c := range g.upstreams {
		b := BreakerStatus{Open: c.breaker.open(now), Failed: c.breaker.failed}
		if b.Open {
			b.Until = c.breaker.until
		}
		status.Providers = append(status.Providers, ProviderStatus{route.Provider, route.Upstream, c.clone(), b})
	}
	for session, c := range g.sessions {
		status.Sessions = append(status.Sessions, SessionStatus{session, c.clone()})
	}
	status.Waiting = slices.AppendSeq(status.Waiting, maps.Values(g.waiting))
	slices.SortFunc(status.Providers, func(a, b ProviderStatus) int {
		return strings.Compare(a.Provider+"\x00"+a.Upstream, b.Provider+"\x00"+b.Upstream)
	})
	slices.SortFunc(status.Sessions, func(a, b SessionStatus) int { return strings.Compare(a.Session, b.Session) })
	slices.SortFunc(status.Waiting, func(a, b Wait) int { return a.Until.Compare(b.Until) })
	return status
}

func (c *counts) clone() Counts {
	copied := c.Counts
	copied.Answers, copied.Retries, copied.Failed = maps.Clone(c.Answers), maps.Clone(c.Retries), maps.Clone(c.Failed)
	return copied
}

// count changes the counts of the upstream and of the session of a request; the
// caller holds mu. A request that is none of Pi's has counts of its own.
func (g *Gateway) count(x *exchange, change func(*Counts)) *counts {
	if x.route.Provider == "" {
		own := newCounts()
		change(&own.Counts)
		return own
	}
	now := time.Now()
	upstream := entry(g.upstreams, Route{Provider: x.route.Provider, Upstream: x.route.Upstream}, maxUpstreams, now)
	change(&upstream.Counts)
	if x.route.Session != "" {
		change(&entry(g.sessions, x.route.Session, maxSessions, now).Counts)
	}
	return upstream
}

// entry finds counts, or makes them and forgets those used least lately.
func entry[K comparable](all map[K]*counts, key K, limit int, now time.Time) *counts {
	c := all[key]
	if c == nil {
		if len(all) >= limit {
			var oldest K
			at := now
			for k, other := range all {
				if other.Active == 0 && !other.used.After(at) {
					oldest, at = k, other.used
				}
			}
			delete(all, oldest)
		}
		c = newCounts()
		all[key] = c
	}
	c.used = now
	return c
}

func newCounts() *counts {
	return &counts{Counts: Counts{Answers: map[string]int{}, Retries: map[string]int{}, Failed: map[string]int{}}}
}

// retries counts a request in and says how many retries it has.
func (g *Gateway) retries(x *exchange) int {
	left := 0
	if x.body.again() {
		left = g.spent.left(&x.mark, x.began)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	upstream := g.count(x, func(c *Counts) { c.Requests++; c.Active++ })
	if upstream.breaker.open(x.began) {
		return 0
	}
	return left
}

// waits notes that a request waits for its next attempt.
func (g *Gateway) waits(x *exchange, delay time.Duration) {
	now := time.Now()
	if x.route.Provider != "" {
		g.mu.Lock()
		g.waiting[x] = Wait{
			Session: x.route.Session, Provider: x.route.Provider, Upstream: x.route.Upstream,
			Cause: x.fault, Retry: x.retries, Of: x.allowed, Until: now.Add(delay),
		}
		g.mu.Unlock()
	}
	g.tell(x, Event{Kind: Retry, Time: now, Cause: x.fault, Retry: x.retries, Wait: delay})
}

// goesOn notes that the wait is over and the attempt follows.
func (g *Gateway) goesOn(x *exchange) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.waiting, x)
	g.count(x, func(c *Counts) { c.Retries[x.fault]++ })
}

// silent notes that the answer to a request says nothing.
func (g *Gateway) silent(x *exchange, settings Settings) {
	g.mu.Lock()
	g.count(x, func(c *Counts) { c.Silent++ })
	g.mu.Unlock()
	g.tell(x, Event{Kind: Silent, Time: time.Now(), Cut: settings.Cut, Silent: x.quiet()})
}

// left notes that Pi gave a request up.
func (g *Gateway) left(x *exchange) {
	g.mu.Lock()
	delete(g.waiting, x)
	g.count(x, func(c *Counts) { c.Active--; c.Left++ })
	g.mu.Unlock()
	g.tell(x, Event{Kind: Done, Time: time.Now(), Cause: faultLeft})
}

// ended notes how a request ended.
func (g *Gateway) ended(x *exchange, now time.Time) {
	event := Event{Kind: Done, Time: now, Retry: x.retries, Cause: strconv.Itoa(x.status)}
	switch {
	case x.fault != "":
		event.Kind, event.Cause = Failed, x.fault
	case x.broken != nil:
		event.Kind, event.Cause = Broken, errText(x.broken)
	case x.unended:
		event.Kind, event.Cut = Unterminated, x.cutEnd
	case x.retries > 0:
		event.Kind = Recovered
	}
	g.mu.Lock()
	upstream := g.count(x, func(c *Counts) {
		c.Active--
		if x.status != 0 {
			c.Answers[strconv.Itoa(x.status)]++
		}
		switch event.Kind {
		case Failed:
			c.Failed[x.fault]++
		case Broken:
			c.Broken++
		case Unterminated:
			c.Unterminated++
		}
		if x.fault == "" && x.retries > 0 {
			c.Recovered++
		}
	})
	upstream.breaker.result(x.fault == "", now)
	g.mu.Unlock()
	g.tell(x, event)
}

func (g *Gateway) tell(x *exchange, e Event) {
	e.Route, e.Of = x.route, x.allowed
	level := slog.LevelInfo
	if e.Kind == Done {
		level = slog.LevelDebug
	}
	g.log.Log(context.Background(), level, "gateway", "kind", string(e.Kind), "provider", e.Route.Provider, "upstream", e.Route.Upstream,
		"session", e.Route.Session, "cause", e.Cause, "retry", e.Retry, "of", e.Of, "wait", e.Wait)
	if g.options.Observe != nil {
		g.options.Observe(e)
	}
}
