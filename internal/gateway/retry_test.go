package gateway_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"piwatch/internal/gateway"
)

// trips is a transport that answers from a script, the n-th attempt from 1 on.
type trips struct {
	answer func(n int) (*http.Response, error)
	at     []time.Time // of the attempts for one request
}

func (f *trips) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		_, _ = io.Copy(io.Discard, r.Body)
	}
	f.at = append(f.at, time.Now())
	return f.answer(len(f.at))
}

func reply(code int, header ...string) (*http.Response, error) {
	h := http.Header{}
	for i := 0; i < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	return &http.Response{StatusCode: code, Header: h, Body: io.NopCloser(strings.NewReader("x")), ContentLength: 1}, nil
}

// ask sends one request through a gateway with this transport, with time that
// passes as soon as everybody waits, and returns the waits between attempts.
func ask(t *testing.T, g *gateway.Gateway, f *trips, body string) (int, []time.Duration) {
	t.Helper()
	url, err := g.URL("http://127.0.0.1", "s", "p", "https://api.example.com/v1")
	if err != nil {
		t.Fatal(err)
	}
	f.at = nil
	r := httptest.NewRequest("POST", strings.TrimPrefix(url, "http://127.0.0.1"), strings.NewReader(body))
	r.Host = "127.0.0.1"
	w := httptest.NewRecorder()
	g.ServeHTTP(w, r.WithContext(t.Context()))
	var waits []time.Duration
	for i := 1; i < len(f.at); i++ {
		waits = append(waits, f.at[i].Sub(f.at[i-1]))
	}
	return w.Code, waits
}

func TestBackoff(t *testing.T) {
	low, high := []time.Duration{9e9, 9e9, 9e9}, make([]time.Duration, 3)
	for range 100 {
		synctest.Test(t, func(t *testing.T) {
			f := &trips{answer: func(int) (*http.Response, error) { return reply(502) }}
			code, waits := ask(t, gateway.New(gateway.NewKey(), gateway.Options{Transport: f}), f, "a")
			if code != 502 || len(waits) != 3 {
				t.Fatalf("status %d after %v", code, waits)
			}
			for i, w := range waits {
				low[i], high[i] = min(low[i], w), max(high[i], w)
			}
		})
	}
	for i, ceiling := range []time.Duration{2 * time.Second, 4 * time.Second, 8 * time.Second} {
		if low[i] < time.Second || high[i] > ceiling {
			t.Errorf("wait %d was between %v and %v, want 1 s to %v", i+1, low[i], high[i], ceiling)
		}
		if span := ceiling - time.Second; low[i] > time.Second+span/4 || high[i] < ceiling-span/4 {
			t.Errorf("wait %d was between %v and %v: that is no full jitter up to %v", i+1, low[i], high[i], ceiling)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	for _, c := range []struct {
		name  string
		value func() string
		want  time.Duration // 0: not tried again; −1: the backoff
	}{
		{"seconds", func() string { return "3" }, 3 * time.Second},
		{"the limit", func() string { return "60" }, time.Minute},
		{"over the limit", func() string { return "61" }, 0},
		{"far over it", func() string { return "99999999999999999999" }, 0},
		{"none left", func() string { return "0" }, -1},
		{"negative", func() string { return "-5" }, -1},
		{"nonsense", func() string { return "soon" }, -1},
		{"not a number", func() string { return "NaN" }, -1},
		{"a date", func() string { return time.Now().Add(20 * time.Second).UTC().Format(http.TimeFormat) }, 20 * time.Second},
		{"a date in the past", func() string { return time.Now().Add(-time.Hour).UTC().Format(http.TimeFormat) }, -1},
		{"a date tomorrow", func() string { return time.Now().Add(24 * time.Hour).UTC().Format(http.TimeFormat) }, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &trips{answer: func(n int) (*http.Response, error) {
					if n == 1 {
						return reply(503, "Retry-After", c.value())
					}
					return reply(200)
				}}
				backoff := func(int) time.Duration { return 1234 * time.Millisecond }
				code, waits := ask(t, gateway.New(gateway.NewKey(), gateway.Options{Transport: f, Backoff: backoff}), f, "a")
				want := c.want
				if want < 0 {
					want = backoff(1)
				}
				switch {
				case c.want == 0 && (code != 503 || len(waits) != 0):
					t.Errorf("status %d after the waits %v, want none", code, waits)
				case c.want != 0 && (code != 200 || len(waits) != 1 || waits[0] > want || waits[0] < want-time.Second*b2i(c.name == "a date") || waits[0] <= 0):
					t.Errorf("status %d after the waits %v, want %v", code, waits, want)
				}
			})
		})
	}
}

func b2i(b bool) time.Duration {
	if b {
		return 1
	}
	return 0
}

