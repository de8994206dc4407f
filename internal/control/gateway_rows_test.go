package control

import (
	"slices"
	"testing"
	"time"

	"piwatch/internal/gateway"
)

func TestGatewayTexts(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	state := GatewayState{
		On: true, All: true, Except: []string{"b", "c"}, Port: 4400,
		Sessions: []PointedAt{
			{Session: "s1", Provider: "acme", On: true}, {Session: "s2", Provider: "codex", Why: "a WebSocket"}, {Session: "s3", Provider: "b"},
		},
		Traffic: &gateway.Status{
			Providers: []gateway.ProviderStatus{
				{Provider: "acme", Upstream: "https://a.example", Counts: gateway.Counts{
					Requests: 12, Recovered: 2, Broken: 1, Unterminated: 2,
					Retries: map[string]int{"reset": 1, "502": 3}, Failed: map[string]int{"522": 1},
				}},
				{Provider: "down", Upstream: "https://d.example", Breaker: gateway.BreakerStatus{Open: true, Until: now.Add(42 * time.Second)}},
			},
			Waiting: []gateway.Wait{{Provider: "acme", Upstream: "https://a.example", Cause: "502", Retry: 2, Of: 3, Until: now.Add(4500 * time.Millisecond)}},
		},
	}
	want := []string{
		"gateway: on for all providers but b, c, 127.0.0.1:4400",
		"codex goes direct in session s2: a WebSocket",
		"requests: 12, tried again after 502×3 reset×1, which helped 2 times",
		"down: breaker open, no retries for 42s",
		"acme: waits after 502: retry 2 of 3 in 5s",
	}
	if got := state.Lines(now); !slices.Equal(got, want) {
		t.Errorf("lines\n%q, want\n%q", got, want)
	}
	rows := state.Rows(now)
	if len(rows) != 2 {
		t.Fatalf("%d rows", len(rows))
	}
	first, second := rows[0], rows[1]
	if first.TriedAgain != "502×3 reset×1" || first.FailedWith != "522×1" || first.Faulty != 3 || first.BreakerText != "closed" ||
		!slices.Equal(first.Waiting, []string{"waits after 502: retry 2 of 3 in 5s"}) {
		t.Errorf("%+v", first)
	}
	if second.TriedAgain != "" || second.BreakerText != "open, no retries for 42s" || len(second.Waiting) != 0 {
		t.Errorf("%+v", second)
	}
	for _, c := range []struct {
		state GatewayState
		want  string
	}{
		{GatewayState{}, "off"},
		{GatewayState{On: true, Error: "no port"}, "not on: no port"},
		{GatewayState{On: true, Providers: []string{"a", "b"}, Port: 1}, "on for a, b, 127.0.0.1:1"},
	} {
		if got := c.state.Headline(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
		if got := c.state.Lines(now); !slices.Equal(got[:1], []string{"gateway: " + c.want}) {
			t.Errorf("%q", got)
		}
	}
}

func TestTriedAgain(t *testing.T) {
	for helped, want := range []string{"0 times", "once", "2 times"} {
		c := gateway.Counts{Retries: map[string]int{"502": 3}, Recovered: helped}
		if got := TriedAgain(c); got != ", tried again after 502×3, which helped "+want {
			t.Errorf("%q", got)
		}
	}
	if got := TriedAgain(gateway.Counts{}); got != ", none tried again" {
		t.Errorf("%q", got)
	}
}
