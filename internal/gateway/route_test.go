package gateway_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"piwatch/internal/gateway"
)

func TestURL(t *testing.T) {
	key := gateway.NewKey()
	for _, c := range []struct{ url, tail, err string }{
		{"https://api.example.com/v1", "/https/api.example.com/v1", ""},
		{"https://api.example.com", "/https/api.example.com", ""},
		{"https://API.example.com:443/v1/", "/https/api.example.com/v1/", ""},
		{"http://127.0.0.1:8080/v1", "/http/127.0.0.1:8080/v1", ""},
		{"http://[::1]:80/v1", "/http/[::1]/v1", ""},
		{"https://x.example/a%2Fb/{ACCOUNT}/v1", "/https/x.example/a%2Fb/{ACCOUNT}/v1", ""},
		{"wss://x.example/v1", "", "only http and https"},
		{"", "", "only http and https"},
		{"https://", "", "names no host"},
		{"https:///v1", "", "names no host"},
		{"https://me:secret@x.example", "", "user name"},
		{"https://{region}.example/v1", "", "is no URL"},
		{"https://x.example/v1?a=b", "", "query"},
		{"https://x.example/%zz", "", "is no URL"},
	} {
		got, err := key.URL("http://127.0.0.1:99/", "s", "p", c.url)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%s: %q, %v; want an error with %q", c.url, got, err, c.err)
			}
			continue
		}
		if err != nil || !strings.HasPrefix(got, "http://127.0.0.1:99/") || !strings.HasSuffix(got, c.tail) {
			t.Errorf("%s: %q, %v; want …%s", c.url, got, err, c.tail)
		}
	}
	same, _ := key.URL("", "s", "p", "https://x.example")
	again, _ := key.URL("", "s", "p", "https://x.example")
	other, _ := gateway.NewKey().URL("", "s", "p", "https://x.example")
	if same != again || same == other {
		t.Error("a key makes the same address again, and another key another one")
	}
}

// Nothing but what an address was made for is served.
func TestRefused(t *testing.T) {
	r := newRig(t, func(_ int, w http.ResponseWriter, _ *http.Request) { status(200, "yes")(w) })
	token := strings.Split(strings.TrimPrefix(r.url, r.base), "/")[1]
	changed := "A" + token[1:]
	if changed == token {
		changed = "B" + token[1:]
	}
	host := strings.TrimPrefix(r.upstream, "http://")
	foreign, _ := gateway.NewKey().URL(r.base, "session-1", "scripted", r.upstream)
	for _, c := range []struct{ name, url, why string }{
		{"no token", r.base + "/http/" + host + "/", "token"},
		{"nothing", r.base, "token"},
		{"a token of another key", foreign, "token"},
		{"a token changed", r.base + "/" + changed + "/http/" + host + "/", "token"},
		{"a token cut", r.base + "/" + token[:10] + "/http/" + host + "/", "token"},
		{"another host", r.base + "/" + token + "/http/127.0.0.1:1/", "is not listed"},
		{"another scheme", r.base + "/" + token + "/https/" + host + "/", "is not listed"},
		{"a scheme of files", r.base + "/" + token + "/file//etc/passwd", "is not listed"},
		{"a user in the host", r.base + "/" + token + "/http/" + host + "@127.0.0.1:1/", "is not listed"},
		{"an escaped host", r.base + "/" + token + "/http/" + strings.Replace(host, ".", "%2E", 1) + "/", "is not listed"},
		{"no host", r.base + "/" + token + "/http", "is not listed"},
		{"no scheme", r.base + "/" + token, "is not listed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			// The path goes out as it is written here.
			got := r.raw("GET " + strings.TrimPrefix(c.url, r.base) + " HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
			if c.url == r.base {
				got = r.raw("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
			}
			if !strings.HasPrefix(got, "HTTP/1.1 403 ") || !strings.Contains(got, c.why) {
				t.Errorf("answer %q, want 403 with %q", got, c.why)
			}
		})
	}
	if r.count() != 0 {
		t.Errorf("%d requests reached the upstream", r.count())
	}
	if s := r.gateway.Status(); s.Refused != 12 || len(s.Providers) != 0 {
		t.Errorf("status %+v", s)
	}
	r.want("and still", 200, "yes")
}

// A name that was made to point at this machine is not served.
func TestOtherNames(t *testing.T) {
	r := newRig(t, func(_ int, w http.ResponseWriter, _ *http.Request) { status(200, "yes")(w) })
	for host, want := range map[string]int{
		"127.0.0.1": 200, "localhost:1234": 200, "[::1]:80": 200, "evil.example": 403, "127.0.0.1.evil.example:80": 403, "10.0.0.1": 403,
	} {
		request, err := http.NewRequest("GET", r.url, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Host = host
		res, err := r.client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("Host %s: status %d, want %d", host, res.StatusCode, want)
		}
	}
}
