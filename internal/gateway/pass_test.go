package gateway_test

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"piwatch/internal/gateway"
)

func TestStatuses(t *testing.T) {
	for _, code := range []int{502, 503, 504, 520, 521, 522, 523, 524, 525, 533} {
		t.Run(strconv.Itoa(code), func(t *testing.T) {
			r := newRig(t, func(n int, w http.ResponseWriter, _ *http.Request) {
				if n == 1 {
					status(code, "no")(w)
					return
				}
				status(200, "yes")(w)
			})
			r.want("ask", 200, "yes")
			if r.count() != 2 {
				t.Errorf("%d requests of the upstream, want 2", r.count())
			}
			got := r.settled().Providers[0].Counts
			want := gateway.Counts{
				Requests: 1, Answers: map[string]int{"200": 1}, Retries: map[string]int{strconv.Itoa(code): 1},
				Recovered: 1, Failed: map[string]int{},
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("counts %+v, want %+v", got, want)
			}
		})
	}
	for _, code := range []int{200, 201, 204, 301, 304, 400, 401, 403, 404, 408, 413, 422, 429, 500, 501, 505, 529, 530} {
		t.Run(strconv.Itoa(code), func(t *testing.T) {
			body := "as it was"
			if code == 204 || code == 304 {
				body = ""
			}
			r := newRig(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Retry-After", "7")
				status(code, body)(w)
			})
			r.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
			r.want("ask", code, body)
			if r.count() != 1 {
				t.Errorf("%d requests of the upstream, want 1", r.count())
			}
		})
	}
}

// A request that failed after all retries is passed on as it was.
func TestSpent(t *testing.T) {
	r := newRig(t, func(n int, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Attempt", strconv.Itoa(n))
		status(502, "attempt "+strconv.Itoa(n))(w)
	})
	res, err := r.post("/", "ask")
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(res.Body)
	_ = res.Body.Close()
	if res.StatusCode != 502 || string(body) != "attempt 4" || res.Header.Get("X-Attempt") != "4" {
		t.Errorf("answer %d %q, X-Attempt %s; want the fourth attempt", res.StatusCode, body, res.Header.Get("X-Attempt"))
	}
	if e := r.event(gateway.Failed); e.Cause != "502" || e.Retry != 3 || e.Route.Session != "session-1" {
		t.Errorf("event %+v", e)
	}
}

func TestConnectionFaults(t *testing.T) {
	for _, c := range []struct {
		name  string
		fault func(w http.ResponseWriter)
	}{
		{"reset before the headers", reset},
		{"end before the headers", func(w http.ResponseWriter) { panic(http.ErrAbortHandler) }},
		{"reset after the headers", func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "text/event-stream")
			w.WriteHeader(200)
			_ = http.NewResponseController(w).Flush()
			reset(w)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, func(n int, w http.ResponseWriter, _ *http.Request) {
				if n < 4 {
					c.fault(w)
				}
				status(200, "yes")(w)
			})
			r.want("ask", 200, "yes")
			if got := r.settled().Providers[0].Retries["reset"]; got != 3 {
				t.Errorf("%d retries after a reset, want 3", got)
			}
		})
	}
	t.Run("refused", func(t *testing.T) {
		r := newRig(t, nil)
		r.url = r.address("", "http://127.0.0.1:1")
		r.wantError("ask")
		p := r.settled().Providers[0]
		if p.Retries["refused"] != 3 || p.Failed["refused"] != 1 {
			t.Errorf("counts %+v", p.Counts)
		}
	})
	t.Run("no such host", func(t *testing.T) {
		r := newRig(t, nil)
		r.url = r.address("", "http://host.invalid")
		r.wantError("ask")
		if p := r.settled().Providers[0]; p.Retries["DNS"] != 3 {
			t.Errorf("counts %+v", p.Counts)
		}
	})
	t.Run("no TLS", func(t *testing.T) {
		r := newRig(t, func(int, http.ResponseWriter, *http.Request) {})
		r.url = r.address("", strings.Replace(r.upstream, "http:", "https:", 1))
		r.wantError("ask")
		if p := r.settled().Providers[0]; p.Retries["TLS"] != 3 {
			t.Errorf("counts %+v", p.Counts)
		}
	})
}

