package ui

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/muesli/termenv"

	"piwatch/internal/control"
	"piwatch/internal/pi"
	"piwatch/internal/timeline"
	"piwatch/internal/watchdog"
)

// press presses a key and gives the messages of the commands it led to.
func press(m *Model, name string) []tea.Msg {
	_, cmd := m.Update(key(name))
	return run(cmd)
}

func run(cmd tea.Cmd) []tea.Msg {
	if cmd == nil {
		return nil
	}
	msg := cmd()
	batch, ok := msg.(tea.BatchMsg)
	if !ok {
		return []tea.Msg{msg}
	}
	var all []tea.Msg
	for _, c := range batch {
		all = append(all, run(c)...)
	}
	return all
}

func bottomLine(m *Model) string {
	lines := strings.Split(m.View(), "\n")
	return lines[len(lines)-1]
}

func TestKeysSteerTheHub(t *testing.T) {
	once := settings
	once.Mode = watchdog.Once
	for _, c := range []struct {
		name string
		view watchdog.View
		keys []string
		want steered
	}{
		{"pause", viewOf(watchdog.Counting), []string{"p"}, steered{control.Pause, control.SteerParams{}}},
		{"resume", viewOf(watchdog.Paused), []string{"p"}, steered{control.Resume, control.SteerParams{}}},
		{"resume what is suspended too", watchdog.View{Phase: watchdog.Suspended, Settings: settings, Paused: true}, []string{"p"}, steered{control.Resume, control.SteerParams{}}},
		{"nudge", viewOf(watchdog.Working), []string{"n"}, steered{control.Nudge, control.SteerParams{}}},
		{"skip", viewOf(watchdog.Counting), []string{"z"}, steered{control.Skip, control.SteerParams{}}},
		{"more time", viewOf(watchdog.Counting), []string{"+"}, steered{control.Extend, control.SteerParams{Seconds: 30}}},
		{"less time", viewOf(watchdog.Counting), []string{"-"}, steered{control.Extend, control.SteerParams{Seconds: -30}}},
		{"stop", viewOf(watchdog.Suspended), []string{"x"}, steered{control.Stop, control.SteerParams{}}},
		{"to once", viewOf(watchdog.Counting), []string{"m"}, steered{control.Set, control.SteerParams{Line: "mode=once"}}},
		{"to keep", watchdog.View{Phase: watchdog.Working, Settings: once}, []string{"m"}, steered{control.Set, control.SteerParams{Line: "mode=keep"}}},
		{"start", viewOf(watchdog.Off), []string{"s", "timeout=5 max=3", "enter"}, steered{control.Start, control.SteerParams{Line: "timeout=5 max=3"}}},
		{"start with the defaults", viewOf(watchdog.Off), []string{"s", "enter"}, steered{control.Start, control.SteerParams{}}},
		{"set", viewOf(watchdog.Counting), []string{"s", "message=go on", "enter"}, steered{control.Set, control.SteerParams{Line: "message=go on"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			hub := newFakeHub()
			hub.answer(levelInfo, "as you wish")
			m := newScreen(t, Options{Redial: hub.dial}, termenv.Ascii)
			send(m, tea.WindowSizeMsg{Width: 100, Height: 30}, hubUp{hub, []control.Session{live("s1", "w", c.view, control.Facts{Idle: true})}})
			var replies []tea.Msg
			for _, k := range c.keys {
				replies = press(m, k)
			}
			c.want.params.Session, c.want.params.By = "s1", "tui"
			select {
			case got := <-hub.asked:
				if got != c.want {
					t.Errorf("the hub was asked for %+v, want %+v", got, c.want)
				}
			default:
				t.Fatal("the hub was asked for nothing")
			}
			send(m, replies...)
			if !strings.Contains(bottomLine(m), "as you wish") {
				t.Errorf("the reply is not in the bottom line: %q", bottomLine(m))
			}
			send(m, key("L"))
			if !strings.Contains(m.View(), "as you wish") {
				t.Error("the reply is not in the log")
			}
		})
	}
}

// A busy machine reads several keys at once.
func TestKeysThatCameTogether(t *testing.T) {
	m := screenIn(t, Options{}, termenv.Ascii, "counting", 100, 30)
	send(m, tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("?/clip")})
	if m.over != overlayHelp || m.helpFind != "clip" {
		t.Errorf("over %v, searched %q", m.over, m.helpFind)
	}
	m = screenIn(t, Options{}, termenv.Ascii, "counting", 100, 30)
	send(m, tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("?/clip"), Paste: true})
	if m.over == overlayHelp {
		t.Error("a paste was taken for keys")
	}
}

