package tail

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"piwatch/internal/leaks"
)

func TestMain(m *testing.M) { leaks.Main(m) }

// record notes events as text: "+line@offset", "reset reason", …
type record struct{ all []string }

func (r *record) emit(e Event) {
	switch e.Kind {
	case Lines:
		for _, l := range e.Lines {
			r.all = append(r.all, fmt.Sprintf("+%s@%d", l.Data, l.Offset))
		}
	case Reset:
		r.all = append(r.all, "reset "+e.Reason)
	case Missing:
		r.all = append(r.all, "missing: "+e.Reason)
	case Trouble:
		r.all = append(r.all, "trouble")
	case PollingOnly:
		r.all = append(r.all, "polling only: "+e.Reason)
	}
}

// scene is a file in a folder of its own and a Follower that is polled by hand.
type scene struct {
	*testing.T
	path     string
	follower *Follower
	record   record
}

func newScene(t *testing.T) *scene {
	path := filepath.Join(t.TempDir(), "s.jsonl")
	return &scene{T: t, path: path, follower: NewFollower(path, Options{})}
}

func (s *scene) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func (s *scene) write(text string) {
	s.Helper()
	s.must(os.WriteFile(s.path, []byte(text), 0o600))
}

func (s *scene) append(text string) {
	s.Helper()
	file, err := os.OpenFile(s.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	s.must(err)
	_, err = file.WriteString(text)
	s.must(err)
	s.must(file.Close())
}

// poll polls once and compares what was told.
func (s *scene) poll(want ...string) {
	s.Helper()
	s.record.all = nil
	changed := s.follower.Poll(context.Background(), s.record.emit)
	if !slices.Equal(s.record.all, want) {
		s.Errorf("told %q, want %q", s.record.all, want)
	}
	if changed != (len(want) > 0) {
		s.Errorf("Poll says %v, told %q", changed, s.record.all)
	}
}

func TestAppends(t *testing.T) {
	s := newScene(t)
	s.poll("missing: not there yet")
	s.poll()
	s.write("")
	s.poll()
	s.append("one\n")
	s.poll("+one@0")
	s.append("two\nthr")
	s.poll("+two@4")
	s.poll()
	if got := s.follower.Offset(); got != 8 {
		t.Errorf("offset %d, want the start of the torn line", got)
	}
	s.append("ee")
	s.poll()
	s.append("\n\nfive\n")
	s.poll("+three@8", "+@14", "+five@15")
	s.poll()
	s.poll()
}

func TestCharactersCutInTwo(t *testing.T) {
	s := newScene(t)
	text := "⏱é\n"
	for i := range len(text) {
		s.append(text[i : i+1])
		if i < len(text)-1 {
			s.poll()
		}
	}
	s.poll("+⏱é@0")
}

func TestAnotherFile(t *testing.T) {
	tests := []struct {
		name   string
		change func(s *scene)
		want   []string
	}{
		{"truncated to nothing", func(s *scene) { s.must(os.Truncate(s.path, 0)) }, []string{"reset truncated"}},
		{"truncated to a line", func(s *scene) { s.must(os.Truncate(s.path, 4)) }, []string{"reset truncated", "+one@0"}},
		{"truncated inside the torn line", func(s *scene) { s.must(os.Truncate(s.path, 9)) }, []string{"reset truncated", "+one@0", "+two@4"}},
		{"rewritten shorter", func(s *scene) { s.write("new\n") }, []string{"reset truncated", "+new@0"}},
		{"rewritten longer", func(s *scene) { s.write("new one\nnew two\n") }, []string{"reset rewritten", "+new one@0", "+new two@8"}},
		{"rewritten in the same size", func(s *scene) { s.write("ONE\ntwo\nto") }, []string{"reset rewritten", "+ONE@0", "+two@4"}},
		{"the torn line rewritten", func(s *scene) { s.write("one\ntwo\nTORN\n") }, []string{"reset rewritten", "+one@0", "+two@4", "+TORN@8"}},
		{"rewritten with the same bytes", func(s *scene) { s.write("one\ntwo\nto") }, nil},
		{"rewritten and grown by the end of the line", func(s *scene) { s.write("one\ntwo\ntorn\n") }, []string{"+torn@8"}},
		{"touched", func(s *scene) { s.must(os.Chtimes(s.path, time.Now(), time.Now().Add(time.Hour))) }, nil},
		{"replaced", func(s *scene) {
			s.must(os.WriteFile(s.path+".new", []byte("one\ntwo\nthree\n"), 0o600))
			s.must(os.Rename(s.path+".new", s.path))
		}, []string{"reset replaced", "+one@0", "+two@4", "+three@8"}},
		{"deleted", func(s *scene) { s.must(os.Remove(s.path)) }, []string{"missing: deleted"}},
		{"folder deleted", func(s *scene) { s.must(os.RemoveAll(filepath.Dir(s.path))) }, []string{"missing: deleted"}},
		{"became a folder", func(s *scene) { s.must(os.Remove(s.path)); s.must(os.Mkdir(s.path, 0o700)) }, []string{"trouble"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := newScene(t)
			s.write("one\ntwo\nto")
			s.poll("+one@0", "+two@4")
			test.change(s)
			s.poll(test.want...)
			s.poll()
			s.poll()
		})
	}
}

// A rewritten file may have kept its beginning, or its end.
func TestRewrittenInPart(t *testing.T) {
	long := strings.Repeat("x", 4*markSize)
	for name, text := range map[string]string{
		"the beginning": "ONE\n" + long + "\ntwo\nmore\n",
		"the end":       "one\n" + long + "\nTWO\nmore\n",
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			s.write("one\n" + long + "\ntwo\n")
			s.follower.Poll(context.Background(), func(Event) {})
			s.write(text)
			s.record.all = nil
			s.follower.Poll(context.Background(), s.record.emit)
			if len(s.record.all) != 5 || s.record.all[0] != "reset rewritten" {
				t.Errorf("told %.200q", s.record.all)
			}
		})
	}
}

