package gateway_test

import (
	"net/http"
	"strings"
	"testing"
)

// A redirect to the same upstream passes the gateway too; one to somewhere else
// is left as it is.
func TestRedirects(t *testing.T) {
	var location string
	r := newRig(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
		if location != "" {
			w.Header().Set("Location", location)
		}
		status(308, "")(w)
	})
	through := strings.TrimPrefix(r.url, r.base)
	for _, c := range []struct{ location, want string }{
		{"/v2/chat", through + "/v2/chat"},
		{"/v2//a%2Fb?x=1&y=%20#part", through + "/v2//a%2Fb?x=1&y=%20#part"},
		{"chat2", through + "/v1/chat2"},
		{"?again", through + "/v1/chat?again"},
		{"../../../../v3", through + "/v3"},
		{r.upstream + "/v2/chat", through + "/v2/chat"},
		{r.upstream, through},
		{strings.TrimPrefix(r.upstream, "http:") + "/v2", through + "/v2"},
		{"https://login.example/v2/chat", "https://login.example/v2/chat"},
		{strings.Replace(r.upstream, "http:", "https:", 1) + "/v2", strings.Replace(r.upstream, "http:", "https:", 1) + "/v2"},
		{"http://%zz/", "http://%zz/"},
		{"", ""},
	} {
		location = c.location
		request, err := http.NewRequest("POST", r.url+"/v1/chat", nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := r.client.Transport.RoundTrip(request) // it follows nothing
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if got := res.Header.Get("Location"); got != c.want || res.StatusCode != 308 {
			t.Errorf("%q became %q, want %q", c.location, got, c.want)
		}
	}
}

// A client that follows gets to where it would without the gateway.
func TestRedirectIsFollowed(t *testing.T) {
	r := newRig(t, func(n int, w http.ResponseWriter, _ *http.Request) {
		if n == 1 {
			w.Header().Set("Location", "/v2/chat?x=1")
			status(307, "")(w)
			return
		}
		status(200, "yes")(w)
	})
	r.want("ask", 200, "yes")
	if in, body := r.request(2); in.RequestURI != "/v2/chat?x=1" || body != "ask" {
		t.Errorf("the second request is %s %q", in.RequestURI, body)
	}
	if p := r.settled().Providers[0]; p.Requests != 2 {
		t.Errorf("%d requests passed the gateway, want 2", p.Requests)
	}
}
