package demo

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"piwatch/internal/pi"
	"piwatch/internal/watchdog"
)

// session is a session in memory and its file. The file comes to be at the
// first message of the user; from then on each entry is one append (Pi 1.6.0,
// measured). The first failed write stays in err, and nothing is written after
// it.
type session struct {
	id, cwd string
	path    string // "" for a session without a file
	header  []byte
	created string // as the header says
	entries []*entry
	byID    map[string]*entry
	leaf    string
	name    string
	onDisk  bool
	err     error
}

func newSession(dir, cwd string, now time.Time) (*session, error) {
	s := &session{id: uuid7(now), cwd: cwd, byID: map[string]*entry{}}
	if dir != "" {
		stamp := strings.NewReplacer(":", "-", ".", "-").Replace(now.UTC().Format(isoTime))
		s.path = filepath.Join(dir, pi.FolderName(cwd), stamp+"_"+s.id+".jsonl")
		if err := os.MkdirAll(filepath.Dir(s.path), 0o755); err != nil {
			return nil, fmt.Errorf("the folder of the session: %w", err)
		}
	}
	s.created = now.UTC().Format(isoTime)
	header, err := encode(headerRecord{Type: pi.TypeSession, Version: pi.CurrentVersion, ID: s.id, Timestamp: s.created, Cwd: cwd})
	s.header = header
	return s, err
}

// add appends e, whose record is made for its place, and moves the leaf.
func (s *session) add(e *entry, now time.Time, record func(place) any) *entry {
	e.id, e.parent = s.newID(), s.leaf
	raw, err := encode(record(at(e.parent, e.id, now)))
	if err != nil && s.err == nil {
		s.err = fmt.Errorf("a %s entry: %w", e.kind, err)
	}
	e.raw = raw
	s.entries = append(s.entries, e)
	s.byID[e.id] = e
	s.leaf = e.id
	s.persist(e)
	return e
}

func (s *session) persist(e *entry) {
	if s.path == "" || s.err != nil {
		return
	}
	if s.onDisk {
		s.err = s.write(os.O_APPEND|os.O_CREATE, [][]byte{e.raw})
		return
	}
	if e.message == nil || (e.message.Role != pi.RoleUser && e.message.Role != pi.RoleAssistant) {
		return
	}
	lines := [][]byte{s.header}
	for _, e := range s.entries {
		lines = append(lines, e.raw)
	}
	s.err = s.write(os.O_CREATE|os.O_EXCL, lines)
	s.onDisk = s.err == nil
}

// write opens, writes each line by one write and closes, as Pi does.
func (s *session) write(flags int, lines [][]byte) error {
	f, err := os.OpenFile(s.path, os.O_WRONLY|flags, 0o644)
	if err != nil {
		return err
	}
	for _, line := range lines {
		if _, err := f.Write(append(slices.Clip(line), '\n')); err != nil {
			_ = f.Close()
			return err
		}
	}
	return f.Close()
}

// branch are the entries from the root to the leaf.
func (s *session) branch() []*entry {
	var branch []*entry
	for e := s.byID[s.leaf]; e != nil; e = s.byID[e.parent] {
		branch = append(branch, e)
	}
	slices.Reverse(branch)
	return branch
}

// hasHistory says whether the branch holds a message.
func (s *session) hasHistory() bool {
	return slices.ContainsFunc(s.branch(), func(e *entry) bool { return e.kind == pi.TypeMessage })
}

// last is the last custom entry of a type on the branch, nil when there is none.
func (s *session) last(customType string) *entry {
	for e := s.byID[s.leaf]; e != nil; e = s.byID[e.parent] {
		if e.kind == pi.TypeCustom && e.customType == customType {
			return e
		}
	}
	return nil
}

// cut says whether the token limit cut the last answer before any call of a
// tool. What a check left folded is no answer.
func (s *session) cut() bool {
	folded := map[string]bool{}
	for e := s.byID[s.leaf]; e != nil; e = s.byID[e.parent] {
		if o, ok := e.data.(watchdog.Outcome); ok && o.Unfolded == watchdog.FoldNone {
			for _, id := range o.Rows {
				folded[id] = true
			}
		}
		switch r := e.message; {
		case r == nil, folded[e.id]:
		case r.Role == pi.RoleUser:
			return false
		case r.Role == pi.RoleAssistant:
			return r.StopReason == pi.StopLength && len(r.calls()) == 0
		}
	}
	return false
}

func (s *session) addMessage(r *row, now time.Time) *entry {
	return s.add(&entry{kind: pi.TypeMessage, message: r}, now, func(p place) any {
		return messageRecord{pi.TypeMessage, p, r}
	})
}

func (s *session) addCustom(customType string, data any, now time.Time) *entry {
	return s.add(&entry{kind: pi.TypeCustom, customType: customType, data: data}, now, func(p place) any {
		return customRecord{pi.TypeCustom, customType, data, p}
	})
}

func (s *session) addCustomMessage(customType, text string, details any, now time.Time) *entry {
	return s.add(&entry{kind: pi.TypeCustomMessage, customType: customType, text: text}, now, func(p place) any {
		return customMessageRecord{pi.TypeCustomMessage, customType, text, true, details, p}
	})
}

// addEdit takes target out of the context, or gives it other content.
func (s *session) addEdit(target string, with *replacement, now time.Time) *entry {
	e := &entry{kind: pi.TypeContextEdit}
	return s.add(e, now, func(p place) any {
		e.edit = &editRecord{pi.TypeContextEdit, p, target, with}
		return e.edit
	})
}

func (s *session) newID() string {
	for {
		var b [4]byte
		_, _ = rand.Read(b[:])
		if id := hex.EncodeToString(b[:]); s.byID[id] == nil {
			return id
		}
	}
}

// uuid7 is a UUID of version 7: the time in milliseconds, then random bits.
func uuid7(now time.Time) string {
	var b [16]byte
	_, _ = rand.Read(b[:])
	var ms [8]byte
	binary.BigEndian.PutUint64(ms[:], uint64(now.UnixMilli()))
	copy(b[:6], ms[2:])
	b[6] = b[6]&0x0f | 0x70
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
