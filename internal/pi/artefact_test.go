package pi

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestSessionFiles(t *testing.T) {
	var many []string
	for i := range 20 {
		many = append(many, fmt.Sprintf(`{"sessionFile":"/s/%02d.jsonl"}`, i))
	}
	for _, c := range []struct {
		name, details string
		want          []string
	}{
		{"none", `{"exitCode":0}`, nil},
		{"at the top", `{"sessionFile":"/s/a.jsonl"}`, []string{"/s/a.jsonl"}},
		{"in the results", `{"mode":"parallel","results":[{"sessionFile":"/s/a.jsonl"},{"sessionPath":"/s/b.jsonl"},{"session_file":"/s/./a.jsonl"}]}`, []string{"/s/a.jsonl", "/s/b.jsonl"}},
		{"other keys", `{"parentSessionFile":"/s/a.jsonl","logFile":"/s/b.jsonl","text":"sessionFile /s/c.jsonl"}`, nil},
		{"no session file", `{"sessionFile":"/s/a.json","sessionPath":"s/b.jsonl","session_path":{"of":".jsonl"}}`, nil},
		{"too long", `{"sessionFile":"/` + strings.Repeat("s", 4096) + `.jsonl"}`, nil},
		{"too deep", strings.Repeat(`[`, 12) + `{"sessionFile":"/s/a.jsonl"}` + strings.Repeat(`]`, 12), nil},
		{"deep", strings.Repeat(`[`, 11) + `{"sessionFile":"/s/a.jsonl"}` + strings.Repeat(`]`, 11), []string{"/s/a.jsonl"}},
	} {
		if got := (&Message{Details: []byte(c.details)}).SessionFiles(); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	if got := (&Message{Details: []byte("[" + strings.Join(many, ",") + "]")}).SessionFiles(); len(got) != 16 || got[15] != "/s/15.jsonl" {
		t.Errorf("many: %q", got)
	}
	said := `{"results":[{"messages":[` + strings.Join(many, ",") + `],"sessionFile":"/s/child.jsonl"}]}`
	if got := (&Message{Details: []byte(said)}).SessionFiles(); len(got) != 16 || got[0] != "/s/child.jsonl" {
		t.Errorf("of a child that names many: %q", got)
	}
	if got := new(Message).SessionFiles(); got != nil {
		t.Errorf("no details: %q", got)
	}
}
