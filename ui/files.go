package ui

import (
	"context"

	"piwatch/internal/tail"
	"piwatch/internal/timeline"
)

// The messages about session files.
type (
	filesChanged struct {
		changed []fileInfo
		gone    []string // paths
		first   bool     // the first look is complete
	}
	filesTrouble struct{ why string }
	entriesCame  struct {
		path    string
		entries []timeline.Entry
		reset   bool
		caught  bool // all of the file was read
		// glimpse says that these are the last entries of the file, which come
		// first: the others follow from the start.
		glimpse bool
	}
	fileTrouble struct {
		path string
		why  string
	}
)

const (
	// glimpseFrom is the size of a file from which on its end is read first.
	glimpseFrom = 1 << 20
	// largeFrom is the size of a file from which on of each text only the
	// beginning is kept; the rest is read again when it is looked at.
	largeFrom = 32 << 20
	// glimpseBytes is how much of the end is read first.
	glimpseBytes = 128 << 10
)

// fileWatch is the file system's hints, shared by all who follow files.
type fileWatch struct{ watcher *tail.Watcher }

func (w *fileWatch) hints() *tail.Watcher {
	if w.watcher == nil {
		w.watcher = tail.NewWatcher()
	}
	return w.watcher
}

func (w *fileWatch) close() {
	if w.watcher != nil {
		_ = w.watcher.Close() // nothing waits for it any more
	}
}

// open follows a session file from its start, in the place of the one before.
func (f *feed) open(path string) {
	f.stop()
	if path == "" {
		return
	}
	ctx, stop := context.WithCancel(f.ctx)
	f.stop = stop
	f.follow(ctx, path)
}

// follow sends the entries of a session file until ctx ends.
func (f *feed) follow(ctx context.Context, path string) {
	follower := tail.NewFollower(path, tail.Options{Watcher: f.watch.hints()})
	f.spawn("follow a session", func() {
		r := newReader(f, ctx, path)
		r.glimpse()
		for range r.workers() {
			f.spawn("read a session", r.work)
		}
		defer close(r.portions)
		_ = follower.Run(ctx, r.event) // it ends with ctx only
	})
}
