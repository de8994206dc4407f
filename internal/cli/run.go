package cli

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"piwatch/internal/watchdog"
)

// envPi names the Pi that piwatch starts.
const envPi = "PIWATCH_PI"

// runFlags are how a task is run.
type runFlags struct {
	settings watchdog.Settings
	mode     string
	total    time.Duration
	model    string
	pi       string
	dir      string
	quiet    bool
}

func (a *app) runCommand() *cobra.Command {
	var flags runFlags
	cmd := &cobra.Command{
		Use:     "run TASK... [-- PI-ARGS...]",
		GroupID: groupWatch,
		Short:   "Run a task to its end with a Pi of its own, without a screen",
		Long: `Run a task to its end with a Pi of its own, without a screen: a sub-agent. Pi is
started with the bridge, which need not be installed, and gets the task. When the
agent stops it is asked at once whether it is done, and sent back to work when it
is not. Progress goes to stderr, as lines of the timeline; the result, the agent's
last text, to stdout. With --json there is an object a line on stdout instead, for
the start, each row, a question, and the end with the result.

It ends when the agent says that it is done (exit code 0) or needs the user (10),
when the cap of checks is reached (11), when the breaker trips, Pi or the provider
fails (12), or when --timeout-total is over (13). With mode=keep, the default where
stdin is a terminal, an agent that needs the user gets an answer from there and
goes on. One ctrl+c stops the agent, and Pi in good order; a second kills it. No
Pi is left behind.

TASK - is read from stdin. What stands after -- goes to Pi; without a TASK before
it, the first word after -- is the task. The session is kept, as any other of Pi:
piwatch log --last. A model, tools and all else are those of Pi's settings.`,
		Example: `  piwatch run "Make the tests pass"
  piwatch run --model anthropic/claude-sonnet --max 5 "Port the parser" > result.txt
  piwatch run --timeout-total 30m --json "Write the docs" -- --tools read,write
  piwatch run -- "Fix the build"`,
		Args: func(cmd *cobra.Command, given []string) error {
			if len(given) == 0 {
				return &usageError{"a task is missing: " + cmd.UseLine(), cmd.CommandPath()}
			}
			return nil
		},
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, given []string) error {
			task, args := taskOf(given, cmd.ArgsLenAtDash())
			return a.runTask(cmd.Context(), task, args, flags)
		},
	}
	set := cmd.Flags()
	flags.settings = watchdog.Defaults()
	set.IntVar(&flags.settings.Timeout, "timeout", 0, "seconds of idleness before the agent is asked")
	set.IntVar(&flags.settings.Max, "max", flags.settings.Max, "checks at most between two messages of yours")
	set.StringVar(&flags.mode, "mode", "", "once: wait_user ends it; keep: it asks you where there is a terminal")
	set.StringVar(&flags.settings.Message, "message", "", "added when the agent is sent back to work")
	set.DurationVar(&flags.total, "timeout-total", 0, "no longer than this in all, as in 90s or 1h30m; 0 for ever")
	set.StringVar(&flags.model, "model", "", "the model, as Pi's --model takes it")
	set.StringVar(&flags.pi, "pi", "", "the program of Pi; "+envPi+", else pi in PATH")
	set.StringVarP(&flags.dir, "dir", "C", "", "the folder in which Pi works, instead of this one")
	set.BoolVarP(&flags.quiet, "quiet", "q", false, "print no progress")
	_ = cmd.RegisterFlagCompletionFunc("mode", cobra.FixedCompletions(modeWords(""), cobra.ShellCompDirectiveNoFileComp)) // the flag is there
	a.addJSON(cmd)
	return cmd
}

// taskOf tells the task from the arguments for Pi. dash is how many arguments
// stand before --, -1 when there is none.
func taskOf(given []string, dash int) (task string, args []string) {
	switch {
	case dash < 0:
		dash = len(given)
	case dash == 0:
		return given[0], given[1:]
	}
	return strings.Join(given[:dash], " "), given[dash:]
}

// readTask reads a task that is given as -.
func readTask(task string, in io.Reader) (string, error) {
	if task == "-" {
		data, err := io.ReadAll(in)
		if err != nil {
			return "", fmt.Errorf("read the task: %w", err)
		}
		task = string(data)
	}
	if strings.TrimSpace(task) == "" {
		return "", &usageError{"the task is empty", "piwatch run"}
	}
	return task, nil
}

// notForPi are the arguments that piwatch run gives itself, or that it cannot
// keep its word with.
var notForPi = map[string]string{
	"--mode": "piwatch speaks with Pi in rpc mode", "--print": "piwatch prints the result", "-p": "piwatch prints the result",
	"--no-session": "the session file is the record of the watchdog; with --session-dir it is wherever you want it",
	"--resume":     "there is no screen to choose on; --session or --continue will do", "-r": "there is no screen to choose on; --session or --continue will do",
	"--model": "it is a flag of piwatch run",
}

// piArgs checks what the user gives Pi.
func piArgs(args []string) error {
	for _, arg := range args {
		name, _, _ := strings.Cut(arg, "=")
		if why, ours := notForPi[name]; ours {
			return &usageError{quote(arg) + " is not for Pi here: " + why, "piwatch run"}
		}
	}
	return nil
}

// settingsOf are the settings of the watchdog, checked by their own grammar.
func (a *app) settingsOf(flags runFlags) (watchdog.Settings, error) {
	s := flags.settings
	switch {
	case flags.mode != "":
		s.Mode = watchdog.Mode(flags.mode)
	case a.asks():
		s.Mode = watchdog.Keep
	}
	return watchdog.Parse(s.String())
}

// asks says whether there is somebody to ask: stdin and stderr are a terminal.
func (a *app) asks() bool { return a.inTTY && a.errTTY }

// findPi is the program of Pi.
func (a *app) findPi(flag string) (string, error) {
	name := cmp.Or(flag, a.env(envPi), "pi")
	path, err := exec.LookPath(name)
	if err != nil {
		return "", &notFoundError{err}
	}
	return path, nil
}

// notFoundError says that there is no Pi.
type notFoundError struct{ err error }

func (e *notFoundError) Error() string { return "no Pi: " + e.err.Error() }
func (e *notFoundError) Unwrap() error { return e.err }

// Hint says how to go on.
func (e *notFoundError) Hint() string {
	return "name it with --pi or " + envPi + ", or install it: npm install -g @earendil-works/pi-coding-agent"
}

// envFor is the environment of a Pi that is watched with these settings.
func envFor(env []string, s watchdog.Settings) []string {
	env = slices.DeleteFunc(slices.Clone(env), func(pair string) bool { return strings.HasPrefix(pair, "PI_WATCHDOG=") })
	return append(env, "PI_WATCHDOG="+s.String())
}

// question asks the user on the terminal; ok is false when there is no answer.
func question(in *bufio.Reader, out io.Writer, text string) (answer string, ok bool) {
	for {
		fmt.Fprint(out, text)
		line, err := in.ReadString('\n')
		if line = strings.TrimSpace(line); line != "" {
			return line, true
		}
		if err != nil {
			fmt.Fprintln(out)
			return "", false
		}
	}
}
