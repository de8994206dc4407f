package loop

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"piwatch/internal/pi"
)

// Real sessions are healthy: those the repository's tests recorded, and those in
// the folder that PIWATCH_SESSIONS names.
func TestRealSessionsAreHealthy(t *testing.T) {
	roots := []string{filepath.Join("..", "..", "testdata", "recorded"), filepath.Join("..", "..", "testdata", "sessions")}
	if more := os.Getenv("PIWATCH_SESSIONS"); more != "" {
		roots = append(roots, more)
	}
	files, calls := 0, 0
	for _, root := range roots {
		err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, pi.Ext) {
				return err
			}
			file, err := pi.Load(path)
			if err != nil {
				return err
			}
			files++
			var reader Reader
			d := New(Defaults())
			for e := range file.Tree.All() {
				for _, ev := range reader.Read(e) {
					if _, ok := ev.Event.(Called); ok {
						calls++
					}
					for _, f := range d.Step(ev.At, ev.Event) {
						t.Errorf("%s:%d: %+v", path, e.Line, f)
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d sessions, %d calls, no finding", files, calls)
	if files < 20 || calls == 0 {
		t.Errorf("only %d sessions with %d calls were read", files, calls)
	}
}
