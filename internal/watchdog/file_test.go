package watchdog

import (
	"encoding/json"

	"piwatch/internal/pi"
)

// fataler is a test, or one try of a property.
type fataler interface {
	Helper()
	Fatal(args ...any)
}

// rows makes the lines of a session file and reads them as everyone does.
type rows struct {
	t      fataler
	parser pi.Parser
	n      int
	read   []pi.Entry
}

func (r *rows) add(row map[string]any) {
	r.t.Helper()
	r.n++
	row["id"], row["timestamp"] = r.n, begin
	if r.n > 1 {
		row["parentId"] = r.n - 1
	}
	line, err := json.Marshal(row)
	if err != nil {
		r.t.Fatal(err)
	}
	r.line(string(line))
}

func (r *rows) line(line string) { r.read = append(r.read, r.parser.Add([]byte(line), 0)...) }

func (r *rows) user() { r.add(userRow()) }

func (r *rows) assistant(stopReason string) { r.add(assistantRow(stopReason)) }

func (r *rows) record(kind string, data any) { r.add(recordRow(kind, data)) }

func (r *rows) work(check string) { r.add(workRow(check)) }

func userRow() map[string]any {
	return map[string]any{"type": pi.TypeMessage, "message": map[string]any{"role": pi.RoleUser, "content": "do it"}}
}

func assistantRow(stopReason string) map[string]any {
	return map[string]any{"type": pi.TypeMessage, "message": map[string]any{
		"role": pi.RoleAssistant, "content": []any{}, "stopReason": stopReason,
	}}
}

func recordRow(kind string, data any) map[string]any {
	return map[string]any{"type": pi.TypeCustom, "customType": kind, "data": data}
}

func workRow(check string) map[string]any {
	return map[string]any{
		"type": pi.TypeCustomMessage, "customType": MessageWork, "content": "", "details": MessageDetails{check},
	}
}
