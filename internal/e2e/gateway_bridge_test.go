package e2e

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"piwatch/internal/control"
	"piwatch/internal/watchdog"
)

// hubClient is a client of the home's hub for the time of the test.
func hubClient(t *testing.T, h *Home) (context.Context, *control.Client) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 3*Timeout())
	t.Cleanup(cancel)
	client, err := control.DialClient(ctx, hubSocket(t, h), "0.0.0-test", "cli")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return ctx, client
}

// switchGateway turns the gateway on or off.
func switchGateway(t *testing.T, h *Home, on bool, providers ...string) control.CommandReply {
	t.Helper()
	ctx, client := hubClient(t, h)
	reply, err := client.SetGateway(ctx, control.GatewaySetParams{On: on, Providers: providers})
	if err != nil || reply.Level == "error" {
		t.Fatalf("gateway on=%v %v: %+v, %v", on, providers, reply, err)
	}
	return reply
}

// pointed waits until the only session's provider is pointed, or is not.
func pointed(t *testing.T, h *Home, on bool) control.PointedAt {
	t.Helper()
	ctx, client := hubClient(t, h)
	var state control.GatewayState
	if !poll(Timeout(), func() bool {
		var err error
		if state, err = client.Gateway(ctx); err != nil {
			t.Fatal(err)
		}
		return len(state.Sessions) == 1 && state.Sessions[0].On == on
	}) {
		h.Fatalf("the gateway is %+v, want a session with On=%v", state, on)
	}
	return state.Sessions[0]
}

// traffic is how many requests have passed the hub's gateway.
func traffic(t *testing.T, h *Home) int {
	t.Helper()
	ctx, client := hubClient(t, h)
	state, err := client.Gateway(ctx)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	if state.Traffic != nil {
		for _, p := range state.Traffic.Providers {
			n += p.Requests
		}
	}
	return n
}

// TestGatewayBridge: the bridge points the session's provider while the gateway
// is on, and what Pi sends is the same; retries are in the session's record.
func TestGatewayBridge(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		h := NewHome(t, pi, HomeOptions{})
		startHub(t, h)
		rpc := watched(t, h, Launch{})
		h.Provider.Enqueue(Text("direct"))
		rpc.Turn("one")
		if n := traffic(t, h); n != 0 {
			t.Errorf("%d requests passed a gateway that is off", n)
		}

		switchGateway(t, h, true)
		at := pointed(t, h, true)
		if at.Provider != ProviderName || at.Session != rpc.SessionID() || !strings.HasPrefix(h.Provider.URL(), at.Upstream) {
			t.Errorf("pointed: %+v", at)
		}
		h.Provider.Enqueue(Status(522, ""), Text("through"))
		rpc.Turn("two")
		if got := lastAnswer(h, rpc).Text(); got != "through" || traffic(t, h) != 1 {
			t.Errorf("%q after %d requests of the gateway", got, traffic(t, h))
		}
		requests := h.Provider.Requests()
		if len(requests) != 3 {
			t.Fatalf("%d requests, want 3", len(requests))
		}
		SameBytes(t, requests[2].Body, requests[1].Body)
		var kinds []string
		for _, e := range h.Entries(rpc.SessionFile()) {
			if IsCustom(watchdog.RecordGateway)(e) {
				kinds = append(kinds, e.Str("data.kind")+" "+e.Str("data.cause"))
			}
		}
		wantLines(t, "records", kinds, "retry 522", "recovered 200")

		switchGateway(t, h, false)
		pointed(t, h, false)
		h.Provider.Enqueue(Status(522, ""), Text("not asked"))
		rpc.Turn("three")
		if got := lastAnswer(h, rpc).Str("message.stopReason"); got != "error" || h.Provider.Pending() != 1 {
			t.Errorf("after off: stop reason %q, %d answers left", got, h.Provider.Pending())
		}
	})
}

// TestGatewayChoice: it is on for some providers, or for all but some.
func TestGatewayChoice(t *testing.T) {
	pi := RequirePi(t, Versions()[0])
	h := NewHome(t, pi, HomeOptions{})
	startHub(t, h)
	watched(t, h, Launch{})
	switchGateway(t, h, true, "other")
	if at := pointed(t, h, false); at.Why != "off for this provider" {
		t.Errorf("%+v", at)
	}
	switchGateway(t, h, true, ProviderName)
	pointed(t, h, true)
	switchGateway(t, h, true)
	switchGateway(t, h, false, ProviderName)
	pointed(t, h, false)
}

