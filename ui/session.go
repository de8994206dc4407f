package ui

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/charmbracelet/lipgloss"

	"piwatch/internal/control"
	"piwatch/internal/timeline"
	"piwatch/internal/watchdog"
)

// session is one session of the list: its file, its bridge, or both.
type session struct {
	id   string
	file *fileInfo
	live *control.Session
	// stuck is why a session without a bridge may be stuck, nil when it is not.
	stuck *control.Finding
	// lost says that the hub which told of the bridge is gone.
	lost bool
	// gone is when the hub said that the bridge is gone, and with it Pi; zero
	// when it did not, or when the session goes on since.
	gone time.Time

	group int // ended sessions that this line stands for; 0: it is a session
	depth int // steps below a session that nobody started

	shows lineOf // what its line shows
	line  string // as it was drawn

	children, running int       // sessions that it started, and those of them at work
	childEnd          time.Time // when the last of them changed
}

// need says how much a session needs the user. The order is that of the list.
type need int

const (
	needWaits need = iota
	needFailed
	needCapped // the watchdog gave up at its cap
	needStuck
	needCounting
	needWorking
	needPaused
	needIdle
	needDone
	needEnded
)

// recent is how long the file of a session without a bridge says something of
// the present. After that the session has ended, as far as one can know.
const recent = 15 * time.Minute

// needWords are the words of the needs; a sign never stands alone.
var needWords = map[need]string{
	needWaits: "waits", needFailed: "failed", needCapped: "capped", needStuck: "stuck?", needCounting: "counting", needWorking: "working",
	needPaused: "paused", needIdle: "idle", needDone: "done", needEnded: "ended",
}

// pausedWords are the words of the phases in which a countdown waits for the
// user. They fit into the list.
var pausedWords = map[watchdog.Phase]string{
	watchdog.Typing: "typing", watchdog.Paused: "paused", watchdog.Interrupted: "stopped", watchdog.Lost: "lost",
}

func (s *session) story() timeline.Story {
	if s.file == nil {
		return timeline.Story{}
	}
	return s.file.Story
}

// need is the rank of the session, and the word that says why.
func (s *session) need(now time.Time) (need, string) {
	rank := s.rank(now)
	word := needWords[rank]
	switch {
	case rank == needStuck && s.maybeStuck() == nil && stalled(s.waits(now), now):
		word = "stalled?"
	case rank == needPaused && s.waits(now).For == timeline.ForQuota:
		word = "quota"
	case rank == needPaused:
		word = pausedWords[s.view().Phase]
	case rank == needWorking && s.live != nil && s.live.Watch.Phase == watchdog.Checking:
		word = phaseWords[watchdog.Checking]
	}
	return rank, word
}

func (s *session) rank(now time.Time) need {
	standing := s.story().Standing
	if s.live == nil {
		switch {
		case s.old(now):
			return needEnded
		case s.stuck != nil:
			return needStuck
		}
		if rank, ok := s.waitRank(now); ok {
			return rank
		}
		return standingNeeds[standing]
	}
	watch := s.live.Watch
	switch {
	case s.lost && watch.Phase != watchdog.Off:
		return needPaused
	case s.live.Facts.Dialog:
		return needWaits
	case s.live.Stuck != nil:
		return needStuck
	case watch.Phase == watchdog.Counting:
		return needCounting
	case s.waitsForEnded(now), stalled(s.waits(now), now):
		return needStuck
	case watch.Phase == watchdog.Checking, !s.live.Facts.Idle:
		return needWorking
	case watch.Phase == watchdog.Typing, watch.Phase == watchdog.Paused, watch.Phase == watchdog.Interrupted:
		return needPaused
	case watch.Last == watchdog.WaitUser, watch.Last == "" && standing == timeline.Asks:
		return needWaits
	case standing == timeline.Broken:
		if rank, ok := s.waitRank(now); ok {
			return rank
		}
		return needFailed
	case watch.Capped:
		return needCapped
	case watch.Last == watchdog.Done:
		return needDone
	case watch.Phase == watchdog.Working:
		return needWorking
	}
	return needIdle
}

// waitRank is the rank that what the session waits for gives it, if any.
func (s *session) waitRank(now time.Time) (need, bool) {
	switch w := s.waits(now); {
	case w.For == timeline.ForLogin:
		return needWaits, true
	case w.For == timeline.ForQuota && w.Until.After(now):
		return needPaused, true
	case stalled(w, now):
		return needStuck, true
	}
	return 0, false
}