// The hub may ask back; the answer yes sends the same again.
func TestHubAsksBack(t *testing.T) {
	hub := newFakeHub()
	hub.answer(control.Confirm, `Your last message says to wait: "wait". Start all the same?`)
	m := newScreen(t, Options{Redial: hub.dial}, termenv.Ascii)
	send(m, tea.WindowSizeMsg{Width: 100, Height: 30}, hubUp{hub, []control.Session{live("aaaa-1", "w", viewOf(watchdog.Off), control.Facts{Idle: true})}})
	ask := func() {
		t.Helper()
		press(m, "s")
		press(m, "timeout=5")
		send(m, press(m, "enter")...)
		wantAsked(t, hub, steered{control.Start, control.SteerParams{Line: "timeout=5"}})
		if !strings.Contains(m.View(), `says to wait: "wait"`) {
			t.Fatalf("the question is not asked\n%s", m.View())
		}
	}
	ask()
	press(m, "n")
	wantNothingAsked(t, hub)
	ask()
	hub.answer(levelInfo, "Watchdog started")
	send(m, press(m, "y")...)
	wantAsked(t, hub, steered{control.Start, control.SteerParams{Line: "timeout=5", Sure: true}})
	if !strings.Contains(bottomLine(m), "Watchdog started") {
		t.Errorf("the bottom line is %q", bottomLine(m))
	}
}

func TestDisabledKeysSayWhy(t *testing.T) {
	for _, c := range []struct{ name, state, key, want string }{
		{"no bridge", "read-only", "p", noBridge},
		{"no bridge, start", "read-only", "s", noBridge},
		{"hub gone", "hub-gone", "n", "no hub"},
		{"off", "off", "x", "the watchdog is off in this session; s starts it"},
		{"no countdown", "working", "z", "no countdown runs: the agent works"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := screenIn(t, Options{}, termenv.Ascii, c.state, 120, 40)
			if replies := press(m, c.key); len(replies) > 0 {
				t.Errorf("the key led to %v", replies)
			}
			if !strings.Contains(bottomLine(m), c.want) {
				t.Errorf("the bottom line is %q, want %q in it", bottomLine(m), c.want)
			}
			send(m, key("esc"), key("?"))
			help := strings.Join(strings.Fields(strings.Join(m.helpLines(&m.env, 200), " ")), " ")
			if !strings.Contains(help, c.want) {
				t.Error("the help does not say why")
			}
		})
	}
}

func TestBadSettingsAreNotSent(t *testing.T) {
	m := screenIn(t, Options{}, termenv.Ascii, "off", 120, 40)
	for _, k := range []string{"s", "timeout=-1", "enter"} {
		if replies := press(m, k); k == "enter" && len(replies) > 0 {
			t.Errorf("enter led to %v", replies)
		}
	}
	_, err := watchdog.Parse("timeout=-1")
	if m.ask == nil || m.ask.err == nil || m.ask.err.Error() != err.Error() {
		t.Errorf("the dialog does not show %q", err)
	}
	press(m, "esc")
	if m.ask != nil {
		t.Error("esc does not leave the dialog")
	}
}

func order(m *Model) string {
	var ids []string
	for _, s := range m.list.shown {
		ids = append(ids, s.id)
	}
	return strings.Join(ids, " ")
}

func TestSessionsAreOrderedByNeed(t *testing.T) {
	m := screenIn(t, Options{}, termenv.Ascii, "counting", 80, 24)
	if got, want := order(m), "bbbb-2 cccc-3 aaaa-1 dddd-4 eeee-5"; got != want {
		t.Errorf("the order is %s, want %s", got, want)
	}
	if m.list.selected != "aaaa-1" {
		t.Errorf("%s is selected, not the one that was asked for", m.list.selected)
	}
	waits := viewOf(watchdog.Suspended)
	waits.Last = watchdog.WaitUser
	one := live("aaaa-1", "api", waits, control.Facts{Idle: true})
	send(m, hubPush{control.Push{Session: &one}}, hubPush{control.Push{Gone: "bbbb-2"}})
	if got, want := order(m), "aaaa-1 cccc-3 dddd-4 bbbb-2 eeee-5"; got != want {
		t.Errorf("the order is %s, want %s", got, want)
	}
	if m.list.selected != "aaaa-1" || m.story.path != filepathOf("aaaa-1") {
		t.Errorf("the selection went to %s (%s)", m.list.selected, m.story.path)
	}
}

