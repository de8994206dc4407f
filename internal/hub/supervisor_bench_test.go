package hub_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"piwatch/internal/control"
	"piwatch/internal/hub"
)

// The load of BenchmarkSupervisor.
const (
	benchSessions = 500
	benchEvents   = 50                     // a second, of each session
	benchTick     = 200 * time.Millisecond // a session tells so much at once
	benchParts    = 20                     // the sessions speak one part after the other
)

// crowd are bridges that talk without listening.
type crowd struct {
	conns []net.Conn
	done  chan struct{}
	wait  sync.WaitGroup
	told  atomic.Int64 // events written
}

func line(method string, id int, params any) []byte {
	m := map[string]any{"jsonrpc": "2.0", "method": method, "params": params}
	if id > 0 {
		m["id"] = id
	}
	data, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	return append(data, '\n')
}

func gather(b *testing.B, socket string) *crowd {
	c := &crowd{done: make(chan struct{})}
	for i := range benchSessions {
		conn, err := net.Dial("unix", socket)
		if err != nil {
			b.Fatal(err)
		}
		hi := hello(fmt.Sprint("crowd", i), func(h *control.BridgeHello) { h.Pid = 10_000 + i; h.Facts.Idle = false })
		if _, err := conn.Write(line(control.Hello, 1, hi)); err != nil {
			b.Fatal(err)
		}
		c.wait.Go(func() { _, _ = io.Copy(io.Discard, conn) })
		c.conns = append(c.conns, conn)
	}
	return c
}

// talk has every session do new work at the rate, what it does in a tick as one
// write.
func (c *crowd) talk() {
	result := strings.Repeat("src/main.go:12: at 2026-11-30T23:42:27Z commit 1a2b3c4 took 12ms\n", 4)
	template := line(control.Returned, 0, control.ReturnedEvent{ID: "ID", Tool: "read", Text: result})
	before, after, _ := strings.Cut(string(template), "ID")
	each := max(int(benchTick.Seconds()*benchEvents), 1)
	tick := time.NewTicker(benchTick / benchParts)
	defer tick.Stop()
	var buf []byte
	for n, part := 0, 0; ; part = (part + 1) % benchParts {
		select {
		case <-c.done:
			return
		case <-tick.C:
		}
		for at := part; at < len(c.conns); at += benchParts {
			conn := c.conns[at]
			buf = buf[:0]
			for i := range each {
				if i%2 == 0 {
					buf = fmt.Appendf(buf, `{"jsonrpc":"2.0","method":"called","params":{"id":"%d","tool":"read","args":{"path":"src/file%d.go","offset":%d}}}`+"\n", n, n%100, n)
					continue
				}
				buf = fmt.Appendf(buf, "%s%d%s", before, n, after)
				n++
			}
			if _, err := conn.Write(buf); err == nil {
				c.told.Add(int64(each))
			}
		}
	}
}

func (c *crowd) leave() {
	close(c.done)
	for _, conn := range c.conns {
		_ = conn.Close()
	}
	c.wait.Wait()
}

// BenchmarkSupervisor has 500 sessions tell of 50 events a second each, over the
// socket, and measures what that costs and how late a loop among them is found.
// The time of the test's own side counts, too. Where events/s is less than 25,000
// the machine had no time for more, and the delay says nothing.
func BenchmarkSupervisor(b *testing.B) {
	dir := b.TempDir()
	socket := dir + "/hub.sock"
	if len(socket) > 100 {
		b.Fatalf("the path of the socket is too long: %s", socket)
	}
	h := startBench(b, socket)
	c := gather(b, socket)
	defer c.leave()
	w := h.client().watch()
	stuck := h.join(hello("stuck"))
	stuck.run(false)
	c.wait.Go(c.talk)

	var delays []time.Duration
	probe := time.NewTicker(benchTick / 4)
	defer probe.Stop()
	from, began, before := cpu(b), time.Now(), c.told.Load()
	for b.Loop() {
		<-probe.C
		n := len(delays)
		name := fmt.Sprint(n)
		for i := range 3 {
			stuck.turn(4*n+i, "bash", `{"command":"make `+name+`"}`, "no rule to make "+name)
		}
		sent := time.Now()
		stuck.turn(4*n+3, "bash", `{"command":"make `+name+`"}`, "no rule to make "+name)
		w.until(func(p control.Push) bool {
			return p.Target != nil && p.Target.ID == "stuck" && p.Target.Finding != nil && strings.Contains(p.Target.Finding.Says[0], " make "+name+" ->")
		})
		delays = append(delays, time.Since(sent))
	}
	took := time.Since(began)
	slices.Sort(delays)
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	b.ReportMetric((cpu(b)-from).Seconds()/took.Seconds(), "cores")
	b.ReportMetric(float64(c.told.Load()-before)/took.Seconds(), "events/s")
	b.ReportMetric(float64(mem.Sys)/(1<<20), "MB")
	b.ReportMetric(float64(delays[len(delays)/2].Microseconds())/1000, "ms-delay")
	b.ReportMetric(float64(delays[len(delays)*99/100].Microseconds())/1000, "ms-delay-99")
	b.ReportMetric(0, "ns/op")
}

// startBench is start with the machine's own clock.
func startBench(b *testing.B, socket string) *testHub {
	return startOn(b, socket, func(o *hub.Options) { o.Clock = nil })
}

// cpu is the time this process has computed.
func cpu(b *testing.B) time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
