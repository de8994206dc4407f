package ui

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/muesli/termenv"

	"piwatch/internal/e2e"
	"piwatch/internal/pi"
)

// seamScreen makes this test binary a screen, for the terminal of a test: of the
// session files in a folder, or one that panics.
const (
	seamScreen = "PIWATCH_TEST_SCREEN"
	seamPanic  = "panic"
)

func runSeamScreen(what string) error {
	o := Options{Dirs: []pi.Dir{{Path: what}}}
	if what == seamPanic {
		o = Options{Redial: func(context.Context) (Hub, error) { panic("boom") }}
	}
	return Run(context.Background(), o)
}

// The real program in the real tmux: keys, a storm of sizes, one line, one cell.
func TestScreenInTmux(t *testing.T) {
	h := e2e.NewHome(t, nil, e2e.HomeOptions{})
	launch := e2e.Launch{Env: []string{`PAGER=sh -c 'test -t 0 && test -t 1 && echo in the pager; read x; exit 0'`}}
	pane := h.StartPane("piwatch demo", launch, e2e.Size{Columns: 100, Rows: 30}, e2e.Piwatch(t), "demo", "--speed", "3")
	pane.WaitText("Port the parser to Go, with tests.")
	pane.Keys("?")
	pane.WaitText("ask the agent now")
	pane.Keys("/")
	pane.Type("clipboard")
	pane.WaitScreen("the search in the help", func(s e2e.Screen) bool {
		return s.Contains("copy the row") && !s.Contains("ask the agent now")
	})
	// A key right behind Escape is another key: Alt and that one.
	pane.Keys("Enter", "Escape")
	pane.WaitText("ask the agent now")
	pane.Keys("Escape")
	timeline := func(s e2e.Screen) bool { // the help speaks of folds, too
		return s.Contains("folded") && !s.Contains("ask the agent now") && !s.Contains("high-contrast")
	}
	pane.WaitScreen("the timeline after the help", timeline)
	pane.Keys("t", "Down")
	pane.WaitText("high-contrast")
	pane.Keys("Escape")
	pane.WaitScreen("the timeline after the themes", timeline)
	pane.Keys("v")
	pane.WaitText("What it sees now")
	pane.Keys("Escape")
	pane.WaitText("Sessions")
	pane.Keys("Tab", "o")
	pane.WaitText("in the pager")
	pane.Keys("Enter")
	pane.WaitText("Sessions")
	for i := range 30 {
		pane.Resize(e2e.Size{Columns: 20 + i*7%130, Rows: 1 + i*5%40})
	}
	pane.Resize(e2e.Size{Columns: 1, Rows: 1})
	pane.Resize(e2e.Size{Columns: 70, Rows: 3})
	pane.WaitScreen("one session and the counts of all, in three lines", func(s e2e.Screen) bool {
		lines := s.Lines()
		return len(lines) == 3 && strings.Contains(lines[0], "port the parser") && strings.Contains(lines[2], "q quit")
	})
	pane.Resize(e2e.Size{Columns: 80, Rows: 24})
	pane.WaitScreen("both panes", func(s e2e.Screen) bool {
		lines := s.Lines()
		return len(lines) == 24 && strings.HasPrefix(lines[0], " Sessions") && strings.Contains(lines[23], "q quit")
	})
	pane.Keys("q")
	if code := pane.WaitExit(); code != 0 {
		t.Errorf("it ended with %d", code)
	}
	if pane.Capture().Contains("Sessions") {
		t.Error("the terminal was not put back")
	}
}

// A panic beside the model ends the screen, and leaves the terminal as it was.
func TestAPanicPutsTheTerminalBack(t *testing.T) {
	h := e2e.NewHome(t, nil, e2e.HomeOptions{})
	launch := e2e.Launch{Env: []string{seamScreen + "=" + seamPanic}}
	pane := h.StartPane("panic", launch, e2e.Size{Columns: 100, Rows: 40}, "sh", "-c", `"$1" 2>error; stty -a; cat error; echo over`, "sh", os.Args[0])
	screen := pane.WaitText("over")
	if !screen.Contains("watch the hub: panic: boom") {
		t.Errorf("the panic is not told:\n%s", screen.Text)
	}
	for _, raw := range []string{"-icanon", "-echo ", "-isig"} {
		if screen.Contains(raw) {
			t.Errorf("the terminal is left with %s:\n%s", raw, screen.Text)
		}
	}
}

