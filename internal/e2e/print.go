package e2e

import (
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// PrintRun is a program that does its work and leaves: pi -p, pi --mode json, or
// a command of piwatch.
type PrintRun struct {
	home   *Home
	proc   *process
	stdout buffer
	began  time.Time
	name   string
}

// PrintResult is what a [PrintRun] left behind.
type PrintResult struct {
	Stdout   string
	Stderr   string
	ExitCode int // −1 if a signal ended it
	Elapsed  time.Duration
}

// StartPrint starts pi -p with the prompts.
func (h *Home) StartPrint(l Launch, prompts ...string) *PrintRun {
	h.t.Helper()
	return h.startOnce("pi -p", l, []string{"-p"}, prompts)
}

// StartJSON starts pi --mode json with the prompts.
func (h *Home) StartJSON(l Launch, prompts ...string) *PrintRun {
	h.t.Helper()
	return h.startOnce("pi --mode json", l, []string{"--mode", "json"}, prompts)
}

// Print runs pi -p to the end.
func (h *Home) Print(l Launch, prompts ...string) PrintResult {
	h.t.Helper()
	return h.StartPrint(l, prompts...).Wait()
}

// JSON runs pi --mode json to the end.
func (h *Home) JSON(l Launch, prompts ...string) PrintResult {
	h.t.Helper()
	return h.StartJSON(l, prompts...).Wait()
}

func (h *Home) startOnce(name string, l Launch, mode, prompts []string) *PrintRun {
	h.t.Helper()
	l.Args = append(append([]string{}, l.Args...), prompts...)
	return h.startProgram(name, h.piCommand(l, mode...))
}

// startProgram starts a program that reads nothing and keeps what it writes.
func (h *Home) startProgram(name string, cmd *exec.Cmd) *PrintRun {
	h.t.Helper()
	run := &PrintRun{home: h, began: time.Now(), name: name}
	cmd.Stdout = &run.stdout
	proc, err := startProcess(cmd)
	if err != nil {
		h.Fatalf("%v", err)
	}
	run.proc = proc
	go proc.reap()
	h.report.add(name+" stdout", func() string { return lastLines(run.stdout.String(), 30) })
	h.report.add(name+" stderr", func() string { return lastLines(proc.stderr.String(), 40) })
	h.t.Cleanup(func() {
		if proc.running() {
			if err := proc.stop(nil); err != nil {
				h.t.Errorf("close %s: %v", name, err)
			}
		}
	})
	return run
}

// PID is the program's process id.
func (p *PrintRun) PID() int { return p.proc.cmd.Process.Pid }

// Signal sends the program a signal.
func (p *PrintRun) Signal(sig syscall.Signal) { p.proc.signal(sig) }

// Wait blocks until the program has ended.
func (p *PrintRun) Wait() PrintResult {
	p.home.t.Helper()
	if !p.proc.waitExit(Timeout()) {
		p.home.Fatalf("%s did not end within %v", p.name, Timeout())
	}
	return PrintResult{
		Stdout:   p.stdout.String(),
		Stderr:   p.proc.stderr.String(),
		ExitCode: p.proc.exitCode(),
		Elapsed:  time.Since(p.began),
	}
}

// Events are the records of pi --mode json.
func (r PrintResult) Events() ([]Record, error) { return parseRecords(r.Stdout) }

// Text is the output without surrounding white space.
func (r PrintResult) Text() string { return strings.TrimSpace(r.Stdout) }
