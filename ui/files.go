package ui

import (
	"bytes"
	"context"
	"io"
	"os"

	"piwatch/internal/pi"
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
	// entriesAtOnce is how many entries come to the model in one message.
	entriesAtOnce = 256
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
		r := reader{feed: f, ctx: ctx, path: path}
		r.glimpse()
		_ = follower.Run(ctx, r.event) // it ends with ctx only
	})
}

// reader turns the lines of a file into messages.
type reader struct {
	feed   *feed
	ctx    context.Context
	path   string
	large  bool
	parser pi.Parser
	batch  []timeline.Entry
	reset  bool
	damage int // told already
}

// glimpse reads the end of a file that is not small, so that something is seen
// before all of it was read. What is wrong with the file is told later.
func (r *reader) glimpse() {
	file, err := os.Open(r.path)
	if err != nil {
		return
	}
	defer file.Close()
	stat, err := file.Stat()
	if err != nil || stat.Size() < glimpseFrom {
		return
	}
	r.setLarge(stat.Size())
	end := make([]byte, min(stat.Size(), glimpseBytes))
	n, err := file.ReadAt(end, stat.Size()-int64(len(end)))
	if err != nil && err != io.EOF {
		return
	}
	parser := pi.Parser{Lean: r.large}
	msg := entriesCame{path: r.path, glimpse: true}
	_, rest, _ := bytes.Cut(end[:n], []byte("\n")) // the first line is cut
	for {
		line, after, found := bytes.Cut(rest, []byte("\n"))
		if !found {
			break
		}
		for _, e := range parser.Add(line, stat.Size()-int64(len(end)-n+len(rest))) {
			msg.entries = append(msg.entries, r.digest(&e))
		}
		rest = after
	}
	r.feed.send(r.ctx, msg)
}

func (r *reader) setLarge(size int64) {
	r.large = size >= largeFrom
	r.parser.Lean = r.large
}

func (r *reader) digest(e *pi.Entry) timeline.Entry {
	if r.large {
		return timeline.DigestBrief(e)
	}
	return timeline.Digest(e)
}

func (r *reader) event(ev tail.Event) {
	switch ev.Kind {
	case tail.Lines:
		for _, line := range ev.Lines {
			for _, e := range r.parser.Add(line.Data, line.Offset) {
				r.batch = append(r.batch, r.digest(&e))
			}
			if len(r.batch) >= entriesAtOnce {
				r.flush(false)
			}
		}
		list := r.parser.Damage().List
		for ; r.damage < len(list); r.damage++ {
			r.batch = append(r.batch, timeline.DigestDamage(list[r.damage]))
		}
		if !ev.More {
			r.flush(true)
		}
	case tail.Reset:
		r.parser, r.batch, r.reset, r.damage = pi.Parser{Lean: r.large}, nil, true, 0
		r.flush(false)
	case tail.Missing:
		r.feed.send(r.ctx, fileTrouble{r.path, "the session has no file: " + ev.Reason})
	case tail.Trouble:
		r.feed.send(r.ctx, fileTrouble{r.path, "the file cannot be read: " + ev.Reason})
	case tail.PollingOnly:
		r.feed.send(r.ctx, fileTrouble{r.path, ev.Reason})
	}
}

func (r *reader) flush(caught bool) {
	r.feed.send(r.ctx, entriesCame{path: r.path, entries: r.batch, reset: r.reset, caught: caught})
	r.batch, r.reset = nil, false
}
