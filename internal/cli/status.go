package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"piwatch/internal/control"
	"piwatch/internal/timeline"
	"piwatch/internal/watchdog"
)

func (a *app) statusCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "status [SESSION]",
		GroupID: groupWatch,
		Short:   "Say what the watchdog of each session does, or all about one",
		Long: `Say what the watchdog of each session does: its phase, the checks used of the
cap, and the time to the next check. With SESSION: settings and reasons too, as
/watchdog status in Pi says it.`,
		Example: `  piwatch status
  piwatch status .
  piwatch status 019a --json`,
		Args:              args(0, 1),
		ValidArgsFunction: a.completeSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return a.status(cmd.Context(), "")
			}
			return a.status(cmd.Context(), args[0])
		},
	}
	a.addJSON(cmd)
	return cmd
}

func (a *app) lsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "ls",
		GroupID: groupWatch,
		Short:   "List the sessions with a bridge",
		Example: `  piwatch ls
  piwatch ls --json`,
		Args: args(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.list(cmd.Context(), []string{"SESSION", "PID", "PI", "MODE", "MODEL", "FOLDER", "NAME"},
				func(s control.Session) []string {
					return []string{fmt.Sprint(s.Pid), s.Pi, s.Mode, s.Model, s.Cwd, s.Name}
				})
		},
	}
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
		session, err := a.find(ctx, client, name)
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
		fmt.Fprintf(a.out, "%s  %s\n%s\n", timeline.OneLine(session.ID), label(session), timeline.Clean(reply.Text))
		return nil
	})
}

// list prints one line for each session: its id, and what row says of it.
func (a *app) list(ctx context.Context, head []string, row func(control.Session) []string) error {
	return a.withHub(ctx, func(ctx context.Context, client *control.Client) error {
		sessions, err := client.Sessions(ctx)
		if err != nil {
			return err
		}
		slices.SortFunc(sessions, func(x, y control.Session) int { return strings.Compare(x.ID, y.ID) })
		if a.json {
			return a.printJSON(sessions)
		}
		if len(sessions) == 0 {
			fmt.Fprintln(a.err, "no Pi with the bridge is running")
			return nil
		}
		table := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(table, strings.Join(head, "\t"))
		for i, id := range shorten(sessions) {
			cells := append([]string{id}, row(sessions[i])...)
			for i, cell := range cells {
				cells[i] = orDash(timeline.OneLine(cell))
			}
			fmt.Fprintln(table, strings.Join(cells, "\t"))
		}
		return table.Flush()
	})
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
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

func (a *app) addJSON(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&a.json, "json", false, "print JSON")
}

func (a *app) printJSON(v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	_, err = io.WriteString(a.out, escapeControls(string(data))+"\n")
	return err
}

// escapeControls escapes what JSON allows in a text and a terminal obeys: DEL
// and the C1 controls. JSON itself escapes the others.
func escapeControls(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r >= 0x7f && r < 0xa0 {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}
