package export

import (
	_ "embed" // the page
	"fmt"
	"html/template"
	"io"

	"piwatch/internal/timeline"
)

//go:embed page.tmpl
var pageText string

var page = template.Must(template.New("page").Parse(pageText))

// HTML writes the page. It needs no other file, runs no script, and may load
// nothing. The error is that of the writer.
func HTML(out io.Writer, p Page) error {
	err := page.Execute(out, map[string]any{
		"Title": timeline.OneLine(p.Title), "Session": timeline.OneLine(p.Session), "Cwd": timeline.OneLine(p.Cwd),
		"Model": timeline.OneLine(p.Model), "Version": p.Version, "Counts": p.counts(), "Items": p.items(),
	})
	if err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	return nil
}
