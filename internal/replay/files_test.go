package replay

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"piwatch/internal/pi"
	"piwatch/internal/watchdog"
)

// eachFile finds the session files of the repository, of this package, and of
// the folder that PIWATCH_SESSIONS names.
func eachFile(t *testing.T, test func(t *testing.T, path string)) {
	t.Helper()
	roots := []string{"testdata", filepath.Join("..", "..", "testdata", "sessions"), filepath.Join("..", "..", "testdata", "recorded")}
	if more := os.Getenv("PIWATCH_SESSIONS"); more != "" {
		roots = append(roots, more)
	}
	for _, root := range roots {
		found := 0
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, pi.Ext) {
				return err
			}
			found++
			t.Run(filepath.Base(filepath.Dir(path))+"/"+filepath.Base(path), func(t *testing.T) { test(t, path) })
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if found == 0 {
			t.Errorf("there are no session files in %s", root)
		}
	}
}

// Every file can be replayed, whole and cut off at any byte.
func TestEveryFile(t *testing.T) {
	eachFile(t, func(t *testing.T, path string) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		const cuts = 60
		for n := 0; n <= len(data); n += max(len(data)/cuts, 1) {
			for _, recorded := range []bool{false, true} {
				if _, err := sane(treeOf(data[:n]), Options{Settings: watchdog.Defaults(), Recorded: recorded}); err != nil {
					t.Fatalf("cut off at byte %d: %v", n, err)
				}
			}
		}
		r, err := sane(treeOf(data), Options{Settings: watchdog.Settings{Max: 50, Mode: watchdog.Once}})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Steps) == 0 {
			t.Error("there are no steps")
		}
	})
}

func treeOf(data []byte) *pi.Tree {
	var parser pi.Parser
	tree := new(pi.Tree)
	add := func(entries []pi.Entry) {
		for _, e := range entries {
			tree.Add(e)
		}
	}
	var offset int64
	for {
		line, rest, found := bytes.Cut(data, []byte("\n"))
		if !found {
			add(parser.Finish(line, offset))
			return tree
		}
		add(parser.Add(line, offset))
		offset += int64(len(line)) + 1
		data = rest
	}
}

// Where the record is honoured, the imagined watchdog asks when the real one
// did: each idle time with a check in the record has one in the replay.
func TestRecordedChecksAreFound(t *testing.T) {
	found := 0
	eachFile(t, func(t *testing.T, path string) {
		file, err := pi.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		r := Run(&file.Tree, Options{Recorded: true})
		found += r.Totals.Recorded
		if r.Totals.Asked < r.Totals.Recorded {
			t.Errorf("%d checks were asked, the replay finds %d:\n%s", r.Totals.Recorded, r.Totals.Asked, strings.Join(told(r), "\n"))
		}
	})
	if found == 0 {
		t.Error("no file holds a check")
	}
}
