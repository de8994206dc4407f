package gateway

import (
	"net"
	"net/http"
	"time"
)

// Limits of a connection to an upstream. A healthy one takes none of them; an
// answer itself may take as long as the model thinks.
const (
	dialTimeout = 10 * time.Second
	tlsTimeout  = 10 * time.Second
	idleTimeout = 90 * time.Second
	pingAfter   = 30 * time.Second // of silence, over HTTP/2
	pingTimeout = 15 * time.Second
)

// NewTransport is how the gateway asks upstreams: HTTP/1.1 and HTTP/2, TLS with
// the roots of the system, through the proxy that HTTPS_PROXY, HTTP_PROXY and
// NO_PROXY name. Bodies come as they were sent, packed or not.
func NewTransport() *http.Transport {
	dialer := net.Dialer{Timeout: dialTimeout, KeepAlive: pingAfter}
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            dialer.DialContext,
		ForceAttemptHTTP2:      true,
		TLSHandshakeTimeout:    tlsTimeout,
		IdleConnTimeout:        idleTimeout,
		ExpectContinueTimeout:  time.Second,
		DisableCompression:     true,
		MaxIdleConnsPerHost:    64,
		MaxResponseHeaderBytes: 1 << 20,
		ReadBufferSize:         streamBuffer, // what is larger passes them by
		WriteBufferSize:        streamBuffer,
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingTimeout},
	}
}
