package demo_test

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"piwatch/internal/control"
	"piwatch/internal/demo"
	"piwatch/internal/pi"
	"piwatch/internal/watchdog"
)

// cancelled is a context that has ended: Events gives what there is so far.
func cancelled(t *testing.T) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx, func() {}
}

// Everything a stand-in can write is read without damage, and internal/pi sees
// the same context as the stand-in.
func TestSessionFile(t *testing.T) {
	h := newFakeHub(t)
	hostile := "\x1b[31mred\x1b[0m \x00 \xff <&> \u2028 ⏱"
	clock := demo.NewManualClock(epoch)
	p := start(t, h, demo.Setup{Clock: clock, Name: "first " + hostile, Script: demo.Answers(
		demo.Answer{Thinking: "plan", Text: hostile, Calls: []demo.ToolCall{demo.Bash("ls "+hostile, hostile, 0), demo.Edit("a.go", "x", "y")}},
		demo.Say("first"),
		demo.Answer{Text: "partial", Error: "502 bad gateway"},
		demo.Answer{Text: "cut", Stop: pi.StopLength, Calls: []demo.ToolCall{demo.Bash("ls", "", 0)}},
		demo.Think("only thinking"),
		demo.Use(demo.DecideCall("continue", hostile)),
		demo.Say("after"),
	)})
	if _, err := os.Stat(p.File()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file is there before the first message: %v", err)
	}
	prompt := func(text string, settles int) {
		p.Prompt(text)
		h.await(control.Settled, settles)
	}
	prompt(hostile, 1)
	prompt("fails", 2)
	prompt("cut", 3)
	p.Rename("")
	h.check(p, "c1")
	h.await(control.Settled, 4)
	if err := p.Compact(time.Second, 2); err != nil {
		t.Fatal(err)
	}
	if err := clock.AwaitTimers(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	clock.Advance(time.Second)
	wait(t, p, "compacted", func(s demo.State) bool { return s.Facts.Idle })
	prompt("after the compaction", 5)

	got := kinds(t, p.File())
	for _, kind := range []string{"model_change", "thinking_level_change", "session_info", "system", "user", "assistant", "toolResult", "custom", "compaction", "context_edit", watchdog.RecordCheck, watchdog.MessageCheck} {
		if kind != "custom" && !slices.Contains(got, kind) {
			t.Errorf("no entry %s in %v", kind, got)
		}
	}
	f, err := pi.Load(p.File())
	if err != nil {
		t.Fatal(err)
	}
	if f.Header.Version != pi.CurrentVersion || f.Header.ID != p.Session() || f.Header.Cwd != "/home/dev/project" {
		t.Errorf("header: %+v", f.Header)
	}
	var visible []string
	for _, item := range f.Tree.Context() {
		if (item.State == pi.Visible || item.State == pi.Replaced) && item.Entry.Compaction == nil && !(item.Entry.Message != nil && item.Entry.Message.Role == pi.RoleSystem) {
			visible = append(visible, item.Entry.ID)
		}
	}
	if n := len(contextOf(t, p)); n != len(visible)+1 { // and the summary
		t.Errorf("the stand-in sends %d messages, internal/pi shows %d entries", n, len(visible))
	}
	events := 0
	ctx, done := cancelled(t)
	defer done()
	for e := range p.Events(ctx) {
		if e.Entry != "" {
			events++
			if _, found := f.Tree.Get(e.Entry); !found {
				t.Errorf("%s names the entry %s, which is not in the file", e.Kind, e.Entry)
			}
		}
	}
	if events == 0 {
		t.Error("no event names an entry")
	}
}

// The records have the fields of the files that Pi 1.6.0 writes, in the same
// order.
func TestRecordFields(t *testing.T) {
	h := newFakeHub(t)
	p := start(t, h, demo.Setup{Name: "n", Script: demo.Answers(demo.Use(demo.Bash("ls", "x", 0)), demo.Say("a"), demo.Decide("done", ""))})
	p.Prompt("go")
	h.await(control.Settled, 1)
	h.check(p, "c1")
	h.await(control.Settled, 2)
	raw, err := os.ReadFile(p.File())
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"session":               "type version id timestamp cwd",
		"model_change":          "type id parentId timestamp provider modelId",
		"thinking_level_change": "type id parentId timestamp thinkingLevel",
		"session_info":          "type id parentId timestamp name",
		"message":               "type id parentId timestamp message",
		"custom":                "type customType data id parentId timestamp",
		"custom_message":        "type customType content display details id parentId timestamp",
		"context_edit":          "type id parentId timestamp targetId replacement",
	}
	seen := map[string]bool{}
	for line := range strings.Lines(string(raw)) {
		fields, kind := fieldsOf(t, line)
		seen[kind] = true
		if fields != want[kind] {
			t.Errorf("%s: fields %q, want %q", kind, fields, want[kind])
		}
	}
	if len(seen) != len(want) {
		t.Errorf("kinds seen: %v", seen)
	}
}

// fieldsOf are the names of a record's fields in their order, and its type.
func fieldsOf(t *testing.T, line string) (fields, kind string) {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(line))
	if _, err := dec.Token(); err != nil {
		t.Fatal(err)
	}
	var names []string
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			t.Fatal(err)
		}
		var value any
		if err := dec.Decode(&value); err != nil {
			t.Fatal(err)
		}
		if name == "type" {
			kind, _ = value.(string)
		}
		names = append(names, name.(string))
	}
	return strings.Join(names, " "), kind
}

func TestNoFile(t *testing.T) {
	p, err := demo.New(t.Context(), demo.Setup{Script: demo.Answers(demo.Say("a"))})
	if err != nil {
		t.Fatal(err)
	}
	p.Prompt("go")
	settled(t, p, 1)
	if p.File() != "" || len(contextOf(t, p)) != 2 {
		t.Errorf("file %q, context %v", p.File(), contextOf(t, p))
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

// A session that can not be written says so, and goes on.
func TestUnwritable(t *testing.T) {
	dir := t.TempDir()
	p, err := demo.New(t.Context(), demo.Setup{Sessions: dir, Cwd: "/p", Script: demo.Answers(demo.Say("a"))})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	p.Prompt("go")
	settled(t, p, 1)
	if err := p.Close(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Close = %v", err)
	}
}
