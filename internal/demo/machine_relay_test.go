package demo_test

import (
	"bufio"
	"encoding/json"
	"net"
	"slices"
	"strings"
	"sync"

	"piwatch/internal/control"
)

// wire is one message between Pi and the hub.
type wire struct {
	conn   int // number of the connection
	toHub  bool
	method string          // of an answer: of what it answers
	params json.RawMessage // of an answer: of what it answers
	result json.RawMessage // of an answer
	answer bool
	frame  map[string]json.RawMessage
	line   []byte // as it came
}

func (w wire) String() string {
	arrow, said := "hub → Pi  ", w.params
	if w.toHub {
		arrow = "Pi → hub  "
	}
	if w.answer {
		arrow, said = arrow+"answer to ", w.result
	}
	return arrow + w.method + " " + string(said[:min(len(said), 200)])
}

// with is the message with other parameters, or of an answer with another
// result.
func (w wire) with(v any) wire {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	frame := map[string]json.RawMessage{}
	for k, v := range w.frame {
		frame[k] = v
	}
	if w.answer {
		frame["result"], w.result = raw, raw
	} else {
		frame["params"], w.params = raw, raw
	}
	w.frame, w.line = frame, nil
	return w
}

// as is the message under another method.
func (w wire) as(method string) wire {
	w = w.with(w.params)
	raw, _ := json.Marshal(method)
	w.frame["method"], w.method = raw, method
	return w
}

// probe says whether it only asks whether all is quiet.
func (w wire) probe() bool {
	if w.method == control.Command {
		return strings.Contains(string(w.params), `"args":"status"`)
	}
	return w.method == control.FoldRows
}

// relay stands between Pi and the hub: it counts what they say, lets the rules
// see it on Pi's side, and damages it when it is told to.
type relay struct {
	listener net.Listener
	hub      string
	poke     func()
	saw      func(wire)
	tamper   func(wire) []wire // nil: all goes through as it is

	work sync.WaitGroup
	mu   sync.Mutex
	said int // without the probes
	last int // number of the last connection
	ends map[net.Conn]struct{}
}

// carried is one connection.
type carried struct {
	number int
	asked  map[string]wire // by direction and id
}

// listen opens a relay at path before the hub.
func listen(path, hub string, poke func(), saw func(wire), tamper func(wire) []wire) (*relay, error) {
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	r := &relay{listener: l, hub: hub, poke: poke, saw: saw, tamper: tamper, ends: map[net.Conn]struct{}{}}
	r.work.Go(func() {
		for {
			pi, err := l.Accept()
			if err != nil {
				return
			}
			r.work.Go(func() { r.carry(pi) })
		}
	})
	return r, nil
}

// close ends it as a hub that is killed.
func (r *relay) close() {
	_ = r.listener.Close()
	r.cut()
	r.work.Wait()
}

// cut breaks all connections, with what is on its way.
func (r *relay) cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for c := range r.ends {
		_ = c.Close()
	}
}

// traffic is how many messages went through, and whether there is a connection.
func (r *relay) traffic() (said int, connected bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.said, len(r.ends) > 0
}

func (r *relay) carry(pi net.Conn) {
	hub, err := net.Dial("unix", r.hub)
	if err != nil {
		_ = pi.Close()
		return
	}
	r.mu.Lock()
	r.ends[pi], r.ends[hub] = struct{}{}, struct{}{}
	r.last++
	c := &carried{number: r.last, asked: map[string]wire{}}
	r.mu.Unlock()
	r.poke()
	var both sync.WaitGroup
	both.Go(func() { r.pump(c, pi, hub, true) })
	both.Go(func() { r.pump(c, hub, pi, false) })
	both.Wait()
	r.mu.Lock()
	delete(r.ends, pi)
	delete(r.ends, hub)
	r.mu.Unlock()
	r.poke()
}

// pump carries the messages of one direction.
func (r *relay) pump(c *carried, from, to net.Conn, toHub bool) {
	defer from.Close()
	defer to.Close()
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, control.MaxLine+1)
	for lines.Scan() {
		for _, w := range r.pass(c, lines.Bytes(), toHub) {
			line, err := w.line, error(nil)
			if line == nil {
				line, err = json.Marshal(w.frame)
			}
			if err == nil {
				_, err = to.Write(append(slices.Clip(line), '\n'))
			}
			if err != nil {
				return
			}
		}
	}
}

// pass reads one line and gives what is to go on. What Pi tells is seen before
// it is damaged, what the hub wants as it comes to Pi.
func (r *relay) pass(c *carried, line []byte, toHub bool) []wire {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := wire{conn: c.number, toHub: toHub, line: line}
	if err := json.Unmarshal(line, &w.frame); err != nil {
		return nil
	}
	direction := "to Pi "
	if toHub {
		direction = "to the hub "
	}
	if method, ok := w.frame["method"]; ok {
		_ = json.Unmarshal(method, &w.method)
		w.params = w.frame["params"]
		if id, ok := w.frame["id"]; ok {
			c.asked[direction+string(id)] = w
		}
	} else {
		if direction = "to Pi "; !toHub {
			direction = "to the hub "
		}
		question := c.asked[direction+string(w.frame["id"])]
		w.answer, w.method, w.params, w.result = true, question.method, question.params, w.frame["result"]
	}
	if !w.probe() {
		r.said++
	}
	out := []wire{w}
	if toHub {
		r.saw(w)
	}
	if r.tamper != nil {
		out = r.tamper(w)
	}
	if !toHub {
		for _, w := range out {
			r.saw(w)
		}
	}
	return out
}