// A watchdog that gave up at its cap left work to the user.
func TestASessionThatReachedItsCapNeedsTheUser(t *testing.T) {
	m := screenIn(t, Options{}, termenv.Ascii, "counting", 80, 24)
	off := watchdog.View{Phase: watchdog.Off, Settings: settings, Count: 5, Last: watchdog.Continue, Why: "off: the cap of 5 checks was reached", Capped: true}
	one := live("dddd-4", "api", off, control.Facts{Idle: true})
	send(m, hubPush{control.Push{Session: &one}})
	if got, want := order(m), "bbbb-2 cccc-3 dddd-4 aaaa-1 eeee-5"; got != want {
		t.Errorf("the order is %s, want %s", got, want)
	}
	if view := m.View(); !strings.Contains(view, "■ capped") {
		t.Errorf("the list does not say it\n%s", view)
	}
	m.list.selected = "cccc-3"
	if send(m, key("w")); m.list.selected != "dddd-4" {
		t.Errorf("w leads to %s", m.list.selected)
	}
	one.Facts.Idle = false
	send(m, hubPush{control.Push{Session: &one}})
	if rank, _ := m.list.all["dddd-4"].need(now); rank != needWorking {
		t.Errorf("at work it is %d", rank)
	}
}

func filepathOf(id string) string { return "testdata/sessions/" + id + ".jsonl" }

func TestSelectionGoesToTheNeighbourOfAGoneSession(t *testing.T) {
	m := screenIn(t, Options{}, termenv.Ascii, "read-only", 80, 24)
	at := slices.IndexFunc(m.list.shown, func(s *session) bool { return s.id == "aaaa-1" })
	next := m.list.shown[at+1].id
	send(m, filesChanged{gone: []string{filepathOf("aaaa-1")}})
	if m.list.selected != next {
		t.Errorf("%s is selected, want %s", m.list.selected, next)
	}
	var gone []string
	for _, s := range m.list.shown {
		gone = append(gone, s.file.Path)
	}
	send(m, filesChanged{gone: gone})
	if m.list.current() != nil || m.story.path != "" {
		t.Error("a session is shown, and there is none")
	}
	if !strings.Contains(m.View(), "No sessions yet") {
		t.Error("an empty list says nothing")
	}
}

func TestFilter(t *testing.T) {
	m := screenIn(t, Options{}, termenv.Ascii, "counting", 80, 24)
	send(m, key("/"), key("web waits"))
	if order(m) != "bbbb-2" || m.list.selected != "bbbb-2" {
		t.Errorf("the filter shows %q", order(m))
	}
	send(m, key("enter"), key("esc"))
	if len(m.list.shown) != 5 {
		t.Error("esc does not clear the filter")
	}
	send(m, key("/"), key("nothing like it"), key("esc"))
	if m.list.filter != "" {
		t.Error("esc keeps the filter")
	}
}

// That the hub went is said until it is back.
func TestTheHubIsBack(t *testing.T) {
	hub := newFakeHub()
	m := newScreen(t, Options{Redial: hub.dial}, termenv.Ascii)
	send(m, tea.WindowSizeMsg{Width: 100, Height: 30}, hubUp{hub, nil}, hubDown{errors.New("it closed")})
	if got := bottomLine(m); !strings.Contains(got, "hub gone, reconnecting: it closed") {
		t.Errorf("gone: %s", got)
	}
	send(m, hubUp{hub, nil})
	if got := bottomLine(m); strings.Contains(got, "hub gone") {
		t.Errorf("back: %s", got)
	}
}

