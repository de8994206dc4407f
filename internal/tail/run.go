package tail

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
)

// Run polls until ctx ends: whenever the Watcher hints, and at every tick.
// Where hints can be relied on there are hardly any ticks: see quiet. The
// events go to emit, one after the other, in the goroutine of the call. It
// returns the cause of the end.
func (f *Follower) Run(ctx context.Context, emit func(Event)) error {
	pace := newPace(f.options, DefaultPoll)
	defer pace.stop()
	hints := f.options.Watcher.subscribe()
	defer hints.close()
	var health hintHealth
	dir, name := filepath.Dir(f.path), filepath.Clean(f.path)
	hints.only(name)
	for {
		err := hints.add(dir)
		if reason := health.note(err); reason != "" {
			emit(Event{Kind: PollingOnly, Reason: reason})
		}
		changed := f.Poll(ctx, emit)
		if reason := health.polled(changed); reason != "" {
			emit(Event{Kind: PollingOnly, Reason: reason})
		}
		quiet := err == nil && health.reliable() && health.local(dir) && !f.again && f.trouble == ""
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-pace.next(quiet):
			pace.ticked()
			health.tick()
		case <-hints.wake:
			hints.take()
			health.hint()
		}
	}
}

// silentChanges is how many changes in a row must come without a hint until
// the file system is said to give none.
const silentChanges = 3

// hintHealth finds out, and says once, that there are no hints.
type hintHealth struct {
	said    bool
	ticking bool // the poll is due to a tick
	suspect bool // the last change was found by a tick, and no hint came yet
	silent  int
	tells   map[string]bool // folders that were asked about: see local
}

// reliable says that nothing speaks against the hints.
func (h *hintHealth) reliable() bool { return !h.said && !h.suspect }

// local says that the file system of a folder tells of every change.
func (h *hintHealth) local(dir string) bool {
	tells, asked := h.tells[dir]
	if !asked {
		if h.tells == nil {
			h.tells = map[string]bool{}
		}
		tells = tellsChanges(dir)
		h.tells[dir] = tells
	}
	return tells
}

// note takes the outcome of asking for hints. A folder that is not there yet
// is asked for again, and is no reason.
func (h *hintHealth) note(err error) string {
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	return h.say(err.Error())
}

func (h *hintHealth) tick() {
	h.ticking = true
	if h.suspect {
		h.suspect = false
		h.silent++
	}
}

func (h *hintHealth) hint() {
	h.ticking, h.suspect, h.silent = false, false, 0
}

func (h *hintHealth) polled(changed bool) string {
	if h.silent >= silentChanges {
		return h.say("the file system gives no events")
	}
	h.suspect = h.suspect || h.ticking && changed
	return ""
}

func (h *hintHealth) say(reason string) string {
	if h.said {
		return ""
	}
	h.said = true
	return reason
}
