package control

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"piwatch/internal/gateway"
)

// Lines says how the gateway stands, for people: what is on, what passes, what
// was tried again and what waits now.
func (g GatewayState) Lines(now time.Time) []string {
	if g.Error != "" {
		return []string{"gateway: not on: " + g.Error}
	}
	if !g.On {
		return []string{"gateway: off"}
	}
	what := "on for all providers"
	if !g.All {
		what = "on for " + strings.Join(g.Providers, ", ")
	} else if len(g.Except) > 0 {
		what += " but " + strings.Join(g.Except, ", ")
	}
	lines := []string{fmt.Sprintf("gateway: %s, 127.0.0.1:%d", what, g.Port)}
	for _, s := range g.Sessions {
		if !s.On && s.Why != "" {
			lines = append(lines, fmt.Sprintf("%s goes direct in session %s: %s", s.Provider, s.Session, s.Why))
		}
	}
	if g.Traffic == nil {
		return lines
	}
	all := gateway.Counts{Retries: map[string]int{}}
	for _, p := range g.Traffic.Providers {
		all.Requests, all.Recovered = all.Requests+p.Requests, all.Recovered+p.Recovered
		for cause, n := range p.Retries {
			all.Retries[cause] += n
		}
	}
	lines = append(lines, fmt.Sprintf("requests: %d", all.Requests)+TriedAgain(all))
	for _, p := range g.Traffic.Providers {
		if p.Breaker.Open {
			lines = append(lines, fmt.Sprintf("%s: breaker open, no retries for %s", p.Provider, Left(p.Breaker.Until, now)))
		}
	}
	for _, w := range g.Traffic.Waiting {
		lines = append(lines, fmt.Sprintf("%s: %s, retry %d of %d in %s", w.Provider, w.Cause, w.Retry, w.Of, Left(w.Until, now)))
	}
	return lines
}

// TriedAgain says what was tried again of some requests, after a comma.
func TriedAgain(c gateway.Counts) string {
	if len(c.Retries) == 0 {
		return ", none tried again"
	}
	return fmt.Sprintf(", tried again after %s, which helped %d times", ByCause(c.Retries), c.Recovered)
}

// ByCause lists counts by status or fault, as in 502×3 reset×1.
func ByCause(counts map[string]int) string {
	var causes []string
	for _, cause := range slices.Sorted(maps.Keys(counts)) {
		causes = append(causes, fmt.Sprintf("%s×%d", cause, counts[cause]))
	}
	return strings.Join(causes, " ")
}

// Left is the time to a moment in whole seconds, rounded up.
func Left(until, now time.Time) string {
	left := max(until.Sub(now), 0)
	return fmt.Sprintf("%ds", (left+time.Second-1)/time.Second)
}
