// Package headless runs Pi in RPC mode, without a screen: commands go to its
// stdin, answers and events come from its stdout, one JSON record a line. Pi is
// in a process group of its own, so that a ctrl+c on the terminal does not reach
// it, and ends when its stdin does, also when this process is killed.
package headless

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	// keptStderr is how much of the end of Pi's stderr is kept, in bytes.
	keptStderr = 4096
	// closeGrace is how long Pi may take to leave, each time it is asked harder:
	// by the end of its input, by SIGTERM, by SIGKILL.
	closeGrace = 5 * time.Second
	// drainGrace is how long the pipes of a Pi that ended may stay open: what it
	// started and detached may hold them for ever.
	drainGrace = 2 * time.Second
)

// ErrEnded says that Pi is not there any more.
var ErrEnded = errors.New("Pi has ended")

// RefusedError says that Pi did not do what a command asked.
type RefusedError struct{ Command, Why string }

func (e *RefusedError) Error() string { return "Pi refused " + e.Command + ": " + e.Why }

// Options say how Pi is started.
type Options struct {
	Command []string // Pi, and its arguments after --mode rpc
	Dir     string   // its working directory
	Env     []string // its environment
}

// Pi is one that runs.
type Pi struct {
	cmd   *exec.Cmd
	write sync.Mutex
	stdin io.WriteCloser
	done  chan struct{}
	wait  error // of the process; read only after done

	mu      sync.Mutex
	lastID  int
	waiting map[string]chan answer
	busy    bool
	changed chan struct{} // closed when busy changes
	stderr  tailBuffer
}

type answer struct {
	Success bool            `json:"success"`
	Error   string          `json:"error"`
	Data    json.RawMessage `json:"data"`
}

// Start starts Pi. It must be closed or killed.
func Start(o Options) (*Pi, error) {
	args := append([]string{"--mode", "rpc"}, o.Command[1:]...)
	p := &Pi{
		cmd: exec.Command(o.Command[0], args...), done: make(chan struct{}),
		waiting: map[string]chan answer{}, changed: make(chan struct{}),
	}
	p.cmd.Dir, p.cmd.Env = o.Dir, o.Env
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p.cmd.Stderr = &p.stderr
	p.cmd.WaitDelay = drainGrace
	// Not StdoutPipe: with it Wait must come after the end of what is read, which a
	// process that holds the pipe puts off.
	out, in := io.Pipe()
	p.cmd.Stdout = in
	stdin, err := p.cmd.StdinPipe()
	if err == nil {
		p.stdin = stdin
		err = p.cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("start Pi: %w", err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		p.read(out)
	}()
	go p.reap(in, read)
	return p, nil
}

// PID is Pi's process id.
func (p *Pi) PID() int { return p.cmd.Process.Pid }

// Done is closed when Pi has ended.
func (p *Pi) Done() <-chan struct{} { return p.done }

// Err says how Pi ended, with the end of what it wrote to stderr. Only after
// Done.
func (p *Pi) Err() error {
	how := "by itself"
	if p.wait != nil {
		how = p.wait.Error()
	}
	if text := strings.TrimSpace(p.stderr.String()); text != "" {
		return fmt.Errorf("%w (%s): %s", ErrEnded, how, text)
	}
	return fmt.Errorf("%w (%s)", ErrEnded, how)
}

func (p *Pi) read(stdout io.Reader) {
	in := bufio.NewReaderSize(stdout, 1<<16)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			break
		}
		p.take(line)
	}
}

// reap waits until Pi has ended and all that it said is read.
func (p *Pi) reap(in io.Closer, read <-chan struct{}) {
	p.wait = p.cmd.Wait()
	if errors.Is(p.wait, exec.ErrWaitDelay) {
		p.wait = nil // Pi ended well; another holds its pipes
	}
	_ = in.Close() // it never fails
	<-read
	p.mu.Lock()
	for id, wait := range p.waiting {
		close(wait)
		delete(p.waiting, id)
	}
	p.mu.Unlock()
	close(p.done)
}

// record is what is read of a line of Pi's.
type record struct {
	Type   string `json:"type"`
	ID     string `json:"id"`
	Method string `json:"method"`
	answer
}

// dialogs are the questions of extensions that wait for an answer. Nobody is
// there: they are cancelled.
var dialogs = map[string]bool{"select": true, "confirm": true, "input": true, "editor": true}

func (p *Pi) take(line []byte) {
	if !bytes.HasPrefix(line, []byte("{")) {
		return
	}
	var r record
	if json.Unmarshal(line, &r) != nil {
		return // an extension that prints to stdout
	}
	switch r.Type {
	case "response":
		p.mu.Lock()
		wait := p.waiting[r.ID]
		delete(p.waiting, r.ID)
		p.mu.Unlock()
		if wait != nil {
			wait <- r.answer
		}
	case "extension_ui_request":
		if dialogs[r.Method] {
			// When it cannot be sent, Pi is gone, and who asked too.
			_ = p.send(map[string]any{"type": "extension_ui_response", "id": r.ID, "cancelled": true})
		}
	case "agent_start":
		p.setBusy(true)
	case "agent_settled":
		p.setBusy(false)
	}
}

