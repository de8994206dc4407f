package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"piwatch/internal/control"
	"piwatch/internal/loop"
	"piwatch/internal/timeline"
)

func (a *app) loopsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "loops [SESSION]",
		GroupID: groupWatch,
		Short:   "Say which sessions may be stuck, and whose children they are",
		Long: `Say which sessions may be stuck, and whose children they are: all that the hub
watches, with a bridge or by their files. With SESSION, all about one: evidence,
settings, and its last events as short previews.

"Maybe stuck" is advice: by default nothing is stopped and nobody is steered. What
is done by itself says alertMode, for example in .pi/watchdog-supervisor.json; see
"piwatch config show".

The fields of --json are in piwatch help json.`,
		Example: `  piwatch loops
  piwatch loops 019a
  piwatch loops steer 019a --message "Stop and report."
  piwatch loops set alertMode both`,
		Args: args(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return a.loops(cmd.Context())
			}
			return a.loopsInspect(cmd.Context(), args[0])
		},
	}
	a.addJSON(cmd)
	cmd.AddCommand(
		a.loopsHold("pause", control.LoopsPause, "Hold the alerts of a session until they are resumed"),
		a.loopsHold("resume", control.LoopsResume, "Tell the alerts of a session again"),
		a.loopsSteer(), a.loopsSet(),
	)
	return cmd
}

func (a *app) loopsHold(name, method, short string) *cobra.Command {
	return &cobra.Command{
		Use: name + " SESSION", Short: short, Example: "  piwatch loops " + name + " 019a", Args: args(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.loopsAsk(cmd.Context(), method, args[0], control.TargetParams{By: "cli"})
		},
	}
}

func (a *app) loopsSteer() *cobra.Command {
	var p control.TargetParams
	cmd := &cobra.Command{
		Use:   "steer SESSION",
		Short: "Show what a stuck session would be sent, or send it",
		Long: `Show what a stuck session would be sent, or send it with --send: into its run,
at its next boundary. Without --message it is the rescueMessage of the settings.`,
		Example: `  piwatch loops steer 019a
  piwatch loops steer 019a --send --message "Stop and report."`,
		Args: args(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			p.By = "cli"
			return a.loopsAsk(cmd.Context(), control.LoopsSteer, args[0], p)
		},
	}
	cmd.Flags().StringVar(&p.Message, "message", "", "what to send")
	cmd.Flags().BoolVar(&p.Send, "send", false, "send it")
	return cmd
}

func (a *app) loopsSet() *cobra.Command {
	var keys []string
	for _, f := range loop.Fields() {
		keys = append(keys, fmt.Sprintf("  %-20s %s (%s)", f.Name, f.Says, f.Allowed))
	}
	return &cobra.Command{
		Use:   "set KEY VALUE",
		Short: "Change a setting of the supervisor until the hub ends",
		Long: "Change a setting of the supervisor for all sessions, until the hub ends. It goes\nbefore what the files say.\n\n" +
			strings.Join(keys, "\n"),
		Example: "  piwatch loops set alertMode both\n  piwatch loops set steerDryRunDefault false",
		Args:    args(2, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.outsidePi(); err != nil {
				return err
			}
			if _, err := loop.DefaultSettings().With(args[0], loop.ParseValue(args[1])); err != nil {
				return &usageError{err.Error(), cmd.CommandPath()}
			}
			return a.withHub(cmd.Context(), func(ctx context.Context, client *control.Client) error {
				var reply control.CommandReply
				err := client.Loops(ctx, control.LoopsSet, control.LoopsSetParams{Key: args[0], Value: args[1], By: "cli"}, &reply)
				return a.told(reply, err, "piwatch loops says more")
			})
		},
	}
}

// loopsAsk changes something for one session.
func (a *app) loopsAsk(ctx context.Context, method, name string, p control.TargetParams) error {
	if err := a.outsidePi(); err != nil {
		return err
	}
	return a.withHub(ctx, func(ctx context.Context, client *control.Client) error {
		target, err := pickTarget(ctx, client, name)
		if err != nil {
			return err
		}
		p.Target = target.ID
		var reply control.CommandReply
		err = client.Loops(ctx, method, p, &reply)
		return a.told(reply, err, "piwatch loops says more")
	})
}

