package e2e

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"piwatch/internal/gateway"
)

// proxied is a gateway in front of a home's provider; Pi knows it from its
// models.json alone, without the bridge.
type proxied struct {
	*gateway.Gateway
	home *Home
	url  string

	mu     sync.Mutex
	events []gateway.Event
}

// startGateway serves a gateway for the time of the test. Its retries follow
// after a moment, unless change says otherwise.
func startGateway(t testing.TB, h *Home, change ...func(*gateway.Options)) *proxied {
	t.Helper()
	p := &proxied{home: h}
	options := gateway.Options{
		Backoff: func(int) time.Duration { return 5 * time.Millisecond },
		Observe: func(e gateway.Event) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.events = append(p.events, e)
		},
	}
	for _, f := range change {
		f(&options)
	}
	p.Gateway = gateway.New(gateway.NewKey(), options)
	server, err := gateway.Serve(p.Gateway, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), Timeout())
		defer cancel()
		if err := server.Close(ctx); err != nil {
			t.Errorf("close the gateway: %v", err)
		}
	})
	if p.url, err = p.URL(server.Base(), "test", ProviderName, h.Provider.URL()); err != nil {
		t.Fatal(err)
	}
	return p
}

// startDirect starts a Pi that asks the provider itself, startThrough one that
// asks through the gateway.
func startDirect(h *Home) *RPC {
	h.WriteModels(h.Provider.URL())
	return h.StartRPC(Launch{})
}

func (p *proxied) startThrough() *RPC {
	p.home.t.Helper()
	p.home.WriteModels(p.url)
	return p.home.StartRPC(Launch{})
}

// counts are those of the one provider once nothing goes on.
func (p *proxied) counts() gateway.Counts {
	p.home.t.Helper()
	var c gateway.Counts
	if !poll(Timeout(), func() bool { c = p.Status().Providers[0].Counts; return c.Active == 0 }) {
		p.home.Fatalf("requests of the gateway do not end: %+v", c)
	}
	return c
}

// lastAnswer is the last assistant row of Pi's session.
func lastAnswer(h *Home, rpc *RPC) Record {
	h.t.Helper()
	var last Record
	for _, entry := range h.Entries(rpc.SessionFile()) {
		if IsRole("assistant")(entry) {
			last = entry
		}
	}
	return last
}

// Statuses on which Pi gives up at once, and a connection that is reset four
// times: the turn fails without the gateway and succeeds with it.
func TestGatewaySavesTurns(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		h := NewHome(t, pi, HomeOptions{Pis: 2, Settings: map[string]any{"retry": map[string]any{"enabled": false}}})
		p := startGateway(t, h)
		direct, through := startDirect(h), p.startThrough()
		faults := map[string]Reply{"reset": Reset()}
		for _, code := range []int{502, 503, 504, 520, 521, 522, 523, 524, 525, 533} {
			faults[fmt.Sprint(code)] = Status(code, "")
		}
		for name, fault := range faults {
			h.Provider.Take()
			h.Provider.Enqueue(fault)
			direct.Turn("direct " + name)
			if stop := lastAnswer(h, direct).Str("message.stopReason"); stop != "error" || len(h.Provider.Requests()) != 1 {
				t.Errorf("%s, direct: stop reason %q after %d requests", name, stop, len(h.Provider.Requests()))
			}
			h.Provider.Take()
			h.Provider.Enqueue(fault, fault, fault, Text("at last"))
			through.Turn("through " + name)
			if got := lastAnswer(h, through); got.Text() != "at last" || got.Str("message.stopReason") != "stop" {
				t.Errorf("%s, through the gateway: %s", name, got)
			}
			requests := h.Provider.Requests()
			if len(requests) != 4 {
				t.Fatalf("%s: %d requests, want 4", name, len(requests))
			}
			for _, r := range requests[1:] {
				SameBytes(t, r.Body, requests[0].Body)
			}
			if got := p.counts().Retries[name]; got != 3 {
				t.Errorf("%s: %d retries are counted, want 3", name, got)
			}
		}
	})
}

