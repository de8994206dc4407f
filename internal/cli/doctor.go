package cli

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"piwatch/internal/config"
	"piwatch/internal/doctor"
	"piwatch/internal/timeline"
)

func (a *app) doctorCommand() *cobra.Command {
	var piProgram string
	cmd := &cobra.Command{
		Use:     "doctor",
		GroupID: groupSetUp,
		Short:   "Look at everything piwatch needs, and say what is wrong and what to do",
		Long: `Look at everything piwatch needs, and say what is wrong and what to do: Pi and its
Node, the bridge as installed and in each session that runs, other watchdogs, the
hub and its socket, folders, the config, file system events, the terminal, tmux.
Nothing is changed.

Each line is ok, warn (it works, but not all of it) or fail; below the last two
stands the next step. The exit code is 0 when nothing fails, else 1.`,
		Example: "  piwatch doctor\n  piwatch doctor --json",
		Args:    args(0, 0),
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.doctor(cmd.Context(), piProgram) },
	}
	cmd.Flags().StringVar(&piProgram, "pi", "", "the program of Pi; "+envPi+", else pi in PATH")
	a.addJSON(cmd)
	return cmd
}

func (a *app) doctor(ctx context.Context, piProgram string) error {
	cwd, err := workDir()
	if err != nil {
		return err
	}
	binary, err := os.Executable()
	if err != nil {
		return err
	}
	if piProgram == "" {
		piProgram = a.env(envPi)
	}
	w := doctor.World{
		Env: a.env, Home: a.env("HOME"), Cwd: cwd, Pi: piProgram, Version: a.version, Binary: binary,
		Dial: a.dial, Config: a.configProblems, Notify: a.notifyWays(), In: a.in,
	}
	if out, isFile := a.out.(*os.File); isFile {
		w.Out = out
	}
	report := doctor.Examine(ctx, w)
	if a.json {
		err = a.printJSON(report)
	} else {
		err = a.printReport(report)
	}
	if err == nil && !report.OK {
		err = &silentError{exitError}
	}
	return err
}

func (a *app) printReport(r doctor.Report) error {
	var text strings.Builder
	for _, f := range r.Findings {
		fmt.Fprintf(&text, "%-4s  %-8s  %s\n", f.Level, f.Area, timeline.OneLine(f.Text))
		if f.Next != "" {
			fmt.Fprintf(&text, "%-16s-> %s\n", "", timeline.OneLine(f.Next))
		}
	}
	_, err := fmt.Fprint(a.out, text.String()) // not cut: the end of a path matters
	return err
}

// notifyWays are the ways in which the config tells the user something.
func (a *app) notifyWays() []string {
	file, err := config.File(a.env)
	if err != nil {
		return nil
	}
	set, _ := config.ReadScreen(file, a.env) // the line on the config tells what is wrong
	var all []string
	for _, ways := range notifications(set) {
		for _, way := range ways {
			all = append(all, string(way))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
