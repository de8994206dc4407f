package cli

import (
	"context"
	"path/filepath"
	"testing"
)

// How a session ended does not depend on what is kept of it.
func TestOnlyTheEnd(t *testing.T) {
	files, err := filepath.Glob("../../testdata/recorded/*/*.jsonl")
	files = append(files, "../export/testdata/session.jsonl")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	ended := 0
	for _, file := range files {
		whole, err := readStory(context.Background(), file, wholeTexts)
		if err != nil {
			t.Fatal(err)
		}
		lean, err := readStory(context.Background(), file, onlyTheEnd)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := lean.ends.Ending(), whole.ends.Ending(); got != want {
			t.Errorf("%s ended as %+v, want %+v", file, got, want)
		} else if want.Kind != "" {
			ended++
		}
		if len(lean.builder.Rows()) > 0 || len(whole.builder.Rows()) == 0 {
			t.Errorf("%s: %d rows, and %d", file, len(whole.builder.Rows()), len(lean.builder.Rows()))
		}
	}
	if ended == 0 {
		t.Error("no session ended")
	}
}
