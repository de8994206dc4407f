package ui

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"piwatch/internal/pi"
	"piwatch/internal/timeline"
)

func found(t *testing.T, path string) pi.Found {
	t.Helper()
	stat, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return pi.Found{Path: path, Size: stat.Size(), ModTime: stat.ModTime()}
}

// A glance that goes on as the file grows says what a new one says.
func TestAGlanceGoesOn(t *testing.T) {
	for _, size := range []int{0, 2_000, 400_000} { // read whole, and by its ends
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "s.jsonl")
			writeSession(t, path, "s", size/400, size)
			var g glance
			if err := g.start(found(t, path)); err != nil {
				t.Fatal(err)
			}
			for i, line := range []string{
				`{"type":"session_info","id":"x1","name":"renamed"}`,
				`{"type":"message","id":"x2","parentId":"x1","message":{"role":"user","content":"and then"}}`,
				`{"type":"message","id":"x3","parentId":"x2","message":{"role":"assistant","content":[],"stopReason":"error","errorMessage":"502"}}`,
			} {
				appendLine(t, path, line)
				if err := g.more(found(t, path)); err != nil {
					t.Fatalf("after line %d: %v", i, err)
				}
				want, err := readInfo(found(t, path))
				if err != nil {
					t.Fatal(err)
				}
				if g.info != want {
					t.Errorf("after line %d it knows %+v, want %+v", i, g.info, want)
				}
			}
			if g.info.Name != "renamed" || g.info.Story.Standing != timeline.Broken || g.info.Story.First == "" {
				t.Errorf("it knows %+v", g.info)
			}
		})
	}
}

func TestAGlanceSeesThatTheFileIsAnother(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.jsonl")
	writeSession(t, path, "s", 20, 8_000)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string]string{
		"shorter":   string(whole[:len(whole)/2]),
		"other":     strings.ReplaceAll(string(whole), "usage", "USAGE") + "{}\n",
		"much more": string(whole) + strings.Repeat(`{"type":"label","id":"l","label":"x"}`+"\n", 2*tailBytes/37),
	} {
		var g glance
		if err := os.WriteFile(path, whole, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := g.start(found(t, path)); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := g.more(found(t, path)); !errors.Is(err, errOther) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A line that is not complete is read when it is.
func TestAGlanceWaitsForTheEndOfALine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.jsonl")
	writeSession(t, path, "s", 4, 1_000)
	var g glance
	if err := g.start(found(t, path)); err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for i, part := range []string{`{"type":"session_info","id":"x","na`, `me":"late"}` + "\n"} {
		if _, err := file.WriteString(part); err != nil {
			t.Fatal(err)
		}
		if err := g.more(found(t, path)); err != nil {
			t.Fatal(err)
		}
		if got, want := g.info.Name, []string{"", "late"}[i]; got != want {
			t.Errorf("after %q the name is %q", part, got)
		}
	}
}

// The end of a large session is seen before all of it is read, and then all of
// it is there; a text that was cut is read when it is opened.
func TestTheEndOfALargeSessionComesFirst(t *testing.T) {
	folder := t.TempDir()
	writeSession(t, filepath.Join(folder, "s.jsonl"), "s", 8_000, largeFrom+4<<20)
	f := newFeeds(t, Options{Dirs: []pi.Dir{{Path: folder}}}, 120, 40)
	f.until(func() bool { return len(f.story.rows) > 0 })
	if last := f.story.rows[len(f.story.rows)-1]; !f.story.glimpse || !strings.HasPrefix(last.Title, "Answer 7999: ") {
		t.Fatalf("first comes %q", last.Title)
	}
	f.until(func() bool { return f.story.caught })
	if first := f.story.rows[0]; f.story.glimpse || !strings.HasPrefix(first.Title, "Question 0: ") || len(f.story.rows) != 8_000 {
		t.Fatalf("%d rows are there in the end, the first is %q", len(f.story.rows), first.Title)
	}
	row := f.story.row()
	if row.Rest == 0 || !f.story.follow {
		t.Fatalf("the last row is %+v", row)
	}
	send(f.Model, key("tab"))
	for _, msg := range press(f.Model, "enter") {
		send(f.Model, msg)
	}
	if text := f.story.whole[row.Key]; len(text) < 4000 || !strings.HasPrefix(text, "Answer 7999: ") {
		t.Errorf("the whole text has %d bytes", len(text))
	}
	send(f.Model, key("G"))
	if frame := f.View(); !strings.Contains(frame, "quite long") {
		t.Errorf("it is not drawn\n%s", frame)
	}
}
