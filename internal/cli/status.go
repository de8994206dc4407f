package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"piwatch/internal/control"
	"piwatch/internal/pi"
	"piwatch/internal/timeline"
	"piwatch/internal/watchdog"
)

func (a *app) statusCommand() *cobra.Command {
	var who naming
	var format string
	cmd := &cobra.Command{
		Use:     "status [SESSION]",
		GroupID: groupWatch,
		Short:   "Say what the watchdog of each session does, or all about one",
		Long: `Say what the watchdog of each session does: its phase, the checks used of the
cap, and the time to the next check. With SESSION: settings and reasons too, as
/watchdog status in Pi says it.

--format tmux prints one short line for a status bar; in ~/.tmux.conf:
  set -g status-interval 5
  set -g status-right '#(piwatch status --format tmux)'
--format '{{...}}' prints a line for each session from a template of Go, over the
fields that --json shows (piwatch help json; .Watch.Phase for "phase" in "watch").
Functions beside those of Go: status (the text of Pi's footer), left (the time to
the next check), short (the beginning of an id).

` + sessionHelp,
		Example: `  piwatch status
  piwatch status .
  piwatch status 019a --json
  piwatch status --format '{{short .ID}} {{.Watch.Phase}} {{status .}}'`,
		Args: exclusive(func(cmd *cobra.Command, given []string) error {
			if who.last {
				return args(0, 0)(cmd, given)
			}
			return args(0, 1)(cmd, given)
		}, "format", "json"),
		ValidArgsFunction: a.completeLive(&who, nil),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := ""
			if who.last || len(args) > 0 {
				name, _ = who.split(args)
			}
			if format != "" {
				return a.statusAs(cmd.Context(), name, format)
			}
			return a.status(cmd.Context(), name)
		},
	}
	who.add(cmd)
	cmd.Flags().StringVar(&format, "format", "", "tmux, or a template of Go for each session")
	a.addJSON(cmd)
	return cmd
}

func (a *app) lsCommand() *cobra.Command {
	var all bool
	var most int
	cmd := &cobra.Command{
		Use:     "ls",
		GroupID: groupWatch,
		Short:   "List the sessions with a bridge, or all",
		Long: `List the sessions with a bridge. With --all also those without one, and those that
ended, from their files: the newest first. That needs no hub.`,
		Example: `  piwatch ls
  piwatch ls --all -n 20
  piwatch ls --json`,
		Args: args(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if all {
				return a.listAll(cmd, most)
			}
			return a.list(cmd.Context(), []string{"SESSION", "PID", "PI", "MODE", "MODEL", "FOLDER", "NAME"},
				func(s control.Session) []string {
					return []string{fmt.Sprint(s.Pid), s.Pi, s.Mode, s.Model, s.Cwd, s.Name}
				})
		},
	}
	cmd.Flags().BoolVarP(&all, "all", "a", false, "also those without a bridge, and those that ended")
	cmd.Flags().IntVarP(&most, "lines", "n", 0, "with --all: so many at most; 0 for all")
	a.addJSON(cmd)
	return cmd
}

// status prints all sessions, or the one of a name.
func (a *app) status(ctx context.Context, name string) error {
	if name == "" {
		now := time.Now()
		return a.list(ctx, []string{"SESSION", "PHASE", "CHECKS", "NEXT", "FOLDER", "NAME"},
			func(s control.Session) []string {
				return []string{string(s.Watch.Phase), checks(s.Watch), next(s.Watch, now), s.Cwd, s.Name}
			})
	}
	return a.withHub(ctx, func(ctx context.Context, client *control.Client) error {
		session, err := a.findLive(ctx, client, name)
		if err != nil {
			return err
		}
		if a.json {
			return a.printJSON(session)
		}
		reply, err := client.Steer(ctx, control.StatusText, control.SteerParams{Session: session.ID, By: "cli"})
		if err != nil {
			return err
		}
		fmt.Fprintf(a.out, "%s  %s\n%s\n", timeline.OneLine(session.ID), liveTarget(session).label(), timeline.Clean(reply.Text))
		return nil
	})
}

// list prints one line for each session: its id, and what row says of it.
func (a *app) list(ctx context.Context, head []string, row func(control.Session) []string) error {
	return a.withHub(ctx, func(ctx context.Context, client *control.Client) error {
		sessions, err := a.sorted(ctx, client)
		switch {
		case err != nil:
			return err
		case a.json:
			return a.printJSON(sessions)
		case len(sessions) == 0:
			fmt.Fprintln(a.err, "no Pi with the bridge is running")
			return nil
		}
		var rows [][]string
		for i, id := range shorten(liveTargets(sessions)) {
			rows = append(rows, append([]string{id}, row(sessions[i])...))
		}
		return printTable(a.out, head, rows)
	})
}

