package ui

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/muesli/termenv"

	"piwatch/internal/control"
	"piwatch/internal/notify"
	"piwatch/internal/timeline"
	"piwatch/internal/watchdog"
)

func TestACopyGoesToTheClipboard(t *testing.T) {
	var out bytes.Buffer
	m := screenIn(t, Options{Out: &out, Getenv: func(string) string { return "" }}, termenv.Ascii, "counting", 120, 40)
	send(m, key("tab"))
	press(m, "y")
	want := rowText(m.story.row())
	if got := out.String(); got != "\x1b]52;c;"+base64.StdEncoding.EncodeToString([]byte(want))+"\x07" {
		t.Errorf("the terminal was sent %q", got)
	}
	out.Reset()
	send(m, key("tab"))
	press(m, "y")
	if got := out.String(); !strings.Contains(got, base64.StdEncoding.EncodeToString([]byte(m.story.path))) {
		t.Errorf("of a session the terminal was sent %q", got)
	}
}

func TestNotificationsComeOneByOne(t *testing.T) {
	var out bytes.Buffer
	at := now
	hub := newFakeHub()
	m := newScreen(t, Options{Redial: hub.dial, Out: &out, Notify: map[Event][]notify.Way{EventWaits: {notify.OSC9}}, Now: func() time.Time { return at }}, termenv.Ascii)
	var ordered []time.Duration
	m.after = func(d time.Duration, msg tea.Msg) tea.Cmd {
		if _, ok := msg.(rest); ok {
			ordered = append(ordered, d)
		}
		return nil
	}
	waits := func(id string) control.Session {
		return live(id, id, watchdog.View{Phase: watchdog.Suspended, Settings: settings, Last: watchdog.WaitUser}, control.Facts{Idle: true})
	}
	works := func(id string) control.Session {
		return live(id, id, watchdog.View{Phase: watchdog.Working, Settings: settings}, control.Facts{})
	}
	update := func(msg tea.Msg) string {
		_, cmd := m.Update(msg)
		run(cmd)
		defer out.Reset()
		return out.String()
	}
	push := func(s control.Session) tea.Msg { return hubPush{control.Push{Session: &s}} }
	update(filesChanged{first: true})
	if got := update(hubUp{hub, []control.Session{waits("a"), works("b"), works("c"), works("d")}}); got != "" {
		t.Errorf("the first look told %q", got)
	}
	if got := update(push(waits("b"))); got != "\x1b]9;piwatch: (nothing said yet) needs you\x07" {
		t.Errorf("b was told as %q", got)
	}
	at = at.Add(time.Second)
	if got := update(push(waits("c"))) + update(push(waits("d"))); got != "" || len(ordered) == 0 || ordered[0] != time.Second {
		t.Errorf("in a burst %q was told, and the rest ordered for %v", got, ordered)
	}
	at = at.Add(time.Second)
	if got := update(rest{}); !strings.Contains(got, "2 sessions need you") {
		t.Errorf("after the pause %q was told", got)
	}
	if got := update(push(waits("b"))); got != "" {
		t.Errorf("what is known was told again: %q", got)
	}
}

