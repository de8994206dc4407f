package export

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// browserTimeout ends a browser that hangs; nothing is expected to take that long.
const browserTimeout = 5 * time.Minute

// browsers are the names of Chromium on the systems that have it. .ci/run fetches
// one where there is none of them.
var browsers = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"}

// browser is one tab of a headless Chromium, spoken to by the DevTools protocol
// over a pipe.
type browser struct {
	t      *testing.T // the test that looks at it
	to     io.Writer
	from   *bufio.Reader
	said   *os.File // its errors
	tab    string
	calls  int
	events []message // since the last open
}

// message is a call, an answer or an event of the protocol.
type message struct {
	ID     int             `json:"id,omitempty"`
	Tab    string          `json:"sessionId,omitempty"`
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  json.RawMessage `json:"error,omitempty"`
}

// startBrowser skips the test where there is none: nothing but this needs one.
func startBrowser(t *testing.T) *browser {
	t.Helper()
	program := ""
	for _, name := range browsers {
		if exec.Command(name, "--version").Run() == nil { // some systems have the name only
			program = name
			break
		}
	}
	if program == "" {
		skip(t, browsers[0]+" is missing")
	}
	home, err := os.MkdirTemp("", "piwatch-browser")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	said, err := os.Create(filepath.Join(home, "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	theirIn, in := pipe(t)
	out, theirOut := pipe(t)
	ctx, cancel := context.WithTimeout(context.Background(), browserTimeout)
	t.Cleanup(cancel)
	b := &browser{t: t, to: in, from: bufio.NewReader(out), said: said}
	// It shows only pages of these tests, so it needs no sandbox, which root and a
	// container cannot give it.
	cmd := exec.CommandContext(ctx, program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-dev-shm-usage",
		"--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-breakpad",
		"--force-color-profile=srgb", "--hide-scrollbars", "--user-data-dir="+home, "--remote-debugging-pipe", "about:blank")
	cmd.Env = append(os.Environ(), "HOME="+home)
	cmd.ExtraFiles = []*os.File{theirIn, theirOut} // 3 and 4, where it looks for them
	cmd.Stderr = said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_, _ = theirIn.Close(), theirOut.Close()
	t.Cleanup(func() {
		_ = in.Close() // on which it ends
		_ = cmd.Wait()
		_, _ = out.Close(), said.Close()
	})
	var target struct{ TargetID string }
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var session struct{ SessionID string }
	b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &session)
	b.tab = session.SessionID
	for _, domain := range []string{"Page", "Network", "Runtime"} {
		b.call(domain+".enable", nil, nil)
	}
	b.call("Page.setLifecycleEventsEnabled", map[string]any{"enabled": true}, nil)
	return b
}

// skip says with one line that stands out why a test is skipped.
func skip(t *testing.T, why string) {
	t.Helper()
	fmt.Fprintf(os.Stderr, "!!! %s SKIPPED: %s\n", t.Name(), why)
	t.Skip(why)
}

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	return r, w
}

// errors are what the browser wrote to its stderr so far.
func (b *browser) errors() []byte {
	said, err := os.ReadFile(b.said.Name())
	if err != nil {
		b.t.Error(err)
	}
	return said
}

// call asks for one thing, and reads the answer into result unless that is nil.
func (b *browser) call(method string, params, result any) {
	b.t.Helper()
	b.calls++
	ask := message{ID: b.calls, Tab: b.tab, Method: method}
	if params != nil {
		ask.Params, _ = json.Marshal(params) // of maps of texts and numbers
	}
	line, err := json.Marshal(ask)
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.to.Write(append(line, 0)); err != nil {
		b.t.Fatalf("%s: %v\n%s", method, err, b.errors())
	}
	for {
		m := b.read()
		if m.ID != b.calls {
			continue
		}
		if m.Error != nil {
			b.t.Fatalf("%s: %s", method, m.Error)
		}
		if result != nil {
			if err := json.Unmarshal(m.Result, result); err != nil {
				b.t.Fatalf("%s: %v in %s", method, err, m.Result)
			}
		}
		return
	}
}

