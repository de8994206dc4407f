package demo_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"piwatch/internal/demo"
	"piwatch/internal/hub"
	"piwatch/internal/pi"
)

// realHub runs the hub of piwatch.
func realHub(ctx context.Context, socket string, ready chan<- struct{}) error {
	return hub.Run(ctx, hub.Options{Socket: socket, Version: "test", Ready: ready})
}

// TestStory plays the whole demo, without countdowns, on the real hub.
func TestStory(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	var out bytes.Buffer
	if err := demo.Run(t.Context(), demo.Options{Hub: realHub, Out: &out, Version: "test", Speed: 50}); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	story := out.String()
	// What the hub says and what Pi says come on two ways, in no order.
	if off := "watchdog   off: the agent answered done"; !strings.Contains(mainLines(story), off) {
		t.Errorf("%q is missing:\n%s", off, story)
	}
	rest := story
	for _, want := range []string{
		"user       Port the parser to Go",
		"tool       bash ls src",
		"check      the agent is asked",
		"decision   continue: the parser itself is still missing",
		"fold       3 rows",
		"work       ",
		"tool       edit parser.go",
		"check      the agent is asked",
		"decision   none (no_answer)",
		"fold       2 rows",
		"decision   done: lexer and parser are ported",
	} {
		_, after, found := strings.Cut(mainLines(rest), want)
		if !found {
			t.Fatalf("%q is missing, or not in its order:\n%s", want, story)
		}
		rest = after
	}
	for _, want := range []string{"decision   wait_user: which version number?", "watchdog   suspended", "presses Esc", "watchdog   interrupted", "Everything ended as it should: 4 checks"} {
		if !strings.Contains(story, want) {
			t.Errorf("%q is missing:\n%s", want, story)
		}
	}
	if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if testing.Verbose() {
		t.Log("\n" + story)
	}
}

// mainLines are the lines of the main session, whose name stays in them.
func mainLines(story string) string {
	var lines []string
	for line := range strings.Lines(story) {
		if strings.Contains(line, "port the parser") || !strings.Contains(line, "s  ") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}

// TestScreen leaves a story in the middle, as a user does with q.
func TestScreen(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	var seen []string
	err := demo.Run(t.Context(), demo.Options{Hub: realHub, Speed: 50, Screen: func(ctx context.Context, w demo.World) error {
		dirs := []pi.Dir{{Path: w.Sessions}}
		for len(seen) < 3 {
			if err := ctx.Err(); err != nil {
				return err
			}
			found, err := filepath.Glob(filepath.Join(dirs[0].Path, "*", "*.jsonl"))
			if err != nil {
				return err
			}
			seen = found
		}
		return nil
	}})
	if err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestStoryFails: the demo does not call a story good that went wrong.
func TestStoryFails(t *testing.T) {
	broken := errors.New("no hub today")
	for name, o := range map[string]demo.Options{
		"the hub does not start": {Hub: func(context.Context, string, chan<- struct{}) error { return broken }},
		"the hub ends in the middle": {Hub: func(ctx context.Context, socket string, ready chan<- struct{}) error {
			short, cancel := context.WithTimeoutCause(ctx, 300*time.Millisecond, broken)
			defer cancel()
			if err := realHub(short, socket, ready); err != nil {
				return err
			}
			return broken
		}, Speed: 1},
		"the hub ends behind the screen": {Hub: func(context.Context, string, chan<- struct{}) error { return broken }, Screen: waitForEnd},
		"the hub ends while the screen is on": {Hub: func(ctx context.Context, socket string, ready chan<- struct{}) error {
			close(ready)
			return broken
		}, Screen: waitForEnd},
		"the screen fails": {Hub: realHub, Screen: func(context.Context, demo.World) error { return broken }},
		"nobody reads it":  {Hub: realHub, Speed: 50, Out: brokenPipe{broken}},
	} {
		t.Run(name, func(t *testing.T) {
			tmp := t.TempDir()
			t.Setenv("TMPDIR", tmp)
			if o.Out == nil {
				o.Out = &bytes.Buffer{}
			}
			if err := demo.Run(t.Context(), o); !errors.Is(err, broken) {
				t.Errorf("Run = %v", err)
			}
			if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
}

type brokenPipe struct{ err error }

func (b brokenPipe) Write([]byte) (int, error) { return 0, b.err }

// A signal ends the story, and nothing is left behind.
func TestSignal(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	var out bytes.Buffer
	err := demo.Run(t.Context(), demo.Options{Out: &out, Hub: func(ctx context.Context, socket string, ready chan<- struct{}) error {
		if err := syscall.Kill(os.Getpid(), syscall.SIGINT); err != nil {
			return err
		}
		return realHub(ctx, socket, ready)
	}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Run = %v", err)
	}
	if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func waitForEnd(ctx context.Context, _ demo.World) error {
	<-ctx.Done()
	return nil
}

// A long TMPDIR leaves no room for the path of a socket.
func TestLongTempDir(t *testing.T) {
	long := filepath.Join(t.TempDir(), strings.Repeat("x", 100))
	if err := os.Mkdir(long, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", long)
	var dir string
	err := demo.Run(t.Context(), demo.Options{Hub: realHub, Screen: func(_ context.Context, w demo.World) error {
		dir = w.Dir
		return nil
	}})
	if err != nil || dir == "" {
		t.Errorf("Run = %v, in %q", err, dir)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("left behind: %s, %v", dir, err)
	}
}
