package export

import (
	"fmt"
	"io"
	"strings"

	"piwatch/internal/timeline"
)

// Markdown writes the page in the dialect of GitHub. All text of the session stands
// in code, so that nothing in it is taken for Markdown, HTML, a link or a name to
// call. The error is that of the writer.
func Markdown(out io.Writer, p Page) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s", code(p.Title), code(p.Cwd))
	if p.Model != "" {
		fmt.Fprintf(&b, " · %s", code(p.Model))
	}
	fmt.Fprintf(&b, "\n\nsession %s · %s\n", code(p.Session), p.counts())
	items := p.items()
	if len(items) == 0 {
		b.WriteString("\nThis session is empty.\n")
	}
	for _, it := range items {
		writeItem(&b, it, "")
	}
	fmt.Fprintf(&b, "\n---\n\nwritten by piwatch %s\n", p.Version)
	if _, err := io.WriteString(out, b.String()); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	return nil
}

// writeItem writes one row; prefix begins each line of those in a check.
func writeItem(b *strings.Builder, it item, prefix string) {
	line := func(format string, args ...any) {
		for text := range strings.SplitSeq(fmt.Sprintf(format, args...), "\n") {
			b.WriteString(strings.TrimRight(prefix+text, " ") + "\n")
		}
	}
	if it.Day != "" && prefix == "" {
		line("\n## %s", it.Day)
	}
	head := strings.TrimSpace(it.Time + " " + it.Label)
	line("")
	switch {
	case it.Check != nil:
		writeCheck(line, head, it.Check)
		if len(it.Inner) > 0 {
			line("")
		}
		for _, inner := range it.Inner {
			writeItem(b, inner, prefix+"> ")
		}
		return
	case it.Text != "":
		line("**%s**\n\n%s", head, fenced(it.Text))
	case it.Hidden:
		line("**%s** ~~%s~~", head, code(it.Title))
	default:
		line("**%s** %s", head, code(it.Title))
	}
	if it.More != "" {
		line("\n<details><summary>%s</summary>\n\n%s\n\n</details>", it.Summary, fenced(it.More))
	}
	if it.Cut > 0 {
		line("\n%d more bytes are in the session file", it.Cut)
	}
}

func writeCheck(line func(string, ...any), head string, k *check) {
	line("**%s** %s", strings.TrimSpace(head+" "+k.Number), code(k.Answer))
	line("")
	for _, text := range []string{k.Note, k.Cause} {
		if text != "" {
			line("- %s", code(text))
		}
	}
	for _, fact := range k.facts() {
		line("- %s", fact)
	}
}

// fenced is a code block that the text cannot end: its fence is longer than any
// run of backticks in it.
func fenced(text string) string {
	fence := strings.Repeat("`", max(3, backticks(text)+1))
	return fence + "text\n" + text + "\n" + fence
}

// code is a text of one line as code.
func code(text string) string {
	text = timeline.OneLine(text)
	if text == "" {
		return ""
	}
	fence := strings.Repeat("`", backticks(text)+1)
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") {
		text = " " + text + " " // which Markdown takes off again
	}
	return fence + text + fence
}

// backticks is the longest run of them in a text.
func backticks(text string) int {
	longest, run := 0, 0
	for _, r := range text {
		if r == '`' {
			run++
			longest = max(longest, run)
		} else {
			run = 0
		}
	}
	return longest
}
