package tail

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"time"
)

// Run polls until ctx ends: at every tick, and whenever the Watcher hints. The
// events go to emit, one after the other, in the goroutine of the call. It
// returns the cause of the end.
func (f *Follower) Run(ctx context.Context, emit func(Event)) error {
	ticks, stop := ticker(f.options.Ticks, f.options.Poll, DefaultPoll)
	defer stop()
	hints := f.options.Watcher.subscribe()
	defer hints.close()
	var health hintHealth
	dir, name := filepath.Dir(f.path), filepath.Clean(f.path)
	hints.only(name)
	for {
		if reason := health.note(hints.add(dir)); reason != "" {
			emit(Event{Kind: PollingOnly, Reason: reason})
		}
		changed := f.Poll(ctx, emit)
		if reason := health.polled(changed); reason != "" {
			emit(Event{Kind: PollingOnly, Reason: reason})
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-ticks:
			health.tick()
		case <-hints.wake:
			hints.take()
			health.hint()
		}
	}
}

// ticker gives the ticks of a Run: those from outside, or its own.
func ticker(ticks <-chan time.Time, interval, standard time.Duration) (<-chan time.Time, func()) {
	if ticks != nil {
		return ticks, func() {}
	}
	if interval <= 0 {
		interval = standard
	}
	own := time.NewTicker(interval)
	return own.C, own.Stop
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
