package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"piwatch/internal/tail"
	"piwatch/internal/timeline"
)

// followFile prints the lines of a log as they come, the last so many first,
// until ctx ends.
func (a *app) followFile(ctx context.Context, path string, lines int, follow bool) error {
	ctx, release := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer release()
	watcher := tail.NewWatcher()
	defer watcher.Close()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var kept []string // before all was read
	caught := false
	emit := func(ev tail.Event) {
		switch ev.Kind {
		case tail.Missing:
			if !follow {
				stop(fmt.Errorf("there is no log: %s: %s", path, ev.Reason))
				return
			}
			caught = true
		case tail.Trouble:
			stop(fmt.Errorf("read the log: %w", ev.Err))
			return
		case tail.Lines:
			for _, line := range ev.Lines {
				kept = append(kept, timeline.Clean(string(line.Data)))
			}
			if !caught && lines >= 0 {
				kept = kept[max(0, len(kept)-lines):]
			}
			if ev.More {
				return
			}
			caught = true
			if len(kept) > 0 {
				if err := printLines(a.out, strings.Join(kept, "\n")+"\n"); err != nil {
					stop(err)
					return
				}
			}
			kept = nil
		}
	}
	follower := tail.NewFollower(path, tail.Options{Watcher: watcher})
	var err error
	if follow {
		err = follower.Run(ctx, emit)
	} else {
		for ctx.Err() == nil && follower.Poll(ctx, emit) {
		}
		err = context.Cause(ctx)
	}
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}
