package gateway

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/retrypolicy"
)

// exchange is one request of Pi and all that is done for it.
type exchange struct {
	gateway *Gateway
	route   Route
	target  *url.URL
	in      *http.Request
	body    *body
	mark    fingerprint
	began   time.Time
	cut     context.CancelCauseFunc

	allowed int    // retries
	retries int    // made or about to be
	fault   string // of the last attempt, "" for none
	status  int    // of the last answer, 0 for none
	ended   bool   // the answer came to the end of its body
	unended bool   // but it was a stream without its terminator
	cutEnd  bool   // which was made an error, so that Pi tries again
	broken  error  // why the answer broke

	stream bool // the answer is one of server-sent events

	lastByte atomic.Int64 // when the upstream was last heard, or took a byte, or is to be asked; Unix nanoseconds
	watch    sync.Mutex
	silence  *time.Timer
	over     bool // no timer is set any more
	dark     bool // the silence was told
}

// serve carries the request out. It may panic with http.ErrAbortHandler, which
// closes the connection to Pi.
func (x *exchange) serve(w http.ResponseWriter) {
	ctx, cut := context.WithCancelCause(x.in.Context())
	defer cut(nil)
	x.cut = cut
	x.heard()
	x.listen(x.gateway.settings().Silence)
	defer x.finish()
	proxy := httputil.ReverseProxy{
		Rewrite: x.rewrite, ModifyResponse: x.redirect, Transport: x, BufferPool: x, FlushInterval: -1, ErrorLog: x.gateway.errorLog,
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { hangUp(w) },
	}
	proxy.ServeHTTP(w, x.in.WithContext(ctx))
}

// hangUp ends the connection to Pi without an answer, by a reset: that is what
// a connection that failed is to Pi.
func hangUp(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

// rewrite makes the request of the upstream: the same but for target and host.
func (x *exchange) rewrite(p *httputil.ProxyRequest) {
	p.Out.URL, p.Out.Host = x.target, ""
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"} {
		if values, set := p.In.Header[name]; set {
			p.Out.Header[name] = values
		}
	}
}

// RoundTrip asks the upstream, again where that helps. The answer is the one
// for Pi.
func (x *exchange) RoundTrip(out *http.Request) (*http.Response, error) {
	var last *http.Response // of the attempt before
	policy := retrypolicy.NewBuilder[*http.Response]().
		HandleIf(func(_ *http.Response, err error) bool { return x.fault != "" }).
		AbortIf(func(res *http.Response, err error) bool { return lasting(x.fault) || x.tooLong(res) }).
		WithMaxRetries(x.allowed).
		ReturnLastFailure().
		WithDelayFunc(x.delay).
		OnRetryScheduled(func(e failsafe.ExecutionScheduledEvent[*http.Response]) {
			if last != nil {
				_ = last.Body.Close() // a connection that gave this is not used again
			}
			x.heardAt(time.Now().Add(e.Delay)) // a wait is no silence
			x.gateway.waits(x, e.Delay)
		}).
		OnRetry(func(failsafe.ExecutionEvent[*http.Response]) { x.gateway.goesOn(x) }).
		Build()
	res, err := failsafe.With(policy).WithContext(out.Context()).Get(func() (*http.Response, error) {
		var err error
		last, err = x.attempt(out)
		return last, err
	})
	if err != nil {
		// A request that was given up in a wait has the fault of the attempt
		// before; what ended it is its context.
		if cause := context.Cause(out.Context()); cause != nil {
			err = cause
			x.fault = faultOfError(cause)
		}
		x.status = 0
		if last != nil {
			_ = last.Body.Close()
		}
		return nil, err
	}
	return res, nil
}