// What is told depends on the event, and each way tells its own, all of it at once.
func TestNotificationsOfEachEvent(t *testing.T) {
	var out bytes.Buffer
	var shown []string
	desktop := errors.New("no desktop")
	hub := newFakeHub()
	at := now
	m := newScreen(t, Options{
		Redial: hub.dial, Out: &out, Now: func() time.Time { return at },
		Show: func(text string) error { shown = append(shown, text); return desktop },
		Notify: map[Event][]notify.Way{
			EventWaits: {notify.Desktop, notify.OSC777}, EventDone: {notify.Desktop}, EventMax: {notify.Desktop}, EventBreaker: {notify.Desktop}, EventFailed: {notify.None},
		},
	}, termenv.Ascii)
	m.after = func(time.Duration, tea.Msg) tea.Cmd { return nil }
	is := func(id string, watch watchdog.View) control.Session {
		watch.Settings = settings
		return live(id, id, watch, control.Facts{Idle: true})
	}
	works := func(id string) control.Session {
		return live(id, id, watchdog.View{Phase: watchdog.Working, Settings: settings}, control.Facts{})
	}
	var said []string
	update := func(msg tea.Msg) {
		_, cmd := m.Update(msg)
		for _, msg := range run(cmd) {
			said = append(said, fmt.Sprint(msg))
		}
	}
	update(filesChanged{first: true})
	update(hubUp{hub, []control.Session{works("a"), works("b"), works("c"), works("d")}})
	push := func(s control.Session) { update(hubPush{control.Push{Session: &s}}) }
	push(is("a", watchdog.View{Phase: watchdog.Suspended, Last: watchdog.WaitUser}))
	if want := "(nothing said yet) needs you"; len(shown) != 1 || shown[0] != want || out.String() != "\x1b]777;notify;piwatch;"+want+"\x07" {
		t.Errorf("shown %q, sent %q", shown, out.String())
	}
	if len(said) == 0 || !strings.Contains(said[len(said)-1], "no desktop") {
		t.Errorf("that there is no desktop was not said: %q", said)
	}
	out.Reset()
	shown = nil
	push(is("b", watchdog.View{Phase: watchdog.Off, Last: watchdog.Done}))
	push(is("c", watchdog.View{Phase: watchdog.Off, Last: watchdog.Done}))
	tripped := is("d", watchdog.View{Phase: watchdog.Waiting})
	tripped.Guard.Tripped = "3 in a row"
	push(tripped)
	push(is("a", watchdog.View{Phase: watchdog.Off, Last: watchdog.Continue, Capped: true}))
	at = at.Add(alarmPause)
	update(rest{})
	if want := "the breaker of (nothing said yet) tripped, (nothing said yet) reached its cap of checks, 2 sessions are done"; len(shown) != 1 || shown[0] != want || out.Len() > 0 {
		t.Errorf("shown %q, want %q; sent %q", shown, want, out.String())
	}
}

// A breaker that tripped stays tripped, and what comes after it is told too, each
// once.
func TestNotificationsAfterTheBreaker(t *testing.T) {
	var out bytes.Buffer
	at := now
	hub := newFakeHub()
	ways := map[Event][]notify.Way{EventWaits: {notify.OSC9}, EventBreaker: {notify.OSC9}}
	m := newScreen(t, Options{Redial: hub.dial, Out: &out, Notify: ways, Now: func() time.Time { return at }}, termenv.Ascii)
	m.after = func(time.Duration, tea.Msg) tea.Cmd { return nil }
	a := live("a", "a", watchdog.View{Phase: watchdog.Working, Settings: settings}, control.Facts{})
	m.Update(filesChanged{first: true})
	m.Update(hubUp{hub, []control.Session{a}})
	told := func(s control.Session) string {
		at = at.Add(alarmPause)
		out.Reset()
		_, cmd := m.Update(hubPush{control.Push{Session: &s}})
		run(cmd)
		return out.String()
	}
	a.Guard.Tripped = "3 in a row"
	if got := told(a); !strings.Contains(got, "the breaker of") || strings.Contains(got, "needs you") {
		t.Errorf("the breaker is told as %q", got)
	}
	a.Watch, a.Facts = watchdog.View{Phase: watchdog.Suspended, Settings: settings, Last: watchdog.WaitUser}, control.Facts{Idle: true}
	if got := told(a); !strings.Contains(got, "needs you") || strings.Contains(got, "the breaker of") {
		t.Errorf("a session that needs the user is told as %q", got)
	}
	if got := told(a); got != "" {
		t.Errorf("told again: %q", got)
	}
}

