package replay

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"time"

	"piwatch/internal/pi"
	"piwatch/internal/watchdog"
)

// begin is second 0 of the scripts.
var begin = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func second(n float64) time.Time { return begin.Add(time.Duration(n * float64(time.Second))) }

// script makes a session from lines "SECOND KIND TEXT". The kinds
// of rows are those of rowOf; KIND can be the custom type of a record, and TEXT
// its data. "user@5" is a message that was sent in second 5. A line "< N" takes the
// next row back to line N, from 0: a branch is left.
func script(t fataler, lines ...string) *pi.Tree {
	t.Helper()
	var parser pi.Parser
	tree := new(pi.Tree)
	parent := ""
	for i, line := range lines {
		if to, ok := strings.CutPrefix(line, "< "); ok {
			parent = "e" + to
			continue
		}
		words := strings.SplitN(line, " ", 3)
		kind, text := words[1], strings.Join(words[2:], "")
		row := rowOf(kind, text)
		row["id"] = fmt.Sprint("e", i)
		if parent != "" {
			row["parentId"] = parent
		}
		parent = fmt.Sprint("e", i)
		if at, err := strconv.ParseFloat(words[0], 64); err == nil {
			row["timestamp"] = second(at)
		}
		if _, sent, ok := strings.Cut(kind, "@"); ok {
			at, err := strconv.ParseFloat(sent, 64)
			if err != nil {
				t.Fatal(err)
			}
			row["message"].(map[string]any)["timestamp"] = second(at).UnixMilli()
		}
		data, err := json.Marshal(row)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range parser.Add(data, 0) {
			tree.Add(e)
		}
	}
	return tree
}

func message(role string, fields map[string]any) map[string]any {
	fields["role"] = role
	return map[string]any{"type": pi.TypeMessage, "message": fields}
}

func answer(stop string, blocks ...map[string]any) map[string]any {
	return message(pi.RoleAssistant, map[string]any{"stopReason": stop, "content": blocks})
}

func rowOf(kind, text string) map[string]any {
	said := map[string]any{"type": "text", "text": text}
	switch kind, _, _ := strings.Cut(kind, "@"); kind {
	case "user":
		return message(pi.RoleUser, map[string]any{"content": text})
	case "says":
		return answer(pi.StopStop, said)
	case "thinks":
		return answer(pi.StopStop, map[string]any{"type": "thinking", "thinking": text})
	case "empty":
		return answer(pi.StopStop)
	case "length", "error", "aborted":
		row := answer(kind, said)
		row["message"].(map[string]any)["errorMessage"] = text
		return row
	case "calls":
		return answer(pi.StopToolUse, map[string]any{"type": "toolCall", "id": "1", "name": text})
	case "broken":
		return answer(pi.StopAborted, map[string]any{"type": "toolCall", "id": "1", "name": text})
	case "result":
		return message(pi.RoleToolResult, map[string]any{"toolCallId": "1", "toolName": text})
	case "shell":
		return message(pi.RoleBashExecution, map[string]any{"command": text})
	case "ext":
		return map[string]any{"type": pi.TypeCustomMessage, "customType": "other", "content": text}
	case "ask":
		return map[string]any{"type": pi.TypeCustomMessage, "customType": watchdog.MessageCheck, "content": text}
	case "work":
		return map[string]any{"type": pi.TypeCustomMessage, "customType": watchdog.MessageWork, "content": text}
	case "compaction":
		return map[string]any{"type": pi.TypeCompaction, "summary": text}
	case "model":
		return map[string]any{"type": pi.TypeModelChange, "modelId": text}
	case "label":
		return map[string]any{"type": pi.TypeLabel, "label": text}
	default:
		return map[string]any{"type": pi.TypeCustom, "customType": "piwatch." + kind, "data": json.RawMessage(text)}
	}
}

// told are the steps of a report in short lines. Times are seconds.
func told(r Report) []string {
	at := func(t time.Time) string {
		if t.IsZero() {
			return "?"
		}
		return strconv.FormatFloat(t.Sub(begin).Seconds(), 'f', -1, 64)
	}
	var lines []string
	for _, s := range r.Steps {
		if s.Record != nil {
			lines = append(lines, fmt.Sprintf("%s really %s", at(s.At), s.Record.Type))
			continue
		}
		i := s.Idle
		line := fmt.Sprintf("%s %s: %s", at(s.At), i.Stop, i.Verdict)
		for _, ask := range i.Asks {
			line += fmt.Sprintf(" %d/%d@%s=%s", ask.N, ask.Max, at(ask.At), ask.Answer)
		}
		if i.Why != "" {
			line += " (" + i.Why + ")"
		}
		if !i.Due.IsZero() {
			line += " due " + at(i.Due)
		}
		if i.Ended != "" {
			line += " ended " + i.Ended
		}
		if i.Next != nil {
			line += fmt.Sprintf(", %s@%s", i.Next.By, at(i.Next.At))
		}
		lines = append(lines, line)
	}
	return lines
}

func settings(t fataler, line string) watchdog.Settings {
	t.Helper()
	s, err := watchdog.Parse(line)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// fataler is a test, or one try of a property.
type fataler interface {
	Helper()
	Fatal(args ...any)
}
