package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"piwatch/internal/bridge"
)

func (a *app) upgradeCommand() *cobra.Command {
	var flags installFlags
	cmd := &cobra.Command{
		Use:     "upgrade",
		GroupID: groupSetUp,
		Short:   "Bring the installed bridges up to this release",
		Long: `Bring the installed bridges up to this release of piwatch: yours, and that of the
project you are in. Where none is, none is put. A hub of another release is
stopped. A Pi that runs keeps its bridge until /reload; piwatch doctor says which.`,
		Example: "  piwatch upgrade",
		Args:    args(0, 0),
		RunE:    func(*cobra.Command, []string) error { return a.upgrade(flags.force) },
	}
	cmd.Flags().BoolVar(&flags.force, "force", false, "also when the installed file was edited")
	return cmd
}

func (a *app) upgrade(force bool) error {
	if err := a.outsidePi(); err != nil {
		return err
	}
	binary, err := executable()
	if err != nil {
		return err
	}
	found, changed := false, false
	for _, place := range []installFlags{{}, {project: true}} {
		dir, err := a.piDir(place)
		if err != nil {
			return err
		}
		status, err := bridge.Inspect(dir, binary, a.version)
		if err != nil {
			return err
		}
		if status.State == bridge.Missing {
			continue
		}
		found = true
		old := status.Version
		status, change, err := bridge.Install(dir, binary, a.version, force)
		if err != nil {
			return err
		}
		changed = changed || change != bridge.Unchanged
		fmt.Fprintf(a.out, "%s: %s (piwatch %s, was %s)\n", status.Path, change, status.Version, orDash(old))
	}
	if !found {
		return &refusedError{"no bridge is installed", "piwatch install"}
	}
	if err := a.retireHub(); err != nil {
		return err
	}
	if changed {
		fmt.Fprintln(a.out, "next: /reload in each Pi that runs")
	}
	return nil
}
