package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"
)

// RPC is a Pi in RPC mode. Its events are kept in order; the waiting methods
// read them one after the other, so that each wait goes on where the last one
// of its kind ended.
type RPC struct {
	Startup time.Duration // from the start to the first answer

	home   *Home
	proc   *process
	stdin  io.WriteCloser
	write  sync.Mutex
	events journal[Record]
	broken journal[string] // lines that are no JSON

	mu       sync.Mutex
	lastID   int
	pending  map[string]chan Record
	closed   bool
	next     int            // first event that WaitEvent has not seen
	dialogs  int            // first event that WaitDialog has not seen
	statuses map[string]int // per key: first status that WaitStatus has not seen
}

// StartRPC starts Pi in RPC mode and waits until it answers. It is closed when
// the test ends, if the test does not do it.
func (h *Home) StartRPC(l Launch) *RPC {
	h.t.Helper()
	cmd := h.piCommand(l, "--mode", "rpc")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		h.Fatalf("start Pi: %v", err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		h.Fatalf("start Pi: %v", err)
	}
	began := time.Now()
	proc, err := startProcess(cmd)
	if err != nil {
		h.Fatalf("start Pi: %v", err)
	}
	r := &RPC{home: h, proc: proc, stdin: stdin, pending: map[string]chan Record{}, statuses: map[string]int{}}
	name := fmt.Sprintf("pi --mode rpc (pid %d)", proc.cmd.Process.Pid)
	h.report.add(name+" last events", r.describe)
	h.report.add(name+" stderr", func() string { return lastLines(proc.stderr.String(), 40) })
	h.t.Cleanup(r.Close)
	go r.read(stdout)
	r.State()
	r.Startup = time.Since(began)
	return r
}

// PID is Pi's process id.
func (r *RPC) PID() int { return r.proc.cmd.Process.Pid }

// Stderr is what Pi has written to stderr.
func (r *RPC) Stderr() string { return r.proc.stderr.String() }

// read takes Pi's records until its output ends, then reaps it.
func (r *RPC) read(stdout io.Reader) {
	lines := bufio.NewReaderSize(stdout, 1<<16)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			break // a line without its LF is no record
		}
		r.record(strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r"))
	}
	r.proc.reap()
	r.mu.Lock()
	r.closed = true
	for id, waiting := range r.pending {
		close(waiting)
		delete(r.pending, id)
	}
	r.mu.Unlock()
	r.events.close()
}

func (r *RPC) record(line string) {
	var record Record
	if err := json.Unmarshal([]byte(line), &record); err != nil {
		r.broken.add(line)
		return
	}
	if record.Type() != "response" {
		r.events.add(record)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	id := record.Str("id")
	if waiting := r.pending[id]; waiting != nil {
		waiting <- record
		delete(r.pending, id)
		return
	}
	r.broken.add(line)
}

// Pending is a command that was sent and may not be answered yet.
type Pending struct {
	rpc     *RPC
	command string
	answer  chan Record
}

// Start sends a command: fields beside "type" may be nil. Wait on the result
// for the answer.
func (r *RPC) Start(command string, fields map[string]any) *Pending {
	r.home.t.Helper()
	record := Record{"type": command}
	for key, value := range fields {
		record[key] = value
	}
	answer := make(chan Record, 1)
	r.mu.Lock()
	r.lastID++
	id := "req-" + strconv.Itoa(r.lastID)
	record["id"] = id
	if r.closed {
		close(answer)
	} else {
		r.pending[id] = answer
	}
	r.mu.Unlock()
	r.send(record)
	return &Pending{r, command, answer}
}

func (r *RPC) send(record Record) {
	r.home.t.Helper()
	data, err := json.Marshal(record)
	if err != nil {
		r.home.Fatalf("send %v: %v", record, err)
	}
	r.write.Lock()
	defer r.write.Unlock()
	if _, err := r.stdin.Write(append(data, '\n')); err != nil {
		r.home.Fatalf("send %s to Pi: %v", record.Type(), err)
	}
}

// Wait blocks until the command's answer, successful or not.
func (p *Pending) Wait() Record {
	p.rpc.home.t.Helper()
	timer := time.NewTimer(Timeout())
	defer timer.Stop()
	select {
	case record, ok := <-p.answer:
		if !ok {
			p.rpc.home.Fatalf("Pi ended before it answered %s", p.command)
		}
		return record
	case <-timer.C:
		p.rpc.home.Fatalf("no answer to %s within %v", p.command, Timeout())
	}
	return nil
}

// Must is Wait for a command that has to succeed; it returns the answer's data.
func (p *Pending) Must() Record {
	p.rpc.home.t.Helper()
	record := p.Wait()
	if !record.Bool("success") {
		p.rpc.home.Fatalf("%s failed: %s", p.command, record.Str("error"))
	}
	data, _ := record["data"].(map[string]any)
	return data
}

// Close ends Pi: by the end of its input, then by signals. A Pi that has to be
// killed fails the test.
func (r *RPC) Close() {
	if !r.proc.running() {
		return
	}
	if err := r.proc.stop(r.stdin); err != nil {
		r.home.t.Errorf("close Pi: %v", err)
	}
	for _, line := range r.broken.all() {
		r.home.t.Errorf("Pi wrote a line that is neither an event nor an expected answer: %s", shorten(line, 300))
	}
}

// Kill ends Pi by SIGKILL, as a crash would, and waits until it is gone.
func (r *RPC) Kill() {
	r.proc.kill()
	if !r.proc.waitExit(closeTimeout) {
		r.home.Fatalf("Pi survived SIGKILL")
	}
}

// WaitExit blocks until Pi has ended by itself, and returns its exit status.
func (r *RPC) WaitExit() int {
	r.home.t.Helper()
	if !r.proc.waitExit(Timeout()) {
		r.home.Fatalf("Pi did not end within %v", Timeout())
	}
	return r.proc.exitCode()
}

// describe is the last events for a report, streaming left out.
func (r *RPC) describe() string {
	var lines []string
	for _, event := range r.events.all() {
		if event.Type() != "message_update" {
			lines = append(lines, event.String())
		}
	}
	for _, line := range r.broken.all() {
		lines = append(lines, "not understood: "+shorten(line, 300))
	}
	if len(lines) == 0 {
		return ""
	}
	return lastLines(strings.Join(lines, "\n"), 30)
}
