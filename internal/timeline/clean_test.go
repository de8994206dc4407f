package timeline

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestClean(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"plain", "a b\nc", "a b\nc"},
		{"other scripts", "é 漢字 नमस्ते", "é 漢字 नमस्ते"},
		{"emoji that are joined or tinted", "👩\u200d👧 👍🏽 co\u00adop", "👩👧 👍 coop"},
		{"tab", "a\tb", "a    b"},
		{"newlines of other systems", "a\r\nb\rc", "a\nb\nc"},
		{"colour", "\x1b[31;1mred\x1b[0m", "red"},
		{"title", "\x1b]0;evil\x07x", "x"},
		{"title with string terminator", "\x1b]0;evil\x1b\\x", "x"},
		{"title without an end", "\x1b]0;evil\nnext", "\nnext"},
		{"device control", "\x1bP1$r\x1b\\x", "x"},
		{"charset", "\x1b(0x", "x"},
		{"reset", "\x1bcx", "x"},
		{"lone escape", "x\x1b", "x"},
		{"escape before other text", "\x1béx", "éx"},
		{"C1 colour", "\u009b31mred", "red"},
		{"C1 title", "\u009d0;evil\u009cx", "x"},
		{"C1 byte", "\x9b31m", "\ufffd31m"},
		{"controls", "a\x00b\x07c\x7fd\x08", "abcd"},
		{"bidi", "a\u202eb\u2066c\u200fd", "abcd"},
		{"variation selector", "⏱\ufe0f", "⏱"},
		{"invalid UTF-8", "a\xffb", "a\ufffdb"},
		{"line separators", "a\u2028b", "ab"},
		{"CSI cut off", "\x1b[31", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Clean(c.in); got != c.want {
				t.Errorf("Clean(%q) = %q, want %q", c.in, got, c.want)
			}
		})
	}
}

func TestCleanTextStaysClean(t *testing.T) {
	pieces := rapid.SampledFrom([]string{"\x1b", "[", "]", "31m", "\x07", "\\", "\u009b", "\u009c", "P", "a", "é", "\n", "\t", "\xff", "\x00", "\u202e", "\ufe0f", "(", "\r", "漢"})
	rapid.Check(t, func(t *rapid.T) {
		got := Clean(strings.Join(rapid.SliceOf(pieces).Draw(t, "pieces"), ""))
		if !utf8.ValidString(got) {
			t.Fatalf("%q is no UTF-8", got)
		}
		for _, r := range got {
			if !drawable(r) {
				t.Fatalf("%q holds %U", got, r)
			}
		}
		if again := Clean(got); again != got {
			t.Fatalf("%q becomes %q", got, again)
		}
	})
}
