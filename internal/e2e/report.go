package e2e

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

// report gathers what is known when a test fails, from all its parts.
type report struct {
	mu       sync.Mutex
	sections []section
	printed  bool
}

type section struct {
	title string
	text  func() string
}

// add registers a part; text is called at the time of the failure.
func (r *report) add(title string, text func() string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sections = append(r.sections, section{title, text})
}

// print logs the report, the first time it is asked to.
func (r *report) print(t testing.TB) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.printed {
		return
	}
	r.printed = true
	var out strings.Builder
	for _, s := range r.sections {
		if text := strings.TrimRight(s.text(), "\n"); text != "" {
			fmt.Fprintf(&out, "--- %s\n%s\n", s.title, text)
		}
	}
	t.Logf("what is known:\n%s", out.String())
}

// lastLines is the end of text, at most n lines.
func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if len(lines) > n {
		lines = append([]string{fmt.Sprintf("(%d lines before)", len(lines)-n)}, lines[len(lines)-n:]...)
	}
	return strings.Join(lines, "\n")
}

// shorten cuts text to about n bytes for a report, and says so.
func shorten(text string, n int) string {
	if len(text) <= n {
		return text
	}
	head, tail := n*2/3, n/3
	return fmt.Sprintf("%s …(%d bytes)… %s", text[:head], len(text)-head-tail, text[len(text)-tail:])
}
