package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"piwatch/internal/ending"
	"piwatch/internal/tail"
	"piwatch/internal/timeline"
	"piwatch/internal/watchdog"
)

const (
	// comeBack is how long a session may be away while its Pi runs, before it counts
	// as gone: the hub may be another one, to which a bridge comes within 5 s, or Pi
	// reloads.
	comeBack = 15 * time.Second
	// lookAgain is the pause between two looks whether the Pi of a session that is
	// away still runs.
	lookAgain = 250 * time.Millisecond
)

// waitFlags say how long piwatch wait waits.
type waitFlags struct {
	any, all bool
	timeout  time.Duration
}

func (a *app) waitCommand() *cobra.Command {
	var who naming
	var flags waitFlags
	cmd := &cobra.Command{
		Use:     "wait SESSION...",
		GroupID: groupWatch,
		Short:   "Wait until watched sessions come to an end",
		Long: `Wait until watched sessions come to an end: the agent answers done or wait_user,
also when that only suspends the watchdog (mode=keep); the cap of checks is
reached; the breaker trips; somebody stops the watchdog; Pi ends. An end that is
there already counts. A session that is not watched is refused.

A line is printed for each session as it ends: its id, how it ended, and the
agent's note. The exit code is that of the end (see piwatch --help): with --any of
the first, with --all, the default, the highest of all.

` + sessionHelp,
		Example: `  piwatch wait .
  piwatch wait --any 019a 019b --timeout 1h
  piwatch wait --last && git push`,
		Args:              exclusive(who.args(0, -1), "any", "all"),
		ValidArgsFunction: a.complete(&who, -1, nil, func(cmd *cobra.Command) []target { return a.liveIfAny(cmd.Context()) }),
		RunE: func(cmd *cobra.Command, names []string) error {
			if who.last {
				names = append(names, lastSession)
			}
			return a.wait(cmd.Context(), names, flags)
		},
	}
	who.add(cmd)
	cmd.Flags().BoolVar(&flags.any, "any", false, "until the first of them has ended")
	cmd.Flags().BoolVar(&flags.all, "all", false, "until all of them have ended; the default")
	cmd.Flags().DurationVar(&flags.timeout, "timeout", 0, "no longer than this, as in 90s or 1h30m; 0 for ever")
	a.addJSON(cmd)
	return cmd
}

// waited is a session that is waited for.
type waited struct {
	target
	ending ending.Ending  // as its file says
	read   bool           // the file was read, as far as it goes
	view   *watchdog.View // nil while it is away
	away   time.Time      // since when
	gone   bool
	ended  bool
}

// waitEvent is news of one session, by its place in the list, or of the hub.
type waitEvent struct {
	at     int
	ending *ending.Ending
	hub    *hubEvent
}

// endedSession is one session of piwatch wait --json.
type endedSession struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Cwd  string `json:"cwd"`
	File string `json:"file"`
	End  string `json:"end"` // done, wait_user, max, breaker, stopped, error, gone, timeout
	Note string `json:"note"`
	Code int    `json:"code"` // the exit code for this end
}