// That the desktop shows nothing is said once, also when it showed things before.
func TestADesktopThatFailsLater(t *testing.T) {
	var fails error
	m := newScreen(t, Options{Out: &bytes.Buffer{}, Show: func(string) error { return fails }}, termenv.Ascii)
	said := func() int {
		cmd := m.tell(notify.Desktop, "news")
		for _, msg := range run(cmd) {
			m.Update(msg)
		}
		n := 0
		for _, line := range m.log.lines {
			if strings.Contains(line.text, "no desktop") {
				n++
			}
		}
		return n
	}
	for i, c := range []struct {
		fails error
		want  int
	}{{nil, 0}, {errors.New("no desktop"), 1}, {errors.New("still no desktop"), 1}} {
		fails = c.fails
		if got := said(); got != c.want {
			t.Errorf("after notification %d it is said %d times, want %d", i+1, got, c.want)
		}
	}
}

func TestTheMouseIsOffUntilItIsTurnedOn(t *testing.T) {
	m := screenIn(t, Options{}, termenv.Ascii, "counting", 80, 24)
	if m.mouse {
		t.Error("the mouse is on at the start")
	}
	if press(m, "M"); !m.mouse {
		t.Error("M does not turn the mouse on")
	}
	if press(m, "M"); m.mouse {
		t.Error("the second M does not turn it off")
	}
}

func TestTheMouseSelectsAndOpens(t *testing.T) {
	m := screenIn(t, Options{Mouse: true}, termenv.Ascii, "counting", 80, 24)
	m.View()
	click := func(x, y int) {
		m.View()
		send(m, tea.MouseMsg{X: x, Y: y, Action: tea.MouseActionPress, Button: tea.MouseButtonLeft})
	}
	click(5, 2)
	if m.list.selected != m.list.shown[1].id || m.focus != paneList {
		t.Errorf("a click on the second line selects %s", m.list.selected)
	}
	m.list.selected = "aaaa-1"
	send(m, tick{}, tea.MouseMsg{X: 60, Y: 10, Action: tea.MouseActionPress, Button: tea.MouseButtonWheelUp})
	if m.focus != paneStory || m.story.follow {
		t.Error("the wheel does not scroll the pane below it")
	}
	lines := strings.Split(m.View(), "\n")
	for y, line := range lines {
		if strings.Contains(line, "check   ╭") {
			click(60, y)
			if m.card() == nil {
				t.Fatalf("a click on %q does not go there", line)
			}
			was := m.story.open[m.story.row().Key]
			click(60, y)
			if m.story.open[m.story.row().Key] == was {
				t.Error("a second click does not open the card")
			}
			return
		}
	}
	t.Error("there is no card to click on")
}

func TestMessagesLeaveTheBottomLine(t *testing.T) {
	m := screenIn(t, Options{}, termenv.Ascii, "counting", 100, 30)
	var ordered []tea.Msg
	m.after = func(d time.Duration, msg tea.Msg) tea.Cmd {
		if s, ok := msg.(stale); ok && d == noticeTime {
			ordered = append(ordered, s)
		}
		return nil
	}
	notice := func(text string) tea.Msg {
		return hubPush{control.Push{Notice: &control.Notice{Session: "aaaa-1", Level: levelWarning, Text: text}}}
	}
	send(m, notice("first"), notice("second"), tick{})
	if len(ordered) != 2 {
		t.Fatalf("the ends of %v are ordered", ordered)
	}
	send(m, ordered[0])
	if !strings.Contains(bottomLine(m), "second") {
		t.Errorf("the end of the first takes the second away: %q", bottomLine(m))
	}
	send(m, ordered[1])
	if strings.Contains(bottomLine(m), "second") || !strings.Contains(bottomLine(m), "p pause") {
		t.Errorf("the keys do not come back: %q", bottomLine(m))
	}
	send(m, key("L"))
	if !strings.Contains(m.View(), "first") {
		t.Error("the log lost a message")
	}
}

