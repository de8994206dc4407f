package gateway_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"piwatch/internal/gateway"
)

// secure is an upstream with TLS, over HTTP/2 if it is so wanted.
func secure(t *testing.T, http2 bool, handler http.HandlerFunc) *httptest.Server {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	server.EnableHTTP2 = http2
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug)
	server.StartTLS()
	t.Cleanup(server.Close)
	return server
}

func TestTLS(t *testing.T) {
	for _, http2 := range []bool{false, true} {
		proto := "HTTP/1.1"
		if http2 {
			proto = "HTTP/2.0"
		}
		t.Run(proto, func(t *testing.T) {
			var n atomic.Int32
			server := secure(t, http2, func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				switch n.Add(1) {
				case 1:
					status(525, "no")(w)
				case 2:
					panic(http.ErrAbortHandler)
				case 3:
					flow(w)
					panic(http.ErrAbortHandler)
				default:
					send := flow(w)
					send("data: " + r.Proto + " " + string(body) + "\n\n")
					send("data: [DONE]\n\n")
				}
			})
			roots := server.Client().Transport.(*http.Transport).TLSClientConfig
			transport := gateway.NewTransport()
			transport.TLSClientConfig = roots.Clone()
			t.Cleanup(transport.CloseIdleConnections)
			r := newRig(t, nil, func(o *gateway.Options) { o.Transport = transport })
			r.url = r.address("s", server.URL)
			r.want("ask", 200, "data: "+proto+" ask\n\ndata: [DONE]\n\n")
			p := r.settled().Providers[0]
			if p.Retries["525"] != 1 || p.Retries["reset"]+p.Retries["connection"] != 2 {
				t.Errorf("retries %v", p.Retries)
			}
		})
	}
}

// A certificate that is not trusted will not be another one in a second.
func TestCertificate(t *testing.T) {
	server := secure(t, true, func(http.ResponseWriter, *http.Request) {})
	r := newRig(t, nil)
	r.url = r.address("s", server.URL)
	r.wantError("ask")
	p := r.settled().Providers[0]
	if len(p.Retries) != 0 || p.Failed["certificate"] != 1 {
		t.Errorf("counts %+v", p.Counts)
	}
}
