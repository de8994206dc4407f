package e2e

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"piwatch/internal/bridge"
	"piwatch/internal/control"
	"piwatch/internal/demo"
	"piwatch/internal/hub"
)

// startHub runs a hub in this process, in the home's place for it, until stop or
// the end of the test.
func startHub(t testing.TB, h *Home, change ...func(*hub.Options)) (stop func()) {
	t.Helper()
	return startHubAt(t, h, nil, change...)
}

// judgesFiles has a hub watch the sessions without a bridge, too, in a folder.
func judgesFiles(dir string) func(*hub.Options) {
	return func(o *hub.Options) { o.SessionDirs = []string{dir} }
}

// hubClock is a clock that stands still until the test moves it.
type hubClock struct{ *demo.ManualClock }

func newHubClock() hubClock { return hubClock{demo.NewManualClock(time.Now())} }

func (c hubClock) AfterFunc(d time.Duration, f func()) hub.Timer {
	return c.ManualClock.AfterFunc(d, f)
}

// startHubAt is startHub with a clock of the test's.
func startHubAt(t testing.TB, h *Home, clock hub.Clock, change ...func(*hub.Options)) (stop func()) {
	t.Helper()
	socket := hubSocket(t, h)
	ready := make(chan struct{})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	log := &strings.Builder{}
	proxy := hub.GatewayOptions{
		State: filepath.Join(h.State, "piwatch", "gateway.json"), Backoff: func(int) time.Duration { return 5 * time.Millisecond },
	}
	options := hub.Options{
		Socket: socket, Clock: clock, Version: "0.0.0-test", IdleExit: -1, Ready: ready, Gateway: proxy,
		Log: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	for _, f := range change {
		f(&options)
	}
	go func() { ended <- hub.Run(ctx, options) }()
	select {
	case <-ready:
	case err := <-ended:
		t.Fatalf("hub: %v", err)
	}
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("hub: %v", err)
		}
		if t.Failed() {
			t.Logf("log of the hub:\n%s", log)
		}
	})
	t.Cleanup(stop)
	return stop
}

func hubSocket(t testing.TB, h *Home) string {
	t.Helper()
	env := map[string]string{}
	for _, pair := range h.Env() {
		name, value, _ := strings.Cut(pair, "=")
		env[name] = value
	}
	socket, err := control.SocketPath(func(name string) string { return env[name] })
	if err != nil {
		t.Fatal(err)
	}
	return socket
}

// bridgeFile is the extension, with its program left to the search path. It has
// one place for all tests, so that Pi finds what it made of it, see
// shareCompiled.
func bridgeFile(t testing.TB) string {
	t.Helper()
	file, err := writeBridge()
	if err != nil {
		t.Fatal(err)
	}
	return file
}

var writeBridge = sync.OnceValues(func() (string, error) {
	source, err := bridge.Extension()
	if err != nil {
		return "", err
	}
	cache, err := CacheDir()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(source))
	dir := filepath.Join(cache, "bridge-"+hex.EncodeToString(sum[:6]))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	// Another test process may read it just now.
	draft, err := os.CreateTemp(dir, "new-")
	if err != nil {
		return "", err
	}
	_, err = draft.WriteString(source)
	file := filepath.Join(dir, "piwatch.ts")
	return file, errors.Join(err, draft.Close(), os.Rename(draft.Name(), file))
})
