package gateway_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"piwatch/internal/gateway"
)

// compare measures three ways to one upstream in turn, b.N times: direct,
// through the gateway, and through a bare reverse proxy. It reports what the
// last two take more than the first. All figures are of one run.
func compare(b *testing.B, r *rig, once func(url string) time.Duration) {
	b.Helper()
	ways := []string{r.upstream, r.url, bareProxy(b, r.upstream)}
	for range 50 { // connections, buffers, the processor's clock
		for _, url := range ways {
			once(url)
		}
	}
	var took [3][]time.Duration
	for b.Loop() {
		for i, url := range ways {
			took[i] = append(took[i], once(url))
		}
	}
	for _, all := range took {
		slices.Sort(all)
	}
	added := func(way int, share float64) float64 {
		at := int(share * float64(len(took[way])))
		return (took[way][at] - took[0][at]).Seconds() * 1000
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(added(1, 0.5), "added-p50-ms")
	b.ReportMetric(added(1, 0.99), "added-p99-ms")
	b.ReportMetric(added(2, 0.5), "bare-p50-ms")
	b.ReportMetric(added(2, 0.99), "bare-p99-ms")
}

// bareProxy is the standard library's reverse proxy, without anything around
// it.
func bareProxy(b *testing.B, upstream string) string {
	b.Helper()
	target, err := url.Parse(upstream)
	if err != nil {
		b.Fatal(err)
	}
	bare := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(p *httputil.ProxyRequest) { p.SetURL(target) }, Transport: newTransport(b),
	})
	b.Cleanup(bare.Close)
	return bare.URL
}

// newTransport is one for a bench; its connections end with it.
func newTransport(b *testing.B) *http.Transport {
	transport := &http.Transport{MaxIdleConnsPerHost: 16}
	b.Cleanup(transport.CloseIdleConnections)
	return transport
}

// BenchmarkLatency is what the gateway adds to a request of 64 KiB and a short
// answer.
func BenchmarkLatency(b *testing.B) {
	r := newBench(b, func(w http.ResponseWriter, _ *http.Request) { status(200, "yes")(w) })
	body := strings.Repeat("x", 64<<10)
	compare(b, r, func(url string) time.Duration {
		began := time.Now()
		res, err := r.client.Post(url, "application/json", strings.NewReader(body))
		if err != nil {
			b.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
		return time.Since(began)
	})
}

// BenchmarkFirstByte is what the gateway adds until the first byte of a stream.
func BenchmarkFirstByte(b *testing.B) {
	r := newBench(b, func(w http.ResponseWriter, _ *http.Request) {
		send := flow(w)
		send("data: first\n\n")
		send("data: [DONE]\n\n")
	})
	body := strings.Repeat("x", 64<<10)
	compare(b, r, func(url string) time.Duration {
		began := time.Now()
		res, err := r.client.Post(url, "application/json", strings.NewReader(body))
		if err != nil {
			b.Fatal(err)
		}
		if _, err := res.Body.Read(make([]byte, 1)); err != nil {
			b.Fatal(err)
		}
		took := time.Since(began)
		_, _ = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
		return took
	})
}

// BenchmarkThroughput is the share of a bare reverse proxy's throughput that is
// left, over answers of 32 MiB.
func BenchmarkThroughput(b *testing.B) {
	junk := make([]byte, 32<<20)
	newRig := func() (bare, through string, once func(url string) time.Duration) {
		r := newBench(b, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(junk) })
		return bareProxy(b, r.upstream), r.url, func(url string) time.Duration {
			began := time.Now()
			res, err := r.client.Get(url)
			if err != nil {
				b.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, res.Body)
			_ = res.Body.Close()
			return time.Since(began)
		}
	}
	const times = 8
	// pair is how long two ways take, each asked so many times, in turns.
	pair := func(once func(string) time.Duration, first, second string) (one, other time.Duration) {
		once(first) // makes the connections
		once(second)
		for range times {
			one += once(first)
			other += once(second)
		}
		return one, other
	}
	var direct, through time.Duration
	rounds := 0
	for b.Loop() {
		// Whoever is asked first is faster, and stays so, by more than the gateway adds
		// (measured, with two bare proxies): each is first once.
		for range 2 {
			bare, url, once := newRig()
			one, other := pair(once, bare, url)
			direct, through = direct+one, through+other
			bare, url, once = newRig()
			one, other = pair(once, url, bare)
			direct, through = direct+other, through+one
		}
		rounds += 2 * 2
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(rounds*times)*32/through.Seconds(), "MiB/s")
	b.ReportMetric(100*direct.Seconds()/through.Seconds(), "%-of-bare")
}