func (a *app) wait(ctx context.Context, names []string, flags waitFlags) error {
	sessions, err := a.waitedFor(ctx, names)
	if err != nil {
		return err
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	ctx, stop := context.WithCancel(ctx)
	news := make(chan waitEvent)
	var work sync.WaitGroup
	defer work.Wait()
	defer stop()
	a.followEnds(ctx, &work, sessions, news)

	var timeout <-chan time.Time
	if flags.timeout > 0 {
		timer := time.NewTimer(flags.timeout)
		defer timer.Stop()
		timeout = timer.C
	}
	look := time.NewTicker(lookAgain)
	defer look.Stop()
	code := &endError{kind: ending.Done, quiet: true}
	for {
		left := 0
		for _, w := range sessions {
			if w.ended {
				continue
			}
			end, err := w.judge()
			switch {
			case err != nil:
				return err
			case end.Kind == ending.None:
				left++
				continue
			}
			if err := a.tellEnd(w, end); err != nil {
				return err
			}
			w.ended = true
			if endCodes[end.Kind] > endCodes[code.kind] {
				code.kind = end.Kind
			}
			if flags.any {
				code.kind = end.Kind
				left = 0
				break
			}
		}
		if left == 0 {
			break
		}
		select {
		case ev := <-news:
			if ev.ending != nil {
				sessions[ev.at].ending, sessions[ev.at].read = *ev.ending, true
			} else {
				hear(sessions, *ev.hub, time.Now())
			}
		case now := <-look.C:
			for _, w := range sessions {
				w.gone = w.view == nil && (w.Live != nil && !runs(w.Live.Pid) || now.Sub(w.away) > comeBack)
			}
		case <-timeout:
			for _, w := range sessions {
				if !w.ended {
					if err := a.tellEnd(w, ending.Ending{Kind: ending.Timeout}); err != nil {
						return err
					}
				}
			}
			code.kind = ending.Timeout
			return code
		case sig := <-signals:
			return &signalError{sig}
		}
	}
	if code.kind == ending.Done {
		return nil
	}
	return code
}

// waitedFor finds the sessions, each once.
func (a *app) waitedFor(ctx context.Context, names []string) ([]*waited, error) {
	var sessions []*waited
	for _, name := range names {
		t, err := a.findAny(ctx, name)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(sessions, func(w *waited) bool { return w.ID == t.ID }) {
			continue
		}
		w := &waited{target: t, read: t.File == "", away: time.Now()}
		if t.Live != nil {
			w.view = &t.Live.Watch
		}
		sessions = append(sessions, w)
	}
	return sessions, nil
}

// followEnds follows the files of the sessions and the hub, which may come later,
// until ctx ends.
func (a *app) followEnds(ctx context.Context, work *sync.WaitGroup, sessions []*waited, news chan<- waitEvent) {
	send := func(ev waitEvent) {
		select {
		case news <- ev:
		case <-ctx.Done():
		}
	}
	watcher := tail.NewWatcher()
	var files sync.WaitGroup
	for i, w := range sessions {
		if w.File == "" {
			continue
		}
		files.Go(func() {
			s := onlyTheEnd.start()
			_ = tail.NewFollower(w.File, tail.Options{Watcher: watcher}).Run(ctx, func(ev tail.Event) { // it ends with ctx only
				if ev.Kind != tail.PollingOnly && s.take(ev) {
					end := s.ends.Ending()
					send(waitEvent{at: i, ending: &end})
				}
			})
		})
	}
	work.Go(func() {
		files.Wait()
		_ = watcher.Close() // nothing waits for it any more
	})
	work.Go(func() { watchHub(ctx, a.dial, func(ev hubEvent) { send(waitEvent{hub: &ev}) }) })
}

// hear takes in what the hub says. A session that left between two connections is
// told by its absence from the list of the second.
func hear(sessions []*waited, ev hubEvent, now time.Time) {
	for _, w := range sessions {
		switch {
		case ev.down != nil, ev.push.Gone == w.ID && w.ID != "", ev.listed != nil && !slices.Contains(ev.listed, w.ID):
			if w.view != nil {
				w.view, w.away = nil, now
			}
		case ev.push.Session != nil && ev.push.Session.ID == w.ID:
			w.view, w.Live = &ev.push.Session.Watch, ev.push.Session
		}
	}
}

// runs says whether there is a process.
func runs(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}

// judge says whether a session has come to its end. The error is that there is
// nothing to wait for.
func (w *waited) judge() (ending.Ending, error) {
	switch {
	case !w.read:
		return ending.Ending{}, nil
	case w.ending.Kind != ending.None:
		return w.ending, nil
	case w.Live == nil && !w.ending.Started:
		return ending.Ending{}, w.notWatched()
	case w.gone, w.Live == nil && !w.ending.Watched:
		return w.last(), nil
	case w.view == nil:
		return ending.Ending{}, nil // the hub is away
	case w.File == "" && w.Live.Guard.Tripped != "":
		return ending.Ending{Kind: ending.Breaker, Note: w.Live.Guard.Tripped}, nil
	case w.File == "":
		return viewEnding(*w.view), nil
	case w.view.Phase == watchdog.Off && !w.ending.Watched:
		return ending.Ending{}, w.notWatched()
	}
	return ending.Ending{}, nil
}

func (w *waited) notWatched() error {
	return &refusedError{
		text: fmt.Sprintf("the session %s (%s) is not watched: there is no end to wait for", w.ID, w.label()),
		hint: "piwatch start " + w.ID,
	}
}

// last is the end of a session whose Pi has gone: what its file says at last.
func (w *waited) last() ending.Ending {
	if w.File != "" {
		if s, err := readStory(context.Background(), w.File, onlyTheEnd); err == nil && s.ends.Ending().Kind != ending.None {
			return s.ends.Ending()
		}
	}
	return ending.Ending{Kind: ending.Gone}
}

// viewEnding is the end of a session that has no file, by what the hub says.
func viewEnding(v watchdog.View) ending.Ending {
	switch {
	case v.Phase != watchdog.Off && v.Phase != watchdog.Suspended:
		return ending.Ending{}
	case v.Last == watchdog.Done, v.Last == watchdog.WaitUser:
		return ending.Ending{Kind: ending.Kind(v.Last), Note: v.Note}
	case v.Count >= v.Settings.Max && v.Settings.Max > 0:
		return ending.Ending{Kind: ending.Max}
	}
	return ending.Ending{Kind: ending.Stopped, Note: v.Why}
}

func (a *app) tellEnd(w *waited, end ending.Ending) error {
	if a.json {
		return a.printLine(endedSession{
			ID: w.ID, Name: w.Name, Cwd: w.Cwd, File: w.File, End: string(end.Kind), Note: end.Note, Code: endCodes[end.Kind],
		})
	}
	text := fmt.Sprintf("%s  %-9s  %s\n", timeline.OneLine(w.ID), end.Kind, timeline.OneLine(end.Note))
	return printLines(a.out, text)
}