// In a session of several days each begins with its date; one of a single day has
// none.
func TestTheTimelineSaysTheDay(t *testing.T) {
	m := screenIn(t, Options{}, termenv.Ascii, "counting", 120, 40)
	first := m.story.rows[0]
	date := func(days int) string { return first.Time.AddDate(0, 0, days).Local().Format("Mon 2 January 2006") }
	if strings.Contains(m.View(), date(0)) {
		t.Errorf("in a session of one day:\n%s", m.View())
	}
	parent := m.story.rows[len(m.story.rows)-1].Entry
	for i, id := range []string{"n0", "n1", "n2"} {
		at := first.Time.AddDate(0, 0, 2)
		if i == 0 {
			at = time.Time{} // not known
		}
		send(m, entriesCame{path: m.story.path, entries: []timeline.Entry{timeline.Digest(&pi.Entry{
			ID: id, ParentID: parent, Time: at, Message: &pi.Message{Role: pi.RoleUser, Content: []pi.Block{{Type: "text", Text: "said in " + id}}},
		})}})
		parent = id
	}
	frame := m.View()
	if strings.Count(frame, date(2)) != 1 || strings.Index(frame, date(2)) > strings.Index(frame, "said in n1") {
		t.Errorf("the second day:\n%s", frame)
	}
	send(m, key("tab"), key("g"))
	if frame := m.View(); !strings.Contains(frame, date(0)) {
		t.Errorf("the first day:\n%s", frame)
	}
}

func TestTheTimelineFollowsUntilScrolledUp(t *testing.T) {
	m := screenIn(t, Options{}, termenv.Ascii, "counting", 80, 24)
	path := m.story.path
	more := func(id, parent string) entriesCame {
		return entriesCame{path: path, entries: []timeline.Entry{timeline.Digest(&pi.Entry{
			ID: id, ParentID: parent, Message: &pi.Message{Role: pi.RoleUser, Content: []pi.Block{{Type: "text", Text: "said in " + id}}},
		})}}
	}
	last := m.story.rows[len(m.story.rows)-1].Entry
	send(m, more("n1", last))
	if !strings.Contains(m.View(), "said in n1") {
		t.Fatal("the timeline does not follow")
	}
	send(m, key("tab"), key("pgup"), more("n2", "n1"), more("n3", "n2"))
	frame := m.View()
	if strings.Contains(frame, "said in n3") || !strings.Contains(frame, "2 new rows below") {
		t.Errorf("scrolled up, the screen is\n%s", frame)
	}
	send(m, key("G"))
	if frame := m.View(); !strings.Contains(frame, "said in n3") || strings.Contains(frame, "new row") {
		t.Errorf("at the end, the screen is\n%s", frame)
	}
	for range 40 {
		send(m, key("pgup"))
		m.View()
	}
	if m.story.top != 0 || m.story.skip != 0 {
		t.Error("scrolling up does not reach the start")
	}
	for range 40 {
		send(m, key("pgdown"))
		m.View()
	}
	if !m.story.follow {
		t.Error("scrolling down to the end does not follow again")
	}
}

func TestAnotherBranchKeepsThePlace(t *testing.T) {
	m := screenIn(t, Options{}, termenv.Ascii, "counting", 80, 24)
	send(m, key("tab"), key("home"), key("down"), key("down"), key("down"))
	want := m.story.rows[m.story.cursor].Key
	send(m, entriesCame{path: m.story.path, entries: []timeline.Entry{timeline.Digest(&pi.Entry{
		ID: "n1", ParentID: m.story.rows[m.story.cursor].Entry, Message: &pi.Message{Role: pi.RoleUser, Content: []pi.Block{{Type: "text", Text: "other"}}},
	})}})
	if got := m.story.rows[m.story.cursor].Key; got != want || len(m.story.rows) != 5 {
		t.Errorf("the cursor went from %s to %s of %d rows", want, got, len(m.story.rows))
	}
	wantFits(t, m.View(), 80, 24)
}

// ticks says that something on the screen changes with the next second.
func ticks(m *Model) bool {
	next := m.changes(m.env.now)
	return !m.due.IsZero() && !next.IsZero() && !m.due.After(next) && next.Sub(m.env.now) <= time.Second
}

func TestTicksOnlyWhileACountdownIsSeen(t *testing.T) {
	for _, state := range states {
		m := screenIn(t, Options{}, termenv.Ascii, state, 80, 24)
		send(m, tick{})
		if got, want := ticks(m), state == "counting"; got != want {
			t.Errorf("%s: ticking is %v", state, got)
		}
	}
	at := now
	m := screenIn(t, Options{Now: func() time.Time { return at }}, termenv.Ascii, "counting", 80, 24)
	if !strings.Contains(m.View(), "⏱23s 2/50") {
		t.Errorf("the countdown is not shown\n%s", m.View())
	}
	at = at.Add(500 * time.Millisecond)
	send(m, tick{})
	if !ticks(m) || !strings.Contains(m.View(), "⏱22s 2/50") {
		t.Errorf("after a tick the countdown stands\n%s", m.View())
	}
	at = at.Add(time.Minute)
	send(m, tick{})
	if ticks(m) || !strings.Contains(m.View(), "⏱0s 2/50") {
		t.Error("it ticks after the end")
	}
	send(m, key("up"))
	if ticks(m) {
		t.Error("it ticks for a countdown that is not seen")
	}
}

