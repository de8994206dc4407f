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
// those of the sub-agents a tool started. The paths are absolute and clean;
// those that stand less deep come first: what a child said is deep, and long.
func (m *Message) SessionFiles() []string {
	var found []string
	level := [][]byte{m.Details}
	for range maxArtefactDepth {
		var below [][]byte
		for _, raw := range level {
			below = append(below, namedFiles(raw, &found)...)
		}
		level = below
	}
	return found
}

// namedFiles adds the files that a value names itself, and gives the values in it.
func namedFiles(raw []byte, found *[]string) (below [][]byte) {
	raw = bytes.Trim(raw, jsonSpace)
	if len(*found) == MaxArtefacts || !bytes.Contains(raw, []byte(Ext)) {
		return nil
	}
	switch raw[0] {
	case '{':
		var fields map[string]json.RawMessage
		if json.Unmarshal(raw, &fields) != nil {
			return nil
		}
		for _, key := range slices.Sorted(maps.Keys(fields)) {
			var path string
			if artefactKey.MatchString(key) && json.Unmarshal(fields[key], &path) == nil {
				addArtefact(path, found)
			} else {
				below = append(below, fields[key])
			}
		}
	case '[':
		var items []json.RawMessage
		if json.Unmarshal(raw, &items) != nil {
			return nil
		}
		for _, item := range items {
			below = append(below, item)
		}
	}
	return below
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
