package e2e

import (
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Screen is what a terminal shows: its rows, right spaces cut, one line each.
type Screen struct{ Text string }

// Lines are the rows of the screen.
func (s Screen) Lines() []string { return strings.Split(s.Text, "\n") }

// Contains reports whether some row shows text.
func (s Screen) Contains(text string) bool { return strings.Contains(s.Text, text) }

// Shows matches screens that show text.
func Shows(text string) func(Screen) bool {
	return func(s Screen) bool { return s.Contains(text) }
}

// Capture reads the screen without colours. It is empty once the pane is closed.
func (p *Pane) Capture() Screen { return p.capture("capture-pane", "-p") }

// CaptureColours reads the screen with its colours as escape sequences.
func (p *Pane) CaptureColours() Screen { return p.capture("capture-pane", "-p", "-e") }

// CaptureAll reads the scrolled-off rows too.
func (p *Pane) CaptureAll() Screen { return p.capture("capture-pane", "-p", "-S", "-") }

func (p *Pane) capture(args ...string) Screen {
	out, err := p.tmux(args...).Output()
	if err != nil {
		return Screen{}
	}
	return Screen{strings.TrimSuffix(string(out), "\n")}
}

// WaitScreen blocks until the screen is in a state, and returns it.
func (p *Pane) WaitScreen(what string, match func(Screen) bool) Screen {
	p.home.t.Helper()
	var screen Screen
	if !poll(Timeout(), func() bool { screen = p.Capture(); return match(screen) }) {
		p.home.Fatalf("the screen does not show %s within %v", what, Timeout())
	}
	return screen
}

// WaitText blocks until the screen shows text.
func (p *Pane) WaitText(text string) Screen {
	p.home.t.Helper()
	return p.WaitScreen(strconv.Quote(text), Shows(text))
}

// WaitExit blocks until the program in the pane has ended, and returns its exit
// status, −1 if a signal ended it.
func (p *Pane) WaitExit() int {
	p.home.t.Helper()
	var dead, status, signal string
	if !poll(Timeout(), func() bool {
		fields := strings.Split(p.run("display-message", "-p", "#{pane_dead}/#{pane_dead_status}/#{pane_dead_signal}"), "/")
		dead, status, signal = fields[0], fields[1], fields[2]
		if dead == "1" && status+signal == "" {
			// tmux 3.3a now and then misses that its child ended; remind it.
			_ = syscall.Kill(p.server, syscall.SIGCHLD)
		}
		return status+signal != ""
	}) {
		p.home.Fatalf("the program in the pane did not end within %v", Timeout())
	}
	code, err := strconv.Atoi(status)
	if err != nil || signal != "" {
		return -1
	}
	return code
}

// Elapsed is the time since the program was started.
func (p *Pane) Elapsed() time.Duration { return time.Since(p.began) }