// BenchmarkStreams is what 1,000 streams at 20 events a second take more when
// they pass the gateway: cores, and memory that is in use.
func BenchmarkStreams(b *testing.B) {
	const streams, every, events = 1000, 50 * time.Millisecond, 60
	r := newBench(b, func(w http.ResponseWriter, req *http.Request) {
		send := flow(w)
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		for i := range events {
			select {
			case <-ticker.C:
				send(fmt.Sprintf(`data: {"choices":[{"delta":{"content":"token %d"},"finish_reason":null}]}`+"\n\n", i))
			case <-req.Context().Done():
				return
			}
		}
		send("data: [DONE]\n\n")
	})
	run(b, r, r.url, streams) // what is made once is no share of either
	for b.Loop() {
		// The runtime guesses how large a stack is to be from those before, so that
		// two rounds are never the same: that in the middle counts.
		const rounds = 3
		var cores, memory [rounds]float64
		for i := range rounds {
			direct, directMemory := run(b, r, r.upstream, streams)
			through, throughMemory := run(b, r, r.url, streams)
			// Of the time that the streams last: on a machine that is busy they take
			// longer, and no more of the processor.
			cores[i] = float64(through-direct) / float64(events*every)
			memory[i] = throughMemory - directMemory
		}
		slices.Sort(cores[:])
		slices.Sort(memory[:])
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(cores[rounds/2], "added-cores")
		b.ReportMetric(memory[rounds/2], "added-MiB")
	}
}

// run reads n streams at the same time to their ends. It returns the time of the
// processor that they took, and the memory in use in the middle, in MiB. When it
// returns their connections are gone, so that no run begins with what is left of
// another.
func run(b *testing.B, r *rig, url string, n int) (took time.Duration, memory float64) {
	b.Helper()
	idle := runtime.NumGoroutine()
	runtime.GC()
	runtime.GC() // what is in pools goes with the second
	var before, during runtime.MemStats
	runtime.ReadMemStats(&before)
	cpu := processor()
	var streams, halfway sync.WaitGroup
	halfway.Add(n)
	for range n {
		streams.Go(func() {
			passed := sync.OnceFunc(halfway.Done)
			defer passed()
			res, err := r.client.Get(url)
			if err != nil {
				b.Error(err)
				return
			}
			defer res.Body.Close()
			lines, last := bufio.NewScanner(res.Body), ""
			for i := 0; lines.Scan(); i++ {
				if lines.Text() != "" {
					last = lines.Text()
				}
				if i == 60 {
					passed()
				}
			}
			if last != "data: [DONE]" {
				b.Errorf("a stream ended with %q", last)
			}
		})
	}
	halfway.Wait()
	runtime.GC()
	runtime.ReadMemStats(&during)
	streams.Wait()
	took = processor() - cpu
	for ended := time.Now(); runtime.NumGoroutine() > idle; {
		if time.Since(ended) > time.Minute {
			b.Fatalf("of %d goroutines %d are left", runtime.NumGoroutine(), runtime.NumGoroutine()-idle)
		}
		r.client.CloseIdleConnections()
		r.gateway.Close()
		runtime.Gosched()
	}
	return took, float64(int64(inUse(during))-int64(inUse(before))) / (1 << 20)
}

func inUse(m runtime.MemStats) uint64 { return m.HeapInuse + m.StackInuse }

// processor is the time of the processor that this process has taken.
func processor() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// newBench is a rig that keeps nothing of what passes.
func newBench(b *testing.B, answer http.HandlerFunc) *rig {
	b.Helper()
	r := newRig(b, nil, func(o *gateway.Options) { o.Log, o.Observe = nil, nil })
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		_, _ = io.Copy(io.Discard, req.Body)
		answer(w, req)
	}))
	b.Cleanup(upstream.Close)
	r.upstream = upstream.URL
	r.url = r.address("session", upstream.URL)
	r.client.Transport = newTransport(b)
	return r
}
