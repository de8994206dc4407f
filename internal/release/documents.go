package release

import (
	"bytes"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"piwatch/internal/cli"
)

// documents are the completions and the man pages of a command line.
func documents(root *cobra.Command, version string, date time.Time) ([]file, error) {
	root.InitDefaultCompletionCmd()
	root.InitDefaultHelpCmd()
	var files []file
	for name, write := range map[string]func(*bytes.Buffer) error{
		"completions/piwatch.bash": func(b *bytes.Buffer) error { return root.GenBashCompletionV2(b, true) },
		"completions/_piwatch":     func(b *bytes.Buffer) error { return root.GenZshCompletion(b) },
		"completions/piwatch.fish": func(b *bytes.Buffer) error { return root.GenFishCompletion(b, true) },
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		files = append(files, file{name: name, data: b.Bytes()})
	}
	return append(files, manPages(root, version, date, cli.Manual())...), nil
}
