package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/spf13/cobra"

	"piwatch/internal/tail"
	"piwatch/internal/timeline"
)

// logFlags say how much of a timeline is printed.
type logFlags struct {
	follow bool
	lines  int
}

func (a *app) logCommand() *cobra.Command {
	var who naming
	var flags logFlags
	cmd := &cobra.Command{
		Use:     "log SESSION",
		GroupID: groupWatch,
		Short:   "Print the timeline of a session as lines",
		Long: `Print the timeline of a session as lines: what the user and the agent said, the
tools that ran, each check with its answer, and when the watchdog was started,
set and stopped. It is read from the session file, so it works without a hub and
for sessions that ended. With -f it goes on as the session does, until ctrl+c, and
the hub, where there is one, says for every time nothing was sent why not.

--json prints an object a line for each row; a row that changed comes again with
the same key.

` + sessionHelp + `
Here it may also be the path of a session file.`,
		Example: `  piwatch log . -n 20
  piwatch log -f --last
  piwatch log 019a --json`,
		Args:              who.args(0, 0),
		ValidArgsFunction: a.completeAny(&who),
		RunE: func(cmd *cobra.Command, args []string) error {
			name, _ := who.split(args)
			return a.log(cmd.Context(), name, flags)
		},
	}
	who.add(cmd)
	cmd.Flags().BoolVarP(&flags.follow, "follow", "f", false, "go on as the session does")
	cmd.Flags().IntVarP(&flags.lines, "lines", "n", -1, "of what is there only the last so many rows; -1 for all")
	a.addJSON(cmd)
	return cmd
}

func (a *app) log(ctx context.Context, name string, flags logFlags) error {
	ctx, release := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer release()
	t, err := a.findAny(ctx, name)
	switch {
	case err != nil:
		return err
	case t.File == "":
		return &refusedError{errNoFile.Error(), "piwatch status " + t.ID + " says what its watchdog does"}
	}
	printer := a.rowPrinter()
	if !flags.follow {
		s, err := readStory(ctx, t.File, wholeTexts)
		if err != nil {
			return err
		}
		return printer.print(lastRows(s.builder.Rows(), flags.lines))
	}
	ctx, stop := context.WithCancel(ctx)
	var work sync.WaitGroup
	defer work.Wait()
	defer stop()
	work.Go(func() { a.followNotices(ctx, t.ID, cutTo(a.out)) })
	return a.followStory(ctx, t.File, func(rows []*timeline.Row, first bool) error {
		if first {
			kept := lastRows(rows, flags.lines)
			printer.skip(rows[:len(rows)-len(kept)])
			rows = kept
		}
		return printer.print(rows)
	})
}

func lastRows(rows []*timeline.Row, n int) []*timeline.Row {
	if n < 0 || n >= len(rows) {
		return rows
	}
	return rows[len(rows)-n:]
}

// followStory calls show with all rows whenever there is more, until ctx ends or
// show fails.
func (a *app) followStory(ctx context.Context, path string, show func(rows []*timeline.Row, first bool) error) error {
	watcher := tail.NewWatcher()
	defer watcher.Close()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var s story
	first := true
	err := tail.NewFollower(path, tail.Options{Watcher: watcher}).Run(ctx, func(ev tail.Event) {
		if ev.Kind == tail.PollingOnly || !s.take(ev) {
			return
		}
		if s.trouble != nil {
			fmt.Fprintf(a.err, "piwatch: %s\n", timeline.Clean(s.trouble.Error()))
			return
		}
		if err := show(s.builder.Rows(), first); err != nil {
			stop(err)
		}
		first = false
	})
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// rowPrinter prints rows of a timeline that grows.
type rowPrinter interface {
	print(rows []*timeline.Row) error
	skip(rows []*timeline.Row)
}

func (a *app) rowPrinter() rowPrinter {
	if a.json {
		return &jsonRows{said: map[string]string{}, write: func(l loggedRow) error { return a.printLine(l) }}
	}
	return lineRows{timeline.NewPrinter(cutTo(a.out), &timeline.Days{})}
}

// cutTo cuts lines to the terminal where out is one.
func cutTo(out io.Writer) io.Writer {
	if width := columns(out); width > 0 {
		return cutter{out, width}
	}
	return out
}

// cutter cuts each line to a width; each write is whole lines.
type cutter struct {
	out   io.Writer
	width int
}

func (c cutter) Write(lines []byte) (int, error) {
	_, err := io.WriteString(c.out, cutLines(string(lines), c.width))
	return len(lines), err
}

type lineRows struct{ printer *timeline.Printer }

func (l lineRows) print(rows []*timeline.Row) error { return l.printer.Print(rows) }
func (l lineRows) skip(rows []*timeline.Row)        { l.printer.Skip(rows) }
