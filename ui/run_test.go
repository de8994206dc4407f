package ui

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/exp/teatest"
	"go.uber.org/goleak"

	"piwatch/internal/control"
	"piwatch/internal/pi"
	"piwatch/internal/watchdog"
)

const patience = 20 * time.Second

// driver runs the whole screen: files, hub and program.
type driver struct {
	*teatest.TestModel
	t    *testing.T
	feed *feed
	end  context.CancelFunc
}

func drive(t *testing.T, o Options) *driver {
	t.Helper()
	o.NoColor = true
	ctx, cancel := context.WithCancel(context.Background())
	m, f, err := start(ctx, o.withDefaults())
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	d := &driver{teatest.NewTestModel(t, m, teatest.WithInitialTermSize(100, 30)), t, f, cancel}
	t.Cleanup(func() { cancel(); f.wait() })
	return d
}

// sees waits until all of the texts were drawn.
func (d *driver) sees(texts ...string) {
	d.t.Helper()
	teatest.WaitFor(d.t, d.Output(), func(out []byte) bool {
		plain := ansi.Strip(string(out))
		for _, text := range texts {
			if !strings.Contains(plain, text) {
				return false
			}
		}
		return true
	}, teatest.WithDuration(patience), teatest.WithCheckInterval(10*time.Millisecond))
}

func (d *driver) press(names ...string) {
	for _, name := range names {
		d.Send(key(name))
	}
}

func (d *driver) quit() *Model {
	d.t.Helper()
	d.press("q")
	m, ok := d.FinalModel(d.t, teatest.WithFinalTimeout(patience)).(*Model)
	if !ok {
		d.t.Fatal("the program has another model")
	}
	return m
}

// copyFixture puts a session file into a folder of its own.
func copyFixture(t *testing.T, folder, id string) string {
	t.Helper()
	data, err := os.ReadFile(filepathOf(id))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, id+".jsonl")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func appendLine(t *testing.T, path, line string) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := io.WriteString(file, line+"\n"); err != nil {
		t.Fatal(err)
	}
}

func TestTheScreenIsLive(t *testing.T) {
	// teatest waits for a signal as long as the process lives.
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent(), goleak.IgnoreAnyFunction("github.com/charmbracelet/x/exp/teatest.NewTestModel.func2"))
	folder := t.TempDir()
	path := copyFixture(t, folder, "bbbb-2")
	hub := newFakeHub(live("bbbb-2", "web", viewOf(watchdog.Working), control.Facts{}))
	hub.answer(levelInfo, "paused for you")
	d := drive(t, Options{Dirs: []pi.Dir{{Path: folder}}, Redial: hub.dial})
	d.sees("Migrate the settings", "working", "needs a choice between zod")

	appendLine(t, path, `{"type":"message","id":"n1","parentId":null,"message":{"role":"user","content":"use zod then"}}`)
	d.sees("use zod then")

	one := live("bbbb-2", "web", viewOf(watchdog.Suspended), control.Facts{Idle: true})
	hub.pushes <- control.Push{Session: &one}
	d.sees("⏱⏸ 2/50", "suspended until your next message")
	hub.pushes <- control.Push{Notice: &control.Notice{Session: "bbbb-2", Level: levelWarning, Text: "nothing was sent: a draft is open"}}
	d.sees("nothing was sent: a draft is open")

	d.press("p")
	d.sees("paused for you")
	copyFixture(t, folder, "cccc-3")
	d.sees("Sessions 2", "terraform plan")
	if m := d.quit(); m.crash != nil {
		t.Error(m.crash)
	}
	d.end()
	d.feed.wait()
}

// The file of a session that the hub knows is read also where Pi keeps no sessions
// here: with --session-dir, or of another agent folder. So are those beside it.
func TestASessionElsewhere(t *testing.T) {
	elsewhere := t.TempDir()
	one := live("bbbb-2", "", viewOf(watchdog.Working), control.Facts{})
	one.File = copyFixture(t, elsewhere, "bbbb-2")
	hub := newFakeHub()
	d := drive(t, Options{Dirs: []pi.Dir{{Path: t.TempDir()}}, Redial: hub.dial})
	d.sees("No sessions yet")
	hub.pushes <- control.Push{Session: &one}
	d.sees("● working  Migrate the sett")
	copyFixture(t, elsewhere, "cccc-3")
	d.sees("Sessions 2", "terraform plan")
	d.quit()
}

