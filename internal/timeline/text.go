package timeline

import (
	"bytes"
	"encoding/json"
	"sort"
	"strings"
	"unicode/utf8"

	"piwatch/internal/pi"
)

// mainKeys are the arguments that say best what a call does, the first found
// counts.
var mainKeys = []string{"command", "cmd", "path", "file_path", "filePath", "file", "pattern", "query", "url", "decision", "task", "prompt", "name"}

// mainArgument is the one argument worth a line.
func mainArgument(raw json.RawMessage) string {
	var args map[string]json.RawMessage
	if json.Unmarshal(raw, &args) != nil {
		return string(raw)
	}
	for _, key := range mainKeys {
		if v, ok := args[key]; ok {
			return plainValue(v)
		}
	}
	keys := make([]string, 0, len(args))
	for key := range args {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	for i, key := range keys {
		keys[i] = key + "=" + plainValue(args[key])
	}
	return strings.Join(keys, " ")
}

func plainValue(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}

// inlineTags hold thinking that a provider left in the text.
var inlineTags = []string{"think", "thought", "reasoning"}

// splitThinking gives what the agent thought and what it said. Thinking inside
// the text is taken out of it.
func splitThinking(m *pi.Message) (thinking, spoken string) {
	thinking, spoken = m.ThinkingText(), m.Text()
	for _, tag := range inlineTags {
		for {
			from := strings.Index(spoken, "<"+tag+">")
			if from < 0 {
				break
			}
			inner, after, closed := strings.Cut(spoken[from+len(tag)+2:], "</"+tag+">")
			if !closed {
				after = ""
			}
			thinking += "\n" + inner
			spoken = spoken[:from] + after
		}
	}
	return strings.TrimSpace(thinking), strings.TrimSpace(spoken)
}

// short cuts text before it is cleaned, so that the work is bounded.
func short(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return s[:runeStart(s, limit)]
}

// cut cuts text at a limit in bytes and says how many are left out.
func cut(s string, limit int) (string, int) {
	kept := short(s, limit)
	return kept, len(s) - len(kept)
}

func runeStart(s string, at int) int {
	for i := 0; i < utf8.UTFMax && at > 0 && !utf8.RuneStart(s[at]); i++ {
		at--
	}
	return at
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

func firstOf(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}
