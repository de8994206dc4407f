package hub_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"piwatch/internal/control"
	"piwatch/internal/hub"
)

func TestStatesOfChildren(t *testing.T) {
	_, c, w, parent, child := family(t)
	state := func(id, want string) {
		t.Helper()
		if got := c.targets()[id].State; got != want {
			w.until(func(p control.Push) bool { return p.Target != nil && p.Target.ID == id && p.Target.State == want })
		}
	}
	state("child", "working")
	child.settle()
	state("child", "idle")
	child.tell(control.Bye, control.ByeEvent{Reason: "quit"})
	state("child", "done")
	parent.tell(control.Answered, control.AnsweredEvent{Failed: "502"})
	parent.tell(control.Bye, control.ByeEvent{Reason: "quit"})
	state("main", "failed")
}

// A parent that waits in a tool for a child that has ended.
func TestParentWaits(t *testing.T) {
	h := start(t)
	c := h.client()
	w := h.client().watch()
	parent := h.join(hello("main"))
	parent.run(false)
	parent.tell(control.Called, control.CalledEvent{ID: "b", Tool: "bash", Args: json.RawMessage(`{}`)})
	h.settleDown(c)
	child := h.join(hello("child", childOf("main")))
	child.tell(control.Bye, control.ByeEvent{Reason: "quit"})
	p := w.until(func(p control.Push) bool { return p.Target != nil && p.Target.Waits != nil })
	if p.Target.ID != "main" || p.Target.Waits.Child != "child" || p.Target.Waits.Tool != "bash" {
		t.Errorf("%+v", p.Target)
	}
	parent.tell(control.Returned, control.ReturnedEvent{ID: "b"})
	parent.settle()
	w.until(func(p control.Push) bool { return p.Target != nil && p.Target.ID == "main" && p.Target.Waits == nil })
}

// A session that is started again, in a process of its own, is a child of the
// call that did so.
func TestParentWaitsForAChildThatCameAgain(t *testing.T) {
	h := start(t)
	c, w := h.client(), h.client().watch()
	parent := h.join(hello("main"))
	parent.run(false)
	for i, id := range []string{"a", "b"} {
		h.clock.advance(10 * time.Second)
		parent.tell(control.Called, control.CalledEvent{ID: id, Tool: "bash", Args: json.RawMessage(`{}`)})
		h.settleDown(c)
		h.clock.advance(10 * time.Second)
		child := h.join(hello("child", childOf("main"), func(h *control.BridgeHello) { h.Pid = 3000 + i }))
		child.tell(control.Bye, control.ByeEvent{Reason: "quit"})
		w.until(func(p control.Push) bool { return p.Target != nil && p.Target.ID == "main" && p.Target.Waits != nil })
		parent.tell(control.Returned, control.ReturnedEvent{ID: id})
		parent.run(false)
		w.until(func(p control.Push) bool { return p.Target != nil && p.Target.ID == "main" && p.Target.Waits == nil })
	}
}

func TestFamily(t *testing.T) {
	origin := filepath.Join(t.TempDir(), "origin.jsonl")
	if err := os.WriteFile(origin, []byte(`{"type":"session","version":3,"id":"origin","cwd":"/"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	above := map[int][]int{2000: {1500, 1000}, 3000: {7}, 1000: {7}}
	for _, c := range []struct {
		name   string
		change func(*control.BridgeHello)
		busy   bool // the parent works
		want   control.Link
	}{
		{"nothing", func(h *control.BridgeHello) { h.Pid = 3000 }, true, control.Link{}},
		{"its process alone", func(h *control.BridgeHello) { h.Pid = 2000 }, false, control.Link{Parent: "main", By: "process"}},
		{"the marker", func(h *control.BridgeHello) { h.Pid, h.Parent = 2000, &control.Parent{Session: "main", Pid: 1000} }, false, control.Link{Parent: "main", By: "marker"}},
		{"Pi's variable", func(h *control.BridgeHello) { h.Pid, h.Inherited = 2000, "main" }, false, control.Link{Parent: "main", By: "environment"}},
		{"detached by a parent that works", func(h *control.BridgeHello) {
			h.Pid, h.Mode, h.Parent = 3000, "json", &control.Parent{Session: "main", Pid: 1000}
		}, true, control.Link{Parent: "main", By: "marker"}},
		{"a marker from a shell of long ago", func(h *control.BridgeHello) { h.Pid, h.Parent = 3000, &control.Parent{Session: "main", Pid: 1000} }, true,
			control.Link{Unknown: "it inherited the name of session main, but its process is not below that one's"}},
		{"the same without a screen", func(h *control.BridgeHello) {
			h.Pid, h.Mode, h.Parent = 3000, "print", &control.Parent{Session: "main", Pid: 1000}
		}, false, control.Link{Unknown: "it inherited the name of session main, but its process is not below that one's"}},
		{"a variable from a shell of long ago", func(h *control.BridgeHello) { h.Pid, h.Inherited = 3000, "main" }, true,
			control.Link{Unknown: "it inherited PI_SESSION_ID of session main, but its process is not below that one's"}},
		{"a fork", func(h *control.BridgeHello) { h.Pid, h.Origin = 3000, origin }, false, control.Link{Parent: "origin", By: "header"}},
		{"a fork of what is gone", func(h *control.BridgeHello) { h.Pid, h.Origin = 3000, origin+"x" }, false, control.Link{Unknown: "the session it was made from cannot be read"}},
		{"itself", func(h *control.BridgeHello) {
			h.Pid, h.Inherited, h.Parent = 3000, "child", &control.Parent{Session: "child", Pid: 3000}
		}, false, control.Link{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := start(t, func(o *hub.Options) { o.Ancestors = func(pid int) []int { return above[pid] } })
			client := h.client()
			parent := h.join(hello("main"))
			if c.busy {
				parent.run(false)
				h.settleDown(client)
			}
			h.join(hello("child", c.change))
			if got := client.targets()["child"].Link; got != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
			counts := client.session("child").Parent != nil
			if want := c.want.Parent == "main"; counts != want {
				t.Errorf("its run counts for the parent: %t, want %t", counts, want)
			}
		})
	}
}
