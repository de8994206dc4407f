package cli

import (
	"context"
	"errors"
	"fmt"

	"piwatch/internal/ending"
	"piwatch/internal/pi"
	"piwatch/internal/tail"
	"piwatch/internal/timeline"
)

// story reads a session file into its timeline as it grows. The zero value is
// ready. It keeps all of every text.
type story struct {
	builder timeline.Builder
	ends    ending.Tracker
	parser  pi.Parser
	damage  int // told already
	spoken  int // messages of the user
	trouble error
}

// take takes in one event of the file, and says whether all that is there was
// read.
func (s *story) take(ev tail.Event) (caught bool) {
	switch ev.Kind {
	case tail.Lines:
		for _, line := range ev.Lines {
			for _, e := range s.parser.Add(line.Data, line.Offset) {
				s.builder.Add(timeline.Digest(&e))
				s.ends.Add(&e)
				if e.IsRealUserMessage() {
					s.spoken++
				}
			}
		}
		list := s.parser.Damage().List
		for _, d := range list[s.damage:] {
			s.builder.Add(timeline.DigestDamage(d))
		}
		s.damage, s.trouble = len(list), nil
		return !ev.More
	case tail.Reset:
		*s = story{}
	case tail.Missing:
		s.trouble = fmt.Errorf("the session has no file: %s", ev.Reason)
	case tail.Trouble:
		s.trouble = fmt.Errorf("the session file cannot be read: %w", ev.Err)
	}
	return ev.Kind == tail.Missing || ev.Kind == tail.Trouble
}

// errNoFile says that a session has no file, and never will.
var errNoFile = errors.New("the session has no file: its Pi runs with --no-session")

// readStory reads the timeline of a session file once.
func readStory(ctx context.Context, path string) (*story, error) {
	if path == "" {
		return nil, errNoFile
	}
	var s story
	follower := tail.NewFollower(path, tail.Options{})
	for follower.Poll(ctx, func(ev tail.Event) { s.take(ev) }) {
	}
	return &s, s.trouble
}
