package timeline

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Session files of the repository, and those of a folder of the environment,
// become rows of clean text, whole or as they grow.
func TestSessionFiles(t *testing.T) {
	roots := []string{filepath.Join("..", "..", "testdata")}
	if more := os.Getenv("PIWATCH_SESSIONS"); more != "" {
		roots = append(roots, more)
	}
	n := 0
	for _, root := range roots {
		err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".jsonl") {
				return err
			}
			n++
			t.Run(filepath.Base(filepath.Dir(path))+"/"+filepath.Base(path), func(t *testing.T) { testFile(t, path) })
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if n == 0 {
		t.Error("there are no session files")
	}
}

func testFile(t *testing.T, path string) {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	entries := parse(string(data))
	var growing Builder
	for _, e := range entries {
		growing.Add(e)
		growing.Rows()
	}
	whole := build(entries).Rows()
	if len(whole) == 0 {
		t.Error("there are no rows")
	}
	if got, want := said(growing.Rows()), said(whole); got != want {
		t.Errorf("grown:\n%s\nread whole:\n%s", got, want)
	}
	keys := map[string]bool{}
	for _, r := range whole {
		if keys[r.Key] {
			t.Errorf("two rows have the key %s", r.Key)
		}
		keys[r.Key] = true
		if line := Line(r, ""); line != Clean(line) || strings.Contains(line, "\n") {
			t.Errorf("the line %q is not clean", line)
		}
	}
}