func TestTheHubGoesAndComes(t *testing.T) {
	first := newFakeHub(live("s1", "web", viewOf(watchdog.Working), control.Facts{}))
	second := newFakeHub(live("s1", "web", viewOf(watchdog.Suspended), control.Facts{Idle: true}))
	d := drive(t, Options{Hub: first, Redial: second.dial})
	d.sees("⏱▶ 2/50")
	close(first.pushes)
	d.sees("⏱✗", "hub gone, reconnecting")
	d.sees("⏱⏸ 2/50")
	d.quit()
}

func TestAHubThatIsNotThere(t *testing.T) {
	hub := newFakeHub()
	hub.fail = errors.New("connection refused")
	d := drive(t, Options{Redial: hub.dial})
	d.sees("no hub, trying again: connection refused")
	d.quit()
}

func TestAPanicBesideTheModelEndsTheScreen(t *testing.T) {
	panics := func(context.Context) (Hub, error) { panic("boom") }
	var out syncBuffer
	in, writer := io.Pipe()
	defer writer.Close()
	err := Run(context.Background(), Options{Redial: panics, In: in, Out: &out})
	if err == nil || !strings.Contains(err.Error(), "watch the hub: panic: boom") {
		t.Errorf("the error is %v", err)
	}
	if !strings.Contains(out.String(), ansi.ResetModeAltScreenSaveCursor) {
		t.Errorf("the terminal was not put back: %q", out.String())
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	in, writer := io.Pipe()
	defer writer.Close()
	hub := newFakeHub()
	stop := func(context.Context) (Hub, error) { cancel(); return hub, nil }
	if err := Run(ctx, Options{Redial: stop, In: in, Out: &syncBuffer{}}); err != nil {
		t.Error(err)
	}
}

func TestRunRefusesAnUnknownTheme(t *testing.T) {
	err := Run(context.Background(), Options{Theme: "none", In: strings.NewReader(""), Out: &syncBuffer{}})
	if err == nil || !strings.Contains(err.Error(), `no theme "none"; there are: terminal, dark, high-contrast, light, mono`) {
		t.Errorf("the error is %v", err)
	}
}

// syncBuffer is a buffer that two goroutines may use. Each write wakes those
// who wait.
type syncBuffer struct {
	mu   sync.Mutex
	buf  bytes.Buffer
	wake chan struct{}
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.wake != nil {
		select {
		case b.wake <- struct{}{}:
		default:
		}
	}
	return b.buf.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

func TestLines(t *testing.T) {
	folder := t.TempDir()
	path := copyFixture(t, folder, "bbbb-2")
	one := live("bbbb-2", "web", viewOf(watchdog.Counting), control.Facts{Idle: true})
	one.File = path
	hub := newFakeHub(one)
	out := &syncBuffer{wake: make(chan struct{}, 1)}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	done := make(chan error, 1)
	go func() {
		done <- Lines(ctx, out, Options{Hub: hub, ASCII: true, Now: func() time.Time { return now }})
	}()
	waitFor := func(text string) {
		t.Helper()
		for !strings.Contains(out.String(), text) {
			select {
			case <-out.wake:
			case <-ctx.Done():
				t.Fatalf("%q was not printed in\n%s", text, out.String())
			}
		}
	}
	waitFor("18:30:00  hub      connected, 1 session with a bridge\n")
	waitFor("18:30:00  state    web: counting  wd:23s 2/50")
	// When all that was there before is read is not told: what comes until then
	// is skipped too.
	more := time.NewTicker(20 * time.Millisecond)
	defer more.Stop()
	for n := 0; !strings.Contains(out.String(), "18:29:00  user     web: use zod then\n"); n++ {
		appendLine(t, path, fmt.Sprintf(`{"type":"message","id":"n%d","parentId":null,"timestamp":"2026-11-30T18:29:00Z","message":{"role":"user","content":"use zod then"}}`, n))
		select {
		case <-out.wake:
		case <-more.C:
		case <-ctx.Done():
			t.Fatalf("what is new was not printed in\n%s", out.String())
		}
	}
	one.Watch.Deadline = now.Add(time.Minute)
	hub.pushes <- control.Push{Session: &one} // no news
	off := one
	off.Watch = watchdog.View{Phase: watchdog.Off, Why: "stopped by\x1b[31m hand"}
	hub.pushes <- control.Push{Session: &off}
	waitFor("state    web: off  stopped by hand\n")
	if strings.Contains(out.String(), "wait_user") {
		t.Errorf("what was there before was told:\n%s", out.String())
	}
	if n := strings.Count(out.String(), "counting"); n != 1 {
		t.Errorf("the countdown was told %d times", n)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

var _ tea.Model = (*Model)(nil)
