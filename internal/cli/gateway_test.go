package cli

import (
	"strings"
	"testing"
	"time"

	"piwatch/internal/control"
	"piwatch/internal/gateway"
)

// Each fault of an answer stands in the column of its own.
func TestGatewayRows(t *testing.T) {
	state := control.GatewayState{Traffic: &gateway.Status{Providers: []gateway.ProviderStatus{
		{Provider: "acme", Upstream: "https://a.example", Counts: gateway.Counts{Requests: 9, Broken: 3, Unterminated: 4, Silent: 5}},
	}}}
	var out strings.Builder
	if err := printGatewayRows(&out, state.Rows(time.Unix(1_800_000_000, 0))); err != nil {
		t.Fatal(err)
	}
	want := "\n" +
		"PROVIDER  UPSTREAM           REQUESTS  NOW  TRIED AGAIN  HELPED  FAILED  BROKEN  NO END  SILENT  BREAKER\n" +
		"acme      https://a.example  9         0    -            0       -       3       4       5       closed\n"
	if out.String() != want {
		t.Errorf("printed\n%s\nwant\n%s", out.String(), want)
	}
	out.Reset()
	if err := printGatewayRows(&out, nil); err != nil || out.String() != "" {
		t.Errorf("of none: %q, %v", out.String(), err)
	}
}
