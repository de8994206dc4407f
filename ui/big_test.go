package ui

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/muesli/termenv"

	"piwatch/internal/e2e"
	"piwatch/internal/pi"
)

// Sizes of the large session and of the large folder of the benchmarks.
const (
	bigEntries = 100_000
	bigBytes   = 250 << 20
	manyFiles  = 1000
	manyBytes  = 1 << 30
)

// writeSession writes a session of about so many entries and bytes: rounds of
// a message, thinking and a call, a result, and an answer.
func writeSession(t testing.TB, path, id string, entries, bytes int) {
	t.Helper()
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	w := bufio.NewWriterSize(file, 1<<20)
	fmt.Fprintf(w, `{"type":"session","version":3,"id":%q,"timestamp":"2026-11-30T00:00:00.000Z","cwd":"/home/dev/%s"}`+"\n", id, id)
	each := max(bytes/max(entries, 1)-250, 0)
	said := strings.Repeat("All of this was said once, and it is quite long. ", each/49+1)
	at := time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)
	parent := "null"
	for i := range entries {
		at = at.Add(time.Second)
		own := strconv.Quote(fmt.Sprintf("%08x", i))
		head := fmt.Sprintf(`{"type":"message","id":%s,"parentId":%s,"timestamp":%q,"message":`, own, parent, at.Format(time.RFC3339Nano))
		switch text := said[:min(each, len(said))]; i % 4 {
		case 0:
			fmt.Fprintf(w, `%s{"role":"user","content":[{"type":"text","text":"Question %d: %s"}]}}`+"\n", head, i, text[:min(len(text), 200)])
		case 1:
			fmt.Fprintf(w, `%s{"role":"assistant","content":[{"type":"thinking","thinking":"%s"},{"type":"toolCall","id":"c%d","name":"bash","arguments":{"command":"go test ./pkg%d"}}],"stopReason":"toolUse","usage":{"output":50}}}`+"\n", head, text, i, i)
		case 2:
			fmt.Fprintf(w, `%s{"role":"toolResult","toolCallId":"c%d","toolName":"bash","content":[{"type":"text","text":"%s%s"}],"isError":false}}`+"\n", head, i-1, text, text)
		default:
			fmt.Fprintf(w, `%s{"role":"assistant","content":[{"type":"text","text":"Answer %d: %s"}],"stopReason":"stop","usage":{"output":90}}}`+"\n", head, i, text)
		}
		parent = own
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
}

// feeds is a screen with a feed, run by hand: no terminal, no program.
type feeds struct {
	*Model
	t    testing.TB
	feed *feed
}

func newFeeds(t testing.TB, o Options, w, h int) *feeds {
	t.Helper()
	o.NoColor = true
	ctx, cancel := context.WithCancel(context.Background())
	m, f, err := start(ctx, o.withDefaults())
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	m.render.SetColorProfile(termenv.TrueColor)
	m.setTheme(m.theme)
	t.Cleanup(func() { cancel(); f.wait() })
	send(m, tea.WindowSizeMsg{Width: w, Height: h})
	return &feeds{m, t, f}
}

// until takes in what the feed says until it is enough.
func (f *feeds) until(enough func() bool) {
	f.t.Helper()
	for !enough() {
		msg := f.feed.next()
		if msg == nil {
			f.t.Fatal("the feed ended")
		}
		send(f.Model, msg)
	}
}

// heap is what is in use after a collection, in MB.
func heap() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc) / (1 << 20)
}

