package gateway

import (
	"net/http"
	"net/url"
)

// redirect has a redirect to the same upstream lead through the gateway too: a
// path of the upstream is none of the gateway's, and an address with a host goes
// past it. One to somewhere else stays as it is.
func (x *exchange) redirect(res *http.Response) error {
	location := res.Header.Get("Location")
	if location == "" {
		return nil
	}
	to, err := url.Parse(location)
	if err != nil {
		return nil // for Pi to judge
	}
	to = x.target.ResolveReference(to)
	if upstream, err := Upstream(to.String()); err == nil && upstream == x.route.Upstream {
		to.Path, to.RawPath = x.gateway.key.prefix(x.route)+to.Path, x.gateway.key.prefix(x.route)+to.EscapedPath()
		to.Scheme, to.Host = "", ""
		res.Header.Set("Location", to.String())
	}
	return nil
}
