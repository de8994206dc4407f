package pi

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func named(id, name string) string {
	return fmt.Sprintf(`{"type":"session_info","id":%q,"parentId":null,"timestamp":"2026-01-02T03:00:04.000Z","name":%q}`, id, name)
}

func padding(n int) string {
	return `{"type":"custom","id":"pad","parentId":null,"timestamp":"2026-01-02T03:00:01.500Z","data":"` + strings.Repeat("p", n) + `"}`
}

func TestReadHead(t *testing.T) {
	long := strings.Repeat(`long \"words\" \u00e4 `, 400)
	tests := []struct {
		name, data string
		want       Head
		last       string
	}{
		{"small", lines(header, one, two, named("3", "n")), Head{HasHeader: true, Name: "n", NameSure: true, FirstMessage: "one"}, "3"},
		{"no newline at the end", lines(header, one) + two, Head{HasHeader: true, NameSure: true, FirstMessage: "one"}, "2"},
		{"name taken away", lines(header, named("3", "n"), named("4", " ")), Head{HasHeader: true, NameSure: true}, "4"},
		{"name at the end", lines(header, one, named("3", "old"), padding(5000), named("4", "new")), Head{HasHeader: true, Name: "new", NameSure: true, FirstMessage: "one"}, "4"},
		{"name at the start only", lines(header, one, named("3", "old"), padding(5000), two), Head{HasHeader: true, Name: "old", FirstMessage: "one"}, "2"},
		{"the ends touch", lines(header, one, padding(800), named("4", "new"), padding(600)), Head{HasHeader: true, Name: "new", NameSure: true, FirstMessage: "one"}, "pad"},
		{"first message hidden in the middle", lines(header, padding(2000), one, padding(2000), strings.Replace(one, `"text":"one"`, `"text":"later"`, 1)), Head{HasHeader: true}, "1"},
		{"first message longer than the part", lines(header, strings.Replace(one, `"text":"one"`, `"text":"`+long+`"`, 1)), Head{HasHeader: true, FirstMessage: strings.Repeat(`long "words" ä `, 20)}, ""},
		{"of a bare string", lines(header, `{"type":"message","id":"1","parentId":null,"timestamp":"2026-01-02T03:00:01.000Z","message":{"role":"user","content":"`+long+`"}}`), Head{HasHeader: true, FirstMessage: strings.Repeat(`long "words" ä `, 20)}, ""},
		{"no header", lines(one), Head{NameSure: true, FirstMessage: "one"}, "1"},
		{"empty", "", Head{NameSure: true}, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			path := writeFile(t, test.data)
			h, err := ReadHead(path, 1000)
			if err != nil {
				t.Fatal(err)
			}
			first := test.want.FirstMessage
			if r := []rune(first); len(r) > previewRunes {
				first = string(r[:previewRunes])
			}
			if h.HasHeader != test.want.HasHeader || h.Name != test.want.Name || h.NameSure != test.want.NameSure || strings.TrimSpace(h.FirstMessage) != strings.TrimSpace(first) {
				t.Errorf("head %+v", h)
			}
			if h.HasHeader && (h.Header.ID != "s" || h.Header.Cwd != "/w") {
				t.Errorf("header %+v", h.Header)
			}
			last := ""
			if h.Last != nil {
				last = h.Last.ID
			}
			if last != test.last || h.Size != int64(len(test.data)) || h.Path != path || h.ModTime.IsZero() {
				t.Errorf("last entry %q, want %q; head %+v", last, test.last, h)
			}
		})
	}
}

// TestReadHeadAtEveryWidth reads one file through every window: what a window
// shows never contradicts the file.
func TestReadHeadAtEveryWidth(t *testing.T) {
	data := lines(header, named("0", "first"), one, padding(200), named("4", "last"), two)
	path := writeFile(t, data)
	for n := int64(1); n <= int64(len(data))+1; n++ {
		h, err := ReadHead(path, n)
		if err != nil {
			t.Fatal(err)
		}
		if h.NameSure && h.Name != "last" || h.Name != "" && h.Name != "first" && h.Name != "last" {
			t.Fatalf("width %d: name %q, sure %v", n, h.Name, h.NameSure)
		}
		if !strings.HasPrefix("one", h.FirstMessage) {
			t.Fatalf("width %d: first message %q", n, h.FirstMessage)
		}
		if 2*n >= int64(len(data)) && (h.Name != "last" || h.FirstMessage != "one" || h.Last == nil || h.Last.ID != "2") {
			t.Fatalf("width %d shows the whole file, and the head is %+v", n, h)
		}
	}
}

func TestReadHeadOfNoFile(t *testing.T) {
	dir := t.TempDir()
	if _, err := ReadHead(filepath.Join(dir, "nobody"), 0); !os.IsNotExist(unwrapAll(err)) {
		t.Errorf("error %v", err)
	}
	if _, err := ReadHead(dir, 0); err == nil {
		t.Error("a folder has no head")
	}
	if _, err := Load(filepath.Join(dir, "nobody")); err == nil {
		t.Error("a file that is not there was read")
	}
}

func unwrapAll(err error) error {
	for {
		inner, ok := err.(interface{ Unwrap() error })
		if !ok {
			return err
		}
		if _, path := err.(*os.PathError); path {
			return err
		}
		err = inner.Unwrap()
	}
}

// BenchmarkReadHead measures the list of sessions: per file of 1 MB.
func BenchmarkReadHead(b *testing.B) {
	path := filepath.Join(b.TempDir(), "s.jsonl")
	if err := os.WriteFile(path, []byte(lines(header, one)+strings.Repeat(padding(1000)+"\n", 1000)), 0o600); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := ReadHead(path, 0); err != nil {
			b.Fatal(err)
		}
	}
}
