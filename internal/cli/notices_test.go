package cli

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"piwatch/internal/control"
	"piwatch/internal/demo"
	"piwatch/internal/hub"
)

// lines is a writer that tells of each line.
type lines chan string

func (l lines) Write(p []byte) (int, error) {
	l <- string(p)
	return len(p), nil
}

// TestNotices: what the hub says of a session, and the timeline does not, comes
// beside the timeline; that of other sessions does not.
func TestNotices(t *testing.T) {
	dir, err := os.MkdirTemp("", "pw")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	socket := filepath.Join(dir, "hub.sock")
	ctx, stop := context.WithCancel(context.Background())
	var work sync.WaitGroup
	defer work.Wait()
	defer stop()
	ready := make(chan struct{})
	work.Go(func() { _ = hub.Run(ctx, hub.Options{Socket: socket, Version: "1.2.3", Ready: ready}) }) // its end is asked for
	<-ready

	pis := map[string]*demo.Pi{}
	for _, name := range []string{"ours", "other"} {
		p, err := demo.New(ctx, demo.Setup{Socket: socket, Cwd: dir, Script: demo.Answers(demo.Say("One."), demo.Decide("continue", "note"), demo.Say("Two."))})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Quit()
		within, cancel := context.WithTimeout(ctx, 30*time.Second)
		defer cancel()
		if err := p.Wait(within, func(s demo.State) bool { return s.Connected }); err != nil {
			t.Fatal(err)
		}
		p.Prompt("go")
		if err := p.Wait(within, demo.Settled(1)); err != nil {
			t.Fatal(err)
		}
		pis[name] = p
	}
	a := &app{version: "1.2.3", env: func(name string) string { return map[string]string{"PIWATCH_SOCKET": socket}[name] }}
	out := make(lines, 100)
	listed := make(chan struct{})
	work.Go(func() {
		watchHub(ctx, a.dial, func(ev hubEvent) {
			if ev.listed != nil {
				close(listed)
			}
			a.showNotice(ev, pis["ours"].Session(), out)
		})
	})
	<-listed
	client, err := a.dial(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for _, name := range []string{"other", "ours"} {
		reply, err := client.Steer(ctx, control.Start, control.SteerParams{Session: pis[name].Session(), By: "cli", Line: "timeout=0 max=1", Sure: true})
		if err != nil || reply.Level != "info" {
			t.Fatalf("start: %+v, %v", reply, err)
		}
		if name == "other" {
			within, cancel := context.WithTimeout(ctx, 30*time.Second)
			defer cancel()
			if err := pis[name].Wait(within, demo.Settled(3)); err != nil {
				t.Fatal(err)
			}
		}
	}
	select {
	case line := <-out:
		if !strings.HasSuffix(line, "the watchdog is off\n") || !strings.Contains(line, "  hub      ") || strings.Contains(line, "note") {
			t.Errorf("the line is %q", line)
		}
	case <-time.After(30 * time.Second):
		t.Error("no notice came")
	}
	stop()
	work.Wait()
	if len(out) > 0 {
		t.Errorf("more came: %q", <-out)
	}
}
