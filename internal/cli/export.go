package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"piwatch/internal/export"
	"piwatch/internal/timeline"
)

// exportFlags say what is written, and where.
type exportFlags struct {
	html, markdown bool
	out            string
}

func (a *app) exportCommand() *cobra.Command {
	var who naming
	var flags exportFlags
	cmd := &cobra.Command{
		Use:     "export SESSION",
		GroupID: groupWatch,
		Short:   "Write the timeline of a session as a page to share",
		Long: `Write the timeline of a session, with its checks and folds, as a page to share:
HTML that needs no other file and loads nothing, or Markdown. It goes to stdout,
or with -o to a file, which must not be there yet. What the session holds is in
it, also what a tool printed: look at it before you share it.

` + sessionHelp + `
Here it may also be the path of a session file.`,
		Example:           "  piwatch export --html . > session.html\n  piwatch export --md --last -o session.md",
		Args:              exclusive(who.args(0, 0), "html", "md"),
		ValidArgsFunction: a.completeAny(&who),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !flags.html && !flags.markdown {
				return &usageError{"--html or --md is missing", cmd.CommandPath()}
			}
			name, _ := who.split(args)
			return a.export(cmd.Context(), name, flags)
		},
	}
	who.add(cmd)
	cmd.Flags().BoolVar(&flags.html, "html", false, "write HTML")
	cmd.Flags().BoolVar(&flags.markdown, "md", false, "write Markdown")
	cmd.Flags().StringVarP(&flags.out, "output", "o", "", "the file to write; one that is there is left alone")
	return cmd
}

func (a *app) export(ctx context.Context, name string, flags exportFlags) error {
	t, err := a.findAny(ctx, name)
	if err != nil {
		return err
	}
	s, err := readStory(ctx, t.File, wholeTexts)
	if err != nil {
		return err
	}
	page := export.Page{Title: t.label(), Session: t.ID, Cwd: t.Cwd, Version: a.version, Rows: s.builder.Rows()}
	if t.Live != nil {
		page.Model = t.Live.Model
	}
	write := export.HTML
	if flags.markdown {
		write = export.Markdown
	}
	if flags.out == "" {
		return buffered(a.out, func(out io.Writer) error { return write(out, page) })
	}
	file, err := os.OpenFile(flags.out, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) // it holds all that tools printed
	switch {
	case errors.Is(err, os.ErrExist):
		return &refusedError{flags.out + " is there already, and was left alone", "name another file"}
	case err != nil:
		return err
	}
	err = errors.Join(buffered(file, func(out io.Writer) error { return write(out, page) }), file.Close())
	if err != nil {
		return errors.Join(err, os.Remove(flags.out)) // half a page is none
	}
	_, err = fmt.Fprintf(a.err, "%s: %d rows\n", timeline.OneLine(flags.out), len(page.Rows))
	return err
}

func buffered(out io.Writer, write func(io.Writer) error) error {
	b := bufio.NewWriter(out)
	if err := write(b); err != nil {
		return err
	}
	return b.Flush()
}
