package timeline

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"piwatch/internal/pi"
	"piwatch/internal/watchdog"
)

// script writes a session the way Pi does: each entry hangs on the leaf.
type script struct {
	t     *testing.T
	lines []string
	leaf  string
	at    time.Time
}

var began = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func newScript(t *testing.T) *script {
	s := &script{t: t, at: began}
	s.line(map[string]any{"type": "session", "version": 3, "id": "s1", "timestamp": began, "cwd": "/w"})
	return s
}

func (s *script) line(v map[string]any) {
	s.t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		s.t.Fatal(err)
	}
	s.lines = append(s.lines, string(data))
}

// entry appends an entry one second later and gives its id.
func (s *script) entry(kind string, fields map[string]any) string {
	s.t.Helper()
	s.at = s.at.Add(time.Second)
	id := fmt.Sprintf("e%d", len(s.lines))
	v := map[string]any{"type": kind, "id": id, "parentId": nil, "timestamp": s.at.Format(time.RFC3339Nano)}
	if s.leaf != "" {
		v["parentId"] = s.leaf
	}
	for key, value := range fields {
		v[key] = value
	}
	s.line(v)
	s.leaf = id
	return id
}

func (s *script) user(text string) string {
	s.t.Helper()
	return s.entry("message", map[string]any{"message": map[string]any{"role": "user", "content": []any{text1(text)}}})
}

type block = map[string]any

func text1(text string) block   { return block{"type": "text", "text": text} }
func thought(text string) block { return block{"type": "thinking", "thinking": text} }
func called(id, name string, args block) block {
	return block{"type": "toolCall", "id": id, "name": name, "arguments": args}
}

func (s *script) agent(stop string, blocks ...block) string {
	s.t.Helper()
	return s.entry("message", map[string]any{"message": map[string]any{
		"role": "assistant", "content": blocks, "stopReason": stop, "errorMessage": map[string]string{"error": "502: bad gateway", "aborted": "Operation aborted"}[stop],
		"usage": map[string]any{"output": 10},
	}})
}

func (s *script) result(call, name, text string, failed bool) string {
	s.t.Helper()
	return s.entry("message", map[string]any{"message": map[string]any{
		"role": "toolResult", "toolCallId": call, "toolName": name, "content": []any{text1(text)}, "isError": failed,
	}})
}

func (s *script) custom(kind string, data any) string {
	s.t.Helper()
	return s.entry("custom", map[string]any{"customType": kind, "data": data})
}

func (s *script) message(kind, text string, details any) string {
	s.t.Helper()
	return s.entry("custom_message", map[string]any{"customType": kind, "content": text, "display": true, "details": details})
}

func (s *script) omit(ids ...string) {
	s.t.Helper()
	for _, id := range ids {
		s.entry("context_edit", map[string]any{"targetId": id, "replacement": nil})
	}
}

// ask opens a check and gives the id of its record and of its message.
func (s *script) ask(id string, n int) (record, ask string) {
	s.t.Helper()
	record = s.custom(watchdog.RecordCheck, watchdog.Check{ID: id, N: n, Max: 50, Reason: "idle", Waited: 60})
	return record, s.message(watchdog.MessageCheck, "Automated check.", watchdog.MessageDetails{Check: id})
}

// answer lets the agent call the decide tool and gives the ids of its rows.
func (s *script) answer(decision, note string) []string {
	s.t.Helper()
	call := "d" + s.leaf
	a := s.agent("toolUse", called(call, decideTool, block{"decision": decision, "note": note}))
	return []string{a, s.result(call, decideTool, "noted", false)}
}

func (s *script) outcome(o watchdog.Outcome) string {
	s.t.Helper()
	return s.custom(watchdog.RecordOutcome, o)
}

// entries parses the lines as a reader of the file does.
func (s *script) entries() []Entry { return parse(strings.Join(s.lines, "\n") + "\n") }

func parse(data string) []Entry {
	var parser pi.Parser
	var all []Entry
	offset := int64(0)
	for _, line := range strings.SplitAfter(data, "\n") {
		record, complete := strings.CutSuffix(line, "\n")
		found := []pi.Entry(nil)
		if complete {
			found = parser.Add([]byte(record), offset)
		} else {
			found = parser.Finish([]byte(record), offset)
		}
		for i := range found {
			all = append(all, Digest(&found[i]))
		}
		offset += int64(len(line))
	}
	for _, d := range parser.Damage().List {
		all = append(all, DigestDamage(d))
	}
	return all
}

func build(entries []Entry) *Builder {
	var b Builder
	for _, e := range entries {
		b.Add(e)
	}
	return &b
}

// said is the timeline as lines: the label, and what the row says; the rows of
// a card are indented below it.
func said(rows []*Row) string {
	var b strings.Builder
	var write func(rows []*Row, indent string)
	write = func(rows []*Row, indent string) {
		for _, r := range rows {
			hidden := ""
			if r.Hidden {
				hidden = " [hidden]"
			}
			fmt.Fprintf(&b, "%s%s: %s%s\n", indent, r.Kind.Label(), Sentence(r), hidden)
			if r.Card != nil {
				write(r.Card.Rows, indent+"  ")
			}
		}
	}
	write(rows, "")
	return b.String()
}

func wantRows(t *testing.T, rows []*Row, want string) {
	t.Helper()
	want = strings.TrimPrefix(strings.ReplaceAll(want, "\n\t\t", "\n"), "\n")
	want = strings.TrimRight(want, "\t\n") + "\n"
	if got := said(rows); got != want {
		t.Errorf("the timeline is\n%s\nwant\n%s", got, want)
	}
}
