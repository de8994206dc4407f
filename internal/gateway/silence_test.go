package gateway_test

import (
	"io"
	"net/http"
	"testing"
	"time"

	"piwatch/internal/gateway"
)

// A wait for the next attempt is no silence of the upstream.
func TestWaitIsNoSilence(t *testing.T) {
	r := newRig(t, func(_ int, w http.ResponseWriter, _ *http.Request) { status(502, "")(w) }, func(o *gateway.Options) {
		o.Backoff = func(int) time.Duration { return time.Hour }
	})
	conn := r.dial("POST", "ask")
	r.event(gateway.Retry)
	if quiet := r.gateway.WaitingQuiet(); quiet > -59*time.Minute {
		t.Errorf("in a wait of an hour the upstream is counted silent for %v", quiet)
	}
	_ = conn.Close()
	r.settled()
}

// An upstream that takes the request is no silent one.
func TestUploadIsNoSilence(t *testing.T) {
	for _, c := range []struct{ held, rest string }{{"held", ""}, {"held", " and more"}} {
		if sent, taken := gateway.Upload(c.held, c.rest); sent != c.held+c.rest || taken == 0 {
			t.Errorf("%q was sent, and %d times noted", sent, taken)
		}
	}
}

// echo upgrades to a connection that gives a line back.
func echo(w http.ResponseWriter) {
	w.Header().Set("Connection", "Upgrade")
	w.Header().Set("Upgrade", "echo")
	w.WriteHeader(http.StatusSwitchingProtocols)
	conn, rw, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	line, _ := rw.ReadString('\n')
	_, _ = io.WriteString(conn, line)
	_ = conn.Close()
}

// upgrade asks for an upgrade and returns the connection.
func upgrade(r *rig) io.ReadWriteCloser {
	r.t.Helper()
	request, err := http.NewRequest("GET", r.url, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	request.Header.Set("Connection", "Upgrade")
	request.Header.Set("Upgrade", "echo")
	res, err := r.client.Do(request)
	if err != nil {
		r.t.Fatal(err)
	}
	if res.StatusCode != http.StatusSwitchingProtocols {
		r.t.Fatalf("status %d", res.StatusCode)
	}
	return res.Body.(io.ReadWriteCloser)
}

// An upgrade passes, as with any proxy.
func TestUpgrade(t *testing.T) {
	r := newRig(t, func(_ int, w http.ResponseWriter, _ *http.Request) { echo(w) })
	pipe := upgrade(r)
	defer pipe.Close()
	_, _ = io.WriteString(pipe, "hello\n")
	if text, err := io.ReadAll(pipe); string(text) != "hello\n" {
		t.Errorf("%q, %v", text, err)
	}
}

// What passes after an upgrade is not seen: it is never silent. Another request
// that began later is.
func TestUpgradeIsNoSilence(t *testing.T) {
	goOn := make(chan struct{})
	r := newRig(t, func(n int, w http.ResponseWriter, _ *http.Request) {
		if n == 1 {
			echo(w)
			return
		}
		<-goOn
		status(200, "yes")(w)
	}, func(o *gateway.Options) {
		o.Settings = func() gateway.Settings { return gateway.Settings{Silence: 50 * time.Millisecond} }
	})
	silent := func(session string) int {
		for _, s := range r.gateway.Status().Sessions {
			if s.Session == session {
				return s.Silent
			}
		}
		return 0
	}
	pipe := upgrade(r)
	defer pipe.Close()
	before := silent("session-1") // a slow machine
	answered := make(chan error, 1)
	go func() {
		res, err := r.client.Get(r.address("session-2", r.upstream))
		if err == nil {
			_ = res.Body.Close()
		}
		answered <- err
	}()
	eventually(t, "the request that is silent", func() bool { return silent("session-2") > 0 })
	close(goOn)
	if err := <-answered; err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(pipe, "hello\n")
	if text, err := io.ReadAll(pipe); string(text) != "hello\n" {
		t.Errorf("%q, %v", text, err)
	}
	if got := silent("session-1"); got != before {
		t.Errorf("told %d times to be silent, %d of them before the upgrade", got, before)
	}
}
