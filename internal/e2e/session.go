package e2e

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// SessionFiles are the session files of the home, oldest first: their names
// begin with the time.
func (h *Home) SessionFiles() []string {
	paths, _ := filepath.Glob(filepath.Join(h.Agent, "sessions", "*", "*.jsonl"))
	slices.SortFunc(paths, func(a, b string) int { return strings.Compare(filepath.Base(a), filepath.Base(b)) })
	return paths
}

// Entries reads a session file, the header first. A last line without its end
// is still being written and left out; a file that does not exist has none.
func (h *Home) Entries(path string) []Record {
	h.t.Helper()
	entries, err := ReadEntries(path)
	if err != nil {
		h.Fatalf("read %s: %v", path, err)
	}
	return entries
}

// ReadEntries is [Home.Entries] without a test.
func ReadEntries(path string) ([]Record, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return parseRecords(string(data[:strings.LastIndexByte(string(data), '\n')+1]))
}

// WaitEntry blocks until a session file holds an entry that matches, and
// returns the first.
func (h *Home) WaitEntry(path, what string, match func(Record) bool) Record {
	h.t.Helper()
	var found Record
	var entries []Record
	if !poll(Timeout(), func() bool {
		entries = h.Entries(path)
		i := slices.IndexFunc(entries, match)
		if i >= 0 {
			found = entries[i]
		}
		return i >= 0
	}) {
		var list strings.Builder
		for _, entry := range entries {
			list.WriteString("\n" + entry.String())
		}
		h.Fatalf("no entry %s in %s within %v%s", what, path, Timeout(), list.String())
	}
	return found
}

// IsRole matches message entries and events by the message's role.
func IsRole(role string) func(Record) bool {
	return func(r Record) bool { return r.Str("message.role") == role }
}

// IsCustom matches custom and custom_message entries by their customType.
func IsCustom(customType string) func(Record) bool {
	return func(r Record) bool { return r.Str("customType") == customType }
}