func TestResizeStorm(t *testing.T) {
	m := screenIn(t, Options{}, termenv.Ascii, "counting", 80, 24)
	before := m.View()
	for i := range 200 {
		w, h := (i*37)%220, (i*11)%70
		send(m, tea.WindowSizeMsg{Width: w, Height: h})
		wantFits(t, m.View(), w, h)
	}
	send(m, tea.WindowSizeMsg{Width: -1, Height: -1}, tea.WindowSizeMsg{Width: 80, Height: 24})
	if got := m.View(); got != before {
		t.Errorf("after the storm the screen is\n%s\nand was\n%s", got, before)
	}
}

func TestThemesGoRound(t *testing.T) {
	m := screenIn(t, Options{}, termenv.TrueColor, "counting", 80, 24)
	first := m.View()
	seen := map[string]bool{first: true}
	for range len(m.themes) - 1 {
		send(m, key("t"), key("down"), key("enter"), key("esc"))
		m.log.fresh = false
		if seen[m.View()] {
			t.Errorf("theme %s looks like another one", m.theme.Name)
		}
		seen[m.View()] = true
	}
	send(m, key("t"), key("home"))
	if m.theme.Name != m.themes[0].Name {
		t.Error("the theme under the cursor is not used at once")
	}
	last := m.picker.before.Name
	send(m, key("esc"))
	if m.theme.Name != last {
		t.Error("esc does not bring the theme of before back")
	}
}

func TestKeysAreBoundOnce(t *testing.T) {
	all := bindings()
	ids := map[string]bool{}
	for i, b := range all {
		for _, k := range b.keys {
			for _, other := range all[:i] {
				if other.in&b.in != 0 && slices.Contains(other.keys, k) {
					t.Errorf("%q is bound to %s and to %s", k, other.id, b.id)
				}
			}
			if !validKey(k) && k != " " && k != "ctrl+c" {
				t.Errorf("%q of %s is no key that the config knows", k, b.id)
			}
		}
		if b.do == nil || b.in == 0 || b.id == "" || ids[b.id] || b.about == "" && !b.pair || b.pair && (i == 0 || all[i-1].pair) {
			t.Errorf("%q is not right", b.id)
		}
		ids[b.id] = true
	}
}

func TestQuit(t *testing.T) {
	m := screenIn(t, Options{}, termenv.Ascii, "counting", 80, 24)
	for _, k := range []string{"q", "ctrl+c"} {
		if msgs := press(m, k); len(msgs) != 1 || msgs[0] != tea.Quit() {
			t.Errorf("%s leads to %v", k, msgs)
		}
	}
}

// A list of a thousand sessions is drawn by what is seen of it.
func TestManySessions(t *testing.T) {
	m := newScreen(t, Options{}, termenv.Ascii)
	m.open = nil
	var msg filesChanged
	for i := range 1000 {
		msg.changed = append(msg.changed, fileInfo{
			Path: fmt.Sprintf("/s/%d.jsonl", i), ID: fmt.Sprint(i), ModTime: now.Add(-time.Duration(i) * time.Hour),
			Story: timeline.Story{First: fmt.Sprintf("task %d", i), Standing: timeline.Stopped},
		})
	}
	send(m, tea.WindowSizeMsg{Width: 80, Height: 24}, msg)
	if frame := m.View(); !strings.Contains(frame, "999 ended sessions") {
		t.Errorf("the ended sessions are no line\n%s", frame)
	}
	send(m, key("."), key("end"))
	if frame := m.View(); !strings.Contains(frame, "task 999") || strings.Contains(frame, "task 970 ") {
		t.Errorf("the end of the list is\n%s", frame)
	}
	send(m, key("home"))
	if !strings.Contains(m.View(), "task 0 ") {
		t.Error("the start of the list is not in sight")
	}
}
