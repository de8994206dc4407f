// Package ui is the screen of piwatch: all sessions on the left, one of them on
// the right. It is one Bubble Tea model. The panes are plain structs with verbs;
// Update routes; what reads files or talks to the hub runs beside it (feed.go)
// and sends messages.
package ui

import (
	"context"
	"io"
	"os"
	"time"

	"piwatch/internal/control"
	"piwatch/internal/notify"
	"piwatch/internal/pi"
)

// Hub is what the screen needs of the hub. *control.Client is one.
type Hub interface {
	// Watch gives the sessions with a bridge, and from then on what changes.
	// The channel is closed when the connection ends.
	Watch(ctx context.Context) ([]control.Session, <-chan control.Push, error)
	// Steer asks for one thing in one session.
	Steer(ctx context.Context, method string, params control.SteerParams) (control.CommandReply, error)
	// Inspect gives all that the supervisor knows of one session.
	Inspect(ctx context.Context, session string) (control.TargetDetail, error)
	// Close ends the connection.
	Close() error
}

// Options are what the screen runs with. The zero value works: it shows the
// session files of no folder, without a hub.
type Options struct {
	// Hub is a connection that is there already; it stays the caller's. It may
	// be nil.
	Hub Hub
	// Redial connects to the hub when there is no connection, again and again.
	// Nil: there is no hub, and all is read-only.
	Redial func(ctx context.Context) (Hub, error)
	// Dirs are the folders with session files.
	Dirs []pi.Dir
	// Theme is the name of a theme, ThemeDir a folder with themes of the user.
	// PiThemeDir is that of Pi, whose theme files are read too.
	Theme, ThemeDir, PiThemeDir string
	// ASCII keeps all signs of the screen to ASCII, NoColor keeps it
	// to one colour. NO_COLOR in the environment does so, too.
	ASCII, NoColor bool
	// Mouse turns the mouse on at the start. It is off by default: a terminal
	// that gives its mouse away does not select text.
	Mouse bool
	// Still keeps the screen from moving by itself: a countdown shows when it
	// ends, not the seconds that are left.
	Still bool
	// Notify says how the user is told of an event. One that is missing is told
	// by the bell, and an agent that is done not at all.
	Notify map[Event][]notify.Way
	// Show shows a text on the desktop; notify.Show when nil.
	Show func(text string) error
	// Keys are the user's own keys; Problems are what was wrong in the config,
	// for the log.
	Keys     []Rebinding
	Problems []string
	// Getenv reads the environment; os.Getenv when nil.
	Getenv func(string) string
	// Now is the clock; time.Now when nil.
	Now func() time.Time
	// Select is the id of the session to show first.
	Select string
	// In and Out are the terminal; the standard streams when nil.
	In  io.Reader
	Out io.Writer
}

func (o Options) withDefaults() Options {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.In == nil {
		o.In = os.Stdin
	}
	if o.Out == nil {
		o.Out = os.Stdout
	}
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	if o.Show == nil {
		env := o.Getenv
		o.Show = func(text string) error { return notify.Show(context.Background(), env, text) }
	}
	if o.Getenv("NO_COLOR") != "" {
		o.NoColor = true
	}
	return o
}
