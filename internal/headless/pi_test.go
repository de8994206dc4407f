package headless

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"piwatch/internal/leaks"
)

// roleVar tells this test program to play a Pi.
const roleVar = "PIWATCH_TEST_PI"

// holdVar names the socket by which the test lets a holder go.
const holdVar = "PIWATCH_TEST_HOLD"

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVar); role != "" {
		playPi(role)
		return
	}
	leaks.Main(m)
}

// playPi answers as Pi does. Its roles: "good", "silent" (answers nothing),
// "deaf" (ignores the end of its input and SIGTERM), "broken" (ends at once),
// "parent" (leaves a "holder" behind, which holds its output until the test lets
// it go).
func playPi(role string) {
	switch role {
	case "broken":
		fmt.Fprintln(os.Stderr, "Error: no such model")
		os.Exit(1)
	case "parent":
		holder := exec.Command(os.Args[0])
		holder.Env = append(os.Environ(), roleVar+"=holder")
		holder.Stdin, holder.Stdout, holder.Stderr = os.Stdin, os.Stdout, os.Stderr
		holder.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := holder.Start(); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(1)
	case "holder":
		if conn, err := net.Dial("unix", os.Getenv(holdVar)); err == nil {
			_, _ = io.Copy(io.Discard, conn) // until the test closes it
		}
		return
	case "deaf":
		signal.Notify(make(chan os.Signal, 1), syscall.SIGTERM)
	}
	say := func(v any) {
		data, _ := json.Marshal(v)
		fmt.Println(string(data))
	}
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var m map[string]any
		if json.Unmarshal(in.Bytes(), &m) != nil || role == "silent" {
			continue
		}
		reply := map[string]any{"type": "response", "id": m["id"], "command": m["type"], "success": true}
		switch m["type"] {
		case "get_state":
			reply["data"] = map[string]any{"sessionId": "s1", "sessionFile": strings.Join(os.Args[1:], " ")}
		case "prompt":
			switch m["message"] {
			case "/command":
				reply["data"] = map[string]any{"disposition": "handled"}
			case "no":
				reply["success"], reply["error"] = false, "no model"
			default:
				fmt.Println("an extension prints this")
				say(map[string]any{"type": "agent_start"})
				say(map[string]any{"type": "extension_ui_request", "id": "u1", "method": "notify"})
				say(map[string]any{"type": "extension_ui_request", "id": "u2", "method": "confirm"})
			}
		case "extension_ui_response":
			if m["id"] == "u2" && m["cancelled"] == true {
				say(map[string]any{"type": "agent_settled"})
			}
			continue
		}
		say(reply)
	}
	if role == "deaf" {
		select {}
	}
}

func start(t *testing.T, role string, args ...string) *Pi {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p, err := Start(Options{Command: append([]string{exe}, args...), Env: append(os.Environ(), roleVar+"="+role, "GORACE=atexit_sleep_ms=0")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Kill()
		<-p.Done()
	})
	return p
}

func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func TestTalk(t *testing.T) {
	p := start(t, "good", "-e", "x.ts")
	ctx := within(t)
	state, err := p.State(ctx)
	if want := (State{"s1", "--mode rpc -e x.ts"}); err != nil || state != want {
		t.Errorf("state %+v, %v; want %+v", state, err, want)
	}
	if started, err := p.Prompt(ctx, "hello"); !started || err != nil {
		t.Errorf("prompt: %v, %v", started, err)
	}
	p.WaitSettled(ctx) // the dialog was cancelled, else it never comes
	if ctx.Err() != nil {
		t.Error("it does not settle")
	}
	if started, err := p.Prompt(ctx, "/command"); started || err != nil {
		t.Errorf("command: %v, %v", started, err)
	}
	var refused *RefusedError
	if _, err := p.Prompt(ctx, "no"); !errors.As(err, &refused) || refused.Why != "no model" {
		t.Errorf("refused: %v", err)
	}
	if err := p.Abort(ctx); err != nil {
		t.Error(err)
	}
	p.Close()
	p.Close()
	if err := p.Err(); !errors.Is(err, ErrEnded) || p.wait != nil {
		t.Errorf("ended with %v", err)
	}
	if _, err := p.State(ctx); !errors.Is(err, ErrEnded) {
		t.Errorf("after its end: %v", err)
	}
}

func TestBroken(t *testing.T) {
	p := start(t, "broken")
	_, err := p.State(within(t))
	if !errors.Is(err, ErrEnded) || !strings.Contains(err.Error(), "no such model") || !strings.Contains(err.Error(), "exit status 1") {
		t.Errorf("%v", err)
	}
}

func TestSilent(t *testing.T) {
	p := start(t, "silent")
	ctx, cancel := context.WithCancelCause(within(t))
	cancel(errors.New("enough"))
	if _, err := p.State(ctx); err == nil || !strings.Contains(err.Error(), "enough") {
		t.Errorf("%v", err)
	}
	p.Close()
	select {
	case <-p.Done():
	default:
		t.Error("it still runs")
	}
}

// A Pi that died is noticed though what it started and detached holds its pipes.
func TestPipesHeld(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "hold")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	t.Setenv(holdVar, socket)
	p := start(t, "parent")
	conn, err := l.Accept() // the holder is there
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() }) // before what waits for p
	ctx := within(t)
	if _, err := p.State(ctx); !errors.Is(err, ErrEnded) {
		t.Errorf("state: %v", err)
	}
	select {
	case <-p.Done():
		if err := p.Err(); !strings.Contains(err.Error(), "exit status 1") {
			t.Error(err)
		}
	case <-ctx.Done():
		t.Error("its end is not noticed")
	}
}

func TestNoProgram(t *testing.T) {
	if _, err := Start(Options{Command: []string{"/no/such/pi"}}); err == nil {
		t.Error("it started")
	}
}

// A Pi that does not leave is killed, and with it what it started.
func TestKill(t *testing.T) {
	p := start(t, "deaf")
	if _, err := p.State(within(t)); err != nil { // it ignores signals by now
		t.Fatal(err)
	}
	p.signal(syscall.SIGTERM)
	if _, err := p.State(within(t)); err != nil {
		t.Fatal(err)
	}
	p.Kill()
	<-p.Done()
	if err := p.Err(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Errorf("%v", err)
	}
}

func TestStderrIsCut(t *testing.T) {
	var b tailBuffer
	for range 3 {
		_, _ = b.Write([]byte(strings.Repeat("é", keptStderr)))
	}
	if got := b.String(); len(got) > keptStderr+3 || !strings.HasSuffix(got, "éé") {
		t.Errorf("%d bytes", len(got))
	}
}
