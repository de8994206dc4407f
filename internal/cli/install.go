package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"piwatch/internal/bridge"
	"piwatch/internal/control"
)

// installFlags say where the bridge goes.
type installFlags struct {
	project bool
	pi      string
	force   bool
}

func (f *installFlags) add(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.project, "project", false, "the .pi folder of this project, instead of all projects of yours")
	cmd.Flags().StringVar(&f.pi, "pi", "", "another Pi: its agent folder, or its program")
	cmd.Flags().BoolVar(&f.force, "force", false, "also when the installed file was edited")
}

const installPlaces = `The bridge is one file, extensions/piwatch.ts in Pi's agent folder
(PI_CODING_AGENT_DIR, else ~/.pi/agent), with --project in .pi of the folder you
are in, or with --pi in that of another Pi. A file of that name that piwatch did
not write is left alone. It is replaced as a whole: a Pi that starts meanwhile
sees the old one or the new one, and one that runs keeps what it has until
/reload.`

func (a *app) installCommand() *cobra.Command {
	var flags installFlags
	cmd := &cobra.Command{
		Use:     "install",
		GroupID: groupSetUp,
		Short:   "Put the bridge into Pi",
		Long:    "Put the bridge into Pi, or bring it up to date.\n\n" + installPlaces,
		Example: "  piwatch install\n  piwatch install --project\n  piwatch install --pi ~/agents/second",
		Args:    exclusive(args(0, 0), "project", "pi"),
		RunE:    func(*cobra.Command, []string) error { return a.install(flags) },
	}
	flags.add(cmd)
	return cmd
}

func (a *app) uninstallCommand() *cobra.Command {
	var flags installFlags
	cmd := &cobra.Command{
		Use:     "uninstall",
		GroupID: groupSetUp,
		Short:   "Take the bridge out of Pi",
		Long:    "Take the bridge out of Pi. A Pi that runs keeps it until /reload.\n\n" + installPlaces,
		Example: "  piwatch uninstall",
		Args:    exclusive(args(0, 0), "project", "pi"),
		RunE:    func(*cobra.Command, []string) error { return a.uninstall(flags) },
	}
	flags.add(cmd)
	return cmd
}

func (a *app) install(flags installFlags) error {
	if err := a.outsidePi(); err != nil {
		return err
	}
	dir, err := a.piDir(flags)
	if err != nil {
		return err
	}
	binary, err := executable()
	if err != nil {
		return err
	}
	status, change, err := bridge.Install(dir, binary, a.version, flags.force)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.out, "%s: %s (piwatch %s)\n", status.Path, change, status.Version)
	if err := a.retireHub(); err != nil {
		return err
	}
	if change == bridge.Unchanged {
		return nil
	}
	fmt.Fprintln(a.out, "next: start Pi, or /reload in one that runs, and there: /watchdog timeout=30")
	if flags.project {
		fmt.Fprintln(a.out, "Pi loads it only when it trusts this project")
	}
	return nil
}

// retireHub stops a hub of another release, so that the next one is of this: a
// Pi with the bridge, or the next command, starts it. None is fine.
func (a *app) retireHub() error {
	socket, err := control.SocketPath(a.env)
	if err != nil {
		return nil // then no hub can run either
	}
	ctx, cancel := context.WithTimeout(context.Background(), callTimeout)
	defer cancel()
	client, err := control.DialClient(ctx, socket, a.version, "cli")
	var other *control.ProtocolError
	switch {
	case err == nil:
		defer client.Close()
		if client.Hub.Hub == a.version {
			return nil
		}
	case !errors.As(err, &other):
		return nil
	}
	if err := control.EndHub(ctx, socket, a.version, "piwatch "+a.version+" was installed"); err != nil {
		return fmt.Errorf("the hub of another release still runs: %w", err)
	}
	fmt.Fprintln(a.out, "the hub of another release was stopped; one of this is started when it is needed")
	return nil
}

func (a *app) uninstall(flags installFlags) error {
	if err := a.outsidePi(); err != nil {
		return err
	}
	dir, err := a.piDir(flags)
	if err != nil {
		return err
	}
	status, change, err := bridge.Uninstall(dir, flags.force)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.out, "%s: %s\n", status.Path, change)
	return nil
}

// executable is the path of this program, as the bridge will call it.
func executable() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	if strings.Contains(path, string(filepath.Separator)+"go-build") {
		return "", errors.New("this program was built by go run and is gone in a moment; build it first: make build")
	}
	return path, nil
}
