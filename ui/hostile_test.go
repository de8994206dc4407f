package ui

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/muesli/termenv"

	"piwatch/internal/control"
	"piwatch/internal/pi"
	"piwatch/internal/watchdog"
)

// hostile is text that would take over a terminal.
const hostile = "a\x1b[2J\x1b]0;evil\x07\x1b[31m\u009b5m\x00\r\x08b\u202ec\u2028\ufe0f\td\n\x1bP1q\x1b\\e\xff"

// Whatever a session file, the hub or a notice says, only text is drawn.
func TestHostileTextIsDrawnAsText(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h.jsonl")
	var lines []string
	line := func(v map[string]any) {
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, strings.ReplaceAll(string(data), `\ufffd`, "\xff"))
	}
	entry := func(id, parent, kind string, more map[string]any) {
		more["type"], more["id"], more["parentId"], more["timestamp"] = kind, id, parent, "2026-11-30T18:00:00Z"
		line(more)
	}
	text := []any{map[string]any{"type": "text", "text": hostile}, map[string]any{"type": "thinking", "thinking": hostile},
		map[string]any{"type": "toolCall", "id": "c", "name": hostile, "arguments": map[string]any{"command": hostile}}}
	line(map[string]any{"type": "session", "version": 3, "id": "h", "cwd": "/w/" + hostile})
	entry("1", "", "message", map[string]any{"message": map[string]any{"role": "user", "content": hostile}})
	entry("2", "1", "message", map[string]any{"message": map[string]any{"role": "assistant", "content": text, "stopReason": "error", "errorMessage": hostile}})
	entry("3", "2", "message", map[string]any{"message": map[string]any{"role": "toolResult", "toolCallId": "c", "content": hostile}})
	entry("4", "3", "session_info", map[string]any{"name": hostile})
	entry("5", "4", "custom", map[string]any{"customType": watchdog.RecordStart, "data": map[string]any{"by": hostile, "settings": map[string]any{"mode": hostile, "message": hostile, "max": 1}}})
	entry("6", "5", "custom", map[string]any{"customType": watchdog.RecordCheck, "data": map[string]any{"id": "k", "reason": hostile, "n": 1}})
	entry("7", "6", "custom_message", map[string]any{"customType": watchdog.MessageCheck, "content": hostile, "details": map[string]any{"check": "k"}})
	entry("8", "7", "custom", map[string]any{"customType": watchdog.RecordOutcome, "data": map[string]any{"check": "k", "end": hostile, "decision": hostile, "note": hostile, "why": hostile}})
	entry("9", "8", "custom", map[string]any{"customType": hostile, "data": hostile})
	entry("a", "9", hostile, map[string]any{"x": hostile})
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	info, err := readInfo(pi.Found{Path: path, Size: int64(len(strings.Join(lines, "\n")) + 1)})
	if err != nil {
		t.Fatal(err)
	}

	hub := newFakeHub()
	m := newScreen(t, Options{Redial: hub.dial}, termenv.Ascii)
	one := live("h", hostile, watchdog.View{Phase: watchdog.Counting, Deadline: now.Add(1), Settings: watchdog.Settings{Mode: hostile, Max: 1}, Why: hostile, Last: hostile, Note: hostile}, control.Facts{Idle: true})
	one.Model, one.Pi, one.Name = hostile, hostile, hostile
	steps := []tea.Msg{
		tea.WindowSizeMsg{Width: 120, Height: 40}, filesChanged{changed: []fileInfo{info}, first: true},
		hubUp{hub, []control.Session{one}}, hubPush{control.Push{Notice: &control.Notice{Session: "h", Level: hostile, Text: hostile}}},
		key("L"), key("L"), key("tab"), key("home"), key("enter"), key("down"), key("enter"), key("down"), key("enter"), key("down"), key("enter"),
		key("v"), key("]"), key("v"), key("t"), key("esc"), key("tab"), key("end"), key("up"), key("enter"), key("x"), key("n"), key("s"), key(hostile), key("esc"), key("?"), key("?"),
		filesTrouble{hostile}, fileTrouble{path, hostile}, hubDown{textError(hostile)},
	}
	for i, msg := range steps {
		send(m, msg)
		frame := m.View()
		wantFits(t, frame, 120, 40)
		for _, r := range frame {
			if r < 0x20 && r != '\n' || r >= 0x7f && r < 0xa0 || r == 0x202e || r == 0x2028 || r == 0xfe0f {
				t.Fatalf("step %d draws %U: %q", i, r, frame)
			}
		}
		for line := range strings.Lines(frame) { // what is shown verbatim is shown as JSON
			if strings.Contains(line, "evil") && !strings.Contains(line, `\u00`) {
				t.Fatalf("step %d draws a part of a sequence:\n%s", i, frame)
			}
		}
	}
}

// textError is an error with a text.
type textError string

func (e textError) Error() string { return string(e) }