// read reads the next message, and keeps it if it is an event.
func (b *browser) read() message {
	b.t.Helper()
	line, err := b.from.ReadBytes(0)
	if err != nil {
		b.t.Fatalf("the browser is gone: %v\n%s", err, b.errors())
	}
	var m message
	if err := json.Unmarshal(line[:len(line)-1], &m); err != nil {
		b.t.Fatalf("%v in %s", err, line)
	}
	if m.Method == "Page.javascriptDialogOpening" {
		b.t.Fatalf("a script of the page ran, and waits for an answer: %s", m.Params)
	}
	if m.Method != "" {
		b.events = append(b.events, m)
	}
	return m
}

// open shows a page, and returns its address when it has loaded.
func (b *browser) open(page string) string {
	b.t.Helper()
	path := filepath.Join(b.t.TempDir(), "page.html")
	if err := os.WriteFile(path, []byte(page), 0o600); err != nil {
		b.t.Fatal(err)
	}
	b.events = nil
	var answer struct{ LoaderID, ErrorText string }
	b.call("Page.navigate", map[string]any{"url": "file://" + path}, &answer)
	if answer.ErrorText != "" {
		b.t.Fatal(answer.ErrorText)
	}
	for !b.loaded(answer.LoaderID) {
		b.read()
	}
	return "file://" + path
}

// loaded reports whether a page has loaded. The events of the one before it may come
// late.
func (b *browser) loaded(loader string) bool {
	for _, e := range b.events {
		var params struct{ LoaderID, Name string }
		if e.Method == "Page.lifecycleEvent" && json.Unmarshal(e.Params, &params) == nil && params.LoaderID == loader && params.Name == "load" {
			return true
		}
	}
	return false
}

// requests are the addresses that were asked for since the last open.
func (b *browser) requests() []string {
	var urls []string
	for _, e := range b.events {
		var params struct{ Request struct{ URL string } }
		if e.Method == "Network.requestWillBeSent" && json.Unmarshal(e.Params, &params) == nil {
			urls = append(urls, params.Request.URL)
		}
	}
	return urls
}

// look is how a page is looked at.
type look struct {
	width  int    // in CSS pixels
	scheme string // light or dark
	media  string // screen or print
}

func (l look) String() string { return fmt.Sprintf("%d-%s-%s", l.width, l.scheme, l.media) }

func (b *browser) look(l look) {
	b.t.Helper()
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": l.width, "height": 900, "deviceScaleFactor": 1, "mobile": false}, nil)
	b.call("Emulation.setEmulatedMedia", map[string]any{
		"media": l.media, "features": []map[string]string{{"name": "prefers-color-scheme", "value": l.scheme}},
	}, nil)
}

// eval is the value of an expression in the page.
func eval[T any](b *browser, expression string) T {
	b.t.Helper()
	var answer struct {
		Result           struct{ Value T }
		ExceptionDetails json.RawMessage
	}
	b.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true}, &answer)
	if answer.ExceptionDetails != nil {
		b.t.Fatalf("%s: %s", expression, answer.ExceptionDetails)
	}
	return answer.Result.Value
}

// click presses the mouse in the middle of what a selector finds first.
func (b *browser) click(selector string) {
	b.t.Helper()
	at := eval[[]float64](b, fmt.Sprintf(`(() => {
		const found = document.querySelector(%q)
		found.scrollIntoView({ block: "center" })
		const box = found.getBoundingClientRect()
		return [box.x + box.width / 2, box.y + box.height / 2]
	})()`, selector))
	for _, kind := range []string{"mousePressed", "mouseReleased"} {
		b.call("Input.dispatchMouseEvent", map[string]any{"type": kind, "x": at[0], "y": at[1], "button": "left", "clickCount": 1}, nil)
	}
}

// picture takes the whole page, as PNG.
func (b *browser) picture() []byte {
	b.t.Helper()
	size := eval[[]float64](b, "[innerWidth, document.documentElement.scrollHeight]")
	var shot struct{ Data string }
	b.call("Page.captureScreenshot", map[string]any{
		"format": "png", "captureBeyondViewport": true, "clip": map[string]any{"x": 0, "y": 0, "width": size[0], "height": size[1], "scale": 1},
	}, &shot)
	png, err := base64.StdEncoding.DecodeString(shot.Data)
	if err != nil {
		b.t.Fatal(err)
	}
	return png
}
