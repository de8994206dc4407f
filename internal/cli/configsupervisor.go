package cli

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"piwatch/internal/config"
	"piwatch/internal/loop"
)

func (a *app) configSchema() *cobra.Command {
	return &cobra.Command{
		Use:     "schema",
		Short:   "Print the JSON Schema of .pi/watchdog-supervisor.json",
		Example: `  piwatch config schema > watchdog-supervisor.schema.json`,
		Args:    args(0, 0),
		RunE: func(*cobra.Command, []string) error {
			_, err := a.out.Write(loop.Schema())
			return err
		},
	}
}

// supervisor reads the settings of the supervisor for a folder.
func (a *app) supervisor(folder string) (config.Supervisor, error) {
	user, err := config.File(a.env)
	if err != nil {
		user = "" // without a home there is no file of the user
	}
	if folder, err = filepath.Abs(folder); err != nil {
		return config.Supervisor{}, err
	}
	return config.LoadSupervisor(user, folder, nil)
}

// inFolder puts what the project's file of this folder says over the user's.
func (a *app) inFolder(values []config.Value) {
	set, _ := a.supervisor(".") // what is wrong in it is left out, and told by check
	project := set.InTOML()
	for i := range values {
		v := &values[i]
		if text, ok := project[v.Name()]; ok && set.Origin[v.Key] != config.OriginDefault {
			v.Value, v.From = text, set.Origin[v.Key]
		}
	}
}

// projectProblems are what is wrong in the project's file of this folder.
func (a *app) projectProblems() []string {
	folder, err := os.Getwd()
	if err != nil {
		return nil
	}
	_, err = a.supervisor(folder)
	if err == nil {
		return nil
	}
	var problems []string
	for line := range strings.SplitSeq(err.Error(), "\n") {
		if strings.Contains(line, config.ProjectSupervisor(folder)) {
			problems = append(problems, line)
		}
	}
	return problems
}
