package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"piwatch/internal/control"
	"piwatch/internal/pi"
	"piwatch/internal/timeline"
)

// shortID is the least number of letters of an id that is shown.
const shortID = 8

// The names that are no session's own.
const (
	here        = "."      // the session of this folder
	lastSession = "--last" // the session that was active last
)

// sessionHelp says how a session is named, in the help of every command that
// takes one.
const sessionHelp = `SESSION is an id, a unique beginning of one, a name, or . for the session of this
folder; --last instead of it is the session that was active last.`

// naming is how a command line names one session.
type naming struct{ last bool }

func (n *naming) add(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&n.last, "last", false, "the session that was active last, instead of SESSION")
}

// args checks the number of arguments beside SESSION.
func (n *naming) args(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, given []string) error {
		least, most := least, most
		if !n.last {
			least++
			if most >= 0 {
				most++
			}
		}
		return args(least, most)(cmd, given)
	}
}

// split takes the name of the session off the arguments.
func (n *naming) split(given []string) (name string, rest []string) {
	if n.last {
		return lastSession, given
	}
	return given[0], given[1:]
}

// target is a session that can be named: with a bridge, or only its file.
type target struct {
	ID, Name, Cwd string
	File          string // "" when it has none
	Live          *control.Session
	Active        time.Time // when it did something last, as far as its file says
}

// label is how a person knows a session.
func (t target) label() string {
	if t.Name != "" {
		return t.Name
	}
	return timeline.OneLine(t.Cwd)
}

// liveTarget is a session with a bridge.
func liveTarget(s control.Session) target {
	t := target{ID: s.ID, Name: timeline.OneLine(s.Name), Cwd: s.Cwd, File: s.File, Live: &s}
	if info, err := os.Stat(s.File); err == nil {
		t.Active = info.ModTime()
	}
	return t
}

func liveTargets(sessions []control.Session) []target {
	targets := make([]target, len(sessions))
	for i, s := range sessions {
		targets[i] = liveTarget(s)
	}
	return targets
}

// sessionError says that a name is not the name of one session.
type sessionError struct {
	text     string
	sessions []target // to choose from
	hint     string   // when there are none
}

func (e *sessionError) Error() string { return e.text }

// Is makes it a control.ErrNoSession.
func (e *sessionError) Is(target error) bool { return target == control.ErrNoSession }

// mostNamed is how many sessions a hint lists.
const mostNamed = 8

// Hint lists what there is.
func (e *sessionError) Hint() string {
	if len(e.sessions) == 0 {
		return e.hint
	}
	var names []string
	ids := shorten(e.sessions)
	for i, t := range e.sessions[:min(len(e.sessions), mostNamed)] {
		names = append(names, fmt.Sprintf("%s (%s)", ids[i], t.label()))
	}
	if more := len(e.sessions) - mostNamed; more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return "there are " + strings.Join(names, ", ")
}

// noSession says that a name is no session's.
func noSession(what, name, cwd string, sessions []target, hint string) error {
	text := fmt.Sprintf("no %s has the id or name %s", what, quote(name))
	switch name {
	case here:
		text = fmt.Sprintf("no %s works in %s", what, cwd)
	case lastSession:
		text = "there is no " + what
	}
	return &sessionError{text, sessions, hint}
}

// pick finds the one session that a name means: by its id, a name, or a unique
// beginning of an id, in this order. none: no session has that name; the error
// is that there are several.
func pick(targets []target, name, cwd string) (found target, none bool, err error) {
	for _, is := range matches(name, cwd) {
		var all []target
		for _, t := range targets {
			if is(t) {
				all = append(all, t)
			}
		}
		switch {
		case len(all) == 1:
			return all[0], false, nil
		case len(all) > 1 && name == lastSession:
			return slices.MaxFunc(all, byActivity), false, nil
		case len(all) > 1:
			return target{}, false, &sessionError{text: fmt.Sprintf("%s is the name of %d sessions", quote(name), len(all)), sessions: all}
		}
	}
	return target{}, true, nil
}

// byActivity orders sessions by when they were active; those without a file by
// their ids, which begin with the time.
func byActivity(a, b target) int {
	if a.Active.IsZero() || b.Active.IsZero() || a.Active.Equal(b.Active) {
		return strings.Compare(a.ID, b.ID)
	}
	return a.Active.Compare(b.Active)
}

// matches are the ways in which a session can have a name, the surest first.
func matches(name, cwd string) []func(target) bool {
	switch name {
	case "":
		return nil
	case lastSession:
		return []func(target) bool{func(target) bool { return true }}
	case here:
		return []func(target) bool{func(t target) bool { return sameFolder(t.Cwd, cwd) }}
	}
	return []func(target) bool{
		func(t target) bool { return t.ID == name },
		func(t target) bool { return t.Name == name },
		func(t target) bool { return strings.HasPrefix(t.ID, name) },
	}
}

