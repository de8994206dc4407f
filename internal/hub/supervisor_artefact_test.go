package hub_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"piwatch/internal/control"
	"piwatch/internal/hub"
	"piwatch/internal/watchdog"
)

// at is a moment of the clock on the wall, in seconds after the begin.
func at(seconds int) time.Time { return begin.Add(time.Duration(seconds) * time.Second) }

// named is what the bridge tells of a tool call from one second to another one;
// until 0 is for one that runs.
func named(call string, since, until int, files ...string) control.ArtefactEvent {
	e := control.ArtefactEvent{Call: call, Since: at(since).UnixMilli(), Files: files}
	if until > 0 {
		e.Until = at(until).UnixMilli()
	}
	return e
}

// madeAt is a session of a process of its own, whose header was made then.
func madeAt(seconds int) func(*control.BridgeHello) {
	return func(h *control.BridgeHello) {
		h.Pid, h.History, h.Created = 3000, false, at(seconds).UTC().Format(time.RFC3339Nano)
	}
}

func alone(o *hub.Options) { o.Ancestors = func(int) []int { return []int{7} } }

// Whose child a session is, by what tools say of its file. Who comes first, the
// child or the word, makes no difference.
func TestArtefacts(t *testing.T) {
	origin := filepath.Join(t.TempDir(), "origin.jsonl")
	if err := os.WriteFile(origin, []byte(`{"type":"session","version":3,"id":"origin","cwd":"/"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const file = "/s/child.jsonl"
	byTool := control.Link{Parent: "main", By: "artefact"}
	unknown := control.Link{Unknown: "a tool of session main named its file, but it was not made while that tool ran"}
	// A Pi that begins with a session that holds something says that it resumed it.
	resumed := []func(*control.BridgeHello){func(h *control.BridgeHello) { h.Resumed, h.History = true, true }}
	fork := append(slices.Clone(resumed), func(h *control.BridgeHello) { h.Origin = origin })
	for _, c := range []struct {
		name  string
		child []func(*control.BridgeHello)
		told  []control.ArtefactEvent
		want  control.Link
	}{
		{"made while the tool ran", nil, []control.ArtefactEvent{named("a", 10, 30, file)}, byTool},
		{"made while it runs", nil, []control.ArtefactEvent{named("a", 10, 0, file)}, byTool},
		{"made when it began", nil, []control.ArtefactEvent{named("a", 20, 0, file)}, byTool},
		{"made when it ended", nil, []control.ArtefactEvent{named("a", 10, 20, file)}, byTool},
		{"told again with the end", nil, []control.ArtefactEvent{named("a", 10, 0, file), named("a", 10, 30, file)}, byTool},
		{"a path that is not clean", nil, []control.ArtefactEvent{named("a", 10, 30, "/s/../s/child.jsonl")}, byTool},
		{"a child whose path is not clean", []func(*control.BridgeHello){func(h *control.BridgeHello) { h.File = "/s/../s/child.jsonl" }}, []control.ArtefactEvent{named("a", 10, 30, file)}, byTool},
		{"one of two calls", nil, []control.ArtefactEvent{named("a", 1, 5, file), named("b", 10, 30, file)}, byTool},
		{"a list of sessions afterwards", nil, []control.ArtefactEvent{named("a", 10, 30, file), named("b", 40, 41, file)}, byTool},
		{"a fork that the tool made", fork, []control.ArtefactEvent{named("a", 10, 30, file)}, byTool},
		{"a fork that the tool made and runs", fork, []control.ArtefactEvent{named("a", 10, 0, file)}, byTool},

		{"another file", nil, []control.ArtefactEvent{named("a", 10, 30, "/s/other.jsonl")}, control.Link{}},
		{"no absolute path", nil, []control.ArtefactEvent{named("a", 10, 30, "child.jsonl")}, control.Link{}},
		{"made before the tool", nil, []control.ArtefactEvent{named("a", 21, 30, file)}, unknown},
		{"made after it", nil, []control.ArtefactEvent{named("a", 10, 19, file)}, unknown},
		{"made after its end, which was told later", nil, []control.ArtefactEvent{named("a", 10, 0, file), named("a", 10, 19, file)}, unknown},
		{"nobody knows when", []func(*control.BridgeHello){func(h *control.BridgeHello) { h.Created = "" }}, []control.ArtefactEvent{named("a", 10, 30, file)}, unknown},
		{"a fork that it did not make", fork, []control.ArtefactEvent{named("a", 21, 30, file)}, control.Link{Parent: "origin", By: "header"}},
		{"a session that was resumed afterwards", resumed, []control.ArtefactEvent{named("a", 10, 22, file)}, control.Link{}},
		{"a session that was resumed before", resumed, []control.ArtefactEvent{named("a", 26, 30, file)}, control.Link{}},
		{"a fork that was resumed afterwards", fork, []control.ArtefactEvent{named("a", 10, 22, file)}, control.Link{Parent: "origin", By: "header"}},
		{"no file", []func(*control.BridgeHello){func(h *control.BridgeHello) { h.File = "" }}, []control.ArtefactEvent{named("a", 10, 30, file)}, control.Link{}},
	} {
		for _, order := range []string{"the child first", "the word first"} {
			t.Run(c.name+", "+order, func(t *testing.T) {
				h := start(t, alone)
				client := h.client()
				parent := h.join(hello("main"))
				tell := func() {
					for _, e := range c.told {
						parent.tell(control.Artefact, e)
					}
				}
				if order == "the word first" {
					tell()
				}
				h.clock.advance(25 * time.Second)
				child := h.join(hello("child", append([]func(*control.BridgeHello){madeAt(20)}, c.child...)...))
				if order == "the child first" {
					tell()
				}
				if got := client.targets()["child"].Link; got != c.want {
					t.Errorf("%+v, want %+v", got, c.want)
				}
				// Its run is no work of the parent: the process is not known to be.
				child.run(false)
				if p := client.session("child").Parent; p != nil {
					t.Errorf("it counts as a child of %+v that runs", p)
				}
			})
		}
	}
}

// What the processes say goes before what a tool says.
func TestArtefactsAreWeaker(t *testing.T) {
	h := start(t, func(o *hub.Options) { o.Ancestors = func(pid int) []int { return map[int][]int{3000: {1000}}[pid] } })
	c := h.client()
	parent := h.join(hello("main"))
	other := h.join(hello("other", func(h *control.BridgeHello) { h.Pid = 2000 }))
	other.tell(control.Artefact, named("a", 10, 30, "/s/child.jsonl"))
	h.join(hello("child", madeAt(20)))
	parent.tell(control.Artefact, named("b", 10, 30, "/s/child.jsonl"))
	if got, want := c.targets()["child"].Link, (control.Link{Parent: "main", By: "process"}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// Nobody is the child of its own child, and none of itself.
func TestArtefactsOfAncestors(t *testing.T) {
	h := start(t, func(o *hub.Options) {
		o.Ancestors = func(pid int) []int { return map[int][]int{3000: {1000}, 1000: {7}}[pid] }
	})
	c := h.client()
	parent := h.join(hello("main", func(h *control.BridgeHello) { h.Created = at(20).Format(time.RFC3339) }))
	parent.tell(control.Artefact, named("a", 10, 30, "/s/main.jsonl"))
	child := h.join(hello("child", madeAt(20)))
	child.tell(control.Artefact, named("b", 10, 30, "/s/main.jsonl"))
	if got := c.targets()["main"].Link; got != (control.Link{}) {
		t.Errorf("the parent is linked %+v", got)
	}
	// What was believed is not any more when it turns out that way.
	h = start(t, func(o *hub.Options) {
		o.Ancestors = func(pid int) []int { return map[int][]int{1000: {3000}, 3000: {7}}[pid] }
	})
	c = h.client()
	parent = h.join(hello("main", func(h *control.BridgeHello) { h.Pid = 2000 }))
	parent.tell(control.Artefact, named("a", 10, 30, "/s/child.jsonl"))
	h.join(hello("child", madeAt(20)))
	if got := c.targets()["child"].Link.Parent; got != "main" {
		t.Fatalf("the child is that of %q", got)
	}
	parent.tell(control.Bye, control.ByeEvent{Reason: "quit"})
	h.join(hello("main")) // the child started it again, below its own process
	if got := c.targets(); got["main"].Link.Parent != "child" || got["child"].Link != (control.Link{}) {
		t.Errorf("the parent is linked %+v, the child %+v", got["main"].Link, got["child"].Link)
	}
}

// Two that do not know each other cannot both have made it; of two in a line it
// was the nearer one, whoever tells first.
func TestArtefactsOfTwo(t *testing.T) {
	h := start(t, alone)
	c := h.client()
	const file = "/s/child.jsonl"
	top := h.join(hello("top"))
	middle := h.join(hello("middle", madeAt(15), func(h *control.BridgeHello) { h.Pid = 2000 }))
	h.join(hello("child", madeAt(20)))
	link := func(want control.Link) {
		t.Helper()
		if got := c.targets()["child"].Link; got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	top.tell(control.Artefact, named("a", 10, 0, file))
	link(control.Link{Parent: "top", By: "artefact"})
	middle.tell(control.Artefact, named("b", 16, 30, file))
	link(control.Link{Unknown: "tools of the sessions top and middle named its file"})
	top.tell(control.Artefact, named("a", 10, 40, file, "/s/middle.jsonl"))
	link(control.Link{Parent: "middle", By: "artefact"})
}

// A tool that was cut off has ended with the run, or with the session.
func TestArtefactOfACallWithoutAnEnd(t *testing.T) {
	for name, end := range map[string]func(*bridge){
		"settled": func(b *bridge) { b.settle() },
		"left":    func(b *bridge) { b.tell(control.Bye, control.ByeEvent{Reason: "quit"}) },
	} {
		t.Run(name, func(t *testing.T) {
			h := start(t, alone)
			c := h.client()
			parent := h.join(hello("main"))
			parent.run(false)
			parent.tell(control.Artefact, named("a", -10, 0, "/s/child.jsonl"))
			end(parent)
			h.join(hello("child", madeAt(20)))
			if got := c.targets()["child"].Link; got.Parent != "" || got.Unknown == "" {
				t.Errorf("%+v", got)
			}
		})
	}
}

// What the tools of a session named is forgotten with it, and leaves room for
// what others name.
func TestArtefactsOfAForgottenParent(t *testing.T) {
	h := start(t, alone)
	c := h.client()
	const file = "/s/child.jsonl"
	ends := func(b *bridge) {
		b.tell(control.Bye, control.ByeEvent{Reason: "quit"})
		h.settleDown(c)
		h.clock.advance(time.Second)
	}
	first := h.join(hello("first"))
	for i := range 16 {
		first.tell(control.Artefact, named(fmt.Sprint("c", i), 1, 2, file))
	}
	ends(first)
	for i := range 201 {
		ends(h.join(hello(fmt.Sprintf("ended%03d", i), func(h *control.BridgeHello) { h.Pid = 5000 + i })))
	}
	if _, kept := c.targets()["first"]; kept {
		t.Fatal("the first one that ended is kept")
	}
	h.join(hello("second", func(h *control.BridgeHello) { h.Pid = 2000 })).tell(control.Artefact, named("a", 10, 30, file))
	h.join(hello("child", madeAt(20)))
	if got, want := c.targets()["child"].Link, (control.Link{Parent: "second", By: "artefact"}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// A person who watches from now on is told whose child is whose.
func TestArtefactsAreShown(t *testing.T) {
	h := start(t, alone)
	parent := h.join(hello("main"))
	h.join(hello("child", madeAt(20)))
	before := h.client().watch()
	parent.tell(control.Artefact, named("a", 10, 30, "/s/child.jsonl"))
	for _, w := range []*watcher{before, h.client().watch()} {
		w.until(func(p control.Push) bool {
			return p.Target != nil && p.Target.ID == "child" && p.Target.Link.By == "artefact"
		})
	}
}

// sessionFile is a session file that grows; its moments are those of at.
type sessionFile struct {
	t    *testing.T
	path string
	n    int
}

func newSessionFile(t *testing.T, dir, id string, made int, more string) *sessionFile {
	t.Helper()
	f := &sessionFile{t, filepath.Join(dir, id+".jsonl"), 0}
	f.add(fmt.Sprintf(`{"type":"session","version":3,"id":%q,"cwd":"/w","timestamp":%q%s}`, id, at(made).UTC().Format(time.RFC3339), more))
	return f
}

func (f *sessionFile) add(line string) {
	f.t.Helper()
	file, err := os.OpenFile(f.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		f.t.Fatal(err)
	}
	defer file.Close()
	if _, err := fmt.Fprintln(file, line); err != nil {
		f.t.Fatal(err)
	}
}

func (f *sessionFile) message(seconds int, message string) {
	f.t.Helper()
	f.n++
	f.add(fmt.Sprintf(`{"type":"message","id":"e%d","parentId":"e%d","timestamp":%q,"message":%s}`, f.n, f.n-1, at(seconds).UTC().Format(time.RFC3339), message))
}

func (f *sessionFile) turn(seconds int, result string) {
	f.t.Helper()
	id := fmt.Sprint("c", f.n)
	f.message(seconds, fmt.Sprintf(`{"role":"assistant","stopReason":"toolUse","content":[{"type":"toolCall","id":%q,"name":"bash","arguments":{"command":"make"}}]}`, id))
	f.message(seconds+20, fmt.Sprintf(`{"role":"toolResult","toolCallId":%q,"toolName":"bash","isError":true,"content":[{"type":"text","text":"no rule"}]%s}`, id, result))
}

func (f *sessionFile) says(text string) {
	f.t.Helper()
	f.message(100, fmt.Sprintf(`{"role":"assistant","stopReason":"stop","content":[{"type":"text","text":%q}]}`, text))
}

// A child without a bridge: the parent is told that it may be stuck, and waits
// for it when its file says that its run has ended.
func TestChildThatIsOnlyAFile(t *testing.T) {
	dir := t.TempDir()
	h := start(t, alone, func(o *hub.Options) { o.SessionDirs = []string{dir} })
	c, w := h.client(), h.client().watch()
	parent := h.join(hello("main"))
	parent.run(false)
	parent.tell(control.Called, control.CalledEvent{ID: "x", Tool: "bash", Args: json.RawMessage(`{}`)})
	parent.tell(control.Called, control.CalledEvent{ID: "a", Tool: "subagent", Args: json.RawMessage(`{}`)})
	f := newSessionFile(t, dir, "child", 20, "")
	parent.tell(control.Artefact, named("a", 10, 0, f.path))
	f.message(21, `{"role":"user","content":"go"}`)
	w.until(func(p control.Push) bool {
		return p.Target != nil && p.Target.ID == "child" && p.Target.State == "working" && p.Target.Link == (control.Link{Parent: "main", By: "artefact"})
	})
	for i := range 4 {
		f.turn(30+i, "")
	}
	if n := w.notice("Maybe stuck"); n.Session != "child" || !strings.Contains(n.Text, "the parent is told") {
		t.Errorf("%+v", n)
	}
	if got := supervised(h.drain(parent, c)); len(got) != 1 || !strings.Contains(got[0], "your sub-agent child may be stuck") {
		t.Errorf("the parent was told %q", got)
	}
	f.says("I give up.")
	p := w.until(func(p control.Push) bool { return p.Target != nil && p.Target.Waits != nil })
	if p.Target.ID != "main" || p.Target.Waits.Child != "child" || p.Target.Waits.Tool != "subagent" {
		t.Errorf("%+v waits %+v", p.Target, p.Target.Waits)
	}
	f.message(110, `{"role":"user","content":"go on"}`)
	w.until(func(p control.Push) bool { return p.Target != nil && p.Target.ID == "main" && p.Target.Waits == nil })
	f.says("Again.")
	w.until(func(p control.Push) bool { return p.Target != nil && p.Target.Waits != nil })
	parent.tell(control.Returned, control.ReturnedEvent{ID: "a"})
	parent.tell(control.Artefact, named("a", 10, 120, f.path))
	parent.settle()
	w.until(func(p control.Push) bool { return p.Target != nil && p.Target.ID == "main" && p.Target.Waits == nil })
	if got := c.targets()["child"].Link; got.Parent != "main" {
		t.Errorf("afterwards: %+v", got)
	}
}

// A child without a bridge that has yet to begin has not ended: not when only the
// head of its file is there, nor when a fork holds how its origin ended.
func TestFileThatHasYetToBegin(t *testing.T) {
	for name, first := range map[string]func(*sessionFile){
		"the head of a file": func(f *sessionFile) { f.add(`{"type":"model_change","id":"m","parentId":null}`) },
		"a fork": func(f *sessionFile) {
			f.message(1, `{"role":"user","content":"go"}`)
			f.message(2, `{"role":"assistant","stopReason":"stop","content":[{"type":"text","text":"Done."}]}`)
		},
	} {
		for _, order := range []string{"the child first", "the word first"} {
			t.Run(name+", "+order, func(t *testing.T) {
				dir := t.TempDir()
				h := start(t, alone, func(o *hub.Options) { o.SessionDirs = []string{dir} })
				c, w := h.client(), h.client().watch()
				parent := h.join(hello("main"))
				parent.run(false)
				parent.tell(control.Called, control.CalledEvent{ID: "a", Tool: "subagent", Args: json.RawMessage(`{}`)})
				tell := func() {
					parent.tell(control.Artefact, named("a", 10, 0, filepath.Join(dir, "child.jsonl")))
				}
				state := func(state, parent string) {
					t.Helper()
					w.until(func(p control.Push) bool {
						return p.Target != nil && p.Target.ID == "child" && p.Target.State == state && p.Target.Link.Parent == parent
					})
				}
				if order == "the word first" {
					tell()
				}
				f := newSessionFile(t, dir, "child", 20, "")
				first(f)
				if order == "the child first" {
					state("idle", "")
					tell()
				}
				state("idle", "main")
				f.message(21, `{"role":"user","content":"go"}`)
				for working := false; !working; {
					p := w.next()
					if p.Target == nil {
						continue
					}
					if p.Target.Waits != nil {
						t.Fatalf("before it began: %+v waits %+v", p.Target, p.Target.Waits)
					}
					working = p.Target.ID == "child" && p.Target.State == "working"
				}
				if got := c.targets()["main"].Waits; got != nil {
					t.Errorf("while it works: %+v", got)
				}
				f.says("Done.")
				w.until(func(p control.Push) bool { return p.Target != nil && p.Target.Waits != nil })
			})
		}
	}
}

// A child that is only a file never holds the countdown of its parent: nobody
// knows whether its process lives.
func TestFileHoldsNoCountdown(t *testing.T) {
	dir := t.TempDir()
	h := start(t, alone, func(o *hub.Options) { o.SessionDirs = []string{dir} })
	c, w := h.client(), h.client().watch()
	parent := h.join(hello("main"))
	c.start("main", "timeout=60")
	f := newSessionFile(t, dir, "child", 20, "")
	parent.tell(control.Artefact, named("a", 10, 30, f.path))
	f.message(21, `{"role":"user","content":"go"}`)
	w.until(func(p control.Push) bool {
		return p.Target != nil && p.Target.State == "working" && p.Target.Link.Parent == "main"
	})
	if got := c.session("main").Watch; got.Phase != watchdog.Counting {
		t.Errorf("the parent is %s: %s", got.Phase, got.Why)
	}
}

// Sessions that are all files: the header of a fork, and what the results of a
// parent name.
func TestFamilyOfFiles(t *testing.T) {
	dir := t.TempDir()
	h := start(t, alone, func(o *hub.Options) { o.SessionDirs = []string{dir} })
	w := h.client().watch()
	links := map[string]control.Link{}
	is := func(id string, want control.Link) {
		t.Helper()
		for got, known := links[id]; !known || got != want; got, known = links[id] {
			if p := w.next(); p.Target != nil {
				links[p.Target.ID] = p.Target.Link
			}
		}
	}
	parent := newSessionFile(t, dir, "main", 0, "")
	parent.message(1, `{"role":"user","content":"go"}`)
	before := newSessionFile(t, dir, "before", 5, "")
	before.message(6, `{"role":"user","content":"go"}`)
	child := newSessionFile(t, dir, "child", 20, "")
	child.message(21, `{"role":"user","content":"go"}`)
	fork := newSessionFile(t, dir, "fork", 40, fmt.Sprintf(`,"parentSession":%q`, parent.path))
	fork.message(41, `{"role":"user","content":"go"}`)
	is("fork", control.Link{Parent: "main", By: "header"})
	is("child", control.Link{}) // before it is named
	parent.turn(10, fmt.Sprintf(`,"details":{"results":[{"sessionFile":%q},{"sessionPath":%q},{"sessionFile":%q}]}`, child.path, before.path, parent.path))
	is("before", control.Link{Unknown: "a tool of session main named its file, but it was not made while that tool ran"})
	is("child", control.Link{Parent: "main", By: "artefact"})
	late := newSessionFile(t, dir, "orphan", 40, `,"parentSession":"/none.jsonl"`)
	late.message(41, `{"role":"user","content":"go"}`)
	is("orphan", control.Link{Unknown: "the session it was made from cannot be read"})
}
