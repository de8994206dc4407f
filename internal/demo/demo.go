package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
)

// Options are what piwatch demo runs with.
type Options struct {
	// Hub runs the real hub at a socket until the context ends, and closes
	// ready when it listens. Required.
	Hub func(ctx context.Context, socket string, ready chan<- struct{}) error
	// Screen shows the story in the terminal until the user leaves; nil tells
	// it in lines.
	Screen func(ctx context.Context, w World) error
	// Out takes the lines; nil for the standard output.
	Out io.Writer
	// Version is the release of this program.
	Version string
	// Speed makes the story faster: 1 takes about 15 s; 0 is 1.
	Speed float64
}

// World is where the story happens: a temporary folder, and nothing of the
// user's.
type World struct {
	Dir      string // the folder; removed at the end
	Socket   string // of the hub
	AgentDir string // Pi's folder
	Sessions string // the folder of session files
	Main     string // id of the session to look at first
}

// Run plays the story with the real hub and stand-ins for Pi. With a Screen it
// returns when the user leaves; without, when the story is over: nil when it
// came to the end it must have. The folder it works in is removed also when
// the program is told to end by SIGINT, SIGTERM or SIGHUP, or nobody reads
// its lines any more (SIGPIPE).
func Run(ctx context.Context, o Options) (err error) {
	if o.Speed <= 0 {
		o.Speed = 1
	}
	if o.Out == nil {
		o.Out = os.Stdout
	}
	ctx, release := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	defer release()
	w, err := newWorld()
	if err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(w.Dir)) }()
	if err := play(ctx, o, w); err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	return nil
}

// longestTemp is the longest name of a temporary folder below which the path
// of a socket still fits; macOS allows 104 bytes for it.
const longestTemp = 60

func newWorld() (World, error) {
	temp := os.TempDir()
	if len(temp) > longestTemp {
		temp = "/tmp"
	}
	dir, err := os.MkdirTemp(temp, "piwatch-demo-")
	if err != nil {
		return World{}, err
	}
	w := World{Dir: dir, Socket: filepath.Join(dir, "run", "hub.sock"), AgentDir: filepath.Join(dir, "agent")}
	w.Sessions = filepath.Join(w.AgentDir, "sessions")
	if err := errors.Join(os.MkdirAll(w.Sessions, 0o700), os.MkdirAll(w.project(), 0o700)); err != nil {
		return World{}, errors.Join(err, os.RemoveAll(dir))
	}
	return w, nil
}

// project is the folder the agents work in.
func (w World) project() string { return filepath.Join(w.Dir, "project") }

// play runs the hub, the sessions and what shows them, and ends all of them.
func play(ctx context.Context, o Options, w World) error {
	all, end := context.WithCancelCause(ctx)
	defer end(nil)
	hub, stopHub := context.WithCancel(context.WithoutCancel(ctx))
	var running sync.WaitGroup
	hubErr := make(chan error, 1)
	ready := make(chan struct{})
	running.Go(func() {
		err := o.Hub(hub, w.Socket, ready)
		if err == nil {
			err = errors.New("the hub ended")
		}
		end(err) // without a hub there is no story
		hubErr <- err
	})
	defer running.Wait()
	defer stopHub()
	select {
	case <-ready:
	case err := <-hubErr:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}

	actors := cast(o.Speed)
	defer func() {
		for _, a := range actors {
			if a.pi != nil {
				_ = a.pi.Quit() // the file's error was told by the story
			}
		}
	}()
	for _, a := range actors {
		p, err := New(context.WithoutCancel(ctx), Setup{Socket: w.Socket, Sessions: w.Sessions, Cwd: w.project(), Name: a.name, Script: a.script})
		if err != nil {
			return err
		}
		a.pi = p
	}
	w.Main = actors[0].pi.Session()
	if o.Screen != nil {
		return show(all, o, w, actors)
	}
	return tell(all, o, w, actors)
}

// show plays the story while the user looks at it, and may take part.
func show(ctx context.Context, o Options, w World, actors []*actor) error {
	story, stop := context.WithCancel(ctx)
	var playing sync.WaitGroup
	for _, a := range actors {
		playing.Go(func() {
			_ = a.play(story) // the user may have changed how it ends
		})
	}
	defer playing.Wait()
	defer stop()
	if err := o.Screen(ctx, w); err != nil {
		return err
	}
	return context.Cause(ctx) // nil when the user left
}