// What Pi sends arrives as it was, and what the upstream answers too.
func TestUnchanged(t *testing.T) {
	body := strings.Repeat("\x00\xff{\"a\":1}\r\n", 1000)
	answer := strings.Repeat("\x1f\x8b not really gzip \x00", 999)
	r := newRig(t, func(n int, w http.ResponseWriter, _ *http.Request) {
		if n == 1 {
			status(502, "")(w)
			return
		}
		w.Header()["X-Two"] = []string{"one", "two"}
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("Keep-Alive", "timeout=5")
		w.Header().Set("X-Hop", "gone")
		w.Header().Set("Connection", "X-Hop")
		_, _ = io.WriteString(w, answer)
	})
	const path = "/v1//a%2Fb/%20c/./../x;y?key=a%20b&&bad=%zz;x&key=2"
	request, err := http.NewRequest("POST", r.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	sent := http.Header{
		"Authorization": {"Bearer secret"}, "X-Api-Key": {"secret"}, "Accept-Encoding": {"br, gzip"}, "User-Agent": {"pi"},
		"X-Forwarded-For": {"1.2.3.4"}, "Forwarded": {"for=x"}, "X-Many": {"1", "2"}, "Content-Type": {"text/x"},
		"Connection": {"X-Mine"}, "X-Mine": {"hop"}, "Te": {"gzip"},
	}
	request.Header = sent.Clone()
	res, err := r.client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(res.Body)
	_ = res.Body.Close()
	if err != nil || string(got) != answer {
		t.Errorf("the answer's body differs: %d bytes, %v", len(got), err)
	}
	if h := res.Header; !reflect.DeepEqual(h["X-Two"], []string{"one", "two"}) || h.Get("Content-Encoding") != "gzip" || h.Get("X-Hop") != "" || h.Get("Keep-Alive") != "" {
		t.Errorf("the answer's headers are %v", h)
	}
	for n := 1; n <= 2; n++ {
		in, arrived := r.request(n)
		if arrived != body {
			t.Errorf("attempt %d: the body differs", n)
		}
		if in.RequestURI != path {
			t.Errorf("attempt %d: the target is %s, want %s", n, in.RequestURI, path)
		}
		if "http://"+in.Host != r.upstream {
			t.Errorf("attempt %d: the host is %s, want %s", n, in.Host, r.upstream)
		}
		want := sent.Clone()
		for _, hop := range []string{"Connection", "X-Mine", "Te"} {
			want.Del(hop)
		}
		want.Set("Content-Length", strconv.Itoa(len(body)))
		if !reflect.DeepEqual(in.Header, want) {
			t.Errorf("attempt %d: headers\n got %v\nwant %v", n, in.Header, want)
		}
	}
}

// A request that says little is given nothing more: the same headers arrive as
// without the gateway.
func TestNothingIsAdded(t *testing.T) {
	r := newRig(t, func(_ int, w http.ResponseWriter, _ *http.Request) { status(200, "yes")(w) })
	for _, url := range []string{r.upstream, r.url} {
		res, err := r.client.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
	}
	direct, _ := r.request(1)
	through, _ := r.request(2)
	if !reflect.DeepEqual(through.Header, direct.Header) || through.Host != direct.Host {
		t.Errorf("headers %v for %s, direct %v for %s", through.Header, through.Host, direct.Header, direct.Host)
	}
}

func TestBodies(t *testing.T) {
	if gateway.BodyLimit != 64<<20 {
		t.Errorf("bodies up to %d bytes are held, want 64 MiB", gateway.BodyLimit)
	}
	for _, c := range []struct {
		name    string
		size    int
		chunked bool
		retried bool
	}{
		{"empty", 0, false, true},
		{"one byte", 1, false, true},
		{"a chunk", 1 << 20, true, true},
		{"a bit more", 1<<20 + 3, true, true},
		{"just what is held", 3 << 19, false, true},
		{"more than is held", 3<<19 + 1, false, false},
		{"more than is held, chunked", 2 << 20, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, func(n int, w http.ResponseWriter, _ *http.Request) {
				if n == 1 {
					status(503, "no")(w)
					return
				}
				status(200, "yes")(w)
			})
			r.gateway.LimitBodies(3<<19, 1<<40)
			body := bytes.Repeat([]byte("x"), c.size)
			var in io.Reader = bytes.NewReader(body)
			if c.chunked {
				in = io.MultiReader(in)
			}
			res, err := r.client.Post(r.url, "text/plain", in)
			if err != nil {
				t.Fatal(err)
			}
			_ = res.Body.Close()
			want := 1
			if c.retried {
				want = 2
			}
			if r.count() != want || (res.StatusCode == 200) != c.retried {
				t.Errorf("status %d after %d requests, want %d", res.StatusCode, r.count(), want)
			}
			for n := 1; n <= r.count(); n++ {
				if _, got := r.request(n); got != string(body) {
					t.Errorf("attempt %d: %d bytes arrived, want %d", n, len(got), c.size)
				}
			}
		})
	}
}