// What Pi sends is the same to the byte, with and without the gateway.
func TestGatewaySameBytes(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		eachAPI(t, func(t *testing.T, api API) {
			h := NewHome(t, pi, HomeOptions{API: api, Reasoning: true})
			p := startGateway(t, h)
			var sent [2][]*Request
			var session [2]string
			for i, start := range []func() *RPC{func() *RPC { return startDirect(h) }, p.startThrough} {
				h.Provider.Enqueue(Thinking("so").Text("first").Call("bash", map[string]any{"command": "echo one"}), Text("done"))
				rpc := start()
				rpc.Turn("run it")
				session[i] = rpc.SessionID()
				rpc.Close()
				sent[i] = h.Provider.Take()
			}
			if len(sent[0]) != 2 || len(sent[1]) != 2 {
				t.Fatalf("%s: %d and %d requests, want 2 each", api, len(sent[0]), len(sent[1]))
			}
			for i := range sent[0] {
				// The ids of the provider's answers count on.
				same := strings.NewReplacer(session[1], session[0], "rs_3_", "rs_1_", "msg_3_", "msg_1_", "fc_3_", "fc_1_")
				SameBytes(t, []byte(same.Replace(string(sent[1][i].Body))), sent[0][i].Body)
				for name := range sent[0][i].Header {
					if a, b := sent[0][i].Header.Get(name), sent[1][i].Header.Get(name); a != same.Replace(b) && name != "Connection" {
						t.Errorf("%s: header %s was %q and is %q", api, name, a, b)
					}
				}
				if a, b := len(sent[0][i].Header), len(sent[1][i].Header); b > a {
					t.Errorf("%s: %d headers instead of %d", api, b, a)
				}
			}
		})
	})
}

// eachAPI runs a test for each wire format, one after the other.
func eachAPI(t *testing.T, test func(t *testing.T, api API)) {
	for _, api := range []API{ChatCompletions, AnthropicMessages, Responses} {
		t.Run(string(api), func(t *testing.T) { test(t, api) })
	}
}

// Pi's own retries and those of the gateway add up, they do not multiply.
func TestGatewayIsBounded(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		eachAPI(t, func(t *testing.T, api API) {
			h := NewHome(t, pi, HomeOptions{API: api})
			for _, fault := range []Reply{Status(502, `{"error":{"message":"bad"}}`), Reset()} {
				p := startGateway(t, h)
				h.Provider.Handle(func(*Request) Reply { return fault })
				rpc := startDirect(h)
				rpc.Turn("direct")
				alone, said := len(h.Provider.Take()), lastAnswer(h, rpc).Str("message.errorMessage")
				rpc.Close()
				if alone != 4 {
					t.Fatalf("%s: Pi alone makes %d requests, want 4", api, alone)
				}
				rpc = p.startThrough()
				rpc.Turn("through")
				if got := len(h.Provider.Take()); got != 4+3 {
					t.Errorf("%s: Pi and the gateway make %d requests, want 7", api, got)
				}
				if got := lastAnswer(h, rpc).Str("message.errorMessage"); got != said {
					t.Errorf("%s: the error is %q, without the gateway %q", api, got, said)
				}
				rpc.Close()
			}
		})
	})
}

// What is no fault of a gateway passes once and as it is.
func TestGatewayPassesOn(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		h := NewHome(t, pi, HomeOptions{Pis: 2, Settings: map[string]any{"retry": map[string]any{"enabled": false}}})
		p := startGateway(t, h)
		direct, through := startDirect(h), p.startThrough()
		for _, code := range []int{400, 401, 403, 429, 500, 529} {
			reply := Status(code, fmt.Sprintf(`{"error":{"message":"this is %d"}}`, code)).Header("Retry-After", "7")
			var said [2]string
			for i, rpc := range []*RPC{direct, through} {
				h.Provider.Take()
				h.Provider.Enqueue(reply)
				rpc.Turn(fmt.Sprint("try ", code))
				said[i] = lastAnswer(h, rpc).Str("message.errorMessage")
				if got := len(h.Provider.Requests()); got != 1 {
					t.Errorf("%d: %d requests, want 1", code, got)
				}
			}
			if said[0] != said[1] || !strings.Contains(said[1], fmt.Sprint("this is ", code)) {
				t.Errorf("%d: the error is %q, without the gateway %q", code, said[1], said[0])
			}
		}
		if c := p.counts(); len(c.Retries) != 0 || len(c.Failed) != 0 {
			t.Errorf("counts %+v", c)
		}
	})
}

func TestGatewayKeepsRetryAfter(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		h := NewHome(t, pi, HomeOptions{})
		p := startGateway(t, h)
		h.Provider.Enqueue(Status(503, "").Header("Retry-After", "1"), Text("later"))
		rpc := p.startThrough()
		began := time.Now()
		rpc.Turn("go")
		if took := time.Since(began); took < time.Second || lastAnswer(h, rpc).Text() != "later" {
			t.Errorf("after %v: %s", took, lastAnswer(h, rpc))
		}
		// More than the user wants to wait: it is Pi's again.
		h.Provider.Enqueue(Status(503, "").Header("Retry-After", "600"), Text("by Pi"))
		rpc.Turn("go on")
		if got := lastAnswer(h, rpc); got.Text() != "by Pi" || p.counts().Retries["503"] != 1 {
			t.Errorf("%s, counts %+v", got, p.counts())
		}
	})
}