func (p *Pi) setBusy(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.busy = on
	close(p.changed)
	p.changed = make(chan struct{})
}

// WaitSettled waits until no run is on, Pi has ended, or ctx ends.
func (p *Pi) WaitSettled(ctx context.Context) {
	for {
		p.mu.Lock()
		busy, changed := p.busy, p.changed
		p.mu.Unlock()
		if !busy {
			return
		}
		select {
		case <-changed:
		case <-p.done:
			return
		case <-ctx.Done():
			return
		}
	}
}

func (p *Pi) send(record map[string]any) error {
	data, err := json.Marshal(record)
	if err != nil {
		return err
	}
	p.write.Lock()
	defer p.write.Unlock()
	_, err = p.stdin.Write(append(data, '\n'))
	return err
}

// Call sends a command and waits for its answer. The error is a *[RefusedError]
// when Pi says no.
func (p *Pi) Call(ctx context.Context, command string, fields map[string]any) (json.RawMessage, error) {
	wait := make(chan answer, 1)
	p.mu.Lock()
	p.lastID++
	id := "piwatch-" + strconv.Itoa(p.lastID)
	p.waiting[id] = wait
	p.mu.Unlock()
	message := map[string]any{"type": command, "id": id}
	for key, value := range fields {
		message[key] = value
	}
	if err := p.send(message); err != nil {
		select {
		case <-p.done:
			return nil, p.Err()
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(closeGrace):
			return nil, fmt.Errorf("send %s to Pi: %w", command, err)
		}
	}
	select {
	case got, ok := <-wait:
		switch {
		case !ok:
			<-p.done
			return nil, p.Err()
		case !got.Success:
			return nil, &RefusedError{command, got.Error}
		}
		return got.Data, nil
	case <-p.done:
		return nil, p.Err()
	case <-ctx.Done():
		p.mu.Lock()
		delete(p.waiting, id)
		p.mu.Unlock()
		return nil, fmt.Errorf("Pi does not answer %s: %w", command, context.Cause(ctx))
	}
}

// State is what Pi says of itself.
type State struct {
	Session string `json:"sessionId"`
	File    string `json:"sessionFile"` // "" with --no-session; may not exist yet
}

// State asks Pi for its session.
func (p *Pi) State(ctx context.Context) (State, error) {
	var s State
	data, err := p.Call(ctx, "get_state", nil)
	if err == nil {
		err = json.Unmarshal(data, &s)
	}
	return s, err
}

// Prompt sends a message of the user. started is false when Pi did with it what
// leads to no run, as with a command of an extension; a Pi that does not say so
// counts as started.
func (p *Pi) Prompt(ctx context.Context, text string) (started bool, err error) {
	data, err := p.Call(ctx, "prompt", map[string]any{"message": text})
	var reply struct {
		Disposition string `json:"disposition"`
	}
	if err == nil && len(data) > 0 {
		err = json.Unmarshal(data, &reply)
	}
	return reply.Disposition != "handled", err
}

// Abort ends the run that is on.
func (p *Pi) Abort(ctx context.Context) error {
	_, err := p.Call(ctx, "abort", nil)
	return err
}

// Close ends Pi and waits until it has gone: by the end of its input, then by
// SIGTERM, then by SIGKILL. It may be called again.
func (p *Pi) Close() {
	_ = p.stdin.Close() // a second time is no error here; it also ends a write that hangs
	if p.gone(closeGrace) {
		return
	}
	p.signal(syscall.SIGTERM)
	if p.gone(closeGrace) {
		return
	}
	p.Kill()
	p.gone(closeGrace + p.cmd.WaitDelay)
}

// Kill ends Pi and its process group at once.
func (p *Pi) Kill() { p.signal(syscall.SIGKILL) }

// signal reaches the group: Pi, and what it started and did not detach.
func (p *Pi) signal(sig syscall.Signal) {
	select {
	case <-p.done: // its id may be another's by now
	default:
		_ = syscall.Kill(-p.cmd.Process.Pid, sig)
	}
}

func (p *Pi) gone(within time.Duration) bool {
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case <-p.done:
		return true
	case <-timer.C:
		return false
	}
}

// tailBuffer keeps the end of what is written to it.
type tailBuffer struct {
	mu   sync.Mutex
	data []byte
}

func (b *tailBuffer) Write(data []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.data = append(b.data, data...)
	if len(b.data) > keptStderr {
		b.data = append(b.data[:0], b.data[len(b.data)-keptStderr:]...)
	}
	return len(data), nil
}

func (b *tailBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.ToValidUTF8(string(b.data), "\ufffd")
}
