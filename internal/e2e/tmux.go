package e2e

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Size is the size of a terminal in cells.
type Size struct{ Columns, Rows int }

// The sizes that most tests use.
var (
	Small = Size{80, 24}
	Large = Size{200, 60}
)

// RequireTmux skips the test with one loud line where tmux is missing; with
// CI=true that is a failure.
func RequireTmux(t testing.TB) {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		missing(t, "tmux")
	}
}

// Pane is a program in a terminal: the one pane of a tmux server of its own.
type Pane struct {
	home   *Home
	socket string
	server int // process id
	began  time.Time
}

// StartTUI starts Pi's terminal UI.
func (h *Home) StartTUI(l Launch, size Size) *Pane {
	h.t.Helper()
	return h.StartPane("pi", l, size, h.Pi.Command(l.args()...)...)
}

// StartPane starts any program in a terminal; of the launch it takes the
// environment and the folder. The screen can be read after the program ended.
func (h *Home) StartPane(name string, l Launch, size Size, argv ...string) *Pane {
	h.t.Helper()
	RequireTmux(h.t)
	random := make([]byte, 4)
	_, _ = rand.Read(random)
	p := &Pane{home: h, socket: "piw-" + hex.EncodeToString(random), began: time.Now()}
	args := []string{
		"start-server", ";",
		"set-option", "-g", "remain-on-exit", "on", ";",
		"set-option", "-g", "status", "off", ";",
		"set-option", "-g", "history-limit", "5000", ";",
		"set-option", "-sg", "escape-time", "0", ";",
		"set-option", "-sg", "extended-keys", "on", ";", // else Pi shows a warning
		"set-option", "-g", "default-terminal", "tmux-256color", ";",
		"new-session", "-d", "-x", strconv.Itoa(size.Columns), "-y", strconv.Itoa(size.Rows), "-c", l.dir(h), "--",
	}
	cmd := p.tmux(append(args, escapeSemicolons(argv)...)...)
	cmd.Env = h.Env(append([]string{"TMUX_TMPDIR=" + h.Run}, l.Env...)...)
	cmd.Dir = l.dir(h)
	if out, err := cmd.CombinedOutput(); err != nil {
		h.Fatalf("start tmux: %v: %s", err, out)
	}
	h.t.Cleanup(p.Close)
	h.report.add(fmt.Sprintf("screen of %s", name), func() string { return p.Capture().Text })
	pid, err := strconv.Atoi(p.run("display-message", "-p", "#{pid}"))
	if err != nil {
		h.Fatalf("find the tmux server: %v", err)
	}
	p.server = pid
	return p
}

// escapeSemicolons keeps tmux from taking a final semicolon for its own.
func escapeSemicolons(argv []string) []string {
	out := make([]string, len(argv))
	for i, arg := range argv {
		if strings.HasSuffix(arg, ";") {
			arg = arg[:len(arg)-1] + `\;`
		}
		out[i] = arg
	}
	return out
}

func (p *Pane) tmux(args ...string) *exec.Cmd {
	cmd := exec.Command("tmux", append([]string{"-L", p.socket, "-f", "/dev/null"}, args...)...)
	cmd.Env = p.home.Env("TMUX_TMPDIR=" + p.home.Run)
	return cmd
}

// run is a tmux command that has to succeed; it returns the output without the
// final line end.
func (p *Pane) run(args ...string) string {
	p.home.t.Helper()
	var stderr strings.Builder
	cmd := p.tmux(args...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		p.home.Fatalf("tmux %s: %v: %s", args[0], err, stderr.String())
	}
	return strings.TrimSuffix(string(out), "\n")
}

// Keys presses keys by tmux's names: "Enter", "Escape", "C-c", "Up", "M-x".
func (p *Pane) Keys(names ...string) {
	p.home.t.Helper()
	p.run(append([]string{"send-keys", "--"}, names...)...)
}

// Type types text as it is.
func (p *Pane) Type(text string) {
	p.home.t.Helper()
	p.run("send-keys", "-l", "--", strings.Join(escapeSemicolons([]string{text}), ""))
}

// Paste pastes text as one bracketed paste.
func (p *Pane) Paste(text string) {
	p.home.t.Helper()
	p.run("set-buffer", "--", text)
	p.run("paste-buffer", "-p", "-d")
}

// Resize gives the terminal another size.
func (p *Pane) Resize(size Size) {
	p.home.t.Helper()
	p.run("resize-window", "-x", strconv.Itoa(size.Columns), "-y", strconv.Itoa(size.Rows))
}

// PID is the id of the program in the pane.
func (p *Pane) PID() int {
	p.home.t.Helper()
	pid, err := strconv.Atoi(p.run("display-message", "-p", "#{pane_pid}"))
	if err != nil {
		p.home.Fatalf("find the program in the pane: %v", err)
	}
	return pid
}

// Close ends the program and its terminal, and makes sure the server is gone.
func (p *Pane) Close() {
	if p.server == 0 {
		return
	}
	server := p.server
	p.server = 0
	program, _ := p.tmux("display-message", "-p", "#{pane_pid}").Output()
	// The terminal goes away under the program: a SIGHUP, as for a closed window.
	_ = p.tmux("kill-server").Run()
	p.waitGone("tmux server", server)
	if pid, err := strconv.Atoi(strings.TrimSpace(string(program))); err == nil {
		p.waitGone("the program in the pane", pid)
	}
}

func (p *Pane) waitGone(what string, pid int) {
	p.home.t.Helper()
	gone := func() bool { return !marked(pid, p.home.Dir) }
	if poll(closeTimeout, gone) {
		return
	}
	p.home.t.Errorf("%s (pid %d) did not leave with its terminal", what, pid)
	_ = syscall.Kill(pid, syscall.SIGKILL)
	if !poll(closeTimeout, gone) {
		p.home.t.Errorf("%s (pid %d) survived SIGKILL", what, pid)
	}
}
