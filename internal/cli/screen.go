package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"piwatch/internal/config"
	"piwatch/internal/control"
	"piwatch/internal/demo"
	"piwatch/internal/hub"
	"piwatch/internal/notify"
	"piwatch/internal/pi"
	"piwatch/ui"
)

// screenFlags are what the screen can be told on the command line.
// They come before what the config file says.
type screenFlags struct {
	theme               string
	ascii, mouse, still bool
	plain               bool
}

// add adds them; plain says what is printed instead of a screen.
func (f *screenFlags) add(cmd *cobra.Command, plain string) {
	cmd.Flags().StringVar(&f.theme, "theme", "", "name of a theme")
	cmd.Flags().BoolVar(&f.ascii, "ascii", false, "draw with ASCII signs only")
	cmd.Flags().BoolVar(&f.mouse, "mouse", false, "mouse on at the start")
	cmd.Flags().BoolVar(&f.plain, "plain", false, plain)
	cmd.Flags().BoolVar(&f.still, "still", false, "nothing moves by itself: countdowns say when they end")
}

// lines says whether there is to be no screen: by the flag, or since the
// terminal can do nothing but print.
func (f *screenFlags) lines(a *app) bool { return f.plain || a.tty && a.env("TERM") == "dumb" }

// options are those of the config file and of the flags. What is wrong in the
// file is told on the screen, and the rest of it counts.
func (f screenFlags) options(a *app) (ui.Options, error) {
	themes, piThemes, errThemes := a.themeDirs()
	file, errFile := config.File(a.env)
	if err := errors.Join(errThemes, errFile); err != nil {
		return ui.Options{}, err
	}
	set, errScreen := config.ReadScreen(file, a.env)
	o := ui.Options{
		Theme: set.Theme, ThemeDir: themes, PiThemeDir: piThemes,
		ASCII: set.ASCII || f.ascii, Mouse: set.Mouse || f.mouse, Still: set.Still || f.still,
		Notify: notifications(set), Getenv: a.env,
	}
	o.Keys = rebindings(set)
	err := config.Check(file, a.env) // of all tables: who looks at the screen sees it
	if err == nil {
		err = errScreen
	}
	if err != nil {
		o.Problems = strings.Split(err.Error(), "\n")
	}
	if problems := a.themeProblems(set); len(problems) > 0 {
		o.Theme = ""
		o.Problems = append(o.Problems, problems[0]) // of the files the screen itself tells
	}
	if f.theme != "" {
		o.Theme = f.theme
	}
	return o, nil
}

// notifications are how the user is told of each event: as it is set, else as it
// is set for all but the end of work.
func notifications(set config.Screen) map[ui.Event][]notify.Way {
	told := map[ui.Event][]notify.Way{}
	for _, e := range ui.Events() {
		ways := set.Events[string(e)]
		if ways == nil && set.Notify != "" && e != ui.EventDone {
			ways = []string{set.Notify}
		}
		for _, way := range ways {
			told[e] = append(told[e], notify.Way(way))
		}
	}
	return told
}

// screen shows all sessions until the user leaves. It starts a hub when there
// is none; the hub stays.
func (a *app) screen(ctx context.Context, flags screenFlags) error {
	options, err := flags.options(a)
	if err != nil {
		return err
	}
	starter, err := a.starter("tui")
	if err != nil {
		return err
	}
	cwd, err := os.Getwd()
	if err != nil {
		return err
	}
	if options.Dirs, err = pi.SessionDirs(a.env, a.env("HOME"), cwd); err != nil {
		return err
	}
	options.Redial = func(ctx context.Context) (ui.Hub, error) {
		client, err := control.EnsureHub(ctx, starter)
		switch {
		case err != nil:
			return nil, err
		case a.insidePi() != "":
			return reader{client, a}, nil
		}
		return client, nil
	}
	if flags.lines(a) {
		return ui.Lines(ctx, a.out, options)
	}
	return a.run(ctx, options)
}

// run shows the screen. When it breaks, what happened is in a log: a terminal
// that was just put back is no place for a stack.
func (a *app) run(ctx context.Context, options ui.Options) error {
	// A large session on the screen is mostly text that stays: less than half as much again
	// is enough room for what goes.
	debug.SetGCPercent(40)
	err := ui.Run(ctx, options)
	var crash *ui.CrashError
	if !errors.As(err, &crash) {
		return err
	}
	state, errState := config.StateDir(a.env)
	if errState != nil {
		return errors.Join(err, errState)
	}
	file := filepath.Join(state, "screen.log")
	text := fmt.Sprintf("%s piwatch %s: %v\n%s\n", time.Now().Format(time.RFC3339), a.version, crash, crash.Stack)
	if errLog := appendLog(file, text); errLog != nil {
		return errors.Join(err, errLog)
	}
	return fmt.Errorf("%w; more is in %s", err, file)
}

func appendLog(file, text string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	log, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = log.WriteString(text)
	return errors.Join(err, log.Close())
}

// starter says how a hub is started.
func (a *app) starter(name string) (control.Starter, error) {
	socket, errSocket := control.SocketPath(a.env)
	state, errState := config.StateDir(a.env)
	binary, errBinary := os.Executable()
	return control.Starter{
		Socket:   socket,
		StateDir: state,
		Version:  a.version,
		Name:     name,
		Command:  []string{binary, "hub", "run"},
	}, errors.Join(errSocket, errState, errBinary)
}

// reader is a connection that may look and not steer.
type reader struct {
	*control.Client
	app *app
}

func (r reader) Steer(context.Context, string, control.SteerParams) (control.CommandReply, error) {
	return control.CommandReply{}, r.app.outsidePi()
}

func (a *app) demoCommand() *cobra.Command {
	var flags screenFlags
	options := demo.Options{Version: a.version, Out: a.out}
	cmd := &cobra.Command{
		Use:     "demo",
		GroupID: groupWatch,
		Short:   "See it without Pi: a scripted agent, the real hub, the real screen",
		Long: `See piwatch at work without Pi, key or network: a stand-in plays scripted agents
in a temporary folder, the real hub watches them, and the real screen shows it.
Nothing of yours is read or written. Without a terminal, with --plain, or where
TERM is dumb, the story is told in lines.`,
		Example: "  piwatch demo\n  piwatch demo --plain",
		Args:    args(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := flags.refuseTheme(a, cmd.CommandPath()); err != nil {
				return err
			}
			options.Hub = func(ctx context.Context, socket string, ready chan<- struct{}) error {
				return hub.Run(ctx, hub.Options{Socket: socket, Version: a.version, Ready: ready})
			}
			if a.tty && !flags.lines(a) {
				options.Screen = a.demoScreen(flags)
			}
			return demo.Run(cmd.Context(), options)
		},
	}
	flags.add(cmd, "tell the story in lines, and draw nothing")
	cmd.Flags().Float64Var(&options.Speed, "speed", 1, "how many times faster the story goes")
	return cmd
}

// demoScreen shows the world of the demo, and nothing else.
func (a *app) demoScreen(flags screenFlags) func(context.Context, demo.World) error {
	return func(ctx context.Context, w demo.World) error {
		options, err := flags.options(a)
		if err != nil {
			return err
		}
		options.Dirs = []pi.Dir{{Path: w.Sessions, Source: pi.FromDefault}}
		options.Select = w.Main
		options.Redial = func(ctx context.Context) (ui.Hub, error) {
			client, err := control.DialClient(ctx, w.Socket, a.version, "tui")
			if err != nil {
				return nil, err
			}
			return client, nil
		}
		return a.run(ctx, options)
	}
}
