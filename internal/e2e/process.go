package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// closeTimeout is how long a program may take to leave after it was asked to,
// before it is asked harder.
const closeTimeout = 5 * time.Second

// process is a program in a process group of its own.
type process struct {
	cmd    *exec.Cmd
	stderr buffer
	exited chan struct{} // closed when the program was reaped
	err    error         // of Wait; read only after exited
}

// startProcess starts cmd. What it writes to stderr is kept.
func startProcess(cmd *exec.Cmd) (*process, error) {
	p := &process{cmd: cmd, exited: make(chan struct{})}
	cmd.Stderr = &p.stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	// Grandchildren may keep the pipes open for ever.
	cmd.WaitDelay = closeTimeout
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	return p, nil
}

// reap waits for the end of the program; called once, after its output was read.
func (p *process) reap() {
	p.err = p.cmd.Wait()
	close(p.exited)
}

// running reports whether the program has not ended yet.
func (p *process) running() bool {
	select {
	case <-p.exited:
		return false
	default:
		return true
	}
}

// exitCode is the program's exit status, −1 if a signal ended it. Only after exited.
func (p *process) exitCode() int {
	if p.cmd.ProcessState == nil {
		return -1
	}
	return p.cmd.ProcessState.ExitCode()
}

// waitExit reports whether the program ended within the timeout.
func (p *process) waitExit(timeout time.Duration) bool {
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case <-p.exited:
		return true
	case <-timer.C:
		return false
	}
}

// stop ends the program: by the end of its input if it has one, by SIGTERM,
// by SIGKILL. It reports an error if the gentle ways did not do.
func (p *process) stop(stdin io.Closer) error {
	if stdin != nil {
		_ = stdin.Close()
		if p.waitExit(closeTimeout) {
			return nil
		}
	}
	p.signal(syscall.SIGTERM)
	if p.waitExit(closeTimeout) {
		return nil
	}
	p.kill()
	if !p.waitExit(closeTimeout) {
		return fmt.Errorf("process %d survived SIGKILL", p.cmd.Process.Pid)
	}
	return fmt.Errorf("process %d did not leave at SIGTERM and was killed", p.cmd.Process.Pid)
}

// signal sends a signal to the program alone.
func (p *process) signal(sig syscall.Signal) {
	if p.running() {
		_ = p.cmd.Process.Signal(sig)
	}
}

// kill sends SIGKILL to the program's whole group.
func (p *process) kill() {
	if p.running() {
		_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
	}
}

// alive reports whether a process with this id exists.
func alive(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}

// buffer is a bytes.Buffer for one writer and many readers.
type buffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
