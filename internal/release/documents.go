package release

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// documents are the completions and the man pages of a command line.
func documents(root *cobra.Command, version string, date time.Time) ([]file, error) {
	root.DisableAutoGenTag = true // it would hold the time of the build
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
	pages, err := manPages(root, &doc.GenManHeader{
		Title: "PIWATCH", Section: "1", Date: &date, Source: "piwatch " + version, Manual: "piwatch",
	})
	return append(files, pages...), err
}

// manPages are those of a command and of all below it.
func manPages(cmd *cobra.Command, header *doc.GenManHeader) ([]file, error) {
	name := strings.ReplaceAll(cmd.CommandPath(), " ", "-")
	one := *header
	one.Title = strings.ToUpper(name)
	cmd.Long = manText(cmd.Long)
	var b bytes.Buffer
	if err := doc.GenMan(cmd, &one, &b); err != nil {
		return nil, fmt.Errorf("man page of %s: %w", name, err)
	}
	files := []file{{name: "man/man1/" + name + ".1", data: b.Bytes()}}
	for _, child := range cmd.Commands() {
		if !child.IsAvailableCommand() && !child.IsAdditionalHelpTopicCommand() || child.Name() == "help" {
			continue
		}
		below, err := manPages(child, header)
		if err != nil {
			return nil, err
		}
		files = append(files, below...)
	}
	return files, nil
}

// manText makes Markdown, from which man pages are made, of the text of a help: what
// is indented there stays line by line.
func manText(help string) string {
	var b strings.Builder
	indented := false
	for line := range strings.Lines(help) {
		if was := indented; strings.TrimSpace(line) != "" {
			indented = strings.HasPrefix(line, " ")
			if was != indented {
				b.WriteString("\n")
			}
		}
		if indented {
			line = "    " + line // a block of code
		}
		b.WriteString(line)
	}
	return b.String()
}
