package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"piwatch/internal/control"
	"piwatch/internal/timeline"
)

// shortID is the least number of letters of an id that is shown.
const shortID = 8

// here is the word for the session of this folder.
const here = "."

// sessionError says that a name is not the name of one session.
type sessionError struct {
	text     string
	sessions []control.Session // to choose from
}

func (e *sessionError) Error() string { return e.text }

// Is makes it a control.ErrNoSession.
func (e *sessionError) Is(target error) bool { return target == control.ErrNoSession }

// Hint lists what there is.
func (e *sessionError) Hint() string {
	if len(e.sessions) == 0 {
		return "only a Pi with the bridge can be steered: piwatch install, then start Pi or /reload in it"
	}
	names := make([]string, len(e.sessions))
	for i, id := range shorten(e.sessions) {
		names[i] = fmt.Sprintf("%s (%s)", id, label(e.sessions[i]))
	}
	return "there are " + strings.Join(names, ", ")
}

// pick finds the one session that name means: an id, a unique beginning of
// one, or . for the session of the folder cwd.
func pick(sessions []control.Session, name, cwd string) (control.Session, error) {
	var found []control.Session
	for _, s := range sessions {
		switch {
		case s.ID == name && name != "":
			return s, nil
		case name == here && sameFolder(s.Cwd, cwd), name != here && name != "" && strings.HasPrefix(s.ID, name):
			found = append(found, s)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return control.Session{}, &sessionError{fmt.Sprintf("%s is the name of %d sessions", quote(name), len(found)), found}
	case name == here:
		return control.Session{}, &sessionError{"no session with a bridge works in " + cwd, sessions}
	}
	return control.Session{}, &sessionError{"no session with a bridge has the id " + quote(name), sessions}
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
func shorten(sessions []control.Session) []string {
	ids := make([]string, len(sessions))
	for i, s := range sessions {
		n := min(shortID, len(s.ID))
		for n < len(s.ID) && slices.ContainsFunc(sessions, func(other control.Session) bool {
			return other.ID != s.ID && strings.HasPrefix(other.ID, s.ID[:n])
		}) {
			n++
		}
		ids[i] = timeline.OneLine(s.ID[:n])
	}
	return ids
}

// label is how a person knows a session.
func label(s control.Session) string {
	if name := timeline.OneLine(s.Name); name != "" {
		return name
	}
	return timeline.OneLine(s.Cwd)
}

// find asks the hub for the session of a name.
func (a *app) find(ctx context.Context, client *control.Client, name string) (control.Session, error) {
	sessions, err := client.Sessions(ctx)
	if err != nil {
		return control.Session{}, err
	}
	cwd, err := os.Getwd()
	if err != nil {
		return control.Session{}, err
	}
	return pick(sessions, name, cwd)
}

// completeSession offers the sessions for the first argument.
func (a *app) completeSession(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	// No hub, no names: a completion has nobody to tell an error.
	_ = a.withHub(cmd.Context(), func(ctx context.Context, client *control.Client) error {
		sessions, err := client.Sessions(ctx)
		for i, id := range shorten(sessions) {
			names = append(names, id+"\t"+label(sessions[i]))
		}
		return err
	})
	return append(names, here+"\tthe session of this folder"), cobra.ShellCompDirectiveNoFileComp
}