// pickTarget finds the target of an id or a unique beginning of one.
func pickTarget(ctx context.Context, client *control.Client, name string) (control.Target, error) {
	var all, found []control.Target
	if err := client.Loops(ctx, control.LoopsList, struct{}{}, &all); err != nil {
		return control.Target{}, err
	}
	for _, t := range all {
		switch {
		case t.ID == name:
			return t, nil
		case name != "" && strings.HasPrefix(t.ID, name):
			found = append(found, t)
		}
	}
	if len(found) != 1 {
		return control.Target{}, fmt.Errorf("%w: %d of the %d that are watched begin with %s", control.ErrNoSession, len(found), len(all), quote(name))
	}
	return found[0], nil
}

func (a *app) loops(ctx context.Context) error {
	return a.withHub(ctx, func(ctx context.Context, client *control.Client) error {
		var targets []control.Target
		if err := client.Loops(ctx, control.LoopsList, struct{}{}, &targets); err != nil {
			return err
		}
		if a.json {
			return a.printJSON(targets)
		}
		if len(targets) == 0 {
			fmt.Fprintln(a.err, "the hub watches no session")
			return nil
		}
		table := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(table, "SESSION\tSTATE\tBY\tPARENT\tMAYBE STUCK\tFOLDER\tNAME")
		for _, t := range targets {
			parent, stuck := t.Link.Parent, ""
			switch {
			case t.Link.Unknown != "":
				parent = "unknown"
			case parent != "":
				parent += " (" + t.Link.By + ")"
			}
			if t.Finding != nil {
				stuck = t.Finding.Rule + ", " + t.Finding.Confidence
			} else if t.Waits != nil {
				stuck = "waits for a child that ended"
			}
			cells := []string{t.ID, t.State, t.Source, parent, stuck, t.Cwd, t.Name}
			for i, cell := range cells {
				cells[i] = orDash(timeline.OneLine(cell))
			}
			fmt.Fprintln(table, strings.Join(cells, "\t"))
		}
		return table.Flush()
	})
}

func (a *app) loopsInspect(ctx context.Context, name string) error {
	return a.withHub(ctx, func(ctx context.Context, client *control.Client) error {
		target, err := pickTarget(ctx, client, name)
		if err != nil {
			return err
		}
		d, err := client.Inspect(ctx, target.ID)
		if err != nil {
			return err
		}
		if a.json {
			return a.printJSON(d)
		}
		var text strings.Builder
		for _, line := range d.Lines() {
			fmt.Fprintln(&text, timeline.OneLine(line))
		}
		_, err = io.WriteString(a.out, cutLines(text.String(), columns(a.out)))
		return err
	})
}

// supervisePrompt is a ready prompt for a supervising agent.
const supervisePrompt = `You supervise other agent sessions of this user with the tools watchdog_*. You do
not do their work.

1. watchdog_list_targets: see which sessions work and which are likelyStuck.
2. For one that may be stuck: watchdog_detect_stuck, then watchdog_read_events.
   Decide by what the events show. The same build between different edits, a poll
   whose output grows, and a parent that waits for a child that works are healthy.
3. If it is stuck: watchdog_alert_main with one sentence that says what repeats.
4. watchdog_steer_subagent with a message that names another way to try. It is a dry
   run unless the user's policy says otherwise; never ask for the policy to be wider.
5. If waitsForEndedChild is set, say so with watchdog_alert_main.
6. Nothing to do: say so in one line and stop. Never invent a fault.
`

func (a *app) superviseCommand() *cobra.Command {
	var prompt bool
	cmd := &cobra.Command{
		Use:     "supervise --prompt",
		GroupID: groupOther,
		Short:   "Print a ready prompt for an agent that supervises others",
		Long: `Print a ready prompt for an agent that supervises others. A session has the tools
for it when it was started with PI_WATCHDOG_SUPERVISOR=1, or after /watchdog supervise.`,
		Example: `  PI_WATCHDOG_SUPERVISOR=1 pi -p "$(piwatch supervise --prompt)"`,
		Args:    args(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !prompt {
				return &usageError{"nothing to do without --prompt", cmd.CommandPath()}
			}
			_, err := io.WriteString(a.out, supervisePrompt)
			return err
		},
	}
	cmd.Flags().BoolVar(&prompt, "prompt", false, "print the prompt")
	return cmd
}
