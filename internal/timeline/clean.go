package timeline

import (
	"strings"
	"unicode/utf8"
)

const (
	esc       = 0x1b
	tabSpaces = "    "
)

// Clean makes foreign text safe to draw: escape sequences, control characters
// (C0 and C1), bidi overrides and variation selectors are taken out, tabs become
// spaces, invalid UTF-8 becomes U+FFFD. Newlines stay.
func Clean(s string) string {
	if isClean(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size <= 1:
			b.WriteRune(utf8.RuneError)
		case r == esc || isC1Opener(r):
			i += skipSequence(s[i:])
			continue
		case r == '\t':
			b.WriteString(tabSpaces)
		case r == '\r':
			if !strings.HasPrefix(s[i+1:], "\n") {
				b.WriteByte('\n')
			}
		case drawable(r):
			b.WriteRune(r)
		}
		i += size
	}
	return b.String()
}

// OneLine is Clean with every run of white space made one space.
func OneLine(s string) string {
	if isOneLine(s) {
		return s
	}
	return strings.Join(strings.Fields(Clean(s)), " ")
}

// isOneLine says of ASCII that it is one clean line: most of what is asked for
// is.
func isOneLine(s string) bool {
	last := byte(' ')
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c < ' ' || c >= 0x7f || c == ' ' && last == ' ' {
			return false
		}
		last = c
	}
	return s == "" || last != ' '
}

func isClean(s string) bool {
	plain := 0 // most text is ASCII, and all of it is looked at
	for plain < len(s) && (s[plain] >= 0x20 && s[plain] < 0x7f || s[plain] == '\n') {
		plain++
	}
	s = s[plain:]
	for i, r := range s {
		if r == '\t' || r == '\r' || !drawable(r) {
			return false
		}
		if r == utf8.RuneError && !strings.HasPrefix(s[i:], "\ufffd") {
			return false
		}
	}
	return true
}

// drawable says whether a rune may reach a terminal. U+2028 and U+2029 break
// lines in some, zero-width and direction marks hide or turn text, and the
// variation selectors change the width of the sign before them. What joins
// emoji, or tints them, is drawn in other widths by other terminals.
func drawable(r rune) bool {
	switch {
	case r == '\n':
		return true
	case r < 0x20, r >= 0x7f && r < 0xa0:
		return false
	case r == 0x00ad, r == 0x061c, r >= 0x200b && r <= 0x200f, r >= 0x1f3fb && r <= 0x1f3ff:
		return false
	case r >= 0x2028 && r <= 0x202e, r >= 0x2060 && r <= 0x206f:
		return false
	case r >= 0xfe00 && r <= 0xfe0f, r == 0xfeff, r >= 0xfff9 && r <= 0xfffb:
		return false
	case r >= 0xe0000 && r <= 0xe0fff:
		return false
	}
	return true
}

// isC1Opener says whether r opens a sequence by itself: CSI, OSC, DCS, SOS, PM,
// APC in their one-character form.
func isC1Opener(r rune) bool {
	switch r {
	case 0x9b, 0x9d, 0x90, 0x98, 0x9e, 0x9f:
		return true
	}
	return false
}

// skipSequence gives the length of the escape sequence that s begins with. A
// string sequence (OSC, DCS) without its end takes the rest of the line only,
// so that a torn sequence does not swallow the text after it.
func skipSequence(s string) int {
	r, size := utf8.DecodeRuneInString(s)
	i := size
	kind := r
	if r == esc {
		if i == len(s) {
			return i
		}
		kind = rune(s[i]) + 0x40 // ESC [ is CSI, as U+009B is
		if s[i] >= 0x80 || s[i] < 0x20 {
			return i
		}
		i++
		if !isC1Opener(kind) {
			for i < len(s) && s[i-1] >= 0x20 && s[i-1] < 0x30 { // intermediates, then the final byte
				i++
			}
			return i
		}
	}
	if kind == 0x9b {
		for i < len(s) && s[i] >= 0x20 && s[i] < 0x40 {
			i++
		}
		if i < len(s) && s[i] >= 0x40 && s[i] < 0x7f {
			i++
		}
		return i
	}
	for ; i < len(s); i++ {
		switch {
		case s[i] == '\n':
			return i
		case s[i] == 0x07:
			return i + 1
		case s[i] == esc && i+1 < len(s) && s[i+1] == '\\':
			return i + 2
		case s[i] == 0xc2 && i+1 < len(s) && s[i+1] == 0x9c:
			return i + 2
		}
	}
	return i
}