// maybeStuck is why the session may be stuck, nil when it is not.
func (s *session) maybeStuck() *control.Finding {
	switch {
	case s.live != nil:
		return s.live.Stuck
	case !s.gone.IsZero():
		return nil
	}
	return s.stuck
}

// childGrace is how long a session may take to notice that the last one it
// started has ended.
const childGrace = time.Minute

// waitsForEnded says that all sessions it started have ended for some time, and
// it still works without a word.
func (s *session) waitsForEnded(now time.Time) bool {
	return s.live != nil && !s.live.Facts.Idle && s.children > 0 && s.running == 0 &&
		s.file != nil && s.childEnd.After(s.changed()) && now.Sub(s.childEnd) > childGrace
}

var standingNeeds = map[timeline.Standing]need{
	timeline.Fresh: needIdle, timeline.Working: needWorking, timeline.Stopped: needIdle, timeline.Asks: needWaits,
	timeline.IsDone: needDone, timeline.Broken: needFailed, timeline.Halted: needIdle,
}

// changed is when the session last changed.
func (s *session) changed() time.Time {
	if s.file == nil {
		return time.Time{}
	}
	if t := s.file.Story.Time; t.After(s.file.ModTime) {
		return t
	}
	return s.file.ModTime
}

// path is the session's file; empty when it has none.
func (s *session) path() string {
	switch {
	case s.live != nil && s.live.File != "":
		return s.live.File
	case s.file != nil:
		return s.file.Path
	}
	return ""
}

// title is the session's name, or the first words of it.
func (s *session) title() string {
	var name string
	if s.live != nil {
		name = timeline.OneLine(s.live.Name)
	}
	if name == "" && s.file != nil {
		name = timeline.OneLine(s.file.Name)
	}
	if name == "" {
		name = s.story().First
	}
	if name == "" {
		name = "(nothing said yet)"
	}
	return name
}

func (s *session) cwd() string {
	switch {
	case s.live != nil && s.live.Cwd != "":
		return timeline.OneLine(s.live.Cwd)
	case s.file != nil:
		return timeline.OneLine(s.file.Cwd)
	}
	return ""
}

// model is the model without its provider.
func (s *session) model() string {
	if s.live == nil {
		return ""
	}
	model := timeline.OneLine(s.live.Model)
	return model[strings.LastIndexByte(model, '/')+1:]
}

func (s *session) folder() string {
	if cwd := s.cwd(); cwd != "" {
		return filepath.Base(cwd)
	}
	return ""
}

// view is what the status bar shows of the watchdog.
func (s *session) view() watchdog.View {
	story := s.story()
	switch {
	case s.live == nil:
		return watchdog.View{Phase: watchdog.Off, Count: story.Count, Settings: story.Settings, Last: story.Decision, Note: story.Note, Why: s.readOnly()}
	case s.lost:
		v := s.live.Watch
		v.Phase, v.Deadline, v.Left, v.Why = watchdog.Lost, time.Time{}, 0, "hub gone, reconnecting"
		return v
	}
	return s.live.Watch
}

// Why nothing can be steered in a session without a bridge.
const (
	noBridge = "no bridge in this session: read-only"
	piEnded  = "its Pi has ended: read-only"
)

// readOnly is which of them it is.
func (s *session) readOnly() string {
	if !s.gone.IsZero() {
		return piEnded
	}
	return noBridge
}

// age writes how long ago something was, in at most four cells.
func age(now, then time.Time) string {
	d := now.Sub(then)
	switch {
	case then.IsZero():
		return ""
	case d < time.Minute:
		return "now"
	case d < time.Hour:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d < 24*time.Hour:
		return fmt.Sprintf("%dh", d/time.Hour)
	case d < 1000*24*time.Hour:
		return fmt.Sprintf("%dd", d/(24*time.Hour))
	}
	return ">2y"
}

// needLook is the sign and the colour of a need.
func (e *env) needLook(n need) (string, lipgloss.Style) {
	st, g := &e.styles, &e.signs
	switch n {
	case needWaits:
		return g.waits, st.Waits
	case needFailed:
		return g.failed, st.Error
	case needCapped:
		return g.capped, st.Warning
	case needCounting:
		return g.counting, st.Counting
	case needStuck:
		return g.stuck, st.Warning
	case needWorking:
		return g.working, st.Working
	case needPaused:
		return g.paused, st.Paused
	case needIdle:
		return g.idle, st.Muted
	case needDone:
		return g.done, st.Done
	}
	return g.ended, st.Muted
}
