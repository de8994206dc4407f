package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"piwatch/internal/config"
	"piwatch/internal/control"
	"piwatch/internal/hub"
	"piwatch/internal/loop"
	"piwatch/internal/pi"
)

func (a *app) hubCommand() *cobra.Command {
	cmd := group(&cobra.Command{
		Use:     "hub",
		GroupID: groupSetUp,
		Short:   "Run, stop or look at the hub, and its log",
		Long: `The hub is the one process of a user that decides for all sessions. Whoever needs
it first starts it: the screen, or a Pi with the bridge. It leaves by itself
after a minute with neither.`,
	})
	status := &cobra.Command{
		Use:   "status",
		Short: "Say whether the hub runs, and where its socket and log are",
		Args:  args(0, 0),
		RunE:  func(cmd *cobra.Command, _ []string) error { return a.hubStatus(cmd.Context()) },
	}
	a.addJSON(status)
	var follow bool
	var lines int
	logs := &cobra.Command{
		Use:     "log",
		Short:   "Print the log of the hub",
		Long:    "Print the log of the hub: what it did and, for every time nothing was sent, why not.\nWith -f it goes on as the hub does, until ctrl+c.",
		Example: "  piwatch hub log -n 20\n  piwatch hub log -f",
		Args:    args(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			path, err := config.HubLog(a.env)
			if err != nil {
				return err
			}
			return a.followFile(cmd.Context(), path, lines, follow)
		},
	}
	logs.Flags().BoolVarP(&follow, "follow", "f", false, "go on as the hub does")
	logs.Flags().IntVarP(&lines, "lines", "n", -1, "of what is there only the last so many lines; -1 for all")
	cmd.AddCommand(
		logs,
		&cobra.Command{
			Use:   "run",
			Short: "Run the hub here, until it is stopped or not needed",
			Args:  args(0, 0),
			RunE:  func(cmd *cobra.Command, _ []string) error { return a.hubRun(cmd.Context()) },
		},
		&cobra.Command{
			Use:   "stop",
			Short: "Stop the hub; nothing is lost, the sessions keep their record",
			Args:  args(0, 0),
			RunE:  func(cmd *cobra.Command, _ []string) error { return a.hubStop(cmd.Context()) },
		},
		status,
	)
	return cmd
}

func (a *app) hubRun(ctx context.Context) error {
	socket, err := control.SocketPath(a.env)
	if err != nil {
		return err
	}
	log, logger, err := a.openLog()
	if err != nil {
		return err
	}
	defer log.Close()
	ctx, release := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer release()
	proxy, err := a.gatewayOptions(logger)
	if err != nil {
		return err
	}
	err = hub.Run(ctx, hub.Options{
		Socket:      socket,
		Version:     a.version,
		Log:         logger,
		Preferences: a.preferences(logger),
		Gateway:     proxy,
		Supervisor:  a.supervision,
		SessionDirs: a.sessionDirs(logger),
	})
	if errors.Is(err, control.ErrHubRunning) {
		return &refusedError{err.Error(), "one is enough for a user; see: piwatch hub status"}
	}
	return err
}

// preferences reads the config each time, so that a change in it counts at once.
func (a *app) preferences(log *slog.Logger) func() hub.Preferences {
	errs := newErrors{log: log}
	return func() hub.Preferences {
		file, err := config.File(a.env)
		if err != nil {
			errs.note(err)
			return hub.Preferences{}
		}
		watchdog, errWatchdog := config.ReadWatchdog(file)
		guard, errGuard := config.ReadGuard(file)
		errs.note(errors.Join(errWatchdog, errGuard))
		return hub.Preferences{OnStop: watchdog.OnStop, Rollback: watchdog.Rollback, GuardOff: guard.Off}
	}
}

// supervision reads the settings of the supervisor each time, as preferences.
func (a *app) supervision(folder string, changes []loop.Change) (hub.Supervision, error) {
	user, err := config.File(a.env)
	if err != nil {
		user = "" // without a home there is no file of the user
	}
	set, err := config.LoadSupervisor(user, folder, changes)
	return hub.Supervision{Settings: set.Settings, Origin: set.Origin}, err
}

// sessionDirs are the folders in which Pi keeps sessions, whatever the project.
func (a *app) sessionDirs(log *slog.Logger) []string {
	dirs, err := pi.SessionDirs(a.env, a.env("HOME"), "/")
	if err != nil {
		log.Error("folders of sessions", "err", err)
	}
	paths := make([]string, len(dirs))
	for i, dir := range dirs {
		paths[i] = dir.Path
	}
	return paths
}

func (a *app) hubStop(ctx context.Context) error {
	if err := a.outsidePi(); err != nil {
		return err
	}
	socket, err := control.SocketPath(a.env)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	if err := control.EndHub(ctx, socket, a.version, "piwatch hub stop"); err != nil {
		return err
	}
	fmt.Fprintln(a.out, "the hub has stopped; a Pi with the bridge starts it again")
	return nil
}

// hubState is what piwatch hub status prints as JSON.
type hubState struct {
	Running  bool   `json:"running"`
	Version  string `json:"version,omitempty"`
	Pid      int    `json:"pid,omitempty"`
	Sessions int    `json:"sessions"` // with a bridge
	Socket   string `json:"socket"`
	Log      string `json:"log"`
}

func (a *app) hubStatus(ctx context.Context) error {
	socket, errSocket := control.SocketPath(a.env)
	log, errLog := config.HubLog(a.env)
	if err := errors.Join(errSocket, errLog); err != nil {
		return err
	}
	state := hubState{Socket: socket, Log: log}
	asked := a.withHub(ctx, func(ctx context.Context, client *control.Client) error {
		sessions, err := client.Sessions(ctx)
		state.Running, state.Version, state.Pid, state.Sessions = true, client.Hub.Hub, client.Hub.Pid, len(sessions)
		return err
	})
	switch {
	case a.json:
		return errors.Join(a.printJSON(state), asked)
	case asked != nil:
		return asked
	}
	fmt.Fprintf(a.out, "the hub runs: piwatch %s, pid %d, %d sessions\nsocket  %s\nlog     %s\n",
		state.Version, state.Pid, state.Sessions, state.Socket, state.Log)
	return nil
}
