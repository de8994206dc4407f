// Package cli is the command line of piwatch: one file for each group of
// commands. exit.go holds the exit codes and how errors are told.
package cli

import (
	"context"
	"io"
	"os"
	"strings"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"

	"piwatch/internal/control"
)

// callTimeout bounds what a command asks of the hub.
const callTimeout = 10 * time.Second

// app is what the commands share.
type app struct {
	version string
	build   Build
	env     func(string) string
	in      *os.File
	out     io.Writer
	err     io.Writer
	tty     bool // in and out are a terminal
	inTTY   bool // in is
	errTTY  bool // err is
	json    bool
	yes     bool // nothing is asked back
}

// Build says which build this program is.
type Build struct {
	Version string // the release, or devel
	Commit  string // "" when it is not known
	Date    string // of the commit, RFC 3339
}

// Main runs the command line of this process and returns its exit code.
func Main(b Build) int {
	a := &app{
		version: b.Version,
		build:   b,
		env:     os.Getenv,
		in:      os.Stdin,
		out:     os.Stdout,
		err:     os.Stderr,
		inTTY:   isatty.IsTerminal(os.Stdin.Fd()),
		errTTY:  isatty.IsTerminal(os.Stderr.Fd()),
	}
	a.tty = a.inTTY && isatty.IsTerminal(os.Stdout.Fd())
	return a.tell(a.root().ExecuteContext(context.Background()))
}

// The groups of the help.
const (
	groupWatch = "watch"
	groupSteer = "steer"
	groupSetUp = "set up"
	groupOther = "other"
)

const about = `piwatch keeps Pi coding agents at work, and shows all of them on one screen.

Without a command it opens the screen; where there is no terminal it prints the
sessions as "piwatch status" does.`

func (a *app) root() *cobra.Command {
	var screen screenFlags
	root := &cobra.Command{
		Use:   "piwatch",
		Short: "Keep Pi coding agents at work, and watch and steer them",
		Long:  about + "\n\nExit codes:\n" + exitCodeTable(),
		Example: `  piwatch install        put the bridge into Pi
  piwatch                the screen
  piwatch status         the same as lines
  piwatch start . timeout=30 mode=keep
  piwatch demo           see it without Pi`,
		Version:       a.version,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return unknownCommand(cmd, args[0])
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := screen.refuseTheme(a, cmd.CommandPath()); err != nil {
				return err
			}
			if !a.tty && !screen.plain {
				return a.status(cmd.Context(), "")
			}
			return a.screen(cmd.Context(), screen)
		},
	}
	screen.add(root, "print what changes as lines, and draw nothing")
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.SetVersionTemplate("piwatch {{.Version}}\n")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return &usageError{err.Error(), cmd.CommandPath()}
	})
	root.AddGroup(
		&cobra.Group{ID: groupWatch, Title: "Watch:"},
		&cobra.Group{ID: groupSteer, Title: "Steer a session (by id, a unique beginning of it, name, . for this folder, or --last):"},
		&cobra.Group{ID: groupSetUp, Title: "Set up:"},
		&cobra.Group{ID: groupOther, Title: "Other:"},
	)
	root.AddCommand(a.statusCommand(), a.lsCommand(), a.logCommand(), a.exportCommand(), a.waitCommand(), a.runCommand(), a.loopsCommand(), a.replayCommand(), a.demoCommand())
	root.AddCommand(a.steerCommands()...)
	root.AddCommand(a.guardCommand(), a.gatewayCommand())
	root.AddCommand(a.installCommand(), a.upgradeCommand(), a.uninstallCommand(), a.doctorCommand(), a.configCommand(), a.superviseCommand(), a.hubCommand(), a.versionCommand(), jsonTopic())
	root.SetHelpCommandGroupID(groupOther)
	root.SetCompletionCommandGroupID(groupOther)
	return root
}

func didYouMean(cmd *cobra.Command, word string) string {
	cmd.SuggestionsMinimumDistance = 2 // two letters wrong, or swapped
	near := cmd.SuggestionsFor(word)
	if len(near) == 0 {
		return ""
	}
	return "; did you mean " + strings.Join(near, " or ") + "?"
}

// dial connects to the hub of this user.
func (a *app) dial(ctx context.Context) (*control.Client, error) {
	path, err := control.SocketPath(a.env)
	if err != nil {
		return nil, err
	}
	return control.DialClient(ctx, path, a.version, "cli")
}

// withHub runs f with a connection to the hub, for a limited time.
func (a *app) withHub(ctx context.Context, f func(context.Context, *control.Client) error) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	client, err := a.dial(ctx)
	if err != nil {
		return err
	}
	defer client.Close()
	return f(ctx, client)
}

// args checks the number of arguments; a wrong number is a usage error.
func args(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, given []string) error {
		switch {
		case len(given) < least:
			return &usageError{"an argument is missing: " + cmd.UseLine(), cmd.CommandPath()}
		case most >= 0 && len(given) > most:
			return &usageError{"too many arguments, from " + quote(given[most]) + " on", cmd.CommandPath()}
		}
		return nil
	}
}

// group makes a command that only holds others: alone it prints its help, and a
// word that is none of theirs is refused.
func group(cmd *cobra.Command) *cobra.Command {
	cmd.Args = args(0, -1)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return cmd.Help()
		}
		return unknownCommand(cmd, args[0])
	}
	return cmd
}

func unknownCommand(cmd *cobra.Command, name string) error {
	return &usageError{"unknown command " + quote(name) + didYouMean(cmd, name), cmd.CommandPath()}
}

// exclusive refuses a command line with two of the flags.
func exclusive(check cobra.PositionalArgs, flags ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, given []string) error {
		var set []string
		for _, name := range flags {
			if cmd.Flags().Changed(name) {
				set = append(set, "--"+name)
			}
		}
		if len(set) > 1 {
			return &usageError{strings.Join(set, " and ") + " exclude each other", cmd.CommandPath()}
		}
		return check(cmd, given)
	}
}
