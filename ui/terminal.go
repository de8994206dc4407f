package ui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"
)

// terminal is the screen's hold on the terminal: raw mode, the other screen,
// the mouse, its size, and the frames. Bubble Tea reads the keys and routes the
// messages; its own renderer is not used, since it looks 60 times a second
// whether there is a new frame, on a screen where nothing changes for hours.
type terminal struct {
	in  *os.File // where keys come from; nil: from no terminal
	out *os.File

	// write is held while the terminal is written to, which a stopped terminal makes
	// long, and taken before mu. Who holds mu waits for nothing.
	write sync.Mutex

	mu    sync.Mutex
	on    bool        // the terminal shows the screen, not a program or the shell
	state *term.State // of the terminal before
	next  frame
	last  frame // as it is on the terminal
	wake  chan struct{}
}

// frame is what View drew, and for which size.
type frame struct {
	text  string
	w, h  int
	mouse bool // the terminal gives the mouse away
}

const (
	screenOn = ansi.SetModeAltScreenSaveCursor + ansi.HideCursor + ansi.SetModeBracketedPaste
	// What a crash may have left on is taken off, too.
	screenOff = mouseOff + ansi.ResetModeBracketedPaste + ansi.ShowCursor + ansi.ResetModeAltScreenSaveCursor
	mouseOn   = ansi.SetModeMouseButtonEvent + ansi.SetModeMouseExtSgr
	mouseOff  = ansi.ResetModeMouseButtonEvent + ansi.ResetModeMouseExtSgr
)

func newTerminal(in, out *os.File) *terminal {
	return &terminal{in: in, out: out, wake: make(chan struct{}, 1)}
}

// enter takes the terminal. It changes nothing when it has it already, but for
// raw mode, which a shell that stopped the program took away.
func (t *terminal) enter() error {
	t.write.Lock()
	defer t.write.Unlock()
	if err := t.take(); err != nil {
		return err
	}
	_, err := t.out.WriteString(screenOn)
	return err
}

// take makes the terminal raw, and the next frame a whole one.
func (t *terminal) take() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.in != nil && term.IsTerminal(t.in.Fd()) {
		state, err := term.MakeRaw(t.in.Fd())
		if err != nil {
			return fmt.Errorf("raw mode: %w", err)
		}
		if t.state == nil {
			t.state = state
		}
	}
	t.on, t.last = true, frame{}
	t.order()
	return nil
}

// leave gives the terminal back as it was found. It may be called again.
func (t *terminal) leave() error {
	t.write.Lock()
	defer t.write.Unlock()
	t.mu.Lock()
	on, state := t.on, t.state
	t.on, t.state = false, nil
	t.mu.Unlock()
	if !on {
		return nil
	}
	_, err := t.out.WriteString(screenOff)
	if state != nil {
		err = errors.Join(err, term.Restore(t.in.Fd(), state))
	}
	return err
}

// aside runs what takes the place of the screen.
func (t *terminal) aside(run func() error) error {
	if err := t.leave(); err != nil {
		return err
	}
	err := run()
	return errors.Join(err, t.enter())
}

// follow tells the size of the terminal, now and as it changes, until ctx ends;
// and takes the terminal again when the program was stopped and goes on.
func (t *terminal) follow(ctx context.Context, tell func(tea.Msg)) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGWINCH, syscall.SIGCONT)
	defer signal.Stop(signals)
	for {
		if w, h, err := term.GetSize(t.out.Fd()); err == nil {
			tell(tea.WindowSizeMsg{Width: w, Height: h})
		}
		select {
		case <-ctx.Done():
			return
		case s := <-signals:
			if s == syscall.SIGCONT && t.shown() {
				_ = t.enter() // else the terminal is gone, and the program with it
			}
		}
	}
}

func (t *terminal) shown() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.on
}

// show hands over the newest frame; older ones that were not drawn are left out.
func (t *terminal) show(f frame) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.next = f
	t.order()
}

func (t *terminal) order() {
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// draw draws until ctx ends.
func (t *terminal) draw(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.wake:
			t.paint()
		}
	}
}

func (t *terminal) paint() {
	t.write.Lock()
	defer t.write.Unlock()
	t.mu.Lock()
	last, next := t.last, t.next
	paints := t.on && next != last && next.w > 0 && next.h > 0
	if paints {
		t.last = next
	}
	t.mu.Unlock()
	if paints {
		// What cannot be written is lost with the terminal, which ends the program.
		_, _ = t.out.WriteString(changes(last, next))
	}
}

// changes is what turns one frame into another on the terminal: the lines that
// are new, or all of them where the size is another. The terminal does not wrap
// them: one that counts cells otherwise cuts a line, and shifts no other.
func changes(from, to frame) string {
	var b strings.Builder
	switch {
	case to.mouse && !from.mouse:
		b.WriteString(mouseOn)
	case from.mouse && !to.mouse:
		b.WriteString(mouseOff)
	}
	b.WriteString(ansi.ResetModeAutoWrap)
	var old []string
	if from.w == to.w && from.h == to.h {
		old = strings.Split(from.text, "\n")
	} else {
		b.WriteString(reset + ansi.EraseEntireScreen)
	}
	lines := strings.Split(to.text, "\n")
	for i := range max(len(old), len(lines)) {
		line := lineAt(lines, i)
		if i < len(old) && old[i] == line || i >= to.h {
			continue
		}
		fmt.Fprintf(&b, "\x1b[%d;1H%s", i+1, line)
		if width(line) < to.w { // at the end of a full line this would erase its last cell
			b.WriteString(reset + "\x1b[K")
		}
	}
	b.WriteString(ansi.SetModeAutoWrap)
	return b.String()
}

// beside is a program of the user in the place of the screen. It has its own
// streams.
type beside struct {
	*exec.Cmd
	aside func(run func() error) error
}

// Run runs it.
func (b beside) Run() error { return b.aside(b.Cmd.Run) }

// SetStdin, SetStdout and SetStderr are for programs without streams.
func (beside) SetStdin(io.Reader) {}

// SetStdout is as SetStdin.
func (beside) SetStdout(io.Writer) {}

// SetStderr is as SetStdin.
func (beside) SetStderr(io.Writer) {}
