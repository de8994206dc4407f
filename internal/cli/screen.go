package cli

import (
	"context"
	"errors"
	"os"

	"github.com/spf13/cobra"

	"piwatch/internal/config"
	"piwatch/internal/control"
	"piwatch/internal/demo"
	"piwatch/internal/hub"
	"piwatch/internal/pi"
	"piwatch/ui"
)

// screenFlags are what the screen can be told on the command line.
type screenFlags struct {
	theme string
	ascii bool
}

func (f *screenFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.theme, "theme", "", "name of a theme")
	cmd.Flags().BoolVar(&f.ascii, "ascii", false, "draw with ASCII signs only")
}

func (f screenFlags) options(a *app) (ui.Options, error) {
	themes, err := config.ThemeDir(a.env)
	return ui.Options{Theme: f.theme, ThemeDir: themes, ASCII: f.ascii}, err
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
	return ui.Run(ctx, options)
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
Nothing of yours is read or written. Without a terminal, or with --plain, the
story is told in lines.`,
		Example: "  piwatch demo\n  piwatch demo --plain",
		Args:    args(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			options.Hub = func(ctx context.Context, socket string, ready chan<- struct{}) error {
				return hub.Run(ctx, hub.Options{Socket: socket, Version: a.version, Ready: ready})
			}
			if a.tty {
				options.Screen = a.demoScreen(flags)
			}
			return demo.Run(cmd.Context(), options)
		},
	}
	flags.add(cmd)
	cmd.Flags().BoolVar(&options.Plain, "plain", false, "tell the story in lines")
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
		return ui.Run(ctx, options)
	}
}
