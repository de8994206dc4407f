package ui

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// width is the number of cells that s takes, as tmux 3.3 and most terminals
// count them: marks take none, and letters that others draw as one cluster, as
// in Devanagari, one each. Most of what is measured are ASCII, colours and
// rules, of which the width is plain.
func width(s string) int {
	n := 0
	for i := 0; i < len(s); {
		size, cells := next(s[i:])
		i += size
		n += cells
	}
	return n
}

// next is the length of what s begins with, a rune or a sequence that sets
// colours, and the cells that it takes.
func next(s string) (size, cells int) {
	b := s[0]
	switch {
	case b >= 0x20 && b < 0x7f:
		return 1, 1
	case b == 0x1b && len(s) > 1 && s[1] == '[':
		for size = 2; size < len(s) && s[size] >= 0x20 && s[size] < 0x40; size++ {
		}
		return min(size+1, len(s)), 0
	case b < utf8.RuneSelf:
		return 1, 0
	}
	r, size := utf8.DecodeRuneInString(s)
	switch {
	case oneCell(r):
		return size, 1
	case r >= 0x1160 && r <= 0x11ff, unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf): // vowels of Hangul, and marks
		return size, 0
	}
	return size, max(ansi.StringWidth(s[:size]), 1)
}

// oneCell says of letters and of the signs that the screen is made of that they
// take one cell. What may join the rune before it is not among them.
func oneCell(r rune) bool {
	switch {
	case r >= 0x2500 && r <= 0x25fc: // rules, blocks, shapes
		return true
	case r >= 0xc0 && r <= 0x24f: // Latin letters
		return true
	case r >= 0x1f1e6 && r <= 0x1f1ff: // the halves of a flag
		return true
	}
	switch r {
	case '·', '…', '‖', '↑', '↓', '←', '→', '✓', '✗':
		return true
	}
	return false
}

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
	keep := cut(s, w-width(more))
	if strings.IndexByte(s, 0x1b) < 0 {
		return s[:keep] + more
	}
	return s[:keep] + more + colours(s[keep:])
}

// cut is how many bytes of s fit into w cells.
func cut(s string, w int) int {
	for i := 0; i < len(s); {
		size, cells := next(s[i:])
		if w -= cells; w < 0 {
			return i
		}
		i += size
	}
	return len(s)
}

// colours are the sequences in s: a text that is cut ends in the colours it
// would have ended in.
func colours(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		size, _ := next(s[i:])
		if s[i] == 0x1b {
			b.WriteString(s[i : i+size])
		}
		i += size
	}
	return b.String()
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
			line = strings.TrimRight(line, " ")
			for width(line) > w { // of a script that is counted otherwise there
				at := max(cut(line, w), 1)
				if lines = append(lines, clip(line[:at], w, "")); len(lines) == limit {
					return lines, false
				}
				line = line[at:]
			}
			lines = append(lines, line)
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

// plural is a number of things.
func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
