package pi

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// sampleFiles are the session files of testdata, and those of a folder of
// recorded sessions when there is one (PIWATCH_SESSIONS names it).
func sampleFiles(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("../../testdata/sessions/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatalf("no session files in testdata: %v", err)
	}
	recorded := os.Getenv("PIWATCH_SESSIONS")
	if recorded == "" {
		return files
	}
	more, err := filepath.Glob(filepath.Join(recorded, "*", "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return append(files, more...)
}

// reading is all that a parser and a tree make of some bytes.
type reading struct {
	entries []Entry
	parser  Parser
	tree    Tree
}

func (r *reading) take(entries []Entry) {
	r.entries = append(r.entries, entries...)
	for _, e := range entries {
		r.tree.Add(e)
	}
}

func (r *reading) damage() DamageReport { return r.parser.Damage().merge(r.tree.Damage()) }

// readAll reads bytes line by line, as a follower does, and the rest at last.
func readAll(data []byte) *reading {
	r := new(reading)
	offset := int64(0)
	for {
		end := bytes.IndexByte(data, '\n')
		if end < 0 {
			break
		}
		r.take(r.parser.Add(data[:end], offset))
		data, offset = data[end+1:], offset+int64(end)+1
	}
	r.take(r.parser.Finish(data, offset))
	return r
}

func ids(entries []Entry) []string {
	var all []string
	for _, e := range entries {
		all = append(all, e.ID)
	}
	return all
}

func TestSamplesAreReadWithoutLoss(t *testing.T) {
	for _, path := range sampleFiles(t) {
		t.Run(filepath.Base(filepath.Dir(path))+"/"+filepath.Base(path), func(t *testing.T) {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			r := readAll(data)
			checkAccounted(t, data, r)
			for _, d := range r.damage().List {
				if d.Length > 0 || d.Kind == DamageField || d.Kind == DamageTime || d.Kind == DamageOrphan || d.Kind == DamageBackwards {
					t.Errorf("damage in a sound file: %+v", d)
				}
			}
			if records := bytes.Count(data, []byte(`{"type":"`)); len(r.entries) == 0 || len(r.entries) > records {
				t.Errorf("%d entries of at most %d records", len(r.entries), records)
			}
			file, err := Load(path)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := ids(slices.Collect(values(&file.Tree))), ids(slices.Collect(values(&r.tree))); !slices.Equal(got, want) {
				t.Errorf("Load read %v, the parser %v", got, want)
			}
			if len(file.Tree.Context()) == 0 {
				t.Error("the active branch is empty")
			}
		})
	}
}

func values(t *Tree) func(func(Entry) bool) {
	return func(yield func(Entry) bool) {
		for e := range t.All() {
			if !yield(*e) {
				return
			}
		}
	}
}

// checkAccounted fails when a byte is neither in an entry nor in the damage
// nor blank.
func checkAccounted(t testing.TB, data []byte, r *reading) {
	t.Helper()
	left := bytes.Clone(data)
	blank := func(offset, length int64) {
		for i := offset; i < offset+length; i++ {
			left[i] = ' '
		}
	}
	for _, e := range r.entries {
		blank(e.Offset, e.Length)
	}
	report := r.parser.Damage()
	if report.Total() > len(report.List) {
		return // more damage than is listed in detail
	}
	for _, d := range report.List {
		blank(d.Offset, d.Length)
	}
	if rest := bytes.Trim(left, jsonSpace+"\x00"); len(rest) > 0 {
		t.Errorf("bytes lost without a word: %.80q", rest)
	}
}

// TestEveryPrefix cuts each small file at every byte: the entries of the
// complete lines are there whatever the tail is.
func TestEveryPrefix(t *testing.T) {
	for _, path := range sampleFiles(t) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(filepath.Base(path), "hand-") {
			data = data[:min(len(data), 800)]
		}
		whole := readAll(data[:bytes.LastIndexByte(data, '\n')+1]).entries
		complete := 0 // entries of complete lines before the cut
		for cut := range len(data) + 1 {
			for complete < len(whole) && whole[complete].Offset+whole[complete].Length < int64(cut) {
				complete++
			}
			lastLine := bytes.LastIndexByte(data[:cut], '\n') + 1
			for complete > 0 && whole[complete-1].Offset >= int64(lastLine) {
				complete--
			}
			r := readAll(data[:cut])
			if len(r.entries) < complete || !slices.Equal(ids(r.entries[:complete]), ids(whole[:complete])) {
				t.Fatalf("%s cut at %d: %d entries, want the %d of the complete lines", path, cut, len(r.entries), complete)
			}
			if extra := len(r.entries) - complete; extra > 2 {
				t.Fatalf("%s cut at %d: %d entries made of a torn tail", path, cut, extra)
			}
		}
	}
}
