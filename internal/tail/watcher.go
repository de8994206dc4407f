package tail

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"sync"

	"github.com/fsnotify/fsnotify"
)

// Watcher passes the file system's events on as hints. One serves any number
// of Followers and DirWatchers: it watches folders, each once, so that files
// that do not exist yet or are replaced are seen, too.
type Watcher struct {
	notify *fsnotify.Watcher
	err    error // why there is none
	done   chan struct{}

	// admin makes each change of what is watched one step. It comes before mu;
	// pump never takes it, so that events flow while a watch is set up.
	admin sync.Mutex

	mu   sync.Mutex
	dirs map[string]map[*subscription]bool
	subs map[*subscription]bool
}

// eventBuffer is how many events wait for pump: without it each is handed over
// by a switch of threads.
const eventBuffer = 64

// NewWatcher starts a Watcher. When the system gives none (its limits are used
// up), those who use the Watcher poll, and say why.
func NewWatcher() *Watcher {
	w := &Watcher{
		done: make(chan struct{}),
		dirs: make(map[string]map[*subscription]bool),
		subs: make(map[*subscription]bool),
	}
	notify, err := fsnotify.NewBufferedWatcher(eventBuffer)
	if err != nil {
		w.err = fmt.Errorf("no file system events: %w", err)
		close(w.done)
		return w
	}
	w.notify = notify
	go w.pump()
	return w
}

// Close ends the hints; those who use the Watcher go on by polling.
func (w *Watcher) Close() error {
	if w.notify == nil {
		return nil
	}
	err := w.notify.Close()
	<-w.done
	return err
}

func (w *Watcher) pump() {
	defer close(w.done)
	events, problems := w.notify.Events, w.notify.Errors
	for events != nil || problems != nil {
		select {
		case event, ok := <-events:
			if !ok {
				events = nil
				continue
			}
			w.pass(event)
		case _, ok := <-problems:
			if !ok {
				problems = nil
				continue
			}
			// Events were lost, an overflow in most cases: all look again.
			w.passAll()
		}
	}
}

func (w *Watcher) pass(event fsnotify.Event) {
	name := filepath.Clean(event.Name)
	w.mu.Lock()
	defer w.mu.Unlock()
	if subs := w.dirs[name]; subs != nil && event.Has(fsnotify.Remove|fsnotify.Rename) {
		// The folder itself is gone, and the watch with it: its users ask again.
		delete(w.dirs, name)
		for s := range subs {
			delete(s.dirs, name)
			s.hint("")
		}
	}
	for s := range w.dirs[filepath.Dir(name)] {
		if s.name == "" || s.name == name {
			s.hint(name)
		}
	}
}

func (w *Watcher) passAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for s := range w.subs {
		s.hint("")
	}
}

var errNoWatcher = errors.New("no watcher for file system events")

// subscription is one user's share of the hints. That of a nil Watcher is
// silent.
type subscription struct {
	wake chan struct{}
	w    *Watcher

	// Guarded by w.mu.
	name  string // hints for this path only, "" for all in the folders
	dirs  map[string]bool
	dirty map[string]bool // the paths hinted at since the last take
	all   bool            // anything may have changed
}

func (w *Watcher) subscribe() *subscription {
	s := &subscription{wake: make(chan struct{}, 1), w: w, dirs: make(map[string]bool), dirty: make(map[string]bool)}
	if w != nil {
		w.mu.Lock()
		w.subs[s] = true
		w.mu.Unlock()
	}
	return s
}

// only limits the hints to one path. Call it before add.
func (s *subscription) only(path string) { s.name = path }

// hint is called with w.mu held; "" stands for anything.
func (s *subscription) hint(path string) {
	if path == "" {
		s.all = true
	} else {
		s.dirty[path] = true
	}
	select {
	case s.wake <- struct{}{}:
	default: // one is on its way
	}
}

// add asks for hints about the files in a folder, and about the folder. It is
// cheap when that is so already.
func (s *subscription) add(dir string) error {
	switch {
	case s.w == nil:
		return errNoWatcher
	case s.w.err != nil:
		return s.w.err
	}
	s.w.admin.Lock()
	defer s.w.admin.Unlock()
	if !s.enter(dir) {
		return nil
	}
	_ = s.w.notify.Remove(dir) // a watch that went away with a folder of that name
	if err := s.w.notify.Add(dir); err != nil {
		s.leave(dir)
		return fmt.Errorf("watch %s: %w", dir, err)
	}
	return nil
}

// enter makes the subscription a user of the folder, and says whether the
// folder must be watched for that.
func (s *subscription) enter(dir string) bool {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	if s.dirs[dir] {
		return false
	}
	first := s.w.dirs[dir] == nil
	if first {
		s.w.dirs[dir] = make(map[*subscription]bool)
	}
	s.w.dirs[dir][s] = true
	s.dirs[dir] = true
	return first
}

// leave ends the use of a folder, and says whether nobody uses it any more.
func (s *subscription) leave(dir string) bool {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	delete(s.dirs, dir)
	delete(s.w.dirs[dir], s)
	if len(s.w.dirs[dir]) > 0 {
		return false
	}
	delete(s.w.dirs, dir)
	return true
}

// take returns the paths hinted at since the last call; all says that others
// may have changed, too.
func (s *subscription) take() (paths []string, all bool) {
	if s.w == nil {
		return nil, false
	}
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	for path := range s.dirty {
		paths = append(paths, path)
	}
	clear(s.dirty)
	all, s.all = s.all, false
	return paths, all
}

// folders are the folders the subscription gets hints of.
func (s *subscription) folders() []string {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	return slices.Collect(maps.Keys(s.dirs))
}

func (s *subscription) close() {
	if s.w == nil {
		return
	}
	s.w.admin.Lock()
	defer s.w.admin.Unlock()
	for _, dir := range s.folders() {
		if s.leave(dir) {
			_ = s.w.notify.Remove(dir) // gone with the folder, or the watcher closed
		}
	}
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	delete(s.w.subs, s)
}