func TestDeletedAndRecreated(t *testing.T) {
	s := newScene(t)
	s.write("one\ntwo\n")
	s.poll("+one@0", "+two@4")
	s.must(os.Remove(s.path))
	s.poll("missing: deleted")
	s.poll()
	s.write("one\ntwo\nthree\n")
	s.poll("reset recreated", "+one@0", "+two@4", "+three@8")
	s.append("four\n")
	s.poll("+four@14")
}

// A file that is rewritten within one tick of the file system's clock, in the
// same size, looks the same to stat.
func TestRewrittenWithinOneTick(t *testing.T) {
	s := newScene(t)
	s.write("one\ntwo\n")
	info, err := os.Stat(s.path)
	s.must(err)
	s.poll("+one@0", "+two@4")
	s.write("one\nTWO\n")
	s.must(os.Chtimes(s.path, info.ModTime(), info.ModTime()))
	s.poll("reset rewritten", "+one@0", "+TWO@4")
}

func TestLateFolder(t *testing.T) {
	s := newScene(t)
	s.path = filepath.Join(filepath.Dir(s.path), "a", "b", "s.jsonl")
	s.follower = NewFollower(s.path, Options{})
	s.poll("missing: not there yet")
	s.must(os.MkdirAll(filepath.Dir(s.path), 0o700))
	s.poll()
	s.write("one\n")
	s.poll("+one@0")
}

func TestAFileInThePlaceOfTheFolder(t *testing.T) {
	s := newScene(t)
	s.write("x")
	s.follower = NewFollower(filepath.Join(s.path, "s.jsonl"), Options{})
	s.poll("missing: not there yet")
}

func TestTroubleIsToldOnceAndEnds(t *testing.T) {
	s := newScene(t)
	s.must(os.Mkdir(s.path, 0o700))
	s.poll("trouble")
	s.poll()
	s.must(os.Remove(s.path))
	s.write("one\n")
	s.poll("+one@0")
}

