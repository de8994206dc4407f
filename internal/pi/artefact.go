package pi

import (
	"bytes"
	"encoding/json"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
)

// MaxArtefacts is how many session files are read of one tool result.
const MaxArtefacts = 16

const (
	// maxArtefactPath is how long a path may be, in bytes, and maxArtefactDepth
	// how deep it may stand.
	maxArtefactPath  = 4096
	maxArtefactDepth = 12
)

// artefactKey names a session file in the details of a tool result, in the words
// of the public sub-agent extensions.
var artefactKey = regexp.MustCompile(`(?i)^session_?(file|path)$`)

// SessionFiles are the session files that the details of a tool result name:
// those of the sub-agents a tool started. The paths are absolute and clean.
func (m *Message) SessionFiles() []string {
	var found []string
	namedFiles(m.Details, maxArtefactDepth, &found)
	return found
}

func namedFiles(raw []byte, deeper int, found *[]string) {
	raw = bytes.Trim(raw, jsonSpace)
	if deeper == 0 || !bytes.Contains(raw, []byte(Ext)) {
		return
	}
	switch raw[0] {
	case '{':
		var fields map[string]json.RawMessage
		if json.Unmarshal(raw, &fields) != nil {
			return
		}
		for _, key := range slices.Sorted(maps.Keys(fields)) {
			var path string
			if artefactKey.MatchString(key) && json.Unmarshal(fields[key], &path) == nil {
				addArtefact(path, found)
			} else {
				namedFiles(fields[key], deeper-1, found)
			}
		}
	case '[':
		var items []json.RawMessage
		if json.Unmarshal(raw, &items) != nil {
			return
		}
		for _, item := range items {
			namedFiles(item, deeper-1, found)
		}
	}
}

func addArtefact(path string, found *[]string) {
	path, ok := ArtefactPath(path)
	if ok && len(*found) < MaxArtefacts && !slices.Contains(*found, path) {
		*found = append(*found, path)
	}
}

// ArtefactPath is the path that a tool names a session file by, clean; ok is
// false when it can be none.
func ArtefactPath(named string) (path string, ok bool) {
	if len(named) > maxArtefactPath || !filepath.IsAbs(named) || filepath.Ext(named) != Ext {
		return "", false
	}
	return filepath.Clean(named), true
}
