package hub

import (
	"fmt"
	"slices"
	"time"

	"piwatch/internal/control"
	"piwatch/internal/pi"
)

// How a parent is known, the surest first.
const (
	linkMarker   = "marker"      // the bridge of the parent left its name in the environment
	linkEnv      = "environment" // Pi did: PI_SESSION_ID
	linkProcess  = "process"     // its process is one above
	linkArtefact = "artefact"    // a tool of the parent made its session file
	linkHeader   = "header"      // the session was forked, cloned or started from it
)

// isStarted says whether a link is to the session that started this one in a
// process below its own: its run counts as work of the parent. Of a session that
// a tool named only its file is known, and a fork is nobody's work.
func isStarted(link control.Link) bool {
	return link.By == linkMarker || link.By == linkEnv || link.By == linkProcess
}

// isChild says whether a link is to the session that started this one, in
// whatever way: that one is told of it. A fork alone is nobody's
// child.
func isChild(link control.Link) bool {
	return isStarted(link) || link.By == linkArtefact
}

// linkOf says whose child a session is. A name that was inherited is believed
// when the process of the parent is one above: a shell or a tmux server that
// was once started by an agent hands the name on for ever. Only a Pi without a
// screen may have been detached by a parent that works.
func (v *supervisor) linkOf(hello control.BridgeHello) control.Link {
	above := v.ancestors(hello.Pid)
	headless := hello.Mode != "tui"
	unknown := ""
	if p := hello.Parent; p != nil && p.Session != hello.Session {
		switch {
		case len(above) == 0, slices.Contains(above, p.Pid), headless && v.mayDetach(p.Session, p.Pid):
			return control.Link{Parent: p.Session, By: linkMarker}
		}
		unknown = fmt.Sprintf("it inherited the name of session %s, but its process is not below that one's", p.Session)
	}
	if id := hello.Inherited; id != "" && id != hello.Session {
		known := v.targets[id]
		switch {
		case known != nil && known.session != nil && (slices.Contains(above, known.pid) || headless && v.mayDetach(id, known.pid)):
			return control.Link{Parent: id, By: linkEnv}
		case unknown == "":
			unknown = fmt.Sprintf("it inherited PI_SESSION_ID of session %s, but its process is not below that one's", id)
		}
	}
	for _, pid := range above {
		for _, other := range v.targets {
			if other.session != nil && other.pid == pid && other.id != hello.Session {
				return control.Link{Parent: other.id, By: linkProcess}
			}
		}
	}
	link := originOf(hello.Origin, hello.Session)
	if link == (control.Link{}) {
		link.Unknown = unknown
	}
	return link
}

// originOf says from which session another one was forked, cloned or started, by
// the file that its header names; file "" is for none.
func originOf(file, id string) control.Link {
	if file == "" {
		return control.Link{}
	}
	head, err := pi.ReadHead(file, 0)
	switch {
	case err != nil:
		return control.Link{Unknown: "the session it was made from cannot be read"}
	case head.HasHeader && head.Header.ID != "" && head.Header.ID != id:
		return control.Link{Parent: head.Header.ID, By: linkHeader}
	}
	return control.Link{}
}

// mayDetach says whether a session may have started a Pi that is not below its
// process: it works just now, or lives and is not known yet.
func (v *supervisor) mayDetach(id string, pid int) bool {
	if t := v.targets[id]; t != nil && t.session != nil {
		return t.state == stateWorking
	}
	return len(v.ancestors(pid)) > 0
}

// family is the parent of a session whose run counts as work of the parent.
func (v *supervisor) family(hello control.BridgeHello) *control.Parent {
	t := v.target(hello.Session, hello.Cwd)
	switch {
	case t.session != nil && t.pid != hello.Pid: // another Pi that only watches
	case t.pid == hello.Pid && isStarted(t.plain): // it is here again
	default:
		if t.pid != hello.Pid {
			t.born, t.resumed = v.hub.clock.Now(), time.Time{}
		}
		t.plain = v.linkOf(hello)
		t.setFile(hello.File)
		t.made = time.Time{}
		if made, err := time.Parse(time.RFC3339, hello.Created); err == nil {
			t.made = made
		}
		if hello.Resumed && t.resumed.IsZero() { // after a reload a bridge does not know
			t.resumed = v.hub.options.Wall()
		}
		v.relink(t)
	}
	link := t.link
	if !isStarted(link) {
		return nil
	}
	parent := &control.Parent{Session: link.Parent}
	if p := hello.Parent; p != nil && p.Session == link.Parent {
		parent.Pid = p.Pid
	} else if t := v.targets[link.Parent]; t != nil {
		parent.Pid = t.pid
	}
	return parent
}

func (v *supervisor) ancestors(pid int) []int {
	if v.hub.options.Ancestors != nil {
		return v.hub.options.Ancestors(pid)
	}
	return ancestors(pid)
}

// maxAncestors bounds the walk up; deeper than any real machine.
const maxAncestors = 64

// ancestors are the processes above one, the nearest first; none when the
// process is not there.
func ancestors(pid int) []int {
	var above []int
	for range maxAncestors {
		parent, err := parentProcess(pid)
		if err != nil || parent <= 1 {
			break
		}
		above = append(above, parent)
		pid = parent
	}
	return above
}

// ended looks for a parent that waits for a child that has just ended, in the
// tool that named it, or else in one that began before the child did. A child
// without a bridge has ended when its file says that its run has.
func (v *supervisor) ended(child *target) {
	parent := v.targets[child.link.Parent]
	if parent == nil || parent.session == nil || !isChild(child.link) {
		return
	}
	for _, other := range v.targets {
		runs := other.session != nil || other.state == stateWorking
		if runs && other != child && other.link.Parent == parent.id && isChild(other.link) {
			return // another child still runs
		}
	}
	for _, call := range parent.open {
		if call.id == child.call || child.call == "" && !call.since.After(child.born) {
			parent.waits = &control.Waits{Child: child.id, Tool: call.tool, Since: child.since.UnixMilli()}
			v.show(parent)
			return
		}
	}
}

// goesOn: a child without a bridge works; its parent does not wait for its end
// if it did.
func (v *supervisor) goesOn(child *target) {
	if parent := v.targets[child.link.Parent]; parent != nil && parent.waits != nil && parent.waits.Child == child.id {
		parent.waits = nil
		v.show(parent)
	}
}

// related says whether two sessions are of one family, or work in one folder.
func (v *supervisor) related(a, b *target) bool {
	return v.root(a) == v.root(b) || a.cwd == b.cwd
}

// above says whether a is an ancestor of b.
func (v *supervisor) above(a, b *target) bool {
	for range maxAncestors {
		next := v.targets[b.link.Parent]
		if next == nil || next == b {
			return false
		}
		if next == a {
			return true
		}
		b = next
	}
	return false
}

func (v *supervisor) root(t *target) *target {
	for range maxAncestors {
		next := v.targets[t.link.Parent]
		if next == nil {
			return t
		}
		t = next
	}
	return t
}
