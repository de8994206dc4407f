package hub

import (
	"bytes"
	"context"
	"io"
	"os"
	"time"

	"piwatch/internal/control"
	"piwatch/internal/loop"
	"piwatch/internal/pi"
	"piwatch/internal/tail"
)

const (
	// recent is how old the last change of a file may be for its session to be
	// watched from the start of the hub on.
	recent = 10 * time.Minute
	// backlog is how much is read of what a file holds already, in bytes.
	backlog = 256 << 10
	// maxRead bounds what is read at once, in bytes: a longer record is passed
	// over.
	maxRead = 16 << 20
)

// followed is a session file that is judged by what is appended to it.
type followed struct {
	header pi.Header
	origin control.Link // of the header
	offset int64        // what was read: the start of a line
	reader *loop.Reader
	parser *pi.Parser
	calls  map[string]time.Time // of the last answer, and when it came
}

// toldFile is what a tool of a session said, by its file, of the files of
// others.
type toldFile struct {
	artefact
	files []string
}

// follow judges the sessions without a bridge by their files, until ctx ends.
func (v *supervisor) follow(ctx context.Context, dirs []string) {
	watcher := tail.NewWatcher()
	defer watcher.Close()
	_ = tail.NewDirWatcher(dirs, pi.Ext, tail.Options{Watcher: watcher}).Run(ctx, func(ev tail.DirEvent) {
		switch ev.Kind {
		case tail.Appeared:
			if time.Since(ev.ModTime) < recent {
				v.changed(ev.Path, ev.Size)
			}
		case tail.Changed:
			v.changed(ev.Path, ev.Size)
		case tail.Vanished:
			v.hub.mu.Lock()
			delete(v.files, ev.Path)
			v.hub.mu.Unlock()
		}
	})
}

// changed takes a file that came or grew. It reads without the hub's mutex: it
// is the only one that reads files.
func (v *supervisor) changed(path string, size int64) {
	v.hub.mu.Lock()
	f, bridged := v.files[path], v.bridged(path)
	v.hub.mu.Unlock()
	if f == nil {
		head, err := pi.ReadHead(path, 0)
		if err != nil || !head.HasHeader || head.Header.ID == "" {
			return
		}
		f = &followed{header: head.Header, origin: originOf(head.Header.ParentSession, head.Header.ID), offset: max(size-backlog, 0)}
	}
	if bridged { // what it says now counts; the file is read on when the bridge is gone
		f.offset, f.reader = size, nil
		v.keep(path, f)
		return
	}
	if size < f.offset || f.reader == nil {
		if size < f.offset {
			f.offset = 0 // it was rewritten
		}
		f.reader, f.parser, f.calls = &loop.Reader{}, &pi.Parser{}, nil
	}
	entries := f.read(path)
	told := f.artefacts(entries)
	v.keep(path, f)
	if len(entries) > 0 {
		v.judge(path, f, entries, told)
	}
}

func (v *supervisor) keep(path string, f *followed) {
	v.hub.mu.Lock()
	defer v.hub.mu.Unlock()
	v.files[path] = f
}

// bridged says whether a bridge tells of the session of a file.
func (v *supervisor) bridged(path string) bool {
	for _, t := range v.targets {
		if t.session != nil && t.file == path {
			return true
		}
	}
	return false
}

// read reads the complete lines that were appended.
func (f *followed) read(path string) []pi.Entry {
	file, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer file.Close()
	data, err := io.ReadAll(io.NewSectionReader(file, f.offset, maxRead))
	if err != nil {
		return nil
	}
	end := bytes.LastIndexByte(data, '\n') + 1
	if end == 0 && len(data) == maxRead {
		f.offset += maxRead
		return nil
	}
	var entries []pi.Entry
	for line := range bytes.Lines(data[:end]) {
		entries = append(entries, f.parser.Add(bytes.TrimSuffix(line, []byte("\n")), f.offset)...)
		f.offset += int64(len(line))
	}
	return entries
}

// artefacts are the session files that tools named. A call is in the file once
// it was made, and its result once it was there.
func (f *followed) artefacts(entries []pi.Entry) []toldFile {
	var told []toldFile
	for i := range entries {
		e := &entries[i]
		switch {
		case e.Message == nil:
		case e.Message.Role == pi.RoleAssistant:
			f.calls = map[string]time.Time{}
			for _, call := range e.Message.ToolCalls() {
				f.calls[call.ToolCallID] = e.Time
			}
		case e.Message.Role == pi.RoleToolResult:
			id := e.Message.ToolCallID
			files := e.Message.SessionFiles()
			if since := f.calls[id]; len(files) > 0 && !since.IsZero() && !e.Time.IsZero() {
				told = append(told, toldFile{artefact{parent: f.header.ID, call: id, since: since, until: e.Time}, files})
			}
		}
	}
	return told
}

// judge gives the detector what a file says. It goes by the time of now: what
// is in the file already is no news.
func (v *supervisor) judge(path string, f *followed, entries []pi.Entry, told []toldFile) {
	v.hub.mu.Lock()
	defer v.hub.mu.Unlock()
	t := v.target(f.header.ID, f.header.Cwd)
	if t.session != nil {
		return // its bridge came meanwhile
	}
	if t.pid != 0 { // its bridge is gone, and it goes on without
		t.pid, t.bye = 0, ""
		t.detector = loop.New(t.set.Rules())
	}
	t.setFile(path)
	t.made = f.header.Time
	if t.plain == (control.Link{}) {
		t.plain = f.origin
	}
	v.relink(t)
	for _, one := range told {
		v.named(t, one.artefact, one.files)
	}
	state, news := t.state, false
	for i := range entries {
		if info := entries[i].SessionInfo; info != nil {
			t.name = info.Name
		}
		for _, ev := range f.reader.Read(&entries[i]) {
			switch ev.Event.(type) {
			case loop.Began, loop.Called:
				state = stateWorking
			case loop.Ended:
				state, t.over, news = stateIdle, ev.At, true
			}
			v.hear(t, ev.Event)
		}
	}
	if state == "" {
		state = stateIdle
	}
	v.become(t, state)
	switch {
	case state == stateWorking:
		v.goesOn(t)
	case news && t.hasRun():
		v.ended(t)
	}
}

// hasRun says whether the file of t tells of the end of a run of its own: a fork
// begins with a copy of what its origin did.
func (t *target) hasRun() bool { return !t.over.Before(t.made) }
