package gateway_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"piwatch/internal/gateway"
)

// raw sends bytes on a connection of their own and returns all that comes back.
func (r *rig) raw(text string) string {
	r.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(r.base, "http://"))
	if err != nil {
		r.t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(patience))
	if _, err := io.WriteString(conn, text); err != nil {
		return "" // closed before all of it was taken
	}
	got, _ := io.ReadAll(conn) // a reset ends it as well as an end
	return string(got)
}

func (r *rig) path() string { return strings.TrimPrefix(r.url, r.base) }

func TestAbuse(t *testing.T) {
	r := newRig(t, func(_ int, w http.ResponseWriter, _ *http.Request) { status(200, "yes")(w) })
	host := strings.TrimPrefix(r.upstream, "http://")
	const tail = "Host: 127.0.0.1\r\nConnection: close\r\n\r\n"
	for _, c := range []struct {
		name, send, begin string // begin of the answer, "" for none
	}{
		{"CONNECT", "CONNECT " + host + " HTTP/1.1\r\n" + tail, "HTTP/1.1 403 "},
		{"CONNECT with a path", "CONNECT " + r.path() + "/ HTTP/1.1\r\n" + tail, "HTTP/1.1 403 "},
		{"absolute form", "GET http://" + host + "/ HTTP/1.1\r\n" + tail, "HTTP/1.1 403 "},
		{"absolute form with a token", "GET http://127.0.0.1" + r.path() + "/ HTTP/1.1\r\n" + tail, "HTTP/1.1 403 "},
		{"asterisk", "OPTIONS * HTTP/1.1\r\n" + tail, "HTTP/1.1 "},
		{"no path", "GET HTTP/1.1\r\n" + tail, "HTTP/1.1 400 "},
		{"a broken escape", "GET " + r.path() + "/%zz HTTP/1.1\r\n" + tail, "HTTP/1.1 400 "},
		{"NUL in the path", "GET " + r.path() + "/\x00 HTTP/1.1\r\n" + tail, "HTTP/1.1 400 "},
		{"no HTTP", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", "HTTP/1.1 400 "},
		{"HTTP/2 prior knowledge", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", ""},
		{"two lengths", "POST " + r.path() + " HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n" + tail + "xy", "HTTP/1.1 400 "},
		{"a length that is none", "POST " + r.path() + " HTTP/1.1\r\nContent-Length: +1\r\n" + tail + "x", "HTTP/1.1 400 "},
		{"an unknown coding", "POST " + r.path() + " HTTP/1.1\r\nTransfer-Encoding: gzip\r\n" + tail + "x", "HTTP/1.1 501 "},
		{"a broken chunk", "POST " + r.path() + " HTTP/1.1\r\nTransfer-Encoding: chunked\r\n" + tail + "zz\r\nx", ""},
		{"a head that is too long", "GET " + r.path() + " HTTP/1.1\r\nX: " + strings.Repeat("x", 2<<20) + "\r\n" + tail, ""},
		{"a line without a colon", "GET " + r.path() + " HTTP/1.1\r\nnonsense\r\n" + tail, "HTTP/1.1 400 "},
		{"a space before the colon", "GET " + r.path() + " HTTP/1.1\r\nX : 1\r\n" + tail, "HTTP/1.1 400 "},
		{"no host", "GET " + r.path() + " HTTP/1.1\r\n\r\n", "HTTP/1.1 400 "},
		{"two hosts", "GET " + r.path() + " HTTP/1.1\r\nHost: 127.0.0.1\r\n" + tail, "HTTP/1.1 400 "},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := r.count()
			got := r.raw(c.send)
			if !strings.HasPrefix(got, c.begin) || strings.HasPrefix(got, "HTTP/1.1 200") && c.name != "asterisk" {
				t.Errorf("answer %.80q, want %q", got, c.begin)
			}
			if r.count() != before {
				t.Error("it reached the upstream")
			}
		})
	}
	r.want("and still", 200, "yes")
}

// Two ways to say where a body ends are one to the upstream, and a folded header
// is one line.
func TestSmuggling(t *testing.T) {
	r := newRig(t, func(_ int, w http.ResponseWriter, _ *http.Request) { status(200, "yes")(w) })
	got := r.raw("POST " + r.path() + "/a HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n" +
		"X-Folded: a\r\n GET /b HTTP/1.1\r\nConnection: close\r\n\r\n" +
		"5\r\nhello\r\n0\r\n\r\nGET " + r.path() + "/smuggled HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
	if !strings.HasPrefix(got, "HTTP/1.1 200 ") && !strings.HasPrefix(got, "HTTP/1.1 400 ") {
		t.Errorf("answer %.80q", got)
	}
	for n := 1; n <= r.count(); n++ {
		in, body := r.request(n)
		if in.RequestURI != "/a" || body != "hello" || in.Header.Get("X-Folded") != "a GET /b HTTP/1.1" || in.Header.Get("Content-Length") != "" {
			t.Errorf("request %d: %s %q %v", n, in.RequestURI, body, in.Header)
		}
	}
	if r.count() > 1 {
		t.Errorf("%d requests reached the upstream", r.count())
	}
}

func TestManyHeaders(t *testing.T) {
	r := newRig(t, func(_ int, w http.ResponseWriter, _ *http.Request) { status(200, "yes")(w) })
	var head strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&head, "X-%d: %d\r\n", i, i)
	}
	got := r.raw("GET " + r.path() + " HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n" + head.String() + "\r\n")
	if !strings.HasPrefix(got, "HTTP/1.1 200 ") || r.count() != 1 {
		t.Fatalf("answer %.80q", got)
	}
	if in, _ := r.request(1); in.Header.Get("X-9999") != "9999" {
		t.Errorf("only %d headers arrived", len(in.Header))
	}
}

