package cli

import (
	"bufio"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"piwatch/internal/control"
	"piwatch/internal/timeline"
	"piwatch/internal/watchdog"
)

// verb is a command that steers one session.
type verb struct {
	method        string // of the channel
	args          string // after SESSION, for the usage line
	short         string
	long, example string
	least, most   int // number of arguments after SESSION; most < 0: any
	// fill reads the arguments after SESSION; nil when there are none.
	fill func(p *control.SteerParams, args []string) error
}

const grammar = `Settings are key=value, separated by spaces:
  timeout=SECONDS  idle time before a check, 0 to 86400 (60)
  max=N            checks between two messages of the user, 1 to 10000 (50)
  mode=once|keep   done or wait_user ends it, or suspends it until you write (once)
  message=TEXT     added when the agent is sent back to work; takes the rest of the line`

var verbs = []struct {
	name string
	verb
}{
	{"start", verb{
		method: control.Start, args: "[SETTING...]", most: -1,
		short:   "Start the watchdog of a session",
		long:    "Start the watchdog of a session, from the defaults. What runs already is replaced.\n\n" + grammar,
		example: "  piwatch start .\n  piwatch start 019a timeout=30 mode=keep\n  piwatch start . max=20 message=Run the tests after every change",
		fill: func(p *control.SteerParams, args []string) error {
			p.Line = strings.Join(args, " ")
			_, err := watchdog.Parse(p.Line)
			return err
		},
	}},
	{"stop", verb{method: control.Stop, short: "Stop the watchdog of a session, in any mode", example: "  piwatch stop ."}},
	{"pause", verb{method: control.Pause, short: "Pause the countdown until it is resumed by hand", example: "  piwatch pause ."}},
	{"resume", verb{method: control.Resume, short: "Lift a pause", example: "  piwatch resume ."}},
	{"nudge", verb{method: control.Nudge, short: "Ask the agent now, without waiting for the countdown", example: "  piwatch nudge ."}},
	{"skip", verb{method: control.Skip, short: "Leave out the check that is being counted down to", example: "  piwatch skip ."}},
	{"extend", verb{
		method: control.Extend, args: "SECONDS", least: 1, most: 1,
		short:   "Give the running countdown more time, or less",
		example: "  piwatch extend . 30\n  piwatch extend . -30",
		fill: func(p *control.SteerParams, args []string) error {
			n, err := strconv.Atoi(args[0])
			if err != nil || n == 0 || n < -watchdog.MaxTimeout || n > watchdog.MaxTimeout {
				return &usageError{fmt.Sprintf("%s: a whole number of seconds from -%d to %d, not 0", quote(args[0]), watchdog.MaxTimeout, watchdog.MaxTimeout), "piwatch extend"}
			}
			p.Seconds = n
			return nil
		},
	}},
	{"mode", verb{
		method: control.Set, args: "once|keep", least: 1, most: 1,
		short:   "Say what an answer done or wait_user does",
		long:    "Say what an answer done or wait_user does: once ends the watchdog, keep suspends\nit until your next message.",
		example: "  piwatch mode . keep",
		fill: func(p *control.SteerParams, args []string) error {
			p.Line = "mode=" + args[0]
			_, err := watchdog.Parse(p.Line)
			return err
		},
	}},
	{"set", verb{
		method: control.Set, args: "SETTING...", least: 1, most: -1,
		short:   "Change settings while the watchdog runs",
		long:    "Change settings while the watchdog runs. Those that are not named stay.\n\n" + grammar,
		example: "  piwatch set . timeout=120\n  piwatch set . max=5 message=Only the parser, please",
		fill: func(p *control.SteerParams, args []string) error {
			p.Line = strings.Join(args, " ")
			_, err := watchdog.Parse(p.Line) // the hub applies it to what runs
			return err
		},
	}},
}

func (a *app) steerCommands() []*cobra.Command {
	commands := make([]*cobra.Command, len(verbs))
	for i, v := range verbs {
		most := v.most
		if most >= 0 {
			most++
		}
		long := v.long
		if long == "" {
			long = v.short + "."
		}
		commands[i] = &cobra.Command{
			Use:               strings.TrimSpace(v.name + " SESSION " + v.args),
			GroupID:           groupSteer,
			Short:             v.short,
			Long:              long + "\n\nSESSION is an id, a unique beginning of one, or . for the session of this folder.\nFlags go before it.",
			Example:           v.example,
			Args:              args(1+v.least, most),
			ValidArgsFunction: a.completeSession,
			RunE: func(cmd *cobra.Command, args []string) error {
				return a.steer(cmd.Context(), v.verb, args[0], args[1:])
			},
		}
		// -30 after SESSION is a number, and a message may hold anything.
		commands[i].Flags().SetInterspersed(false)
		a.addJSON(commands[i])
		if v.method == control.Start {
			commands[i].Flags().BoolVarP(&a.yes, "yes", "y", false, "start also when your last message asks the agent to wait")
		}
	}
	return commands
}

func (a *app) steer(ctx context.Context, v verb, name string, args []string) error {
	if err := a.outsidePi(); err != nil {
		return err
	}
	params := control.SteerParams{By: "cli"}
	if v.fill != nil {
		if err := v.fill(&params, args); err != nil {
			return err
		}
	}
	return a.withHub(ctx, func(ctx context.Context, client *control.Client) error {
		session, err := a.find(ctx, client, name)
		if err != nil {
			return err
		}
		params.Session = session.ID
		params.Sure = a.yes
		reply, err := client.Steer(ctx, v.method, params)
		if err == nil && reply.Level == control.Confirm {
			if !a.confirm(reply.Text) {
				return &refusedError{text: reply.Text, hint: "nothing was done; --yes does it without asking"}
			}
			params.Sure = true
			reply, err = client.Steer(ctx, v.method, params)
		}
		switch {
		case err != nil:
			return err
		case a.json:
			err = a.printJSON(reply)
		case reply.Level != "error":
			fmt.Fprintln(a.out, timeline.Clean(reply.Text))
		}
		if err == nil && reply.Level == "error" {
			return &refusedError{text: reply.Text, hint: "piwatch status " + name + " says more"}
		}
		return err
	})
}

// confirm asks a person on a terminal; elsewhere the answer is no.
func (a *app) confirm(question string) bool {
	if !a.tty {
		return false
	}
	fmt.Fprint(a.err, timeline.Clean(question)+" [y/N] ")
	answer, _ := bufio.NewReader(a.in).ReadString('\n')
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes"
}

// insidePi names the variable by which a program knows that a Pi has started
// it: PI_SESSION_ID since Pi 1.6, PI_CODING_AGENT in all.
func (a *app) insidePi() string {
	for _, name := range []string{"PI_SESSION_ID", "PI_CODING_AGENT"} {
		if a.env(name) != "" {
			return name
		}
	}
	return ""
}

// outsidePi refuses what an agent must not do to its own watchdog by a shell.
func (a *app) outsidePi() error {
	if name := a.insidePi(); name != "" {
		return &refusedError{
			text: "refused: this runs inside a tool of Pi (" + name + " is set), and an agent must not steer its own watchdog",
			hint: "run it in a terminal of your own; reading works here: piwatch status",
		}
	}
	return nil
}
