package cli

import (
	"github.com/spf13/cobra"

	"piwatch/internal/control"
)

// guardVerbs are the commands of the guard, by name.
var guardVerbs = []struct {
	name string
	verb
}{
	{"status", verb{method: control.GuardStatus, reads: true, short: "Say whether it is on, what it did, and how its breaker stands"}},
	{"on", verb{method: control.GuardOn, short: "Turn it on in a session, whatever is configured"}},
	{"off", verb{method: control.GuardOff, short: "Turn it off in a session"}},
	{"reset", verb{method: control.GuardReset, short: "Close the breaker, and let the counts begin anew"}},
}

func (a *app) guardCommand() *cobra.Command {
	cmd := group(&cobra.Command{
		Use:     "guard",
		GroupID: groupSteer,
		Short:   "The guard against silent stops of a session",
		Long: `The guard against silent stops of a session.

An agent that stops without a visible word and without a tool call is asked for
its next action at once: at most 3 times in a row and 10 times between two
messages of yours. Then the breaker trips, and the guard sends nothing until you
write or reset it; a watchdog that is on still counts down and asks. The guard is
on in every session with the bridge; PI_WATCHDOG_GUARD=0 where Pi runs, or on =
false in the table [guard] of the config, turns it off.`,
		Example: "  piwatch guard status .\n  piwatch guard reset 019a",
	})
	for _, v := range guardVerbs {
		var who naming
		sub := &cobra.Command{
			Use:               v.name + " SESSION",
			Short:             v.short,
			Long:              v.short + ".\n\n" + sessionHelp,
			Example:           "  piwatch guard " + v.name + " .",
			Args:              who.args(0, 0),
			ValidArgsFunction: a.completeLive(&who, nil),
			RunE: func(cmd *cobra.Command, args []string) error {
				name, _ := who.split(args)
				return a.steer(cmd.Context(), v.verb, name, nil)
			},
		}
		who.add(sub)
		a.addJSON(sub)
		cmd.AddCommand(sub)
	}
	return cmd
}
