package cli

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"piwatch/ui"
)

// A panic of the screen names the log that tells more.
func TestAPanicNamesItsLog(t *testing.T) {
	state := t.TempDir()
	a := &app{version: "0.0.0-test", env: func(key string) string { return map[string]string{"XDG_STATE_HOME": state}[key] }}
	in, writer := io.Pipe()
	defer writer.Close()
	err := a.run(context.Background(), ui.Options{
		Redial: func(context.Context) (ui.Hub, error) { panic("boom") },
		In:     in, Out: new(bytes.Buffer), Getenv: a.env,
	})
	file := filepath.Join(state, "piwatch", "screen.log")
	if err == nil || !strings.HasSuffix(err.Error(), "panic: boom; more is in "+file) {
		t.Errorf("the error is %v", err)
	}
	log, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(log), "piwatch 0.0.0-test: watch the hub: panic: boom\n") || !strings.Contains(string(log), "crash_test.go") {
		t.Errorf("the log is %q, %v", log, err)
	}
}