func TestTheLogOfRefusals(t *testing.T) {
	m := screenIn(t, Options{}, termenv.Ascii, "counting", 100, 30)
	for level, text := range map[string]string{levelInfo: "all is well", levelWarning: "nothing was sent: a draft is open"} {
		send(m, hubPush{control.Push{Notice: &control.Notice{Session: "aaaa-1", Level: level, Text: text}}})
	}
	send(m, key("L"), key("f"))
	m.log.fresh = false
	if frame := m.View(); strings.Contains(frame, "all is well") || !strings.Contains(frame, "nothing was sent") {
		t.Errorf("the refusals are\n%s", frame)
	}
	send(m, key("f"))
	m.log.fresh = false
	if frame := m.View(); !strings.Contains(frame, "all is well") {
		t.Errorf("the log is\n%s", frame)
	}
}

func TestStillScreensDoNotTick(t *testing.T) {
	m := screenIn(t, Options{Still: true}, termenv.Ascii, "counting", 100, 30)
	send(m, tick{})
	if ticks(m) || !strings.Contains(m.View(), "⏱18:30:22 2/50") {
		t.Errorf("ticking %v\n%s", ticks(m), m.View())
	}
}

func TestTheWholeRowIsReadForThePager(t *testing.T) {
	long := strings.Repeat("word ", 4000)
	path := filepath.Join(t.TempDir(), "s.jsonl")
	text := `{"type":"session","version":3,"id":"s"}` + "\n" +
		`{"type":"message","id":"m1","message":{"role":"user","content":"` + long + `the end"}}` + "\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var p storyPane
	p.show(path)
	p.take(readEntries(t, path))
	row := p.row()
	if row.Rest == 0 || !strings.HasSuffix(fullText(row, path), "the end\n") {
		t.Error("the end of a long text is left out")
	}
	if text, err := bodyOf(row, path); err != nil || text != long+"the end" {
		t.Errorf("%d bytes are read, %v", len(text), err)
	}
	if got := fullText(row, path+".gone"); !strings.Contains(got, "the rest cannot be read") {
		t.Error("a file that is gone is not told")
	}
	if got := fullText(&timeline.Row{Title: "short"}, path); got != "short\n" {
		t.Errorf("a short row is %q", got)
	}
}

func TestColoursOfTerminals(t *testing.T) {
	for _, c := range []struct {
		env  map[string]string
		want termenv.Profile
	}{
		{map[string]string{}, termenv.Ascii},
		{map[string]string{"TERM": "dumb"}, termenv.Ascii},
		{map[string]string{"TERM": "vt100"}, termenv.Ascii},
		{map[string]string{"TERM": "xterm-mono"}, termenv.Ascii},
		{map[string]string{"TERM": "xterm"}, termenv.ANSI},
		{map[string]string{"TERM": "screen"}, termenv.ANSI},
		{map[string]string{"TERM": "linux"}, termenv.ANSI},
		{map[string]string{"TERM": "tmux"}, termenv.ANSI},
		{map[string]string{"TERM": "screen-256color"}, termenv.ANSI256},
		{map[string]string{"TERM": "tmux-256color"}, termenv.ANSI256},
		{map[string]string{"TERM": "screen-256color", "COLORTERM": "truecolor"}, termenv.ANSI256},
		{map[string]string{"TERM": "screen-256color", "COLORTERM": "truecolor", "TERM_PROGRAM": "tmux"}, termenv.TrueColor},
		{map[string]string{"TERM": "tmux-256color", "COLORTERM": "truecolor"}, termenv.TrueColor},
		{map[string]string{"TERM": "xterm-kitty"}, termenv.TrueColor},
		{map[string]string{"TERM": "foot"}, termenv.TrueColor},
	} {
		if got := profileOf(func(key string) string { return c.env[key] }); got != c.want {
			t.Errorf("%v has %v, want %v", c.env, got, c.want)
		}
	}
}