// All bodies together have a limit: beyond it they pass without a retry.
func TestBodiesTogether(t *testing.T) {
	arrived, goOn := make(chan struct{}), make(chan struct{})
	r := newRig(t, func(n int, w http.ResponseWriter, _ *http.Request) {
		if n == 1 {
			close(arrived)
			<-goOn
		}
		status(503, "no")(w)
	})
	r.gateway.LimitBodies(4<<20, 1<<20)
	first := make(chan error, 1)
	go func() {
		res, err := r.post("/", strings.Repeat("1", 900<<10))
		if err == nil {
			_ = res.Body.Close()
		}
		first <- err
	}()
	<-arrived
	if held := r.gateway.Held(); held < 900<<10 || held > 1<<20 {
		t.Errorf("%d bytes are held", held)
	}
	r.want(strings.Repeat("2", 900<<10), 503, "no")
	if r.count() != 2 {
		t.Errorf("%d requests, want 2: the second body has no room", r.count())
	}
	close(goOn)
	if err := <-first; err != nil {
		t.Fatal(err)
	}
	r.settled()
	if r.count() != 5 {
		t.Errorf("%d requests, want 5", r.count())
	}
	if held := r.gateway.Held(); held != 0 {
		t.Errorf("%d bytes are held afterwards", held)
	}
}

// A client that leaves ends the wait and the request of the upstream.
func TestLeave(t *testing.T) {
	t.Run("in a wait", func(t *testing.T) {
		r := newRig(t, func(_ int, w http.ResponseWriter, _ *http.Request) { status(502, "")(w) }, func(o *gateway.Options) {
			o.Backoff = func(int) time.Duration { return time.Hour }
		})
		conn := r.dial("POST", "ask")
		r.event(gateway.Retry)
		if w := r.gateway.Status().Waiting; len(w) != 1 || w[0].Cause != "502" || w[0].Retry != 1 || w[0].Of != 3 || time.Until(w[0].Until) < 59*time.Minute {
			t.Errorf("waiting: %+v", w)
		}
		_ = conn.Close()
		s := r.settled() // long before the wait is over
		if len(s.Waiting) != 0 || s.Providers[0].Left != 1 || r.count() != 1 {
			t.Errorf("status %+v after %d requests", s, r.count())
		}
	})
	t.Run("in an answer", func(t *testing.T) {
		gone := make(chan struct{})
		r := newRig(t, func(_ int, w http.ResponseWriter, req *http.Request) {
			_, _ = io.WriteString(w, "some")
			_ = http.NewResponseController(w).Flush()
			<-req.Context().Done()
			close(gone)
		})
		conn := r.dial("POST", "ask")
		if _, err := bufio.NewReader(conn).ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		_ = conn.Close()
		<-gone
		if p := r.settled().Providers[0]; p.Left != 1 || p.Broken != 0 {
			t.Errorf("counts %+v", p.Counts)
		}
	})
}

func TestKeysAreNotLogged(t *testing.T) {
	r := newRig(t, func(n int, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Set-Cookie", "sesame")
		if n == 3 {
			reset(w)
		}
		status(502, "sesame")(w)
	})
	for _, url := range []string{r.url, r.base + "/sesame/https/x.example", r.address("", "http://127.0.0.1:1")} {
		request, err := http.NewRequest("POST", url+"/sesame?key=sesame", strings.NewReader("sesame"))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer sesame")
		request.Header.Set("X-Api-Key", "sesame")
		if res, err := r.client.Do(request); err == nil {
			_ = res.Body.Close()
		}
	}
	r.settled()
	log := r.log.String()
	if strings.Contains(log, "sesame") || strings.Contains(log, "Bearer") {
		t.Errorf("the log holds a secret:\n%s", log)
	}
	if !strings.Contains(log, "cause=502") || !strings.Contains(log, "refused") {
		t.Errorf("the log lacks what happened:\n%s", log)
	}
}
