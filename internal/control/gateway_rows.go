package control

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"piwatch/internal/gateway"
)

// GatewayRow is what people are told of one upstream of the gateway: the same
// words in the status, in Pi and on the screen.
type GatewayRow struct {
	gateway.ProviderStatus
	TriedAgain  string   // by cause, as in 502×3 reset×1; "" for never
	FailedWith  string   // by cause
	Faulty      int      // answers that broke on their way, or had no end
	BreakerText string   // closed, or open and for how long
	Waiting     []string // requests that wait for their next attempt
}

// Rows are the upstreams that the gateway has seen.
func (g GatewayState) Rows(now time.Time) []GatewayRow {
	if g.Traffic == nil {
		return nil
	}
	rows := make([]GatewayRow, len(g.Traffic.Providers))
	for i, p := range g.Traffic.Providers {
		row := GatewayRow{
			ProviderStatus: p, TriedAgain: byCause(p.Retries), FailedWith: byCause(p.Failed),
			Faulty: p.Broken + p.Unterminated, BreakerText: "closed",
		}
		if p.Breaker.Open {
			row.BreakerText = "open, no retries for " + left(p.Breaker.Until, now)
		}
		for _, w := range g.Traffic.Waiting {
			if w.Provider == p.Provider && w.Upstream == p.Upstream {
				row.Waiting = append(row.Waiting, fmt.Sprintf("waits after %s: retry %d of %d in %s", w.Cause, w.Retry, w.Of, left(w.Until, now)))
			}
		}
		rows[i] = row
	}
	return rows
}

// Text says that a session's provider passes the gateway, or why it does not; ""
// when there is nothing to say.
func (p PointedAt) Text() string {
	switch {
	case p.On:
		return fmt.Sprintf("%s passes in session %s", p.Provider, p.Session)
	case p.Why != "":
		return fmt.Sprintf("%s goes direct in session %s: %s", p.Provider, p.Session, p.Why)
	}
	return ""
}

// byCause lists counts by status or fault, as in 502×3 reset×1.
func byCause(counts map[string]int) string {
	var causes []string
	for _, cause := range slices.Sorted(maps.Keys(counts)) {
		causes = append(causes, fmt.Sprintf("%s×%d", cause, counts[cause]))
	}
	return strings.Join(causes, " ")
}

// left is the time to a moment in whole seconds, rounded up.
func left(until, now time.Time) string {
	left := max(until.Sub(now), 0)
	return fmt.Sprintf("%ds", (left+time.Second-1)/time.Second)
}
