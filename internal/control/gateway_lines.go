package control

import (
	"fmt"
	"strings"
	"time"

	"piwatch/internal/gateway"
)

// Headline says for whom the gateway is on, and where.
func (g GatewayState) Headline() string {
	switch {
	case g.Error != "":
		return "not on: " + g.Error
	case !g.On:
		return "off"
	case !g.All:
		return fmt.Sprintf("on for %s, 127.0.0.1:%d", strings.Join(g.Providers, ", "), g.Port)
	case len(g.Except) > 0:
		return fmt.Sprintf("on for all providers but %s, 127.0.0.1:%d", strings.Join(g.Except, ", "), g.Port)
	}
	return fmt.Sprintf("on for all providers, 127.0.0.1:%d", g.Port)
}

// Lines says how the gateway stands, for people: what is on, what passes, what
// was tried again and what waits now.
func (g GatewayState) Lines(now time.Time) []string {
	lines := []string{"gateway: " + g.Headline()}
	if g.Error != "" || !g.On {
		return lines
	}
	for _, s := range g.Sessions {
		if text := s.Text(); text != "" && !s.On {
			lines = append(lines, text)
		}
	}
	if g.Traffic == nil {
		return lines
	}
	rows := g.Rows(now)
	all := gateway.Counts{Retries: map[string]int{}}
	for _, p := range rows {
		all.Requests, all.Recovered = all.Requests+p.Requests, all.Recovered+p.Recovered
		for cause, n := range p.Retries {
			all.Retries[cause] += n
		}
	}
	lines = append(lines, fmt.Sprintf("requests: %d", all.Requests)+TriedAgain(all))
	for _, p := range rows {
		if p.Breaker.Open {
			lines = append(lines, p.Provider+": breaker "+p.BreakerText)
		}
	}
	for _, p := range rows {
		for _, wait := range p.Waiting {
			lines = append(lines, p.Provider+": "+wait)
		}
	}
	return lines
}

// TriedAgain says what was tried again of some requests, after a comma.
func TriedAgain(c gateway.Counts) string {
	if len(c.Retries) == 0 {
		return ", none tried again"
	}
	return fmt.Sprintf(", tried again after %s, which helped %s", byCause(c.Retries), times(c.Recovered))
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}
