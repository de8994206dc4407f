package ui

import (
	"errors"
	"path/filepath"
	"slices"
	"time"

	"piwatch/internal/pi"
	"piwatch/internal/tail"
)

// filesAtOnce is how many files come to the model in one message.
const filesAtOnce = 32

// watchFiles keeps the list of session files. Call it before watchHub.
func (f *feed) watchFiles(dirs []pi.Dir) {
	f.listed = []string{}
	f.list(dirs)
}

// cover lists the folder of a session that the hub knows, which may be none of
// those in which Pi keeps sessions here: another agent folder, or --session-dir.
func (f *feed) cover(file string) {
	dir := filepath.Dir(file)
	isListed := func(root string) bool { return root == dir || root == filepath.Dir(dir) }
	if f.listed != nil && file != "" && !slices.ContainsFunc(f.listed, isListed) {
		f.list([]pi.Dir{{Path: dir}})
	}
}

func (f *feed) list(dirs []pi.Dir) {
	roots := make([]string, len(dirs))
	for i, d := range dirs {
		roots[i] = d.Path
		f.listed = append(f.listed, filepath.Clean(d.Path))
	}
	watcher := tail.NewDirWatcher(roots, pi.Ext, tail.Options{Watcher: f.watch.hints()})
	f.spawn("list sessions", func() {
		s := scanner{feed: f, early: map[string]time.Time{}, hot: map[string]*glance{}}
		s.newestFirst(dirs)
		_ = watcher.Run(f.ctx, s.event) // it ends with ctx only
	})
}

// scanner turns what happens in the session folders into messages.
type scanner struct {
	feed    *feed
	msg     filesChanged
	scanned bool                 // the first look is complete
	early   map[string]time.Time // files read before the first look, and as of when
	hot     map[string]*glance   // files that grow
}

// newestFirst reads what is there by its age: what the user looks for is in the
// first screen. What cannot be listed is told by the watcher.
func (s *scanner) newestFirst(dirs []pi.Dir) {
	found, _ := pi.List(dirs)
	for _, one := range found {
		if s.feed.ctx.Err() != nil {
			return
		}
		if info, err := readInfo(one); err == nil {
			s.early[one.Path] = one.ModTime
			s.msg.changed = append(s.msg.changed, info)
			s.flush(false)
		}
	}
}

func (s *scanner) event(ev tail.DirEvent) {
	found := pi.Found{Path: ev.Path, Size: ev.Size, ModTime: ev.ModTime}
	switch ev.Kind {
	case tail.Appeared:
		if at, read := s.early[ev.Path]; read && at.Equal(ev.ModTime) {
			break
		}
		if info, err := readInfo(found); err == nil { // else it is gone since
			s.msg.changed = append(s.msg.changed, info)
		}
	case tail.Changed:
		if info, err := s.grown(found); err == nil { // else the next event brings it
			s.msg.changed = append(s.msg.changed, info)
		}
	case tail.Vanished:
		delete(s.hot, ev.Path)
		s.msg.gone = append(s.msg.gone, ev.Path)
	case tail.Scanned:
		s.scanned, s.msg.first = true, true
		s.early = nil
	case tail.DirTrouble:
		s.feed.send(s.feed.ctx, filesTrouble{ev.Path + ": " + ev.Reason})
	case tail.DirPollingOnly:
		s.feed.send(s.feed.ctx, filesTrouble{ev.Reason})
	}
	s.flush(s.scanned)
}

// grown reads what is new in a file.
func (s *scanner) grown(found pi.Found) (fileInfo, error) {
	g := s.hot[found.Path]
	if g == nil {
		g = new(glance)
		s.hot[found.Path] = g
	}
	err := errOther
	if g.offset > 0 {
		err = g.more(found)
	}
	if errors.Is(err, errOther) {
		err = s.again(g, found)
	}
	return g.info, err
}

func (s *scanner) again(g *glance, found pi.Found) error {
	err := g.start(found)
	if err != nil {
		delete(s.hot, found.Path)
	}
	return err
}

// flush sends what was gathered, when it is much or now is the time.
func (s *scanner) flush(now bool) {
	if !now && len(s.msg.changed) < filesAtOnce {
		return
	}
	s.feed.send(s.feed.ctx, s.msg)
	s.msg = filesChanged{}
}
