package cli

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"piwatch/internal/control"
)

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		GroupID: groupOther,
		Short:   "Print the version, and the protocol of the control channel",
		Args:    args(0, 0),
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(a.out, "piwatch %s\nprotocol %d\n%s %s/%s\n",
				a.version, control.Protocol, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}
