package ui

import (
	"context"
	"fmt"
	"io"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"piwatch/internal/control"
	"piwatch/internal/timeline"
	"piwatch/internal/watchdog"
)

// Lines tells what happens in the sessions with a bridge as plain lines, until
// ctx ends: a line for each new row of a session, each state of its watchdog,
// each notice. What was there before is not told. It is for a place that is no
// terminal, and for screen readers. Of the Options it heeds Hub, Redial, ASCII
// and Now. The error is that of the writer.
func Lines(ctx context.Context, w io.Writer, o Options) error {
	o = o.withDefaults()
	ctx, cancel := context.WithCancel(ctx)
	feed := newFeed(ctx)
	defer feed.wait()
	defer cancel()
	feed.watchHub(o.Hub, o.Redial)
	l := teller{w: w, o: o, feed: feed, days: timeline.DaysSince(o.Now()), signs: watchdog.Symbols, told: map[string]*told{}}
	if o.ASCII {
		l.signs = watchdog.ASCII
	}
	for {
		batch, ok := feed.next().(fed)
		if !ok {
			return nil
		}
		for _, msg := range batch {
			if err := l.take(msg); err != nil {
				return err
			}
		}
	}
}

// teller prints messages of the feed as lines.
type teller struct {
	w     io.Writer
	o     Options
	feed  *feed
	signs watchdog.Glyphs
	days  *timeline.Days
	told  map[string]*told // by session file, or id where there is none
}

// told is what was printed of one session.
type told struct {
	status string
	build  timeline.Builder
	print  *timeline.Printer
	caught bool // what was there before was read
}

func (l *teller) take(msg tea.Msg) error {
	switch msg := msg.(type) {
	case hubUp:
		if err := l.say(l.o.Now(), "hub", "connected, "+bridged(len(msg.sessions))); err != nil {
			return err
		}
		for i := range msg.sessions {
			if err := l.session(&msg.sessions[i]); err != nil {
				return err
			}
		}
	case hubPush:
		if msg.Session != nil {
			return l.session(msg.Session)
		}
		if msg.Notice != nil {
			return l.say(time.UnixMilli(msg.Notice.Time), "notice", timeline.OneLine(msg.Notice.Text))
		}
	case hubDown:
		if msg.err != nil {
			return l.say(l.o.Now(), "hub", timeline.OneLine(msg.err.Error()))
		}
	case entriesCame:
		if t := l.told[msg.path]; t != nil && !msg.glimpse {
			return t.take(msg)
		}
	case crashed:
		return msg.err
	}
	return nil
}

// take prints the rows that are new.
func (t *told) take(msg entriesCame) error {
	if msg.reset {
		t.build = timeline.Builder{}
	}
	for _, e := range msg.entries {
		t.build.Add(e)
	}
	if t.caught {
		return t.print.Print(t.build.Rows())
	}
	if t.caught = msg.caught; t.caught {
		t.print.Skip(t.build.Rows())
	}
	return nil
}

// session prints the state of a session's watchdog when it is another one, and
// follows its file from the first time on.
func (l *teller) session(s *control.Session) error {
	key := s.File
	if key == "" {
		key = s.ID
	}
	t := l.told[key]
	if t == nil {
		t = &told{print: timeline.NewPrinter(l.w, l.days)}
		l.told[key] = t
		if s.File != "" {
			l.feed.follow(l.feed.ctx, s.File)
		}
	}
	t.print.Name = nameOf(s)
	// The seconds of a countdown are no news: the full countdown is said once.
	v := s.Watch
	state := fmt.Sprint(v.Phase, v.Count, v.Why, v.Settings)
	if state == t.status || v.Phase == watchdog.Off && t.status == "" {
		return nil
	}
	t.status = state
	text := v.Status(l.o.Now(), l.signs)
	line := phaseWords[v.Phase]
	for _, part := range kept(text, timeline.OneLine(v.Why)) {
		line += "  " + part
	}
	return l.say(l.o.Now(), "state", t.print.Name+": "+line)
}

// bridged says how many sessions there are to tell of.
func bridged(n int) string {
	if n == 0 {
		return "no session with a bridge yet"
	}
	return plural(n, "session") + " with a bridge"
}

// nameOf is what lines call a session.
func nameOf(s *control.Session) string {
	live := session{id: s.ID, live: s}
	if name := timeline.OneLine(s.Name); name != "" {
		return name
	}
	if folder := live.folder(); folder != "" {
		return folder
	}
	return timeline.OneLine(s.ID)
}

func (l *teller) say(at time.Time, label, text string) error {
	_, err := fmt.Fprintf(l.w, "%s%s  %-*s  %s\n", l.days.Heading(at), at.Local().Format(time.TimeOnly), labelWidth, label, text)
	if err != nil {
		return fmt.Errorf("print a line: %w", err)
	}
	return nil
}