// Esc ends the wait, and the request that goes on.
func TestGatewayAbort(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		h := NewHome(t, pi, HomeOptions{})
		p := startGateway(t, h, func(o *gateway.Options) { o.Backoff = func(int) time.Duration { return time.Hour } })
		rpc := p.startThrough()
		h.Provider.Enqueue(Status(522, ""))
		rpc.Prompt("wait")
		if !poll(Timeout(), func() bool { return len(p.Status().Waiting) == 1 }) {
			h.Fatalf("nothing waits: %+v", p.Status())
		}
		left := func(n int) time.Duration {
			t.Helper()
			abort := rpc.Start("abort", nil)
			began := time.Now()
			if !poll(Timeout(), func() bool { return p.Status().Providers[0].Left == n }) {
				h.Fatalf("the request goes on: %+v", p.Status())
			}
			took := time.Since(began)
			abort.Must()
			rpc.WaitSettled()
			return took
		}
		waited := left(1)
		if got := len(h.Provider.Requests()); got != 1 || len(p.Status().Waiting) != 0 {
			t.Errorf("%d requests, status %+v", got, p.Status())
		}
		// A machine that is busy may take longer once; the best of three counts.
		var streamed time.Duration
		for i := range 3 {
			gate := h.Provider.NewGate("half")
			h.Provider.Enqueue(Text("half").Gate(gate))
			rpc.Prompt("speak")
			gate.WaitReached()
			took := left(i + 2)
			h.Provider.WaitEnded(i + 2)
			if !h.Provider.Requests()[i+1].Cancelled() {
				t.Error("the upstream did not see Pi go")
			}
			if streamed == 0 || took < streamed {
				streamed = took
			}
		}
		t.Logf("from abort to the end: %v in a wait, %v in an answer", waited, streamed)
		if limit := 100 * time.Millisecond; min(waited, streamed) > limit || waited > 5*limit {
			t.Errorf("an abort took %v and %v, want at most %v", waited, streamed, limit)
		}
	})
}

// An answer that is cut in the middle reaches Pi as cut, which then tries again.
func TestGatewayMidStream(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		h := NewHome(t, pi, HomeOptions{})
		p := startGateway(t, h)
		rpc := p.startThrough()
		h.Provider.Enqueue(Text("half").Reset(), Text("half").Early(), Text("whole"))
		rpc.Turn("speak")
		if got := lastAnswer(h, rpc).Text(); got != "whole" || len(h.Provider.Requests()) != 3 {
			t.Errorf("%q after %d requests, want the third", got, len(h.Provider.Requests()))
		}
		c := p.counts()
		if c.Broken != 1 || c.Unterminated != 1 || len(c.Retries) != 0 || c.Requests != 3 {
			t.Errorf("counts %+v", c)
		}
		halves := 0
		for _, entry := range h.Entries(rpc.SessionFile()) {
			if entry.Text() == "half" && entry.Str("message.stopReason") == "error" {
				halves++
			}
		}
		if halves != 2 {
			t.Errorf("%d broken answers in the session, want 2", halves)
		}
	})
}

// A stream that goes silent is told; when it is cut, Pi tries again.
func TestGatewaySilence(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		h := NewHome(t, pi, HomeOptions{})
		var cut sync.Map
		p := startGateway(t, h, func(o *gateway.Options) {
			o.Settings = func() gateway.Settings {
				_, on := cut.Load("on")
				return gateway.Settings{Silence: time.Second, Cut: on, RetryAfter: time.Minute}
			}
		})
		rpc := p.startThrough()
		gate := h.Provider.NewGate("silent")
		h.Provider.Enqueue(Text("half ").Gate(gate).Text("whole"))
		rpc.Prompt("speak")
		if !poll(Timeout(), func() bool { s := p.Status().Providers; return len(s) == 1 && s[0].Silent == 1 }) {
			h.Fatalf("the silence was not seen")
		}
		gate.Release()
		rpc.WaitSettled()
		if got := lastAnswer(h, rpc).Text(); got != "half whole" {
			t.Errorf("the answer is %q", got)
		}
		cut.Store("on", true)
		h.Provider.Enqueue(Text("half").Gate(h.Provider.NewGate("for ever")), Text("again"))
		rpc.Turn("speak again")
		if got := lastAnswer(h, rpc).Text(); got != "again" || p.counts().Silent != 2 {
			t.Errorf("the answer is %q, counts %+v", got, p.counts())
		}
	})
}

// A gateway that is gone is a connection error to Pi; one that refuses says why.
func TestGatewayRefusalReachesPi(t *testing.T) {
	pi := RequirePi(t, Versions()[0])
	h := NewHome(t, pi, HomeOptions{})
	p := startGateway(t, h)
	p.url = strings.Replace(p.url, "/http/127.0.0.1", "/http/127.0.0.2", 1)
	rpc := p.startThrough()
	rpc.Turn("go")
	if got := lastAnswer(h, rpc).Str("message.errorMessage"); !strings.Contains(got, "403") || !strings.Contains(got, "is not listed") {
		t.Errorf("Pi says %q", got)
	}
}