// Text of all scripts, drawn in tmux: no row is shifted or broken.
func TestForeignTextInTmux(t *testing.T) {
	h := e2e.NewHome(t, nil, e2e.HomeOptions{})
	folder := filepath.Join(h.Dir, "sessions")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	texts := []string{"漢字の長い文章がここにある", "👍🏽 👨‍👩‍👧 done 🇩🇪", "नमस्ते दुनिया", "ไทยกำลังมา", "한국어 문장", "größe é ❤️"}
	for i, text := range texts {
		line := fmt.Sprintf(`{"type":"session","version":3,"id":"s%d","cwd":"/w/x"}`+"\n"+`{"type":"message","id":"m","message":{"role":"user","content":"%s %s"}}`+"\n", i, text, text)
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("s%d.jsonl", i)), []byte(line), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	launch := e2e.Launch{Env: []string{seamScreen + "=" + folder, "LC_ALL=C.UTF-8"}}
	pane := h.StartPane("foreign text", launch, e2e.Size{Columns: 80, Rows: 12}, os.Args[0])
	screen := pane.WaitScreen("all sessions", func(s e2e.Screen) bool {
		return strings.Count(s.Text, "idle")+strings.Count(s.Text, "working") >= len(texts)
	})
	for i, line := range screen.Lines()[:11] {
		left, _, ok := strings.Cut(line, "│")
		if !ok || width(left) != 37 {
			t.Errorf("row %d has its border at %d: %q", i, width(left), line)
		}
	}
}

// Widths are those of the real tmux, which is where most people look at it.
func TestWidthsAreThoseOfTmux(t *testing.T) {
	e2e.RequireTmux(t)
	run := func(args ...string) string {
		cmd := exec.Command("tmux", append([]string{"-L", "widths", "-f", "/dev/null"}, args...)...)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "TMUX_TMPDIR=" + os.Getenv("TMUX_TMPDIR"), "LC_ALL=C.UTF-8", "TERM=xterm-256color"}
		out, err := cmd.CombinedOutput()
		if err != nil && args[0] != "kill-server" {
			t.Fatalf("tmux %s: %v: %s", args[0], err, out)
		}
		return strings.TrimSpace(string(out))
	}
	t.Setenv("TMUX_TMPDIR", t.TempDir())
	run("new-session", "-d", "-x", "60", "-y", "5", "cat")
	defer run("kill-server")
	for _, text := range []string{"漢字", "한글", "\u1100\u1161", "ｶﾀｶﾅ", "👍", "👩👧", "🇩🇪", "e\u0301", "नमस्ते", "বাংলা", "தமிழ்", "ไทยกำ", "عَرَبِيّ", "◆●○◔‖✓✗╭│▸…·", "⏱⏸⏹✍▶", "größe"} {
		run("respawn-pane", "-k", "sh", "-c", `printf '%s' "$1"; exec cat`, "sh", text)
		deadline := time.NewTimer(e2e.Timeout())
		poll := time.NewTicker(5 * time.Millisecond)
		got := -1
		for got != width(text) {
			select {
			case <-poll.C:
				got, _ = strconv.Atoi(run("display-message", "-p", "#{cursor_x}"))
				continue
			case <-deadline.C:
			}
			t.Errorf("%q takes %d cells in tmux, and %d here", text, got, width(text))
			break
		}
		poll.Stop()
		deadline.Stop()
	}
}

// A panic in the model, in its drawing or in a command becomes an error, on
// which the program ends in order.
func TestPanicsInTheModel(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	feed := newFeed(ctx)
	defer feed.wait()
	defer cancel()
	broken := func() guarded {
		m := screenIn(t, Options{}, termenv.Ascii, "counting", 80, 24)
		m.o.Now = func() time.Time { panic("boom") }
		return guarded{Model: m, feed: feed}
	}
	g := broken()
	if _, cmd := g.Update(tick{}); cmd == nil || cmd() != tea.Quit() || g.crash == nil || g.crash.Error() != "take in ui.tick: panic: boom" {
		t.Errorf("after a panic in Update the error is %v", g.crash)
	}
	g = broken()
	g.list.shown[0] = nil
	if frame := g.View(); frame != "" || g.crash == nil {
		t.Errorf("after a panic in View the error is %v", g.crash)
	}
	if batch, ok := feed.next().(fed); !ok || len(batch) != 1 || g.crash != batch[0].(crashed).err {
		t.Errorf("the feed says %v", batch)
	}
	cmd := guardCommand(tea.Batch(func() tea.Msg { panic("boom") }, func() tea.Msg { return tick{} }))
	var crash *CrashError
	for _, msg := range run(cmd) {
		if c, ok := msg.(crashed); ok {
			errors.As(c.err, &crash)
		}
	}
	if crash == nil || crash.What != "a command" || len(crash.Stack) == 0 {
		t.Errorf("after a panic in a command the error is %v", crash)
	}
}
