package ui

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"time"

	"piwatch/internal/pi"
	"piwatch/internal/tail"
	"piwatch/internal/timeline"
)

// fileInfo is what the list shows of a session file.
type fileInfo struct {
	Path    string
	ModTime time.Time
	Size    int64
	ID, Cwd string
	Name    string
	Story   timeline.Story
}

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
	}
	fileTrouble struct {
		path string
		why  string
	}
)

const (
	// headBytes and tailBytes are read of a large session for the list.
	headBytes = 64 << 10
	tailBytes = 128 << 10
	// entriesAtOnce is how many entries come to the model in one message.
	entriesAtOnce = 256
	// filesAtOnce is how many files come to the model in one message.
	filesAtOnce = 32
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

// watchFiles keeps the list of session files.
func (f *feed) watchFiles(dirs []pi.Dir) {
	roots := make([]string, len(dirs))
	for i, d := range dirs {
		roots[i] = d.Path
	}
	watcher := tail.NewDirWatcher(roots, pi.Ext, tail.Options{Watcher: f.watch.hints()})
	f.spawn("list sessions", func() {
		s := scanner{feed: f}
		_ = watcher.Run(f.ctx, s.event) // it ends with ctx only
	})
}

// scanner turns what happens in the session folders into messages.
type scanner struct {
	feed    *feed
	msg     filesChanged
	scanned bool // the first look is complete
}

func (s *scanner) event(ev tail.DirEvent) {
	switch ev.Kind {
	case tail.Appeared, tail.Changed:
		info, err := readInfo(pi.Found{Path: ev.Path, Size: ev.Size, ModTime: ev.ModTime})
		if err != nil { // gone since, or the next event brings it
			return
		}
		s.msg.changed = append(s.msg.changed, info)
	case tail.Vanished:
		s.msg.gone = append(s.msg.gone, ev.Path)
	case tail.Scanned:
		s.scanned, s.msg.first = true, true
	case tail.DirTrouble:
		s.feed.send(s.feed.ctx, filesTrouble{ev.Path + ": " + ev.Reason})
	case tail.DirPollingOnly:
		s.feed.send(s.feed.ctx, filesTrouble{ev.Reason})
	}
	if s.scanned || len(s.msg.changed) >= filesAtOnce {
		s.feed.send(s.feed.ctx, s.msg)
		s.msg = filesChanged{}
	}
}

// readInfo reads the beginning and the end of a session file. A file that is
// small enough is read whole.
func readInfo(found pi.Found) (fileInfo, error) {
	info := fileInfo{Path: found.Path, ModTime: found.ModTime, Size: found.Size}
	file, err := os.Open(found.Path)
	if err != nil {
		return info, err
	}
	defer file.Close()
	head := make([]byte, min(found.Size, headBytes+tailBytes))
	n, err := io.ReadFull(file, head)
	if err != nil && err != io.ErrUnexpectedEOF && err != io.EOF {
		return info, err
	}
	info.take(head[:n], 0, found.Size > int64(n))
	if found.Size > int64(n) {
		end := make([]byte, tailBytes)
		n, err := file.ReadAt(end, found.Size-tailBytes)
		if err != nil && err != io.EOF {
			return info, err
		}
		first := info.Story.First
		_, rest, _ := bytes.Cut(end[:n], []byte("\n")) // the first line is cut
		info.take(rest, 1, false)
		info.Story.First = first
	}
	if info.ID == "" {
		info.ID = filepath.Base(found.Path)
	}
	return info, nil
}

// take reads lines into the info; those of a torn end are left out.
func (i *fileInfo) take(data []byte, offset int64, torn bool) {
	parser := pi.Parser{Lean: true}
	var b timeline.Builder
	add := func(entries []pi.Entry) {
		for k := range entries {
			e := &entries[k]
			if e.Header != nil {
				i.ID, i.Cwd = e.Header.ID, e.Header.Cwd
			}
			if e.SessionInfo != nil {
				i.Name = e.SessionInfo.Name
			}
			b.Add(timeline.Digest(e))
		}
	}
	for {
		line, rest, found := bytes.Cut(data, []byte("\n"))
		if !found {
			if !torn {
				add(parser.Finish(line, offset))
			}
			break
		}
		add(parser.Add(line, offset))
		offset += int64(len(line)) + 1
		data = rest
	}
	i.Story = b.Story()
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
		_ = follower.Run(ctx, r.event) // it ends with ctx only
	})
}

// reader turns the lines of a file into messages.
type reader struct {
	feed   *feed
	ctx    context.Context
	path   string
	parser pi.Parser
	batch  []timeline.Entry
	reset  bool
	damage int // told already
}

func (r *reader) event(ev tail.Event) {
	switch ev.Kind {
	case tail.Lines:
		for _, line := range ev.Lines {
			for _, e := range r.parser.Add(line.Data, line.Offset) {
				r.batch = append(r.batch, timeline.Digest(&e))
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
		r.parser, r.batch, r.reset, r.damage = pi.Parser{}, nil, true, 0
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