// sorted are the sessions with a bridge, the oldest first.
func (a *app) sorted(ctx context.Context, client *control.Client) ([]control.Session, error) {
	sessions, err := client.Sessions(ctx)
	slices.SortFunc(sessions, func(x, y control.Session) int { return strings.Compare(x.ID, y.ID) })
	return sessions, err
}

// listed is one session of piwatch ls --all --json.
type listed struct {
	ID     string    `json:"id"`
	File   string    `json:"file"`
	Cwd    string    `json:"cwd"`
	Name   string    `json:"name"`
	Active time.Time `json:"active"` // when its file was written last
	Bytes  int64     `json:"bytes"`
	First  string    `json:"first"` // the beginning of the user's first message
	Live   bool      `json:"live"`  // a bridge is connected
}

func (a *app) listAll(cmd *cobra.Command, most int) error {
	cwd, err := workDir()
	if err != nil {
		return err
	}
	files, err := a.sessionFiles(cwd)
	if err != nil && len(files) == 0 {
		return err
	}
	if most > 0 {
		files = files[:min(most, len(files))] // the newest; those elsewhere come to them
	}
	// What is left of these when the files are read has its file elsewhere, or none.
	live := map[string]target{}
	for _, t := range a.liveIfAny(cmd.Context()) {
		live[t.ID] = t
	}
	all := []listed{}
	for _, f := range files {
		head, err := pi.ReadHead(f.Path, 0)
		if err != nil {
			fmt.Fprintf(a.err, "piwatch: %s\n", timeline.Clean(err.Error()))
			continue
		}
		_, isLive := live[head.Header.ID]
		delete(live, head.Header.ID)
		all = append(all, listed{
			ID: head.Header.ID, File: f.Path, Cwd: head.Header.Cwd, Name: head.Name, Active: f.ModTime,
			Bytes: f.Size, First: head.FirstMessage, Live: isLive,
		})
	}
	for _, t := range live {
		one, err := elsewhere(t)
		if err != nil {
			fmt.Fprintf(a.err, "piwatch: %s\n", timeline.Clean(err.Error()))
		}
		all = append(all, one)
	}
	slices.SortStableFunc(all, func(x, y listed) int { return y.Active.Compare(x.Active) })
	if most > 0 {
		all = all[:min(most, len(all))]
	}
	if a.json {
		return a.printJSON(all)
	}
	if len(all) == 0 {
		fmt.Fprintln(a.err, "there are no session files")
		return nil
	}
	targets := make([]target, len(all))
	for i, s := range all {
		targets[i] = target{ID: s.ID}
	}
	var rows [][]string
	for i, id := range shorten(targets) {
		s := all[i]
		bridge := ""
		if s.Live {
			bridge = "live"
		}
		rows = append(rows, []string{id, s.Active.Local().Format(time.DateTime), bridge, s.Cwd, s.Name, s.First})
	}
	return printTable(a.out, []string{"SESSION", "ACTIVE", "BRIDGE", "FOLDER", "NAME", "FIRST MESSAGE"}, rows)
}

// elsewhere is a live session whose file is in none of the folders, or which has
// none. What the hub says of it counts also with an error.
func elsewhere(t target) (listed, error) {
	one := listed{ID: t.ID, File: t.File, Cwd: t.Cwd, Name: t.Name, Active: time.Now(), Live: true}
	if t.File == "" {
		return one, nil
	}
	info, err := os.Stat(t.File)
	if errors.Is(err, fs.ErrNotExist) {
		return one, nil // Pi 0.81.1 writes it with the first answer
	}
	if err != nil {
		return one, err
	}
	one.Active, one.Bytes = info.ModTime(), info.Size()
	head, err := pi.ReadHead(t.File, 0)
	if err == nil {
		one.First = head.FirstMessage
	}
	return one, err
}

func checks(v watchdog.View) string {
	if v.Phase == watchdog.Off {
		return ""
	}
	return fmt.Sprintf("%d/%d", v.Count, v.Settings.Max)
}

// next is the time to the next check, in whole seconds, rounded up as in Pi's
// footer.
func next(v watchdog.View, now time.Time) string {
	if v.Phase != watchdog.Counting {
		return ""
	}
	left := max(v.Deadline.Sub(now), 0)
	return fmt.Sprintf("%ds", int64((left+time.Second-1)/time.Second))
}