// TestGatewayLeavesOthersAlone: a provider that another extension has taken
// over stays as it is, and that is said.
func TestGatewayLeavesOthersAlone(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		for _, c := range []struct{ name, config, why string }{
			{"loopback", `{ baseUrl: "BASE" }`, "another extension points it at http://127.0.0.1"},
			{"own stream", `{ api: "scripted-api", streamSimple: () => { throw new Error("never") } }`, "another extension makes its requests"},
		} {
			t.Run(c.name, func(t *testing.T) {
				h := NewHome(t, pi, HomeOptions{})
				startHub(t, h)
				// The same address, so that Pi goes on to work.
				file := h.WriteFile(filepath.Join(h.Dir, "other.ts"), `
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
export default function other(pi: ExtensionAPI): void {
	pi.registerProvider("`+ProviderName+`", `+strings.ReplaceAll(c.config, "BASE", h.Provider.URL())+` as any);
}
`)
				watched(t, h, Launch{Extensions: []string{file}})
				reply := switchGateway(t, h, true)
				at := pointed(t, h, false)
				if !strings.Contains(at.Why, c.why) || !strings.Contains(at.Why, "left alone") || !strings.Contains(reply.Text, c.why) {
					t.Errorf("%+v, told as %q", at, reply.Text)
				}
			})
		}
	})
}

// TestGatewayHubKilled: a hub that is killed while an answer is on its way: the
// provider is put back, Pi tries again and goes direct; the next hub has the
// same port, and the provider is pointed at it again.
func TestGatewayHubKilled(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		h := NewHome(t, pi, HomeOptions{})
		installBridge(t, h)
		if result := h.RunPiwatch("gateway", "on"); result.ExitCode != 0 {
			t.Fatalf("piwatch gateway on: %+v", result)
		}
		rpc := h.StartRPC(Launch{})
		pointed(t, h, true)
		port := func() int {
			ctx, client := hubClient(t, h)
			state, err := client.Gateway(ctx)
			if err != nil {
				t.Fatal(err)
			}
			return state.Port
		}
		before, pid := port(), hubPID(t, h)

		gate := h.Provider.NewGate("in the answer")
		h.Provider.Enqueue(Text("half").Gate(gate).Text("never"), Text("direct"))
		rpc.Prompt("speak")
		gate.WaitReached()
		kill(t, pid)
		h.Provider.WaitRequests(2) // Pi's own retry
		rpc.WaitSettled()
		if got := lastAnswer(h, rpc).Text(); got != "direct" {
			t.Errorf("the answer is %q", got)
		}

		waitHub(t, h, pid)
		pointed(t, h, true)
		if after := port(); after != before {
			t.Errorf("the gateway is at port %d, before at %d", after, before)
		}
		n := traffic(t, h)
		h.Provider.Enqueue(Text("through"))
		rpc.Turn("again")
		if got := traffic(t, h); got != n+1 || lastAnswer(h, rpc).Text() != "through" {
			t.Errorf("%d requests passed the new gateway, before %d", got, n)
		}
		rpc.Close()
		stopHub(t, h)
	})
}

// TestGatewayReload: a bridge that is loaded anew puts the provider back first,
// and points it again.
func TestGatewayReload(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		h := NewHome(t, pi, HomeOptions{})
		startHub(t, h)
		rpc := watched(t, h, Launch{})
		switchGateway(t, h, true)
		first := pointed(t, h, true)
		rpc.NewSession()
		var second control.PointedAt
		if !poll(Timeout(), func() bool { second = pointed(t, h, true); return second.Session != first.Session }) {
			h.Fatalf("the new session is not pointed: %+v", second)
		}
		if second.Upstream != first.Upstream || second.Session != rpc.SessionID() {
			t.Errorf("first %+v, then %+v", first, second)
		}
		h.Provider.Enqueue(Text("through"))
		rpc.Turn("go")
		if n := traffic(t, h); n != 1 {
			t.Errorf("%d requests passed the gateway, want 1", n)
		}
	})
}
