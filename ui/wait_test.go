package ui

import (
	"strings"
	"testing"
	"time"

	"github.com/muesli/termenv"

	"piwatch/internal/control"
	"piwatch/internal/timeline"
	"piwatch/internal/watchdog"
)

// waiting is a screen with one session that waits since a while.
func waiting(t *testing.T, o Options, w timeline.Wait, ago time.Duration, standing timeline.Standing, facts *control.Facts) *Model {
	t.Helper()
	w.Since = now.Add(-ago)
	m := newScreen(t, o, termenv.TrueColor)
	m.w, m.h, m.open = 120, 30, nil
	info := fileInfo{Path: "/s/a.jsonl", ID: "a", ModTime: w.Since, Story: timeline.Story{First: "go", Standing: standing, Wait: w, Time: w.Since}}
	send(m, filesChanged{changed: []fileInfo{info}, first: true})
	if facts != nil {
		one := control.Session{ID: "a", Live: true, Facts: *facts, Watch: watchdog.View{Phase: watchdog.Working}}
		send(m, hubUp{newFakeHub(), []control.Session{one}})
	}
	return m
}

func TestWhatASessionWaitsForIsSeen(t *testing.T) {
	model, tool := timeline.Wait{For: timeline.ForModel}, timeline.Wait{For: timeline.ForTool, What: "bash make"}
	busy, idle := &control.Facts{}, &control.Facts{Idle: true}
	for _, c := range []struct {
		what     string
		wait     timeline.Wait
		ago      time.Duration
		standing timeline.Standing
		facts    *control.Facts
		want     string // in the status bar
		word     string // in the list
		alarm    bool
	}{
		{"a model, shortly", model, 9 * time.Second, timeline.Working, busy, "", "working", false},
		{"a model", model, 10 * time.Second, timeline.Working, busy, "waiting for the model · 00:10", "working", false},
		{"a model, long", model, 3 * time.Minute, timeline.Working, busy, "waiting for the model · 03:00", "working", true},
		{"a model, too long", model, 8 * time.Minute, timeline.Working, busy, "waiting for the model · 08:00 · stalled?", "stalled?", true},
		{"a model, without a bridge", model, 8 * time.Minute, timeline.Working, nil, "waiting for the model · 08:00 · stalled?", "stalled?", true},
		{"a model, but the run is over", model, 8 * time.Minute, timeline.Working, idle, "", "working", false},
		{"a model, of a session that has ended", model, 20 * time.Minute, timeline.Working, nil, "", "ended", false},
		{"a tool, shortly", tool, 9 * time.Second, timeline.Working, busy, "", "working", false},
		{"a tool, for hours", tool, 2*time.Hour + 3*time.Second, timeline.Working, busy, "tool running · 2:00:03 · bash make", "working", false},
		{"a retry, by the bridge", timeline.Wait{What: "502: bad", Failures: 2}, time.Second, timeline.Broken, busy, "Pi asks again by itself after 2 failures · 502: bad", "working", true},
		{"a retry, by the file", timeline.Wait{For: timeline.ForRetry, What: "502: bad", Failures: 1}, time.Second, timeline.Working, nil, "Pi asks again by itself after 1 failure · 502: bad", "working", true},
		{"no retry any more", timeline.Wait{What: "502: bad", Failures: 4}, time.Second, timeline.Broken, idle, "", "failed", false},
		{"a quota", timeline.Wait{For: timeline.ForQuota, What: "429: wait", Until: now.Add(75 * time.Second), Failures: 1}, time.Minute, timeline.Broken, idle, "quota used up · back in 01:15, until 18:31 · 429: wait", "quota", true},
		{"a quota, no time", timeline.Wait{For: timeline.ForQuota, What: "429: wait", Failures: 1}, time.Minute, timeline.Broken, idle, "quota used up · 429: wait", "failed", true},
		{"a quota that is back", timeline.Wait{For: timeline.ForQuota, What: "429: wait", Until: now.Add(-time.Second), Failures: 1}, time.Minute, timeline.Broken, idle, "the quota should be back · 429: wait", "failed", true},
		{"a login", timeline.Wait{For: timeline.ForLogin, What: "401: bad key", Failures: 1}, time.Minute, timeline.Broken, idle, "needs you · 401: bad key", "waits", true},
		{"compaction", timeline.Wait{}, time.Minute, timeline.Working, &control.Facts{Compacting: true}, "Pi compacts the context", "working", false},
	} {
		m := waiting(t, Options{}, c.wait, c.ago, c.standing, c.facts)
		s := m.list.current()
		got, style := m.env.banner(s)
		if got != c.want {
			t.Errorf("%s: the banner is %q, want %q", c.what, got, c.want)
		}
		st := &m.env.styles
		alarming := style.GetForeground() == st.Warning.GetForeground() || style.GetForeground() == st.Waits.GetForeground()
		if got != "" && alarming != c.alarm {
			t.Errorf("%s: alarming is %v", c.what, alarming)
		}
		if c.want != "" && !strings.Contains(m.View(), c.want) {
			t.Errorf("%s: the screen does not say so\n%s", c.what, m.View())
		}
		if _, word := s.need(now); word != c.word && c.facts != idle || c.facts == idle && c.standing == timeline.Broken && word != c.word {
			t.Errorf("%s: the list says %q, want %q", c.what, word, c.word)
		}
	}
}

// A file that was copied here is new, and what is in it is not.
func TestACopyOfAnOldSessionDoesNotWait(t *testing.T) {
	m := waiting(t, Options{}, timeline.Wait{For: timeline.ForModel}, 20*time.Hour, timeline.Working, nil)
	info := *m.list.current().file
	info.ModTime = now
	send(m, filesChanged{changed: []fileInfo{info}})
	if text, _ := m.env.banner(m.list.current()); text != "" {
		t.Errorf("it says %q", text)
	}
}

func TestClocksMoveByTheSecondAndOnlyThen(t *testing.T) {
	busy := &control.Facts{}
	for _, c := range []struct {
		what string
		o    Options
		wait timeline.Wait
		ago  time.Duration
		want time.Duration // until the next change
	}{
		{"before it is shown", Options{}, timeline.Wait{For: timeline.ForModel}, 4 * time.Second, 6 * time.Second},
		{"a clock", Options{}, timeline.Wait{For: timeline.ForModel}, 20*time.Second + 300*time.Millisecond, 700 * time.Millisecond},
		{"a countdown", Options{}, timeline.Wait{For: timeline.ForQuota, Until: now.Add(9500 * time.Millisecond)}, 0, 500 * time.Millisecond},
		{"nothing but its age", Options{}, timeline.Wait{}, 20 * time.Second, 40 * time.Second},
		{"a screen that keeps still", Options{Still: true}, timeline.Wait{For: timeline.ForTool}, 20 * time.Second, 40 * time.Second},
		{"an hour old", Options{}, timeline.Wait{}, 90 * time.Minute, 30 * time.Minute},
	} {
		facts := busy
		if c.wait.For == timeline.ForQuota {
			facts = &control.Facts{Idle: true}
		}
		m := waiting(t, c.o, c.wait, c.ago, timeline.Working, facts)
		if got := m.changes(now).Sub(now); got != c.want {
			t.Errorf("%s: it changes in %v, want %v", c.what, got, c.want)
		}
	}
}
