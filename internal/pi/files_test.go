package pi

import (
	"os"
	"path/filepath"
	"testing"
)

// writeFile makes a session file in a folder that goes with the test.
func writeFile(t *testing.T, data string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s.jsonl")
	rewriteFile(t, path, data)
	return path
}

func rewriteFile(t *testing.T, path, data string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
}
