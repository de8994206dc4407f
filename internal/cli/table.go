package cli

import (
	"io"
	"os"
	"strings"

	"github.com/clipperhouse/displaywidth"
	"golang.org/x/sys/unix"

	"piwatch/internal/timeline"
)

// columnGap is what stands between two columns, in cells.
const columnGap = 2

// printTable prints rows in columns, by the width that a terminal gives their
// letters: cut to the terminal where out is one, whole elsewhere. The cells may
// be foreign text.
func printTable(out io.Writer, head []string, rows [][]string) error {
	all := append([][]string{head}, rows...)
	widths := make([]int, len(head))
	for i, row := range all {
		if i > 0 {
			for j, cell := range row {
				row[j] = orDash(timeline.OneLine(cell))
			}
		}
		for j, cell := range row {
			widths[j] = max(widths[j], displaywidth.String(cell))
		}
	}
	var text strings.Builder
	for _, row := range all {
		for j, cell := range row {
			text.WriteString(cell)
			text.WriteString(strings.Repeat(" ", widths[j]-displaywidth.String(cell)+columnGap))
		}
		text.WriteString("\n")
	}
	return printLines(out, text.String())
}

// printLines prints lines, cut to the terminal where out is one.
func printLines(out io.Writer, text string) error {
	_, err := io.WriteString(out, cutLines(text, columns(out)))
	return err
}

// cutLines cuts each line to a width in cells; 0: whole.
func cutLines(text string, width int) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \n")
		if width > 0 {
			line = displaywidth.TruncateString(line, width, "…")
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// columns is the width of the terminal, 0 where there is none.
func columns(out io.Writer) int {
	file, ok := out.(*os.File)
	if !ok {
		return 0
	}
	size, err := unix.IoctlGetWinsize(int(file.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0 // not a terminal
	}
	return int(size.Col)
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
