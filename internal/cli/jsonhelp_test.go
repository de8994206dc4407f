package cli

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/aymanbagabas/go-udiff"
)

var update = flag.Bool("update", false, "write the generated parts of README.md and testdata anew")

// What --json prints is stable: a field that is renamed or removed is seen here.
func TestJSONFields(t *testing.T) {
	golden := filepath.Join("testdata", "json.golden")
	got := jsonReference()
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := udiff.Unified("golden", "now", string(want), got); diff != "" {
		t.Errorf("the fields changed; go test ./internal/cli -update takes them on:\n%s", diff)
	}
}