// TestOddChunks appends a text in pieces of any size, polls now and then, and
// wants each line once, in order, at its place.
func TestOddChunks(t *testing.T) {
	for seed := range uint64(30) {
		random := rand.New(rand.NewPCG(seed, 1))
		s := newScene(t)
		var text bytes.Buffer
		for i := range 200 {
			size := random.IntN(60)
			if random.IntN(20) == 0 {
				size = random.IntN(3 * markSize)
			}
			fmt.Fprintf(&text, "%d:%s\n", i, strings.Repeat("é", size))
		}
		var want record
		offset := 0
		for line := range strings.Lines(text.String()) {
			want.all = append(want.all, fmt.Sprintf("+%s@%d", strings.TrimSuffix(line, "\n"), offset))
			offset += len(line)
		}
		var got record
		for rest := text.String(); rest != ""; {
			n := min(len(rest), 1+random.IntN(3000))
			s.append(rest[:n])
			rest = rest[n:]
			if random.IntN(3) > 0 {
				s.follower.Poll(context.Background(), got.emit)
			}
		}
		s.follower.Poll(context.Background(), got.emit)
		if !slices.Equal(got.all, want.all) {
			t.Fatalf("seed %d: %d lines, want %d", seed, len(got.all), len(want.all))
		}
	}
}

// TestLongLine follows a line of 20 MB that comes in pieces; polling after each
// would take minutes if the pieces were read again.
func TestLongLine(t *testing.T) {
	s := newScene(t)
	file, err := os.Create(s.path)
	s.must(err)
	defer file.Close()
	piece := []byte(strings.Repeat("x", 10_000))
	for range 2000 {
		_, err := file.Write(piece)
		s.must(err)
		s.poll()
	}
	_, err = file.WriteString("\nnext\n")
	s.must(err)
	var got []Line
	s.follower.Poll(context.Background(), func(e Event) { got = append(got, e.Lines...) })
	if len(got) != 2 || len(got[0].Data) != 20_000_000 || string(got[1].Data) != "next" || got[1].Offset != 20_000_001 {
		t.Fatalf("%d lines", len(got))
	}
	if kept := cap(s.follower.place.buffer); kept > chunkSize {
		t.Errorf("%d bytes of buffer kept after the long line", kept)
	}
}

func TestMoreSaysThatTheFileGoesOn(t *testing.T) {
	s := newScene(t)
	s.write(strings.Repeat(strings.Repeat("x", 999)+"\n", 1000))
	var more []bool
	s.follower.Poll(context.Background(), func(e Event) { more = append(more, e.More) })
	if len(more) < 2 || more[len(more)-1] || slices.Contains(more[:len(more)-1], false) {
		t.Errorf("More %v", more)
	}
}

func TestPollStopsWithItsContext(t *testing.T) {
	s := newScene(t)
	s.write(strings.Repeat("line\n", 200_000))
	ctx, cancel := context.WithCancel(context.Background())
	lines := 0
	s.follower.Poll(ctx, func(e Event) { lines += len(e.Lines); cancel() })
	if lines == 0 || lines == 200_000 {
		t.Errorf("%d lines", lines)
	}
	s.follower.Poll(context.Background(), func(e Event) { lines += len(e.Lines) })
	if lines != 200_000 {
		t.Errorf("%d lines after the second poll", lines)
	}
}

func TestTwoWriters(t *testing.T) {
	s := newScene(t)
	a, err := os.OpenFile(s.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	s.must(err)
	defer a.Close()
	b, err := os.OpenFile(s.path, os.O_APPEND|os.O_WRONLY, 0o600)
	s.must(err)
	defer b.Close()
	writers := []*os.File{a, b}
	var got, want []string
	for i := range 200 {
		line := fmt.Sprintf("writer %d line %d", i%2, i)
		_, err := writers[i%2].WriteString(line + "\n")
		s.must(err)
		want = append(want, line)
		if i%7 == 0 {
			s.follower.Poll(context.Background(), func(e Event) { got = append(got, texts(e)...) })
		}
	}
	s.follower.Poll(context.Background(), func(e Event) { got = append(got, texts(e)...) })
	if !slices.Equal(got, want) {
		t.Errorf("%d lines, want %d", len(got), len(want))
	}
}

func texts(e Event) []string {
	var all []string
	for _, l := range e.Lines {
		all = append(all, string(l.Data))
	}
	return all
}
