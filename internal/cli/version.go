package cli

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"piwatch/internal/control"
)

// versionInfo is what piwatch version --json prints.
type versionInfo struct {
	Version  string `json:"version"`
	Commit   string `json:"commit"` // "" when it is not known
	Date     string `json:"date"`   // of the commit
	Protocol int    `json:"protocol"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func (a *app) versionCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "version",
		GroupID: groupOther,
		Short:   "Print the version, the commit and its date, and the protocol of the control channel",
		Long: `Print the version, the commit it was built from and the date of that commit, and
the protocol of the control channel. The date is not that of the build: builds of
one commit are the same to the byte.`,
		Args: args(0, 0),
		RunE: func(*cobra.Command, []string) error { return a.printVersion() },
	}
	a.addJSON(cmd)
	return cmd
}

func (a *app) printVersion() error {
	v := versionInfo{a.version, a.build.Commit, a.build.Date, control.Protocol, runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
	if a.json {
		return a.printJSON(v)
	}
	commit := "unknown"
	if v.Commit != "" {
		commit = v.Commit + " of " + v.Date
	}
	_, err := fmt.Fprintf(a.out, "piwatch %s\ncommit %s\nprotocol %d\n%s %s\n", v.Version, commit, v.Protocol, v.Go, v.Platform)
	return err
}
