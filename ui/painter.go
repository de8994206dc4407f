package ui

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
)

// painter writes frames to the terminal in the place of Bubble Tea's renderer,
// which looks 60 times a second whether there is a new one: what does not change
// costs nothing, and what does is drawn at once. The renderer is still there, at
// one look a second, for all that is not frames: raw mode, the other screen, the
// mouse, programs in the place of the screen. Of its own frames it has only one,
// frameMark, which the painter takes for the wish to draw everything anew.
type painter struct {
	out *os.File

	mu   sync.Mutex
	on   bool // the terminal shows the screen, not a program or the shell
	next frame
	last frame // as it is on the terminal
	wake chan struct{}
}

// frame is what View drew, and for which size.
type frame struct {
	text string
	w, h int
}

// frameMark is what Bubble Tea takes for the frame. It never reaches the
// terminal.
const frameMark = "\x1b[0;0;0m"

// The sequences by which the screen comes and goes.
var screenOn, screenOff = []byte("\x1b[?1049h"), []byte("\x1b[?1049l")

func newPainter(out *os.File) *painter { return &painter{out: out, wake: make(chan struct{}, 1)} }

// terminal is what Bubble Tea writes to.
type terminal struct {
	*os.File
	painter *painter
}

// WriteString is Write: without it that of the file would be taken.
func (t terminal) WriteString(text string) (int, error) { return t.Write([]byte(text)) }

func (t terminal) Write(data []byte) (int, error) {
	p := t.painter
	p.mu.Lock()
	defer p.mu.Unlock()
	if bytes.Contains(data, []byte(frameMark)) {
		p.last = frame{}
		p.order()
		return len(data), nil
	}
	if bytes.Contains(data, screenOn) {
		p.on, p.last = true, frame{}
		p.order()
	}
	if bytes.Contains(data, screenOff) {
		p.on = false
	}
	return p.out.Write(data)
}

// show hands over the newest frame; older ones that were not drawn are left out.
func (p *painter) show(f frame) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.next = f
	p.order()
}

func (p *painter) order() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// run draws until ctx ends.
func (p *painter) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.wake:
			p.paint()
		}
	}
}

func (p *painter) paint() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.on || p.next == p.last || p.next.w <= 0 || p.next.h <= 0 {
		return
	}
	// What cannot be written is lost with the terminal, which ends the program.
	_, _ = p.out.WriteString(changes(p.last, p.next))
	p.last = p.next
}

// changes is what turns one frame into another on the terminal: the lines that
// are new, or all of them where the size is another. The terminal does not wrap
// them: one that counts cells otherwise cuts a line, and shifts no other.
func changes(from, to frame) string {
	var b strings.Builder
	b.WriteString("\x1b[?7l")
	var old []string
	if from.w == to.w && from.h == to.h {
		old = strings.Split(from.text, "\n")
	} else {
		b.WriteString("\x1b[0m\x1b[2J")
	}
	lines := strings.Split(to.text, "\n")
	for i := range max(len(old), len(lines)) {
		line := lineAt(lines, i)
		if i < len(old) && old[i] == line || i >= to.h {
			continue
		}
		fmt.Fprintf(&b, "\x1b[%d;1H%s", i+1, line)
		if width(line) < to.w { // at the end of a full line this would erase its last cell
			b.WriteString("\x1b[0m\x1b[K")
		}
	}
	b.WriteString("\x1b[?7h")
	return b.String()
}
