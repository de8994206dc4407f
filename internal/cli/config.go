package cli

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"piwatch/internal/config"
	"piwatch/internal/timeline"
	"piwatch/ui"
)

func (a *app) configCommand() *cobra.Command {
	cmd := group(&cobra.Command{
		Use:     "config",
		GroupID: groupSetUp,
		Short:   "Show, check or edit the config file",
		Long: `Show, check or edit the config file. A flag goes before the environment, that
before the file, and that before the default.

` + configReference(),
	})
	path := &cobra.Command{
		Use:   "path",
		Short: "Print where the config file is, or would be",
		Args:  args(0, 0),
		RunE: func(*cobra.Command, []string) error {
			file, err := config.File(a.env)
			if err == nil {
				_, err = fmt.Fprintln(a.out, file)
			}
			return err
		},
	}
	origin := true
	show := &cobra.Command{
		Use:   "show",
		Short: "Print every setting as it counts, and where it comes from",
		Long: `Print every setting as it counts in this folder, and where it comes from. Those of
the supervisor may also come from .pi/watchdog-supervisor.json here. That file comes
with the work: it cannot name commands, and cannot let piwatch send more by itself
(alertMode, steerDryRunDefault), unless trustedFolders in the config file names the
folder or one above it.`,
		Args: args(0, 0),
		RunE: func(*cobra.Command, []string) error { return a.configShow(origin) },
	}
	show.Flags().BoolVar(&origin, "origin", true, "say where each value comes from")
	a.addJSON(show)
	check := &cobra.Command{
		Use:   "check",
		Short: "Say what is wrong in the config file, with its line",
		Long:  "Say what is wrong in the config file, in the environment, and in\n.pi/watchdog-supervisor.json of this folder: values that do not fit, settings and\ntables that nobody reads. The exit code is 0 when nothing is.",
		Args:  args(0, 0),
		RunE:  func(*cobra.Command, []string) error { return a.configCheck() },
	}
	edit := &cobra.Command{
		Use:   "edit",
		Short: "Open the config file in your editor, and check it afterwards",
		Long:  "Open the config file in $VISUAL, else $EDITOR, else vi, and check it afterwards. One\nthat is not there yet begins with every setting at its default, commented out.",
		Args:  args(0, 0),
		RunE:  func(*cobra.Command, []string) error { return a.configEdit() },
	}
	cmd.AddCommand(path, show, check, edit, a.configSchema())
	return cmd
}

// configReference lists the settings, for the help.
func configReference() string {
	var b strings.Builder
	for _, s := range config.Reference() {
		value := s.Default
		if value == "" {
			value = "none"
		}
		fmt.Fprintf(&b, "%s (%s): %s\n    %s\n", s.Name(), value, s.What, strings.ReplaceAll(s.Allowed, "`", ""))
		var before []string
		for _, name := range []string{s.Flag, s.Env} {
			if name != "" {
				before = append(before, name)
			}
		}
		if s.Session != "" {
			before = append(before, s.Session+" in the environment of Pi")
		}
		if len(before) > 0 {
			fmt.Fprintf(&b, "    before it: %s\n", strings.Join(before, ", "))
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

// shownSetting is one setting of piwatch config show --json.
type shownSetting struct {
	Name  string `json:"name"`
	Value string `json:"value"` // as it is written in TOML, "" when there is none
	From  string `json:"from"`  // default, file and line, or a variable
}

func (a *app) configShow(origin bool) error {
	file, err := config.File(a.env)
	if err != nil {
		return err
	}
	values, err := config.Show(file, a.env)
	if err != nil {
		return err
	}
	a.inFolder(values)
	var rows [][]string
	all := []shownSetting{}
	for _, v := range values {
		from := v.From
		if in, ok := strings.CutPrefix(from, file+":"); ok {
			from = "line " + in
		}
		row := []string{v.Name(), v.Value}
		if origin {
			row = append(row, from)
		}
		rows = append(rows, row)
		all = append(all, shownSetting{v.Name(), v.Value, v.From})
	}
	if a.json {
		return a.printJSON(all)
	}
	head := []string{"SETTING", "VALUE", "FROM"}
	if !origin {
		head = head[:2]
	}
	return printTable(a.out, head, rows)
}

// configProblems are what is wrong in the config file.
func (a *app) configProblems() (file string, problems []string) {
	file, err := config.File(a.env)
	if err != nil {
		return "", []string{err.Error()}
	}
	if err := config.Check(file, a.env); err != nil {
		problems = strings.Split(err.Error(), "\n")
	}
	set, err := config.ReadScreen(file, a.env)
	if err != nil && len(problems) == 0 {
		problems = strings.Split(err.Error(), "\n")
	}
	problems = append(problems, ui.CheckKeys(rebindings(set))...)
	problems = append(problems, a.themeProblems(set)...)
	return file, append(problems, a.projectProblems()...)
}

// rebindings are the user's keys, as the screen takes them.
func rebindings(set config.Screen) []ui.Rebinding {
	var all []ui.Rebinding
	for _, k := range set.Keys {
		all = append(all, ui.Rebinding{Action: k.Action, Keys: k.Keys, Where: k.Where})
	}
	return all
}

func (a *app) configCheck() error {
	file, problems := a.configProblems()
	for _, p := range problems {
		fmt.Fprintln(a.err, timeline.OneLine(p))
	}
	if len(problems) > 0 {
		return &silentError{exitError}
	}
	text := file + " is fine"
	if _, err := os.Stat(file); err != nil {
		text = file + " is not there: all is at its default"
	}
	_, err := fmt.Fprintln(a.out, text)
	return err
}

func (a *app) configEdit() error {
	if err := a.outsidePi(); err != nil {
		return err
	}
	file, err := config.File(a.env)
	if err != nil {
		return err
	}
	if _, err := os.Stat(file); errors.Is(err, os.ErrNotExist) {
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte(config.Example()), 0o600); err != nil {
			return err
		}
	}
	editor := "vi"
	for _, name := range []string{"EDITOR", "VISUAL"} {
		if value := a.env(name); value != "" {
			editor = value
		}
	}
	// The variable may hold arguments, as others read it too.
	cmd := exec.Command("sh", "-c", editor+` "$1"`, "sh", file)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = a.in, a.out, a.err
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", editor, err)
	}
	return a.configCheck()
}
