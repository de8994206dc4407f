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
		r := reader{feed: f, ctx: ctx, path: path, out: make(chan parsed, 4)}
		r.glimpse()
		large := r.large
		f.spawn("digest a session", func() { r.digestAll(large) })
		defer close(r.out)
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
	batch  parsed
	damage int // told already
	out    chan parsed
}

// parsed is a part of a file on its way: to parse the next part and to digest
// this one is work for two.
type parsed struct {
	entries []pi.Entry
	damage  []pi.Damage
	reset   bool
	caught  bool
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
			msg.entries = append(msg.entries, digestFor(r.large)(&e))
		}
		rest = after
	}
	r.feed.send(r.ctx, msg)
}

func (r *reader) setLarge(size int64) {
	r.large = size >= largeFrom
	r.parser.Lean = r.large
}

// digestFor is how entries are digested: those of a large file further.
func digestFor(large bool) func(*pi.Entry) timeline.Entry {
	if large {
		return timeline.DigestBrief
	}
	return timeline.Digest
}

// digestAll sends what was parsed.
func (r *reader) digestAll(large bool) {
	digest := digestFor(large)
	for part := range r.out {
		msg := entriesCame{path: r.path, reset: part.reset, caught: part.caught, entries: make([]timeline.Entry, 0, len(part.entries)+len(part.damage))}
		for i := range part.entries {
			msg.entries = append(msg.entries, digest(&part.entries[i]))
		}
		for _, d := range part.damage {
			msg.entries = append(msg.entries, timeline.DigestDamage(d))
		}
		r.feed.send(r.ctx, msg)
	}
}

func (r *reader) event(ev tail.Event) {
	switch ev.Kind {
	case tail.Lines:
		for _, line := range ev.Lines {
			r.batch.entries = append(r.batch.entries, r.parser.Add(line.Data, line.Offset)...)
			if len(r.batch.entries) >= entriesAtOnce {
				r.flush(false)
			}
		}
		list := r.parser.Damage().List
		r.batch.damage = append(r.batch.damage, list[r.damage:]...)
		r.damage = len(list)
		if !ev.More {
			r.flush(true)
		}
	case tail.Reset:
		r.parser, r.batch, r.damage = pi.Parser{Lean: r.large}, parsed{reset: true}, 0
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
	r.batch.caught = caught
	select {
	case <-r.ctx.Done():
	case r.out <- r.batch:
	}
	r.batch = parsed{}
}
