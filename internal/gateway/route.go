package gateway

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// Key signs the tokens of routes: who has none of its tokens gets nothing from
// the gateway. A key that is kept makes the same tokens again.
type Key [32]byte

// macSize is how many bytes of a signature a token holds.
const macSize = 16

// NewKey makes a random key.
func NewKey() Key {
	var k Key
	_, _ = rand.Read(k[:]) // never fails
	return k
}

// Route is what a token stands for: one upstream, for one provider of one
// session.
type Route struct {
	Session  string // Pi's session id, "" for none
	Provider string // Pi's name of the provider; "" for a request that is none of Pi's, which is not counted
	Upstream string // scheme://host[:port] in lower case, see Upstream
}

// token is the signed text of a route.
func (k Key) token(r Route) string {
	text := r.Session + "\x00" + r.Provider + "\x00" + r.Upstream
	return base64.RawURLEncoding.EncodeToString(append(k.sign(text), text...))
}

func (k Key) sign(text string) []byte {
	mac := hmac.New(sha256.New, k[:])
	mac.Write([]byte(text))
	return mac.Sum(nil)[:macSize]
}

// errToken says no more of a token than that it is none.
var errToken = errors.New("the path does not begin with a token of this gateway")

func (k Key) route(token string) (Route, error) {
	raw, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil || len(raw) < macSize {
		return Route{}, errToken
	}
	text := string(raw[macSize:])
	if !hmac.Equal(raw[:macSize], k.sign(text)) {
		return Route{}, errToken
	}
	fields := strings.Split(text, "\x00")
	if len(fields) != 3 {
		return Route{}, errToken
	}
	return Route{fields[0], fields[1], fields[2]}, nil
}

// Upstream is the scheme and host of a base URL, in lower case and without the
// scheme's own port. The error says what is wrong with the URL; it does not hold
// it, since there may be a password in it.
func Upstream(baseURL string) (string, error) {
	u, err := url.Parse(baseURL)
	switch {
	case err != nil:
		return "", errors.New("it is no URL")
	case u.Scheme != "http" && u.Scheme != "https":
		return "", errors.New("only http and https pass the gateway")
	case u.Hostname() == "":
		return "", errors.New("it names no host")
	case u.User != nil:
		return "", errors.New("a URL with a user name does not pass the gateway")
	}
	return u.Scheme + "://" + canonicalHost(u.Scheme, u.Host), nil
}

// canonicalHost is the host in lower case, without the port that its scheme has
// anyway.
func canonicalHost(scheme, host string) string {
	host = strings.ToLower(host)
	if scheme == "https" {
		return strings.TrimSuffix(host, ":443")
	}
	return strings.TrimSuffix(host, ":80")
}

// URL is the base URL that leads to baseURL through the gateway at base, as in
// http://127.0.0.1:4400/TOKEN/https/api.example.com/v1. Scheme and host stay
// readable in it: Pi tells the habits of a provider by its host. So does the
// path, with the placeholders that Pi fills in. The error says what is wrong
// with baseURL.
func (k Key) URL(base, session, provider, baseURL string) (string, error) {
	upstream, err := Upstream(baseURL)
	if err != nil {
		return "", err
	}
	if strings.ContainsAny(baseURL, "?#") {
		return "", errors.New("a base URL with a query does not pass the gateway")
	}
	_, rest, _ := strings.Cut(baseURL, "://")
	_, path, slash := strings.Cut(rest, "/")
	if slash {
		path = "/" + path
	}
	return strings.TrimSuffix(base, "/") + k.prefix(Route{session, provider, upstream}) + path, nil
}

// prefix is what the paths of a route begin with, as in
// /TOKEN/https/api.example.com.
func (k Key) prefix(r Route) string {
	scheme, host, _ := strings.Cut(r.Upstream, "://")
	return "/" + k.token(r) + "/" + scheme + "/" + host
}

// refusal is a request that the gateway does not serve.
type refusal struct {
	status int
	why    string
}

func (r *refusal) Error() string { return r.why }

func forbidden(why string) error { return &refusal{http.StatusForbidden, why} }

// find reads the route of a request, and the URL it goes to. The error is a
// *refusal.
func (k Key) find(r *http.Request) (Route, *url.URL, error) {
	switch {
	case r.Method == http.MethodConnect:
		return Route{}, nil, forbidden("CONNECT is not served: this is no open proxy")
	case r.URL.Host != "" || r.URL.Scheme != "":
		return Route{}, nil, forbidden("a target with a host of its own is not served: this is no open proxy")
	case !isLoopback(r.Host):
		return Route{}, nil, forbidden("only requests to the loopback address itself are served")
	}
	token, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.EscapedPath(), "/"), "/")
	route, err := k.route(token)
	if err != nil {
		return Route{}, nil, forbidden(err.Error())
	}
	scheme, rest, _ := strings.Cut(rest, "/")
	host, rest, slash := strings.Cut(rest, "/")
	if asked := scheme + "://" + canonicalHost(scheme, host); asked != route.Upstream {
		return Route{}, nil, forbidden(fmt.Sprintf("%q is not listed: this address is good for %s only", asked, route.Upstream))
	}
	if slash {
		rest = "/" + rest
	}
	path, err := url.PathUnescape(rest)
	if err != nil {
		return Route{}, nil, &refusal{http.StatusBadRequest, "the path cannot be read"}
	}
	return route, &url.URL{
		Scheme: scheme, Host: strings.ToLower(host), Path: path, RawPath: rest,
		RawQuery: r.URL.RawQuery, ForceQuery: r.URL.ForceQuery,
	}, nil
}

// isLoopback reports whether a Host header names this machine: a page in a
// browser that had its name point here is not served.
func isLoopback(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	ip := net.ParseIP(strings.Trim(name, "[]"))
	return name == "localhost" || ip != nil && ip.IsLoopback()
}
