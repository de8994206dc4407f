package tail

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// DirKind is the kind of a DirEvent.
type DirKind int

const (
	// Appeared, Changed and Vanished are said of files.
	Appeared DirKind = iota
	Changed
	Vanished
	// Scanned comes once, after the files that were there at the start.
	Scanned
	// DirTrouble says that a folder cannot be read; it is tried again.
	DirTrouble
	// DirPollingOnly says, once, that changes are only found by polling.
	DirPollingOnly
)

// DirEvent is what a DirWatcher tells.
type DirEvent struct {
	Kind DirKind
	// Path is the file, or the folder that gives trouble.
	Path string
	// Size is in bytes, ModTime the file system's; both as of the event.
	Size    int64
	ModTime time.Time
	// Reason says why, in words, for DirTrouble and DirPollingOnly.
	Reason string
}

// DefaultDirPoll is the time between two full scans of a DirWatcher.
const DefaultDirPoll = 5 * time.Second

// DirWatcher tells which files with a suffix come, change and go right in some
// folders and one folder further down. It is for one goroutine.
type DirWatcher struct {
	roots   []string
	suffix  string
	options Options

	files   map[string]os.FileInfo
	folders map[string]bool   // those that are looked into, roots included
	trouble map[string]string // by folder, as told last
	watched bool              // the last scan found that hints come of all folders
	hints   *subscription
	health  hintHealth
}

// NewDirWatcher makes a DirWatcher for files whose names end in suffix. The
// folders need not exist yet. Of the options, Poll means DefaultDirPoll when
// zero.
func NewDirWatcher(roots []string, suffix string, options Options) *DirWatcher {
	d := &DirWatcher{
		suffix: suffix, options: options,
		files: make(map[string]os.FileInfo), folders: make(map[string]bool), trouble: make(map[string]string),
	}
	for _, root := range roots {
		d.roots = append(d.roots, filepath.Clean(root))
	}
	return d
}

// Run scans until ctx ends: in full at every tick, of which there are hardly
// any where hints can be relied on, and what the Watcher hints at when it does. The events go to emit, one after the other, in the
// goroutine of the call. It returns the cause of the end.
func (d *DirWatcher) Run(ctx context.Context, emit func(DirEvent)) error {
	pace := newPace(d.options, DefaultDirPoll)
	defer pace.stop()
	d.hints = d.options.Watcher.subscribe()
	defer d.hints.close()
	d.scan(emit)
	emit(DirEvent{Kind: Scanned})
	for {
		var changed bool
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-pace.next(d.watched && d.health.reliable()):
			pace.ticked()
			d.health.tick()
			changed = d.scan(emit)
		case <-d.hints.wake:
			d.health.hint()
			changed = d.look(emit)
		}
		d.say(d.health.polled(changed), emit)
	}
}

func (d *DirWatcher) say(pollingReason string, emit func(DirEvent)) {
	if pollingReason != "" {
		emit(DirEvent{Kind: DirPollingOnly, Reason: pollingReason})
	}
}

// scan looks at everything.
func (d *DirWatcher) scan(emit func(DirEvent)) bool {
	found := make(map[string]bool)
	folders := make(map[string]bool)
	changed := false
	d.watched = true
	for _, root := range d.roots {
		changed = d.scanFolder(root, 1, found, folders, emit) || changed
	}
	d.folders = folders
	for path := range d.trouble {
		if !folders[path] {
			delete(d.trouble, path)
		}
	}
	for path := range d.files {
		// What is in a folder that cannot be read just now did not vanish.
		if !found[path] && d.trouble[filepath.Dir(path)] == "" {
			changed = d.check(path, nil, emit) || changed
		}
	}
	return changed
}

// scanFolder looks at the files of a folder and of those further down. The
// hints are asked for first, so that nothing falls between.
func (d *DirWatcher) scanFolder(dir string, depth int, found, folders map[string]bool, emit func(DirEvent)) bool {
	if folders[dir] {
		return false
	}
	err := d.hints.add(dir)
	if err == nil {
		d.watched = d.watched && d.health.local(dir)
	} else if errors.Is(err, fs.ErrNotExist) {
		err = d.awaitFolder(dir)
	}
	d.watched = d.watched && err == nil
	d.say(d.health.note(err), emit)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	folders[dir] = true
	d.troubled(dir, err, emit)
	d.watched = d.watched && err == nil
	changed := false
	for _, entry := range entries {
		path := filepath.Join(dir, entry.Name())
		if entry.Type().IsRegular() && !strings.HasSuffix(path, d.suffix) {
			continue
		}
		info, err := os.Stat(path) // a link to a folder counts as one
		switch {
		case err != nil:
		case info.IsDir() && depth > 0:
			changed = d.scanFolder(path, depth-1, found, folders, emit) || changed
		case d.wants(path, info):
			found[path] = true
			changed = d.check(path, info, emit) || changed
		}
	}
	return changed
}

// awaitFolder asks for hints about the folder above one that is not there.
func (d *DirWatcher) awaitFolder(dir string) error {
	up := filepath.Dir(dir)
	err := d.hints.add(up)
	if errors.Is(err, fs.ErrNotExist) && up != dir {
		return d.awaitFolder(up)
	}
	if err == nil && !d.health.local(up) {
		d.watched = false
	}
	return err
}

// matters says of a folder that what is in it may be looked into: it is in a
// root, or above one.
func (d *DirWatcher) matters(dir string) bool {
	return slices.ContainsFunc(d.roots, func(root string) bool {
		return root == dir || filepath.Dir(dir) == root || strings.HasPrefix(root, dir+string(filepath.Separator))
	})
}

func (d *DirWatcher) wants(path string, info os.FileInfo) bool {
	return info.Mode().IsRegular() && strings.HasSuffix(path, d.suffix)
}

// look follows the hints: single files, or everything when a folder may have
// come or gone.
func (d *DirWatcher) look(emit func(DirEvent)) bool {
	paths, all := d.hints.take()
	changed := false
	for _, path := range paths {
		info, err := os.Stat(path)
		switch {
		case err == nil && d.wants(path, info):
			changed = d.check(path, info, emit) || changed
		case err == nil && info.IsDir():
			all = all || !d.folders[path] && d.matters(path)
		case errors.Is(err, fs.ErrNotExist):
			changed = d.check(path, nil, emit) || changed
		}
	}
	if all {
		return d.scan(emit) || changed
	}
	return changed
}

// check compares a file with what was known of it. info is nil when it is not
// there.
func (d *DirWatcher) check(path string, info os.FileInfo, emit func(DirEvent)) bool {
	before := d.files[path]
	event := DirEvent{Path: path}
	switch {
	case info == nil && before == nil:
		return false
	case info == nil:
		event.Kind = Vanished
		delete(d.files, path)
		emit(event)
		return true
	case before == nil:
		event.Kind = Appeared
	case before.Size() == info.Size() && before.ModTime().Equal(info.ModTime()) && os.SameFile(before, info):
		return false
	default:
		event.Kind = Changed
	}
	d.files[path] = info
	event.Size, event.ModTime = info.Size(), info.ModTime()
	emit(event)
	return true
}

// troubled tells once that a folder cannot be read, until that changes.
func (d *DirWatcher) troubled(dir string, err error, emit func(DirEvent)) {
	if err == nil {
		delete(d.trouble, dir)
		return
	}
	if d.trouble[dir] != err.Error() {
		d.trouble[dir] = err.Error()
		emit(DirEvent{Kind: DirTrouble, Path: dir, Reason: err.Error()})
	}
}
