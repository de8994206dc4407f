// Package tail follows files that grow line by line, and folders in which such
// files come and go.
//
// The truth is what stat and the bytes of a file say at a poll. Events of the
// file system are hints that a poll is due now; with none of them, on a network
// file system or when the limits of inotify are used up, everything still
// works at the pace of the polls.
package tail

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"
)

// Kind is the kind of an Event.
type Kind int

const (
	// Lines brings complete lines that were not there before.
	Lines Kind = iota
	// Reset says that the file is another one than before: forget its lines,
	// they come again from the start. Reason says how it was seen.
	Reset
	// Missing says that the file is not there (yet, or any more).
	Missing
	// Trouble says that the file cannot be read; it is tried again.
	Trouble
	// PollingOnly says, once, that changes are only found by polling.
	PollingOnly
)

// Reasons of a Reset.
const (
	Truncated = "truncated" // the file is shorter than what was read of it
	Rewritten = "rewritten" // its bytes changed where they were read before
	Replaced  = "replaced"  // another file was put in its place
	Recreated = "recreated" // it was gone, and is there again
)

// Line is a complete line of the file, without its newline.
type Line struct {
	// Data is only good until the callback returns.
	Data []byte
	// Offset is the place of the line's first byte in the file.
	Offset int64
}

// Event is what a Follower tells.
type Event struct {
	Kind  Kind
	Lines []Line
	// More says of Lines that the file had more to read.
	More bool
	// Reason says why, in words; for a Reset it is one of the constants.
	Reason string
	// Err is set for Trouble.
	Err error
}

// DefaultPoll is the time between two polls of a Follower.
const DefaultPoll = time.Second

// Options of a Follower.
type Options struct {
	// Watcher gives hints; with none the Follower polls only. Many Followers
	// share one.
	Watcher *Watcher
	// Poll is the time between two polls, DefaultPoll when zero.
	Poll time.Duration
	// Ticks, when set, says when to poll in the place of Poll.
	Ticks <-chan time.Time
}

// Follower follows one file. It is for one goroutine.
type Follower struct {
	path    string
	options Options

	seen    os.FileInfo // as of the last poll, nil when the file was missing
	was     bool        // the file was there at some time
	gone    bool        // Missing was told
	again   bool        // look at the bytes although stat says nothing changed
	trouble string      // as told last
	place   place
}

// NewFollower makes a Follower for a file that need not exist yet, nor its
// folder.
func NewFollower(path string, options Options) *Follower {
	return &Follower{path: path, options: options}
}

// Offset is the place in the file up to which lines were delivered: always
// the start of a line.
func (f *Follower) Offset() int64 { return f.place.offset() }

// Poll looks at the file once and tells what is new since the last time. It
// returns whether anything was, and stops early when ctx ends.
func (f *Follower) Poll(ctx context.Context, emit func(Event)) bool {
	info, err := os.Stat(f.path)
	switch {
	case errors.Is(err, fs.ErrNotExist), isNotFolder(err):
		return f.missing(emit)
	case err != nil:
		return f.troubled(err, emit)
	case !info.Mode().IsRegular():
		return f.troubled(errors.New("not a regular file"), emit)
	}
	if f.unchanged(info) {
		if !f.again {
			return false
		}
		// A write within the clock tick of the last poll leaves size and time
		// as they were: after each change one more look is due.
		f.again = false
	} else {
		f.again = true
	}
	return f.read(ctx, emit)
}

func (f *Follower) unchanged(info os.FileInfo) bool {
	return f.seen != nil && f.trouble == "" && os.SameFile(f.seen, info) &&
		f.seen.Size() == info.Size() && f.seen.ModTime().Equal(info.ModTime()) &&
		info.Size() == f.place.read
}

// read opens the file, makes sure that it is still the one that was read
// before, and delivers what came after.
func (f *Follower) read(ctx context.Context, emit func(Event)) bool {
	file, err := os.Open(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return f.missing(emit)
	}
	if err != nil {
		return f.troubled(err, emit)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return f.troubled(err, emit)
	}
	reason, err := f.changed(file, info)
	if err != nil {
		return f.troubled(err, emit)
	}
	if reason != "" {
		f.place = place{}
		f.again = true
		emit(Event{Kind: Reset, Reason: reason})
	}
	f.seen, f.was, f.gone = info, true, false
	told, err := f.deliver(ctx, file, info.Size(), emit)
	if err != nil {
		return f.troubled(err, emit)
	}
	f.trouble = ""
	return told || reason != ""
}

// changed says how the file is another one than before, "" when it is not.
func (f *Follower) changed(file *os.File, info os.FileInfo) (string, error) {
	switch {
	case f.seen == nil && f.was:
		return Recreated, nil
	case f.seen == nil:
		return "", nil
	case !os.SameFile(f.seen, info):
		return Replaced, nil
	case info.Size() < f.place.read:
		return Truncated, nil
	}
	same, err := f.place.matches(file)
	if err != nil || same {
		return "", err
	}
	return Rewritten, nil
}

func (f *Follower) missing(emit func(Event)) bool {
	f.seen, f.trouble = nil, ""
	if f.gone {
		return false
	}
	f.gone = true
	reason := "not there yet"
	if f.was {
		reason = "deleted"
	}
	emit(Event{Kind: Missing, Reason: reason})
	return true
}

// troubled tells a trouble once, until it is another one or over.
func (f *Follower) troubled(err error, emit func(Event)) bool {
	if f.trouble == err.Error() {
		return false
	}
	f.trouble = err.Error()
	emit(Event{Kind: Trouble, Reason: err.Error(), Err: err})
	return true
}
