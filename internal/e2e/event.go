package e2e

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Record is a JSON object that Pi wrote: an event, a response, an entry of a
// session file.
type Record map[string]any

// Get walks down by a path of keys and list indexes, "message.content.0.text";
// nil if there is nothing there.
func (r Record) Get(path string) any {
	var value any = map[string]any(r)
	for key := range strings.SplitSeq(path, ".") {
		switch v := value.(type) {
		case map[string]any:
			value = v[key]
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i < 0 || i >= len(v) {
				return nil
			}
			value = v[i]
		default:
			return nil
		}
	}
	return value
}

// Str is the string at a path, empty if there is none.
func (r Record) Str(path string) string {
	text, _ := r.Get(path).(string)
	return text
}

// Bool is the truth value at a path, false if there is none.
func (r Record) Bool(path string) bool {
	b, _ := r.Get(path).(bool)
	return b
}

// Num is the number at a path, 0 if there is none.
func (r Record) Num(path string) float64 {
	n, _ := r.Get(path).(float64)
	return n
}

// Type is the record's "type".
func (r Record) Type() string { return r.Str("type") }

// Text is all visible text of the message at "message", or of the record itself
// where it has "content".
func (r Record) Text() string {
	content := r.Get("message.content")
	if content == nil {
		content = r.Get("content")
	}
	if text, ok := content.(string); ok {
		return text
	}
	blocks, _ := content.([]any)
	var out strings.Builder
	for _, block := range blocks {
		if b, ok := block.(map[string]any); ok {
			out.WriteString(Record(b).Str("text"))
		}
	}
	return out.String()
}

// String is the record's type and its JSON, shortened, for messages.
func (r Record) String() string {
	data, err := json.Marshal(r)
	if err != nil {
		return fmt.Sprint(map[string]any(r))
	}
	return r.Type() + " " + shorten(string(data), 240)
}

// IsType matches records of a type.
func IsType(name string) func(Record) bool {
	return func(r Record) bool { return r.Type() == name }
}

// parseRecords reads JSON lines; records are split on LF alone, as Pi does.
func parseRecords(data string) ([]Record, error) {
	var records []Record
	for i, line := range strings.Split(data, "\n") {
		if strings.TrimSpace(line) == "" {
			continue
		}
		var record Record
		if err := json.Unmarshal([]byte(line), &record); err != nil {
			return records, fmt.Errorf("line %d: %w: %s", i+1, err, shorten(line, 200))
		}
		records = append(records, record)
	}
	return records, nil
}
