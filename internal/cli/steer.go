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
	least, most   int  // number of arguments after SESSION; most < 0: any
	reads         bool // it changes nothing, so that an agent may use it too
	// fill reads the arguments after SESSION; nil when there are none.
	fill func(p *control.SteerParams, args []string) error
	// words are offered after SESSION; nil: none.
	words func(typed string) []string
	// check: an argument after SESSION names a check, the last one without it.
	check bool
	after after // what may stand after SESSION beside its arguments
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
		method: control.Start, args: "[SETTING...]", most: -1, words: settingWords, after: freeText,
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
		method: control.Extend, args: "SECONDS", least: 1, most: 1, after: negatives,
		short:   "Give the running countdown more time, or less",
		example: "  piwatch extend . 30\n  piwatch extend . -30\n  piwatch extend --last -- -30",
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
		method: control.Set, args: "once|keep", least: 1, most: 1, words: modeWords,
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
		method: control.Set, args: "SETTING...", least: 1, most: -1, words: settingWords, after: freeText,
		short:   "Change settings while the watchdog runs",
		long:    "Change settings while the watchdog runs. Those that are not named stay.\n\n" + grammar,
		example: "  piwatch set . timeout=120\n  piwatch set . max=5 message=Only the parser, please",
		fill: func(p *control.SteerParams, args []string) error {
			p.Line = strings.Join(args, " ")
			_, err := watchdog.Parse(p.Line) // the hub applies it to what runs
			return err
		},
	}},
	{"fold", verb{
		method: control.Fold, args: "[CHECK]", most: 1, check: true,
		short:   "Take the exchange of a check out of what the agent sees, again",
		long:    "Take the exchange of an ended check out of what the agent sees, after it was\nbrought back.\n\n" + checkHelp,
		example: "  piwatch fold .\n  piwatch fold . 2",
	}},
	{"unfold", verb{
		method: control.Unfold, args: "[CHECK]", most: 1, check: true,
		short:   "Bring the exchange of a check back into what the agent sees",
		long:    "Bring the folded exchange of a check back into what the agent sees.\n\n" + checkHelp,
		example: "  piwatch unfold .\n  piwatch unfold --last 2",
	}},
	{"rollback", verb{
		method: control.Rollback, args: "[CHECK]", most: 1, check: true,
		short:   "Take the exchange of a check off the branch, and off Pi's screen",
		long:    "Move the branch back to before a check, so that its exchange also leaves Pi's\nscreen. It is refused when work came after the check.\n\n" + checkHelp,
		example: "  piwatch rollback .\n  piwatch rollback . 2",
	}},
}

const checkHelp = `CHECK is the number that its card shows (2 of 2/50; of several with that number
the last one), or its id as piwatch log --json shows it. Without CHECK: the last.`

func (a *app) steerCommands() []*cobra.Command {
	commands := make([]*cobra.Command, len(verbs))
	for i, v := range verbs {
		long := v.long
		if long == "" {
			long = v.short + "."
		}
		use, help := v.name+" SESSION", sessionHelp
		if v.after == freeText {
			use, help = v.name+" [flags] SESSION", help+"\nFlags go before it."
		}
		var who naming
		commands[i] = &cobra.Command{
			Use:               strings.TrimSpace(use + " " + v.args),
			GroupID:           groupSteer,
			Short:             v.short,
			Long:              long + "\n\n" + help,
			Example:           v.example,
			Args:              v.after.args(&who, v.least, v.most),
			ValidArgsFunction: a.completeLive(&who, v.words),
			RunE: func(cmd *cobra.Command, args []string) error {
				args, _ = v.after.take(cmd, args) // checked before
				name, rest := who.split(args)
				return a.steer(cmd.Context(), v.verb, name, rest)
			},
		}
		commands[i].Flags().SetInterspersed(v.after == anyFlag)
		who.add(commands[i])
		a.addJSON(commands[i])
		if v.method == control.Start {
			commands[i].Flags().BoolVarP(&a.yes, "yes", "y", false, "start also when your last message asks the agent to wait")
		}
	}
	return commands
}

func (a *app) steer(ctx context.Context, v verb, name string, args []string) error {
	if !v.reads {
		if err := a.outsidePi(); err != nil {
			return err
		}
	}
	params := control.SteerParams{By: "cli"}
	if v.fill != nil {
		if err := v.fill(&params, args); err != nil {
			return err
		}
	}
	return a.withHub(ctx, func(ctx context.Context, client *control.Client) error {
		session, err := a.findLive(ctx, client, name)
		if err != nil {
			return err
		}
		if name == lastSession {
			fmt.Fprintf(a.err, "piwatch: the last session is %s (%s)\n", timeline.OneLine(session.ID), liveTarget(session).label())
		}
		params.Session = session.ID
		params.Sure = a.yes
		if v.check && len(args) > 0 {
			if params.Check, err = findCheck(ctx, session.File, args[0]); err != nil {
				return err
			}
		}
		reply, err := client.Steer(ctx, v.method, params)
		if err == nil && reply.Level == control.Confirm {
			if !a.confirm(reply.Text) {
				return &refusedError{text: reply.Text, hint: "nothing was done; --yes does it without asking"}
			}
			params.Sure = true
			reply, err = client.Steer(ctx, v.method, params)
		}
		return a.told(reply, err, "piwatch status "+name+" says more")
	})
}

// told prints a reply of the hub; one that refuses is an error with a hint.
func (a *app) told(reply control.CommandReply, err error, hint string) error {
	switch {
	case err != nil:
		return err
	case a.json:
		err = a.printJSON(reply)
	case reply.Level != "error":
		fmt.Fprintln(a.out, timeline.Clean(reply.Text))
	}
	if err == nil && reply.Level == "error" {
		return &refusedError{text: reply.Text, hint: hint}
	}
	return err
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
