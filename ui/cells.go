package ui

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// width is the number of cells that s takes, by grapheme.
func width(s string) int { return ansi.StringWidth(s) }

// fit cuts or fills s to exactly w cells.
func fit(s string, w int, more string) string {
	s = clip(s, w, more)
	return s + strings.Repeat(" ", max(w-width(s), 0))
}

// clip cuts s to at most w cells.
func clip(s string, w int, more string) string {
	switch {
	case w <= 0:
		return ""
	case width(s) <= w:
		return s
	}
	if width(more) > w {
		more = ""
	}
	return ansi.Truncate(s, w, more)
}

// wrap breaks text into lines of at most w cells, and gives at most limit of
// them; whole says that this is all of the text.
func wrap(s string, w, limit int) (lines []string, whole bool) {
	if w <= 0 || limit <= 0 {
		return nil, s == ""
	}
	for _, paragraph := range strings.Split(s, "\n") {
		if len(lines) >= limit {
			return lines, false
		}
		// A long paragraph is cut before it is wrapped: what is out of sight
		// costs nothing.
		if most := w * (limit + 1) * 4; len(paragraph) > most {
			paragraph = strings.ToValidUTF8(paragraph[:most], "")
		}
		for _, line := range strings.Split(ansi.Wrap(paragraph, w, ""), "\n") {
			if len(lines) >= limit {
				return lines, false
			}
			lines = append(lines, clip(strings.TrimRight(line, " "), w, ""))
		}
	}
	return lines, true
}

// fill makes lines a block of exactly w × h cells.
func fill(lines []string, w, h int, more string) []string {
	block := make([]string, max(h, 0))
	for i := range block {
		line := ""
		if i < len(lines) {
			line = lines[i]
		}
		block[i] = fit(line, w, more)
	}
	return block
}
