package ui

import (
	"fmt"
	"time"

	"github.com/charmbracelet/lipgloss"

	"piwatch/internal/timeline"
)

// Silence of a model is healthy for minutes: 325 s were seen. That of a tool is
// its own matter, and never an alarm.
const (
	waitShown   = 10 * time.Second // from when on it is worth a line
	waitLong    = 3 * time.Minute
	waitStalled = 8 * time.Minute
)

// runs says whether the agent is at work, as far as one can know.
func (s *session) runs(now time.Time) bool {
	if s.live != nil {
		return !s.live.Facts.Idle && !s.lost
	}
	return !s.old(now)
}

// old says of a session without a bridge that its file says nothing of the
// present any more.
func (s *session) old(now time.Time) bool {
	return s.live == nil && (!s.gone.IsZero() || now.Sub(s.changed()) > recent)
}

// waits is what the session waits for now. The file of a session that has a
// bridge lags behind it: a failed answer after which the agent still runs is
// one that Pi asks again for.
func (s *session) waits(now time.Time) timeline.Wait {
	w := s.story().Wait
	if s.live == nil && now.Sub(w.Since) > recent {
		return timeline.Wait{} // a file that is new here, and says nothing of the present
	}
	running := s.runs(now)
	switch w.For {
	case timeline.ForModel, timeline.ForTool, timeline.ForRetry:
		if !running {
			w = timeline.Wait{}
		}
	default:
		switch {
		case s.old(now):
			w = timeline.Wait{}
		case s.live != nil && running && w.Failures > 0:
			w.For = timeline.ForRetry
		case s.live != nil && running:
			w = timeline.Wait{}
		}
	}
	return w
}

// stalled says that the model has been silent for longer than is healthy.
func stalled(w timeline.Wait, now time.Time) bool {
	return w.For == timeline.ForModel && !w.Since.IsZero() && now.Sub(w.Since) >= waitStalled
}

// banner is the line that says what a session waits for, in its colour; empty
// when there is nothing to say.
func (e *env) banner(s *session) (string, lipgloss.Style) {
	st, dot := &e.styles, " "+e.signs.dot+" "
	if s.live != nil && s.live.Facts.Compacting && !s.lost {
		return "Pi compacts the context", st.Working
	}
	w := s.waits(e.now)
	waited := e.now.Sub(w.Since)
	switch w.For {
	case timeline.ForModel:
		if waited < waitShown || w.Since.IsZero() {
			return "", st.Muted
		}
		text := "waiting for the model"
		if w.Failures > 0 {
			text += fmt.Sprintf(", %s before", plural(w.Failures, "failure"))
		}
		text += dot + e.since(w.Since)
		switch {
		case stalled(w, e.now):
			return text + dot + "stalled?", st.Warning
		case waited >= waitLong:
			return text, st.Warning
		}
		return text, st.Muted
	case timeline.ForTool:
		if waited < waitShown || w.Since.IsZero() {
			return "", st.Muted
		}
		return "tool running" + dot + e.since(w.Since) + dot + w.What, st.Muted
	case timeline.ForRetry:
		return fmt.Sprintf("Pi asks again by itself after %s%s%s", plural(w.Failures, "failure"), dot, w.What), st.Warning
	case timeline.ForQuota:
		if left := w.Until.Sub(e.now); left > 0 {
			return "quota used up" + dot + e.until(w.Until) + dot + w.What, st.Warning
		} else if !w.Until.IsZero() {
			return "the quota should be back" + dot + w.What, st.Warning
		}
		return "quota used up" + dot + w.What, st.Warning
	case timeline.ForLogin:
		return "needs you" + dot + w.What, st.Waits
	}
	return "", st.Muted
}

// since is a clock that runs; where nothing may move, when it began.
func (e *env) since(at time.Time) string {
	if e.still {
		return "since " + at.Local().Format(time.TimeOnly)
	}
	return clockText(e.now.Sub(at))
}

// until is a countdown, and the time it ends; where nothing may move only that.
func (e *env) until(at time.Time) string {
	end := "until " + at.Local().Format("15:04")
	if e.still {
		return end
	}
	return "back in " + clockText(at.Sub(e.now)) + ", " + end
}

// clockText writes a time as mm:ss, or h:mm:ss.
func clockText(d time.Duration) string {
	d = d.Truncate(time.Second)
	h, m, s := d/time.Hour, d/time.Minute%60, d/time.Second%60
	if h > 0 {
		return fmt.Sprintf("%d:%02d:%02d", h, m, s)
	}
	return fmt.Sprintf("%02d:%02d", m, s)
}

// moves is when the banner of a session changes next by itself; zero when it
// does not.
func (s *session) moves(now time.Time) time.Time {
	w := s.waits(now)
	switch {
	case w.For == timeline.ForQuota && w.Until.After(now):
		return now.Add(restOf(w.Until.Sub(now)))
	case w.For != timeline.ForModel && w.For != timeline.ForTool, w.Since.IsZero():
		return time.Time{}
	case now.Before(w.Since.Add(waitShown)):
		return w.Since.Add(waitShown)
	}
	return now.Add(time.Second - restOf(now.Sub(w.Since))%time.Second)
}

// restOf is the part of a second in a time; a whole one when there is none.
func restOf(d time.Duration) time.Duration {
	if rest := d % time.Second; rest > 0 {
		return rest
	}
	return time.Second
}

// ages is when the line of a session in the list changes next by itself.
func (s *session) ages(now time.Time) time.Time {
	at := s.changed()
	if at.IsZero() {
		return time.Time{}
	}
	unit := time.Minute
	switch old := now.Sub(at); {
	case old >= 24*time.Hour:
		unit = 24 * time.Hour
	case old >= time.Hour:
		unit = time.Hour
	}
	next := at.Add((max(now.Sub(at), 0)/unit + 1) * unit)
	if s.live == nil {
		next = sooner(next, at.Add(recent+1), now)
	}
	w := s.waits(now)
	if w.For == timeline.ForModel {
		next = sooner(next, w.Since.Add(waitStalled), now)
	}
	return sooner(next, w.Until, now)
}

// sooner is the sooner one of two times that are to come; other may be zero.
func sooner(a, other, now time.Time) time.Time {
	if other.After(now) && (a.IsZero() || other.Before(a)) {
		return other
	}
	return a
}
