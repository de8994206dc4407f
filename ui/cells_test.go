package ui

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"
)

func TestWidths(t *testing.T) {
	for _, c := range []struct {
		text string
		want int
	}{
		{"", 0}, {"abc", 3}, {"\x1b[1;31mred\x1b[0m", 3}, {"│──╭", 4}, {"⏱23s", 4}, {"漢字", 4}, {"한글", 4}, {"\u1100\u1161", 2}, {"ｶﾅ", 2},
		{"👍", 2}, {"🇩🇪", 2}, {"e\u0301", 1}, {"größe", 5}, {"नमस्ते", 4}, {"বাংলা", 5}, {"ไทยกำ", 5}, {"✓✗◆●…·", 6},
	} {
		if got := width(c.text); got != c.want {
			t.Errorf("%q takes %d cells, want %d", c.text, got, c.want)
		}
	}
}

func TestCutTextFits(t *testing.T) {
	pieces := rapid.SliceOf(rapid.SampledFrom([]string{"a", "word ", "漢", "👍", "\u0301", "नमस्ते", "\x1b[31m", "\x1b[0m", "│", "ก", "ำ"}))
	rapid.Check(t, func(rt *rapid.T) {
		text := strings.Join(pieces.Draw(rt, "text"), "")
		w := rapid.IntRange(0, 12).Draw(rt, "w")
		short := clip(text, w, "…")
		if width(short) > w || ansi.StringWidth(short) > w {
			rt.Fatalf("%q cut to %d cells is %q", text, w, short)
		}
		if w > 0 && colours(short) != colours(text) {
			rt.Fatalf("%q cut to %d cells lost a colour: %q", text, w, short)
		}
		if got := fit(text, w, "…"); w > 0 && width(got) != w {
			rt.Fatalf("%q fit to %d cells takes %d", text, w, width(got))
		}
		plain := ansi.Strip(text)
		lines, whole := wrap(plain, max(w, 2), 5)
		for _, line := range lines {
			if width(line) > max(w, 2) {
				rt.Fatalf("a line of %q is %q", plain, line)
			}
		}
		if whole && strings.ReplaceAll(strings.Join(lines, ""), " ", "") != strings.ReplaceAll(plain, " ", "") {
			rt.Fatalf("%q was wrapped to %q", plain, lines)
		}
	})
}