// A session of 100,000 entries and 250 MB.
func BenchmarkBigSession(b *testing.B) {
	folder := b.TempDir()
	path := filepath.Join(folder, "big.jsonl")
	writeSession(b, path, "big", bigEntries, bigBytes)
	stat, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	b.Logf("%d MB", stat.Size()>>20)
	var f *feeds
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			before := heap()
			began, spent := time.Now(), cpuTime(b)
			f = newFeeds(b, Options{Dirs: []pi.Dir{{Path: folder}}}, 200, 60)
			f.until(func() bool { return len(f.story.rows) > 0 })
			f.View()
			b.ReportMetric(float64(time.Since(began).Microseconds())/1000, "ms-first-frame")
			f.until(func() bool { return f.story.caught })
			send(f.Model, key("tab"), key("home"))
			f.View()
			b.ReportMetric(float64(time.Since(began).Microseconds())/1000, "ms-top-complete")
			b.ReportMetric((cpuTime(b)-spent).Seconds()*1000, "ms-cpu")
			if !strings.Contains(f.View(), "Question 0:") {
				b.Fatalf("the top is not there:\n%s", f.View())
			}
			b.ReportMetric(heap()-before, "MB-heap")
			b.ReportMetric(float64(resident())/(1<<20), "MB-resident")
		}
	})
	b.Run("key", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			send(f.Model, key([]string{"down", "pgdown", "up", "G", "home"}[i%5]))
		}
	})
	b.Run("view", func(b *testing.B) {
		for b.Loop() {
			send(f.Model, key("pgdown"))
			f.View()
		}
	})
	b.Run("view-same", func(b *testing.B) {
		for b.Loop() {
			f.View()
		}
	})
}

// A folder of 1,000 sessions and 1 GB.
func BenchmarkManySessions(b *testing.B) {
	folder := filepath.Join(b.TempDir(), "sessions") // as in an agent folder of Pi
	for i := range manyFiles {
		id := fmt.Sprintf("s%04d", i)
		sub := filepath.Join(folder, fmt.Sprintf("--p%02d--", i%20))
		if err := os.MkdirAll(sub, 0o700); err != nil {
			b.Fatal(err)
		}
		writeSession(b, filepath.Join(sub, id+".jsonl"), id, manyBytes/manyFiles/2500, manyBytes/manyFiles)
	}
	listing := listByPi(b, folder)
	for b.Loop() {
		began, spent := time.Now(), cpuTime(b)
		f := newFeeds(b, Options{Dirs: []pi.Dir{{Path: folder}}}, 200, 60)
		f.until(func() bool { return len(f.list.all) > 0 })
		f.View()
		b.ReportMetric(float64(time.Since(began).Microseconds())/1000, "ms-first-list")
		f.until(func() bool { return f.list.loaded })
		f.View()
		complete := time.Since(began)
		b.ReportMetric(float64(complete.Microseconds())/1000, "ms-complete")
		b.ReportMetric(listing.Seconds()/complete.Seconds(), "times-as-long-in-Pi")
		b.ReportMetric((cpuTime(b)-spent).Seconds()*1000, "ms-cpu")
		if len(f.list.all) != manyFiles {
			b.Fatalf("%d sessions", len(f.list.all))
		}
		b.ReportMetric(float64(resident())/(1<<20), "MB-resident")
	}
}

// listByPi is how long Pi's own list of all sessions takes over the folder.
func listByPi(b *testing.B, folder string) time.Duration {
	b.Helper()
	real := e2e.RequirePi(b, e2e.Pi160)
	const script = `const [, index] = process.argv;
const { SessionManager } = await import(index);
const began = performance.now();
const all = await SessionManager.listAll();
console.log(JSON.stringify({ sessions: all.length, took: performance.now() - began, resident: process.memoryUsage().rss }));`
	cmd := exec.Command(real.Node, "--input-type=module", "-e", script, filepath.Join(real.Package(), "dist", "index.js"))
	cmd.Env = append(os.Environ(), "PI_CODING_AGENT_DIR="+filepath.Dir(folder))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		b.Fatal(err)
	}
	var list struct {
		Sessions int     `json:"sessions"`
		Took     float64 `json:"took"` // milliseconds
		Resident float64 `json:"resident"`
	}
	if err := json.Unmarshal(out, &list); err != nil {
		b.Fatal(err)
	}
	b.Logf("Pi lists %d sessions in %.1f s, with %.0f MB", list.Sessions, list.Took/1000, list.Resident/(1<<20))
	if list.Sessions != manyFiles {
		b.Fatalf("Pi lists %d sessions of %d", list.Sessions, manyFiles)
	}
	return time.Duration(list.Took * float64(time.Millisecond))
}

