package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/template"
	"time"

	"github.com/clipperhouse/displaywidth"

	"piwatch/internal/control"
	"piwatch/internal/timeline"
	"piwatch/internal/watchdog"
)

// tmuxFormat is the name of the format for a status bar.
const tmuxFormat = "tmux"

// nameCells is how much of a name a status bar shows, in cells.
const nameCells = 20

// statusAs prints the sessions, or the one of a name, in a format.
func (a *app) statusAs(ctx context.Context, name, format string) error {
	print := a.printTmux
	if format != tmuxFormat {
		if !strings.Contains(format, "{{") {
			return &usageError{quote(format) + " is no format; allowed: tmux, or a template as '{{.ID}} {{.Watch.Phase}}'", "piwatch status"}
		}
		t, err := template.New("--format").Funcs(formatFuncs(time.Now())).Option("missingkey=error").Parse(format)
		if err != nil {
			return &usageError{"--format: " + err.Error(), "piwatch status"}
		}
		print = func(sessions []control.Session) error { return a.printTemplate(t, sessions) }
	}
	return a.withHub(ctx, func(ctx context.Context, client *control.Client) error {
		if name == "" {
			sessions, err := a.sorted(ctx, client)
			if err != nil {
				return err
			}
			return print(sessions)
		}
		session, err := a.findLive(ctx, client, name)
		if err != nil {
			return err
		}
		return print([]control.Session{session})
	})
}

func formatFuncs(now time.Time) template.FuncMap {
	return template.FuncMap{
		"status": func(s control.Session) string { return s.Watch.Status(now, watchdog.Symbols) },
		"left":   func(s control.Session) string { return next(s.Watch, now) },
		"short":  func(id string) string { return shorten([]target{{ID: id}})[0] },
	}
}

// printTemplate prints a line for each session.
func (a *app) printTemplate(t *template.Template, sessions []control.Session) error {
	for _, s := range sessions {
		var line strings.Builder
		if err := t.Execute(&line, s); err != nil {
			return &usageError{"--format: " + err.Error(), "piwatch status"}
		}
		if _, err := io.WriteString(a.out, timeline.Clean(line.String())+"\n"); err != nil {
			return err
		}
	}
	return nil
}

// printTmux prints one line for a status bar: who needs the user, the countdown
// that ends first, and how many work. It is empty when there is nothing to say.
func (a *app) printTmux(sessions []control.Session) error {
	_, err := fmt.Fprintln(a.out, tmuxLine(sessions, time.Now()))
	return err
}

func tmuxLine(sessions []control.Session, now time.Time) string {
	var needs, counting []control.Session
	working := 0
	for _, s := range sessions {
		switch {
		case needsUser(s):
			needs = append(needs, s)
		case s.Watch.Phase == watchdog.Counting:
			counting = append(counting, s)
		case !s.Facts.Idle:
			working++
		}
	}
	if len(sessions) == 1 && len(needs) == 0 {
		return tmuxText(sessions[0].Watch.Status(now, watchdog.Symbols))
	}
	var parts []string
	switch len(needs) {
	case 0:
	case 1:
		name := displaywidth.TruncateString(liveTarget(needs[0]).label(), nameCells, "…")
		parts = append(parts, tmuxText(name)+" needs you")
	default:
		parts = append(parts, fmt.Sprintf("%d need you", len(needs)))
	}
	if len(counting) > 0 {
		first := slices.MinFunc(counting, func(x, y control.Session) int { return x.Watch.Deadline.Compare(y.Watch.Deadline) })
		parts = append(parts, tmuxText(first.Watch.Status(now, watchdog.Symbols)))
	}
	if working > 0 {
		parts = append(parts, fmt.Sprintf("%d working", working))
	}
	return strings.Join(parts, ", ")
}

// needsUser says whether a session waits for its user.
func needsUser(s control.Session) bool {
	v := s.Watch
	return s.Facts.Dialog || s.Facts.Idle && v.Last == watchdog.WaitUser && (v.Phase == watchdog.Off || v.Phase == watchdog.Suspended)
}

// tmuxText keeps tmux from obeying what stands in a text.
func tmuxText(text string) string { return strings.ReplaceAll(text, "#", "##") }
