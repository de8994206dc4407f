package hub

import (
	"fmt"
	"slices"
	"time"

	"piwatch/internal/control"
	"piwatch/internal/pi"
)

const (
	// keepArtefacts is how many session files that tools named are remembered,
	// and keepCalls how many calls for each.
	keepArtefacts = 1000
	keepCalls     = 16
)

// artefact is a tool call that named a session file. That alone says little: a
// tool may list sessions. The call started the session if the session was made
// while it ran.
type artefact struct {
	parent, call string
	since, until time.Time // until is zero while it runs
}

// ran says whether the call ran at a time.
func (a artefact) ran(at time.Time) bool {
	return !at.Before(a.since) && (a.until.IsZero() || !at.After(a.until))
}

// artefact takes what a bridge tells.
func (b *bridge) artefact(e control.ArtefactEvent) any {
	v := b.peer.hub.loops
	t := v.targets[b.session.id]
	if t == nil || t.session != b.session {
		return nil
	}
	found := artefact{parent: t.id, call: e.Call, since: time.UnixMilli(e.Since)}
	if e.Until != 0 {
		found.until = time.UnixMilli(e.Until)
	}
	v.named(t, found, e.Files)
	return nil
}

// named takes the session files that a tool of t named.
func (v *supervisor) named(t *target, found artefact, files []string) {
	for _, name := range files[:min(len(files), pi.MaxArtefacts)] {
		file, ok := pi.ArtefactPath(name)
		if !ok || t.file == file {
			continue
		}
		v.remember(file, found)
		for _, child := range v.targets {
			if child.file == file {
				v.relink(child)
			}
		}
	}
}

// remember keeps a call for a file. A call that is known has ended meanwhile.
func (v *supervisor) remember(file string, found artefact) {
	calls := v.artefacts[file]
	if at := slices.IndexFunc(calls, func(a artefact) bool { return a.parent == found.parent && a.call == found.call }); at >= 0 {
		calls[at] = found
		return
	}
	if len(calls) == keepCalls {
		return
	}
	if calls == nil && len(v.artefacts) == keepArtefacts {
		v.forgetArtefact()
	}
	v.artefacts[file] = append(calls, found)
}

// forgetArtefact lets go of the file that was named first.
func (v *supervisor) forgetArtefact() {
	oldest := ""
	for file, calls := range v.artefacts {
		if oldest == "" || calls[0].since.Before(v.artefacts[oldest][0].since) {
			oldest = file
		}
	}
	delete(v.artefacts, oldest)
}

// forgetCalls lets go of what the tools of a session named.
func (v *supervisor) forgetCalls(parent string) {
	for file, calls := range v.artefacts {
		calls = slices.DeleteFunc(calls, func(a artefact) bool { return a.parent == parent })
		if v.artefacts[file] = calls; len(calls) == 0 {
			delete(v.artefacts, file)
		}
	}
}

// callsEnded: no tool of a session runs any more, whatever was told of its end.
func (v *supervisor) callsEnded(id string) {
	for _, calls := range v.artefacts {
		for i := range calls {
			if calls[i].parent == id && calls[i].until.IsZero() {
				calls[i].until = v.hub.options.Wall()
			}
		}
	}
}

// relink says anew whose child t is, and then those whose parent may depend on
// it: who is above whom has changed.
func (v *supervisor) relink(t *target) {
	if !v.linked(t) {
		return
	}
	const rounds = 8 // what files say may go round in circles
	for range rounds {
		changed := false
		for _, other := range v.targets {
			if len(v.artefacts[other.file]) > 0 && v.linked(other) {
				changed = true
			}
		}
		if !changed {
			return
		}
	}
}

// linked says anew whose child t is, and whether that is news.
func (v *supervisor) linked(t *target) bool {
	link, call := t.plain, ""
	if !isStarted(link) {
		named, by := v.startedBy(t)
		if named.Parent != "" || link == (control.Link{}) {
			link, call = named, by
		}
	}
	if link == t.link && call == t.call {
		return false
	}
	t.link, t.call, t.born = link, call, v.hub.clock.Now()
	if t.state != "" { // else it is just beginning, and is shown with its state
		v.show(t)
	}
	if t.session == nil && t.state == stateIdle && t.hasRun() {
		v.ended(t)
	}
	return true
}

// startedBy finds the session whose tool call started t, and the call. A session
// that was resumed is that of a call that ran just then: it made a fork, and
// started it.
func (v *supervisor) startedBy(t *target) (link control.Link, call string) {
	if t.file == "" {
		return link, ""
	}
	var best *target
	for _, a := range v.artefacts[t.file] {
		parent := v.targets[a.parent]
		switch {
		case parent == nil || parent == t || v.above(t, parent):
		case !t.resumed.IsZero() && !a.ran(t.resumed):
		case !a.ran(t.made):
			link.Unknown = fmt.Sprintf("a tool of session %s named its file, but it was not made while that tool ran", parent.id)
		case best == nil || best == parent || v.above(best, parent): // the nearest one: results go up with what they name
			best, call = parent, a.call
		case !v.above(parent, best):
			return control.Link{Unknown: fmt.Sprintf("tools of the sessions %s and %s named its file", best.id, parent.id)}, ""
		}
	}
	if best != nil {
		return control.Link{Parent: best.id, By: linkArtefact}, call
	}
	return link, ""
}