// attempt asks the upstream once.
func (x *exchange) attempt(out *http.Request) (*http.Response, error) {
	request := out.WithContext(out.Context())
	x.body.attach(request, x.heard)
	x.heard()
	res, err := x.gateway.transport.RoundTrip(request)
	x.heard()
	x.fault, x.status = "", 0
	if err != nil {
		x.fault = faultOfError(err)
		return nil, err
	}
	x.fault, x.status = faultOf(res, nil), res.StatusCode
	if res.StatusCode == http.StatusSwitchingProtocols {
		x.unlisten() // what is said from now on is not seen
		return res, nil
	}
	if x.fault != "" {
		return res, nil
	}
	stream := isStream(res.Header)
	body := &answer{ReadCloser: res.Body, exchange: x, stream: stream && !isPacked(res.Header)}
	if res.StatusCode/100 == 2 && res.Body != http.NoBody {
		if err := body.readFirst(); err != nil {
			_ = res.Body.Close()
			if !errors.Is(err, context.Canceled) && !errors.Is(err, errSilent) {
				err = errors.Join(errBroken, err)
			}
			x.fault, x.status = faultOfError(err), 0
			return nil, err
		}
	}
	x.stream = stream
	res.Body = body
	return res, nil
}

// tooLong reports whether an answer asks for a longer wait than the user wants.
func (x *exchange) tooLong(res *http.Response) bool {
	return retryAfter(res, time.Now()) > x.gateway.settings().RetryAfter
}

// delay is the wait before the next attempt.
func (x *exchange) delay(last failsafe.ExecutionAttempt[*http.Response]) time.Duration {
	x.retries++
	if asked := retryAfter(last.LastResult(), time.Now()); asked > 0 {
		return asked
	}
	return x.gateway.options.Backoff(x.retries)
}

// heard notes a sign of life of the upstream.
func (x *exchange) heard() { x.heardAt(time.Now()) }

func (x *exchange) heardAt(at time.Time) { x.lastByte.Store(at.UnixNano()) }

// quiet is how long the upstream has not been heard; negative before it is asked.
func (x *exchange) quiet() time.Duration {
	return time.Duration(time.Now().UnixNano() - x.lastByte.Load())
}

// listen looks after d whether the upstream is silent. The timer is not set anew
// for each byte: it looks at the last one when it runs out.
func (x *exchange) listen(d time.Duration) {
	x.watch.Lock()
	defer x.watch.Unlock()
	if !x.over {
		x.silence = time.AfterFunc(d, x.look)
	}
}

func (x *exchange) look() {
	settings := x.gateway.settings()
	if left := settings.Silence - x.quiet(); left > 0 {
		x.listen(left)
		return
	}
	x.watch.Lock()
	told := x.dark
	x.dark = true
	over := x.over
	x.watch.Unlock()
	if over {
		return
	}
	if !told {
		x.gateway.silent(x, settings)
	}
	if settings.Cut {
		x.cut(errSilent)
		return
	}
	x.listen(settings.Silence)
}

func (x *exchange) unlisten() {
	x.watch.Lock()
	defer x.watch.Unlock()
	x.over = true
	x.silence.Stop()
}

// Get and Put give the proxy its buffer: events are small, and there may be a
// thousand streams.
func (x *exchange) Get() []byte {
	if x.stream {
		return make([]byte, streamBuffer)
	}
	return *x.gateway.buffers.Get().(*[]byte)
}

// Put takes a buffer back.
func (x *exchange) Put(buf []byte) {
	if len(buf) == plainBuffer {
		x.gateway.buffers.Put(&buf)
	}
}

const (
	streamBuffer = 2 << 10
	plainBuffer  = 32 << 10
)

// finish notes how it all ended.
func (x *exchange) finish() {
	x.unlisten()
	x.body.free()
	g, now := x.gateway, time.Now()
	left := x.in.Context().Err() != nil
	switch {
	case x.fault == "" && x.status == 0, x.fault == faultLeft, left && !x.ended:
		g.left(x)
		return // it says nothing of the upstream
	case x.fault != "":
		g.spent.spend(&x.mark, maxRetries, now)
	case x.ended && !x.unended && x.status/100 == 2:
		g.spent.done(&x.mark)
	case x.retries > 0:
		g.spent.spend(&x.mark, x.retries, now)
	}
	g.ended(x, now)
}

// errText is what broke an answer, for people: it holds nothing of the request.
func errText(err error) string {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return "the connection ended"
	}
	return faultOfError(err)
}
