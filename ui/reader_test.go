package ui

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"piwatch/internal/pi"
	"piwatch/internal/timeline"
)

// rowsOf are the rows of a timeline as lines.
func rowsOf(rows []*timeline.Row) []string {
	var lines []string
	for _, r := range rows {
		lines = append(lines, timeline.Line(r, ""))
	}
	return lines
}

// Many portions, read by several workers, are what one reader reads line by
// line; also after the file was replaced by another one.
func TestWorkersKeepTheOrderOfTheFile(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "s.jsonl")
	write := func(text string, n int) []string {
		var data bytes.Buffer
		data.WriteString(`{"type":"session","version":3,"id":"s","cwd":"/w"}` + "\n")
		parent := ""
		for i := range n {
			id := fmt.Sprint(i)
			switch { // portions of unlike cost
			case i%500 == 499:
				data.WriteString("no record\n")
			case i%7 == 0:
				fmt.Fprintf(&data, `{"type":"message","id":%q,"parentId":%q,"message":{"role":"user","content":"%s %d %s"}}`+"\n", id, parent, text, i, strings.Repeat("long ", i%3*300))
			default:
				fmt.Fprintf(&data, `{"type":"model_change","id":%q,"parentId":%q,"provider":"p","modelId":"m%d"}`+"\n", id, parent, i)
			}
			if i%500 != 499 {
				parent = id
			}
		}
		var parser pi.Parser
		var build timeline.Builder
		for line := range bytes.Lines(data.Bytes()) {
			for _, e := range parser.Add(bytes.TrimSuffix(line, []byte("\n")), 0) {
				build.Add(timeline.Digest(&e))
			}
		}
		if err := os.WriteFile(path+".new", data.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
		return rowsOf(build.Rows())
	}
	want := write("first", 5000)
	f := newFeeds(t, Options{Dirs: []pi.Dir{{Path: folder}}}, 80, 24)
	f.until(func() bool { return f.story.caught })
	read := func(damage bool) []string {
		return rowsOf(slices.DeleteFunc(slices.Clone(f.story.rows), func(r *timeline.Row) bool { return damage != (r.Kind == timeline.Damage) }))
	}
	if got := read(false); !slices.Equal(got, want) {
		t.Errorf("%d rows, want %d", len(got), len(want))
	}
	damage := read(true)
	if len(damage) != 10 {
		t.Fatalf("the damage is told as %q", damage)
	}
	for i, line := range damage {
		if !strings.Contains(line, fmt.Sprintf("line %d of the file", (i+1)*500+1)) {
			t.Errorf("damage %d is told as %q", i, line)
		}
	}
	want = write("second", 3000)
	f.until(func() bool { return f.story.caught && slices.Equal(read(false), want) })
}

func TestAnEmptyFileIsRead(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "s.jsonl"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f := newFeeds(t, Options{Dirs: []pi.Dir{{Path: folder}}}, 80, 24)
	f.until(func() bool { return f.story.caught })
	if !strings.Contains(f.View(), "nothing here yet") {
		t.Errorf("an empty file is shown as\n%s", f.View())
	}
}
