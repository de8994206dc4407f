package ui

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"piwatch/internal/notify"
)

// Event is what the user is told of.
type Event string

// The events.
const (
	EventWaits   Event = "wait_user" // a session waits for the user
	EventFailed  Event = "failed"    // the provider failed, or the agent went silent
	EventMax     Event = "max"       // the cap of checks was reached
	EventBreaker Event = "breaker"   // the guard's breaker tripped
	EventStuck   Event = "stuck"     // a session may be stuck
	EventDone    Event = "done"      // an agent says that it is done
)

// eventTexts say an event of one session and of several.
var eventTexts = map[Event]struct{ one, several string }{
	EventWaits:   {"%s needs you", "%d sessions need you"},
	EventFailed:  {"%s failed", "%d sessions failed"},
	EventMax:     {"%s reached its cap of checks", "%d sessions reached their cap of checks"},
	EventBreaker: {"the breaker of %s tripped", "%d breakers tripped"},
	EventStuck:   {"%s may be stuck", "%d sessions may be stuck"},
	EventDone:    {"%s is done", "%d sessions are done"},
}

var events = []Event{EventWaits, EventBreaker, EventFailed, EventMax, EventStuck, EventDone}

// Events are all of them, the most urgent first.
func Events() []Event { return slices.Clone(events) }

// alarmPause is the shortest time between two notifications.
const alarmPause = 2 * time.Second

// alarm knows what the user was told of, to tell of what is new. The first look
// only learns.
type alarm struct {
	known   map[string][]Event // what there is of each session
	learned bool
	last    time.Time
	waiting []news // not told yet: they come with the next
	failed  bool   // that the desktop shows nothing was said
}

type news struct {
	event Event
	title string
}

// ways are how the user is told of an event.
func (o *Options) ways(e Event) []notify.Way {
	if ways, set := o.Notify[e]; set {
		return ways
	}
	if e == EventDone {
		return nil
	}
	return []notify.Way{notify.Bell}
}

// needEvents are the events of the needs that the user is told of.
var needEvents = map[need]Event{needWaits: EventWaits, needFailed: EventFailed, needCapped: EventMax, needStuck: EventStuck, needDone: EventDone}

// events are what there is to tell of a session. A breaker that tripped stays so
// while the session goes on to other events.
func (s *session) events(now time.Time) []Event {
	if s.live == nil || s.lost {
		return nil
	}
	var all []Event
	if s.live.Guard.Tripped != "" {
		all = append(all, EventBreaker)
	}
	rank, _ := s.need(now)
	if e, ok := needEvents[rank]; ok {
		all = append(all, e)
	}
	return all
}

// ring tells what is new since the last time.
func (m *Model) ring() tea.Cmd {
	a := &m.alarm
	now := map[string][]Event{}
	for id, s := range m.list.all {
		for _, e := range s.events(m.env.now) {
			now[id] = append(now[id], e)
			if a.learned && !slices.Contains(a.known[id], e) && len(m.o.ways(e)) > 0 {
				a.waiting = append(a.waiting, news{e, s.title()})
			}
		}
	}
	a.known = now
	if !a.learned {
		a.learned = m.list.loaded && (m.hub != nil || m.o.Redial == nil)
		return nil
	}
	if len(a.waiting) == 0 {
		return nil
	}
	if wait := alarmPause - m.env.now.Sub(a.last); !a.last.IsZero() && wait > 0 {
		return m.after(wait, rest{})
	}
	waiting := a.waiting
	a.last, a.waiting = m.env.now, nil
	var told []tea.Cmd
	for _, way := range notify.Ways {
		var mine []news
		for _, n := range waiting {
			if slices.Contains(m.o.ways(n.event), way) {
				mine = append(mine, n)
			}
		}
		if len(mine) > 0 {
			told = append(told, m.tell(way, newsText(mine)))
		}
	}
	return tea.Batch(told...)
}

// newsText is one text for all that is new.
func newsText(all []news) string {
	var parts []string
	for _, e := range events {
		var titles []string
		for _, n := range all {
			if n.event == e {
				titles = append(titles, n.title)
			}
		}
		switch text := eventTexts[e]; len(titles) {
		case 0:
		case 1:
			parts = append(parts, fmt.Sprintf(text.one, titles[0]))
		default:
			parts = append(parts, fmt.Sprintf(text.several, len(titles)))
		}
	}
	return strings.Join(parts, ", ")
}

// rest says that the pause after a notification is over.
type rest struct{}

// tell tells a text in one way.
func (m *Model) tell(way notify.Way, text string) tea.Cmd {
	switch {
	case m.o.Out == nil:
		return nil // there is no terminal
	case way != notify.Desktop:
		return m.emit(notify.Sequence(way, text, m.o.Getenv != nil && m.o.Getenv("TMUX") != ""))
	}
	show := m.o.Show
	return func() tea.Msg {
		if err := show(text); err != nil {
			return notShown{err.Error()}
		}
		return nil
	}
}

// notShown says that the desktop did not show a notification.
type notShown struct{ why string }

// notShown tells it once.
func (m *Model) notShown(why string) {
	if !m.alarm.failed {
		m.alarm.failed = true
		m.say(levelError, "", why)
	}
}

// emit sends a sequence to the terminal, in one write: it never comes into the
// midst of a frame.
func (m *Model) emit(sequence string) tea.Cmd {
	if sequence == "" || m.o.Out == nil {
		return nil
	}
	out := m.o.Out
	return func() tea.Msg {
		if _, err := io.WriteString(out, sequence); err != nil {
			return said{levelError, "the terminal: " + err.Error()}
		}
		return nil
	}
}
