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
// ready, and keeps all of every text.
type story struct {
	depth   depth
	builder timeline.Builder
	ends    ending.Tracker
	parser  pi.Parser
	damage  int // told already
	spoken  int // messages of the user
	trouble error
}

// depth is how much of a session is kept.
type depth int

const (
	wholeTexts depth = iota
	onlyTheEnd       // how it ended, and no rows: a fraction of the memory
)

// start makes a story that has read nothing.
func (d depth) start() story { return story{depth: d, parser: pi.Parser{Lean: d != wholeTexts}} }

// take takes in one event of the file, and says whether all that is there was
// read.
func (s *story) take(ev tail.Event) (caught bool) {
	switch ev.Kind {
	case tail.Lines:
		for _, line := range ev.Lines {
			for _, e := range s.parser.Add(line.Data, line.Offset) {
				if s.depth == wholeTexts {
					s.builder.Add(timeline.Digest(&e))
				}
				s.ends.Add(&e)
				if e.IsRealUserMessage() {
					s.spoken++
				}
			}
		}
		list := s.parser.Damage().List
		if s.depth == wholeTexts {
			for _, d := range list[s.damage:] {
				s.builder.Add(timeline.DigestDamage(d))
			}
		}
		s.damage, s.trouble = len(list), nil
		return !ev.More
	case tail.Reset:
		*s = s.depth.start()
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
func readStory(ctx context.Context, path string, d depth) (*story, error) {
	if path == "" {
		return nil, errNoFile
	}
	s := d.start()
	follower := tail.NewFollower(path, tail.Options{})
	for follower.Poll(ctx, func(ev tail.Event) { s.take(ev) }) {
	}
	return &s, s.trouble
}