// sameFolder compares two folders, links followed where that is possible.
func sameFolder(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// shorten cuts the ids to what tells them apart.
func shorten(targets []target) []string {
	ids := make([]string, len(targets))
	for i, t := range targets {
		n := min(shortID, len(t.ID))
		for n < len(t.ID) && slices.ContainsFunc(targets, func(other target) bool {
			return other.ID != t.ID && strings.HasPrefix(other.ID, t.ID[:n])
		}) {
			n++
		}
		ids[i] = timeline.OneLine(t.ID[:n])
	}
	return ids
}

const noBridgeHint = "only a Pi with the bridge can be steered: piwatch install, then start Pi or /reload in it"

// findLive asks the hub for the session of a name. One that there is, but
// without a bridge, is named in the error.
func (a *app) findLive(ctx context.Context, client *control.Client, name string) (control.Session, error) {
	sessions, err := client.Sessions(ctx)
	if err != nil {
		return control.Session{}, err
	}
	cwd, err := os.Getwd()
	if err != nil {
		return control.Session{}, err
	}
	live := liveTargets(sessions)
	found, none, err := pick(live, name, cwd)
	switch {
	case err != nil:
		return control.Session{}, err
	case !none:
		return *found.Live, nil
	}
	if ended, err := a.findFile(name, cwd); err == nil && name != lastSession && name != here {
		return control.Session{}, &sessionError{
			text: fmt.Sprintf("the session %s (%s) has no bridge: it has ended, or its Pi runs without one", ended.ID, ended.label()),
			hint: noBridgeHint,
		}
	}
	return control.Session{}, noSession("session with a bridge", name, cwd, live, noBridgeHint)
}

// findAny finds the session of a name for a command that reads: those with a
// bridge come first, then the session files. A path of a file will do too. No
// hub is needed.
func (a *app) findAny(ctx context.Context, name string) (target, error) {
	if t, ok := fileTarget(name); ok {
		return t, nil
	}
	cwd, err := os.Getwd()
	if err != nil {
		return target{}, err
	}
	live := a.liveIfAny(ctx)
	if name != lastSession {
		found, none, err := pick(live, name, cwd)
		if err != nil || !none {
			return found, err
		}
	}
	found, err := a.findFile(name, cwd)
	if name == lastSession && err == nil {
		live = append(live, found)
		found, _, _ = pick(live, name, cwd) // there is one
	}
	if errors.Is(err, control.ErrNoSession) && name == lastSession && len(live) > 0 {
		found, _, err = pick(live, name, cwd)
	}
	if i := slices.IndexFunc(live, func(t target) bool { return err == nil && t.Live != nil && t.ID == found.ID }); i >= 0 {
		found = live[i]
	}
	return found, err
}

// liveIfAny are the sessions with a bridge; none where there is no hub.
func (a *app) liveIfAny(ctx context.Context) []target {
	var live []target
	// Who reads has the files, with a hub or without.
	_ = a.withHub(ctx, func(ctx context.Context, client *control.Client) error {
		sessions, err := client.Sessions(ctx)
		live = liveTargets(sessions)
		return err
	})
	return live
}

// fileTarget is the session of a path.
func fileTarget(path string) (target, bool) {
	if !strings.HasSuffix(path, pi.Ext) {
		return target{}, false
	}
	head, err := pi.ReadHead(path, 0)
	if err != nil {
		return target{}, false
	}
	return headTarget(head), true
}

func headTarget(head pi.Head) target {
	return target{ID: head.Header.ID, Name: timeline.OneLine(head.Name), Cwd: head.Header.Cwd, File: head.Path, Active: head.ModTime}
}

// findFile finds the session file of a name: of several with the same name, or
// of this folder, the newest.
func (a *app) findFile(name, cwd string) (target, error) {
	files, err := a.sessionFiles(cwd)
	if err != nil && len(files) == 0 {
		return target{}, err
	}
	// The id stands in the name of the file, so most of them need not be read.
	var begin []target
	for _, f := range files {
		if id := idOfFile(f.Path); name != here && name != lastSession && name != "" && strings.HasPrefix(id, name) {
			if t, ok := fileTarget(f.Path); ok && t.ID != "" {
				begin = append(begin, t)
			}
		}
	}
	if found, none, err := pick(begin, name, cwd); !none {
		return found, err
	}
	for _, f := range files {
		t, ok := fileTarget(f.Path)
		if !ok {
			continue
		}
		if found, none, _ := pick([]target{t}, name, cwd); !none {
			return found, nil
		}
	}
	return target{}, noSession("session", name, cwd, begin, "piwatch ls --all lists them, those that ended too")
}

// sessionFiles are the session files of this user, the newest first.
func (a *app) sessionFiles(cwd string) ([]pi.Found, error) {
	dirs, err := pi.SessionDirs(a.env, a.env("HOME"), cwd)
	if err != nil && len(dirs) == 0 {
		return nil, err
	}
	return pi.List(dirs)
}

// idOfFile is the id in the name of a session file: <time>_<id>.jsonl.
func idOfFile(path string) string {
	name := strings.TrimSuffix(filepath.Base(path), pi.Ext)
	return name[strings.LastIndexByte(name, '_')+1:]
}