// resident is the memory that the process has now, in bytes; 0 where the system
// does not tell.
func resident() int64 {
	data, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(data))
	if len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.ParseInt(fields[1], 10, 64)
	return pages * int64(os.Getpagesize())
}

// The crowd of the benchmark: so many sessions, each appended to so often.
const (
	crowd        = 200
	crowdRate    = 10 // a second
	crowdSeconds = 10
	crowdFolder  = "PIWATCH_BENCH_CROWD" // set in the process that appends
)

var noteTime = regexp.MustCompile(`note at (\d+)\.`)

// 200 sessions that grow, ten times a second each, by another process: how long
// it takes from an append to the frame that shows it, and what the screen costs.
func BenchmarkLiveSessions(b *testing.B) {
	folder := b.TempDir()
	for i := range crowd {
		id := fmt.Sprintf("s%04d", i)
		writeSession(b, filepath.Join(folder, id+".jsonl"), id, 100, 200_000)
	}
	for b.Loop() {
		f := newFeeds(b, Options{Dirs: []pi.Dir{{Path: folder}}, Select: "s0000"}, 200, 60)
		f.until(func() bool { return f.list.loaded && f.story.caught })
		writer := exec.Command(os.Args[0], "-test.run", "^$")
		writer.Env = append(os.Environ(), crowdFolder+"="+folder)
		if err := writer.Start(); err != nil {
			b.Fatal(err)
		}
		before, began := cpuTime(b), time.Now()
		var late []time.Duration
		seen, frames := map[string]bool{}, 0
		for len(seen) < crowdRate*crowdSeconds {
			msg := f.feed.next()
			send(f.Model, msg)
			frame := f.View()
			frames++
			for _, note := range noteTime.FindAllStringSubmatch(frame, -1) {
				if !seen[note[1]] {
					seen[note[1]] = true
					at, _ := strconv.ParseInt(note[1], 10, 64)
					late = append(late, time.Since(time.Unix(0, at)))
				}
			}
		}
		spent, took := cpuTime(b)-before, time.Since(began)
		if err := writer.Wait(); err != nil {
			b.Fatal(err)
		}
		slices.Sort(late)
		b.ReportMetric(late[len(late)/2].Seconds()*1000, "ms-p50")
		b.ReportMetric(late[len(late)*99/100].Seconds()*1000, "ms-p99")
		b.ReportMetric(100*spent.Seconds()/took.Seconds(), "%-of-a-core")
		b.ReportMetric(float64(frames)/took.Seconds(), "frames/s")
	}
}

// appendNotes appends to all sessions of a folder, at a steady pace, and says in
// each line when it was written.
func appendNotes(folder string) error {
	paths, err := filepath.Glob(filepath.Join(folder, "*.jsonl"))
	if err != nil {
		return err
	}
	files := make([]*os.File, len(paths))
	for i, path := range paths {
		if files[i], err = os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0); err != nil {
			return err
		}
	}
	parents := make([]string, len(files))
	pace := time.NewTicker(time.Second / crowdRate / time.Duration(len(files)))
	defer pace.Stop()
	for n := range len(files) * crowdRate * crowdSeconds {
		<-pace.C
		i := n % len(files)
		at := time.Now()
		id := fmt.Sprintf("n%07d", n)
		line := fmt.Sprintf(`{"type":"message","id":%q,"parentId":%q,"timestamp":%q,"message":{"role":"user","content":"note at %d."}}`+"\n",
			id, parents[i], at.UTC().Format(time.RFC3339Nano), at.UnixNano())
		parents[i] = id
		if _, err := files[i].WriteString(line); err != nil {
			return err
		}
	}
	return nil
}

func cpuTime(t testing.TB) time.Duration {
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		t.Fatal(err)
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}