// Pi repeats a request that failed: the whole is bounded.
func TestRepeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		total := 0
		f := &trips{answer: func(int) (*http.Response, error) { total++; return reply(502) }}
		g := gateway.New(gateway.NewKey(), gateway.Options{Transport: f})
		for _, wait := range []time.Duration{0, 2 * time.Second, 4 * time.Second, 8 * time.Second} {
			time.Sleep(wait) // as Pi does; the time of the bubble
			if code, _ := ask(t, g, f, "the same"); code != 502 {
				t.Errorf("status %d", code)
			}
		}
		if total != 4+3 {
			t.Errorf("one turn cost %d requests, want 7", total)
		}
		time.Sleep(6 * time.Minute)
		if ask(t, g, f, "the same"); total != 7+4 {
			t.Errorf("%d requests after a pause, want 11", total)
		}
	})
}

func TestRepeatsOfOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answers := map[int]int{}
		f := &trips{}
		f.answer = func(n int) (*http.Response, error) {
			if code := answers[n]; code != 0 {
				return reply(code)
			}
			return reply(502)
		}
		g := gateway.New(gateway.NewKey(), gateway.Options{Transport: f})
		attempts := func(body string) int { ask(t, g, f, body); return len(f.at) }
		if n := attempts("a"); n != 4 {
			t.Errorf("the first had %d attempts, want 4", n)
		}
		if n := attempts("b"); n != 4 {
			t.Errorf("another had %d attempts, want 4", n)
		}
		answers[1] = 200
		if n := attempts("a"); n != 1 {
			t.Errorf("a repeat had %d attempts, want 1", n)
		}
		delete(answers, 1)
		if n := attempts("a"); n != 4 {
			t.Errorf("after a good answer it had %d attempts, want 4", n)
		}
		// An answer that Pi minds and the gateway does not leaves what is left.
		answers[3] = 429
		if n := attempts("c"); n != 3 {
			t.Errorf("429 came after %d attempts, want 3", n)
		}
		delete(answers, 3)
		if n := attempts("c"); n != 2 {
			t.Errorf("a repeat after two retries had %d attempts, want 2", n)
		}
	})
}

func TestBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		code := 502
		f := &trips{answer: func(int) (*http.Response, error) { return reply(code) }}
		g := gateway.New(gateway.NewKey(), gateway.Options{Transport: f})
		var got []int
		step := func() {
			ask(t, g, f, strconv.Itoa(len(got))) // another request each time
			got = append(got, len(f.at))
		}
		open := func() bool { return g.Status().Providers[0].Breaker.Open }
		for range 3 {
			step()
		}
		b := g.Status().Providers[0].Breaker
		if !b.Open || b.Failed != 3 || time.Until(b.Until) != time.Minute {
			t.Errorf("breaker %+v after three failures", b)
		}
		step() // one attempt
		time.Sleep(time.Minute)
		if open() {
			t.Error("the breaker does not close by itself")
		}
		step() // tried anew; it fails
		if !open() {
			t.Error("the breaker is closed after another failure")
		}
		code = 200
		step()
		if open() {
			t.Error("the breaker stays open after an answer")
		}
		code = 502
		step()
		if want := []int{4, 4, 4, 1, 4, 1, 4}; !slices.Equal(got, want) {
			t.Errorf("attempts %v, want %v", got, want)
		}
	})
}

// What Pi gives up says nothing of the upstream.
func TestLeavingIsNoFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &trips{answer: func(int) (*http.Response, error) { return reply(502) }}
		g := gateway.New(gateway.NewKey(), gateway.Options{Transport: f, Backoff: func(int) time.Duration { return time.Hour }})
		url, _ := g.URL("", "s", "p", "https://api.example.com")
		for range 5 {
			ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, context.Canceled)
			func() {
				defer func() { _ = recover() }()
				r := httptest.NewRequest("POST", url, strings.NewReader("a"))
				r.Host = "localhost:1"
				g.ServeHTTP(httptest.NewRecorder(), r.WithContext(ctx))
			}()
			cancel()
		}
		p := g.Status().Providers[0]
		if p.Breaker.Failed != 0 || p.Left != 5 || p.Active != 0 || len(p.Failed) != 0 {
			t.Errorf("status %+v", p)
		}
	})
}

// A request that is none of Pi's is not counted, and no breaker minds it.
func TestNotCounted(t *testing.T) {
	r := newRig(t, func(_ int, w http.ResponseWriter, _ *http.Request) { status(502, "no")(w) })
	counted := r.url
	through, err := r.gateway.URL(r.base, "", "", r.upstream)
	if err != nil {
		t.Fatal(err)
	}
	r.url = through
	for _, body := range []string{"a", "b", "c"} {
		r.want(body, 502, "no")
	}
	if s := r.gateway.Status(); len(s.Providers) != 0 || len(s.Sessions) != 0 {
		t.Errorf("counted: %+v", s)
	}
	r.url = counted
	r.want("d", 502, "no")
	if got := r.settled().Providers[0]; got.Requests != 1 || got.Retries["502"] != 3 || got.Breaker.Failed != 1 {
		t.Errorf("%+v", got)
	}
}