// Connections that send nearly nothing do not keep others out, and a body
// without an end takes no more memory than one that is held.
func TestSlowAndEndless(t *testing.T) {
	r := newRig(t, func(_ int, w http.ResponseWriter, _ *http.Request) { status(200, "yes")(w) })
	r.gateway.LimitBodies(1<<20, 4<<20)
	for range 100 {
		conn, err := net.Dial("tcp", strings.TrimPrefix(r.base, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, "POST "+r.path()+" HTTP/1.1\r\nHo")
	}
	endless, err := net.Dial("tcp", strings.TrimPrefix(r.base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer endless.Close()
	_, _ = io.WriteString(endless, "POST "+r.path()+" HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n")
	chunk := fmt.Sprintf("%x\r\n%s\r\n", 1<<16, strings.Repeat("x", 1<<16))
	for range 64 {
		if _, err := io.WriteString(endless, chunk); err != nil {
			break
		}
		if held := r.gateway.Held(); held > 2<<20 {
			t.Fatalf("%d bytes are held", held)
		}
	}
	r.want("and still", 200, "yes")
	_ = endless.Close()
	eventually(t, "the memory to be given back", func() bool { return r.gateway.Held() == 0 })
}

// Answers without an end, and with a head that is too long.
func TestUpstreamAbuse(t *testing.T) {
	t.Run("endless answer", func(t *testing.T) {
		r := newRig(t, func(_ int, w http.ResponseWriter, req *http.Request) {
			junk := make([]byte, 1<<16)
			for req.Context().Err() == nil {
				if _, err := w.Write(junk); err != nil {
					return
				}
			}
		})
		res, err := r.post("/", "ask")
		if err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := io.CopyN(io.Discard, res.Body, 12<<20); err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		runtime.GC()
		runtime.ReadMemStats(&after)
		if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 8<<20 {
			t.Errorf("%d bytes more are in use", grown)
		}
		if p := r.settled().Providers[0]; p.Left != 1 {
			t.Errorf("counts %+v", p.Counts)
		}
	})
	t.Run("a long head", func(t *testing.T) {
		r := newRig(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X", strings.Repeat("x", 3<<19))
			status(200, "")(w)
		})
		r.wantError("ask")
	})
	t.Run("no HTTP", func(t *testing.T) {
		r := newRig(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
			conn, rw, err := http.NewResponseController(w).Hijack()
			if err != nil {
				return
			}
			_, _ = rw.WriteString("SSH-2.0-x\r\n")
			_ = rw.Flush()
			_ = conn.Close()
		})
		r.wantError("ask")
		if p := r.settled().Providers[0]; p.Failed["connection"] != 1 {
			t.Errorf("counts %+v", p.Counts)
		}
	})
}

func FuzzRequest(f *testing.F) {
	r := newRig(f, func(_ int, w http.ResponseWriter, _ *http.Request) { status(200, "yes")(w) }, func(o *gateway.Options) { o.Log, o.Observe = nil, nil })
	for _, seed := range []string{
		"GET PATH HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"POST PATH/v1?x=%zz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc",
		"POST PATH HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
		"CONNECT PATH HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"GET http://PATH HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"GET PATH/../.. HTTP/1.0\r\n\r\n",
		"GET PATH HTTP/1.1\r\nHost: localhost\r\nUpgrade: x\r\nConnection: upgrade, host\r\n\r\n",
		"POST PATH HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\nx",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		conn, err := net.Dial("tcp", strings.TrimPrefix(r.base, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		_ = conn.SetDeadline(time.Now().Add(patience))
		_, _ = io.WriteString(conn, strings.ReplaceAll(string(raw), "PATH", r.path()))
		_ = conn.(*net.TCPConn).CloseWrite()
		_, _ = io.Copy(io.Discard, bufio.NewReader(conn))
		for n := 1; n <= r.count(); n++ {
			if in, _ := r.request(n); "http://"+in.Host != r.upstream {
				t.Fatalf("a request for %q reached the upstream", in.Host)
			}
		}
		r.mu.Lock()
		r.requests, r.bodies = nil, nil
		r.mu.Unlock()
		res, err := r.client.Get(r.url)
		if err != nil {
			t.Fatalf("it does not serve any more: %v", err)
		}
		_, _ = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
	})
}

func FuzzPath(f *testing.F) {
	key := gateway.NewKey()
	for _, seed := range []string{"https://api.example.com/v1", "http://[::1]:80/%2F", "https://a@b/", "//x", "https://x.example/v1?y"} {
		f.Add(seed, "/chat")
	}
	f.Fuzz(func(t *testing.T, base, path string) {
		upstream, err := gateway.Upstream(base)
		if err != nil {
			return
		}
		through, err := key.URL("http://127.0.0.1", "s", "p", base)
		if err != nil {
			return
		}
		if !strings.Contains(through, strings.Replace(upstream, "://", "/", 1)) {
			t.Errorf("%q goes to %q", through, upstream)
		}
	})
}
