package ui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/muesli/termenv"

	"piwatch/internal/control"
	"piwatch/internal/timeline"
	"piwatch/internal/watchdog"
)

// family is a screen with sessions that started others; children name their
// parent's file.
func family(t *testing.T, infos ...fileInfo) *Model {
	t.Helper()
	m := newScreen(t, Options{}, termenv.Ascii)
	m.open = nil
	for i := range infos {
		infos[i].Path = "/s/" + infos[i].ID + ".jsonl"
		infos[i].Story.First = "task of " + infos[i].ID
		if infos[i].ModTime.IsZero() {
			infos[i].ModTime = now.Add(-time.Minute)
		}
	}
	send(m, tea.WindowSizeMsg{Width: 80, Height: 24}, filesChanged{changed: infos, first: true})
	return m
}

func depths(m *Model) string {
	var all []string
	for _, s := range m.list.shown {
		id := s.id
		if s.group > 0 {
			id = fmt.Sprintf("%d ended", s.group)
		}
		all = append(all, strings.Repeat(">", s.depth)+id)
	}
	return strings.Join(all, " ")
}

func TestSessionsAreATree(t *testing.T) {
	asks := timeline.Story{Standing: timeline.Asks}
	works := timeline.Story{Standing: timeline.Working}
	m := family(t,
		fileInfo{ID: "a", Story: works},
		fileInfo{ID: "b", Story: works, ModTime: now.Add(-2 * time.Minute)},
		fileInfo{ID: "b1", Parent: "/s/b.jsonl", Story: works},
		fileInfo{ID: "b2", Parent: "/s/b.jsonl", Story: asks},
		fileInfo{ID: "b2x", Parent: "/s/b2.jsonl", Story: works},
		fileInfo{ID: "orphan", Parent: "/s/none.jsonl", Story: works, ModTime: now.Add(-3 * time.Minute)},
	)
	// b comes first, since a child of it waits for the user.
	if got, want := depths(m), "b >b2 >>b2x >b1 a orphan"; got != want {
		t.Errorf("the tree is %s, want %s", got, want)
	}
	if frame := m.View(); !strings.Contains(frame, "└ ◆ waits") {
		t.Errorf("the children are not set off\n%s", frame)
	}
}

func TestParentsThatGoRoundInCircles(t *testing.T) {
	m := family(t, fileInfo{ID: "a", Parent: "/s/b.jsonl"}, fileInfo{ID: "b", Parent: "/s/a.jsonl"}, fileInfo{ID: "c", Parent: "/s/c.jsonl"})
	if len(m.list.shown) != 3 {
		t.Errorf("the list shows %s", depths(m))
	}
}

// What the hub found out of a child without a bridge goes before its header, also
// when it comes before the file; another hub begins anew.
func TestTreeOfWhatTheHubFound(t *testing.T) {
	found := func(link control.Link) hubPush {
		return hubPush{control.Push{Target: &control.Target{ID: "c", Source: "file", State: "working", Link: link}}}
	}
	works := timeline.Story{Standing: timeline.Working}
	parent := fileInfo{ID: "p", Story: works}
	child := fileInfo{ID: "c", Parent: "/s/o.jsonl", Story: works, ModTime: now.Add(-2 * time.Minute)}
	other := fileInfo{ID: "o", Story: works, ModTime: now.Add(-3 * time.Minute)}
	byTool := control.Link{Parent: "p", By: "artefact"}
	m := family(t, parent, other)
	send(m, hubUp{newFakeHub(), nil}, found(byTool))
	child.Path = "/s/c.jsonl"
	send(m, filesChanged{changed: []fileInfo{child}})
	if got, want := depths(m), "p >c o"; got != want {
		t.Errorf("the word first: %s, want %s", got, want)
	}
	send(m, found(control.Link{}))
	if got, want := depths(m), "p o >c"; got != want {
		t.Errorf("taken back: %s, want %s", got, want)
	}
	send(m, found(byTool))
	if got, want := depths(m), "p >c o"; got != want {
		t.Errorf("the file first: %s, want %s", got, want)
	}
	send(m, hubUp{newFakeHub(), nil})
	if got, want := depths(m), "p o >c"; got != want {
		t.Errorf("another hub: %s, want %s", got, want)
	}
}

func TestEndedSessionsAreOneLine(t *testing.T) {
	infos := []fileInfo{{ID: "a"}}
	for i := range 5 {
		infos = append(infos, fileInfo{ID: fmt.Sprint("old", i), ModTime: now.Add(-time.Duration(i+1) * time.Hour)})
	}
	m := family(t, infos...)
	if got, want := depths(m), "a 5 ended"; got != want {
		t.Errorf("the list is %s, want %s", got, want)
	}
	send(m, key("down"), key("enter"))
	if got, want := depths(m), "a old0 old1 old2 old3 old4"; got != want {
		t.Errorf("the list is %s, want %s", got, want)
	}
	m.list.selected = "old2"
	send(m, key("."))
	if got, want := depths(m), "a old2 4 ended"; got != want {
		t.Errorf("the list is %s, want %s", got, want)
	}
	send(m, key("/"), key("old"))
	if got := depths(m); strings.Contains(got, "ended") {
		t.Errorf("the filter hides %s", got)
	}
	only := family(t, infos[1:]...)
	if got := depths(only); strings.Contains(got, " ended") {
		t.Errorf("a list of ended sessions alone is %s", got)
	}
}

func TestFuzzy(t *testing.T) {
	for _, c := range []struct {
		text, word string
		want       bool
	}{
		{"fix the flaky login test", "login", true}, {"fix the flaky login test", "flky", true}, {"fix the flaky login test", "lgn", true},
		{"fix the flaky login test", "tsting", false}, {"fix the flaky login test", "xlogin", false}, {"f l a k y", "flaky", false},
		{"größe", "grße", true}, {"", "a", false}, {"abcabd", "abd", true},
	} {
		if got := fuzzy(c.text, c.word); got != c.want {
			t.Errorf("%q in %q: %v", c.word, c.text, got)
		}
	}
}

func TestAParentThatWaitsForEndedChildren(t *testing.T) {
	hub := newFakeHub()
	parent := live("p", "api", watchdog.View{Phase: watchdog.Working, Settings: settings}, control.Facts{})
	stuck := func(childEnd time.Time, childStory timeline.Standing) string {
		m := family(t, fileInfo{ID: "p", ModTime: now.Add(-10 * time.Minute), Story: timeline.Story{Standing: timeline.Working}},
			fileInfo{ID: "c", Parent: "/s/p.jsonl", ModTime: childEnd, Story: timeline.Story{Standing: childStory}})
		send(m, hubUp{hub, []control.Session{parent}})
		_, word := m.list.all["p"].need(now)
		return word
	}
	if got := stuck(now.Add(-5*time.Minute), timeline.IsDone); got != "stuck?" {
		t.Errorf("a parent whose child ended 5 minutes ago is %s", got)
	}
	if got := stuck(now.Add(-10*time.Second), timeline.IsDone); got != "working" {
		t.Errorf("a parent whose child has just ended is %s", got)
	}
	if got := stuck(now.Add(-5*time.Minute), timeline.Working); got != "working" {
		t.Errorf("a parent whose child works is %s", got)
	}
	if got := stuck(now.Add(-12*time.Minute), timeline.IsDone); got != "working" {
		t.Errorf("a parent that went on after its child ended is %s", got)
	}
}

func TestMaybeStuck(t *testing.T) {
	finding := &control.Finding{Rule: "repeated_call", Says: []string{"the same call 4 times: \x1b[31mmake"}}
	one := live("p", "api", watchdog.View{Phase: watchdog.Working, Settings: settings}, control.Facts{})
	one.Stuck = finding
	m := family(t, fileInfo{ID: "c", ModTime: now.Add(-time.Minute), Story: timeline.Story{Standing: timeline.Working}})
	send(m, hubUp{newFakeHub(), []control.Session{one}}, hubPush{control.Push{Target: &control.Target{ID: "c", Finding: finding}}})
	for _, id := range []string{"p", "c"} {
		s := m.list.all[id]
		if _, word := s.need(now); word != "stuck?" {
			t.Errorf("%s is %s", id, word)
		}
		if got := strings.Join(whyLines(&m.env, s, 80, 1), ""); !strings.Contains(got, "maybe stuck: the same call 4 times: make") {
			t.Errorf("%s says %q", id, got)
		}
	}
	one.Stuck = nil
	send(m, hubPush{control.Push{Session: &one}}, hubPush{control.Push{Target: &control.Target{ID: "c"}}})
	for _, id := range []string{"p", "c"} {
		if _, word := m.list.all[id].need(now); word != "working" {
			t.Errorf("%s is %s", id, word)
		}
	}
}

func TestTheNextSessionThatNeedsMe(t *testing.T) {
	m := screenIn(t, Options{}, termenv.Ascii, "counting", 80, 24)
	var went []string
	for range 3 {
		send(m, key("w"))
		went = append(went, m.list.selected)
	}
	if want := []string{"bbbb-2", "cccc-3", "bbbb-2"}; !slices.Equal(went, want) {
		t.Errorf("it went to %v, want %v", went, want)
	}
}

func TestASessionWhosePiHasGoneIsEnded(t *testing.T) {
	hub := newFakeHub()
	at := now
	m := newScreen(t, Options{Redial: hub.dial, Now: func() time.Time { return at }}, termenv.Ascii)
	m.open = nil
	file := fileInfo{ID: "a", Path: "/s/a.jsonl", Size: 100, ModTime: now.Add(-time.Second), Story: timeline.Story{First: "task", Standing: timeline.Asks}}
	other := fileInfo{ID: "b", Path: "/s/b.jsonl", ModTime: now, Story: timeline.Story{First: "other"}}
	one := live("a", "api", watchdog.View{Phase: watchdog.Off, Settings: settings}, control.Facts{Idle: true})
	up := hubUp{hub, []control.Session{one}}
	gone := []tea.Msg{hubPush{control.Push{Session: &control.Session{ID: "a"}}}, hubPush{control.Push{Gone: "a"}}}
	wants := func(when, want string) {
		t.Helper()
		if _, word := m.list.all["a"].need(at); word != want {
			t.Errorf("%s it is %s, want %s", when, word, want)
		}
	}
	send(m, tea.WindowSizeMsg{Width: 80, Height: 24}, filesChanged{changed: []fileInfo{file, other}, first: true}, up)
	m.list.selected = "b"
	wants("with a bridge", "waits")
	send(m, gone...)
	wants("without its Pi", "ended")
	send(m, key("w"))
	if m.list.selected != "b" {
		t.Error("w leads to it")
	}
	m.list.selected = "a"
	send(m)
	if view := m.View(); !strings.Contains(view, piEnded) {
		t.Errorf("it does not say %q\n%s", piEnded, view)
	}

	late := file // what Pi wrote before it ended
	late.Size++
	send(m, filesChanged{changed: []fileInfo{late}})
	wants("after a late look at the file", "ended")
	at = at.Add(time.Second)
	touched := late
	touched.ModTime = at
	send(m, filesChanged{changed: []fileInfo{touched}})
	wants("when the file is only touched", "ended")
	touched.Size++
	at = at.Add(time.Second)
	touched.ModTime = at
	send(m, filesChanged{changed: []fileInfo{touched}})
	wants("when the file grows", "waits")

	send(m, up)
	send(m, gone...)
	wants("without its Pi again", "ended")
	send(m, hubPush{control.Push{Session: &one}})
	wants("after a reload", "waits")
	send(m, hubDown{}, hubUp{hub, nil})
	wants("after a restart of the hub", "waits")
}

func TestTheListSaysThatThereAreMoreRows(t *testing.T) {
	var infos []fileInfo
	for i := range 12 {
		infos = append(infos, fileInfo{ID: fmt.Sprintf("s%02d", i), ModTime: now.Add(-time.Duration(i) * time.Minute)})
	}
	for _, size := range []struct{ w, h int }{{40, 10}, {20, 5}, {80, 10}} {
		m := family(t, infos...)
		send(m, tea.WindowSizeMsg{Width: size.w, Height: size.h})
		heading := func(key tea.KeyMsg, up, down bool) {
			t.Helper()
			send(m, key)
			frame := m.View()
			wantFits(t, frame, size.w, size.h)
			first, _, _ := strings.Cut(frame, "\n")
			first, _, _ = strings.Cut(first, "│") // the list is the left pane
			below := fmt.Sprintf("↓%d", 12-m.list.top-size.h+2)
			if got := strings.Contains(first, fmt.Sprintf(" ↑%d", m.list.top)); got != up || strings.Contains(first, "↑") != up {
				t.Errorf("%v: the heading is %q, %d are above", size, first, m.list.top)
			}
			if strings.Contains(first, below) != down || strings.Contains(first, "↓") != down {
				t.Errorf("%v: the heading is %q, want %s: %v", size, first, below, down)
			}
		}
		heading(key("home"), false, true)
		for range size.h - 1 {
			send(m, key("down"))
		}
		heading(key("up"), true, true)
		heading(key("end"), true, false)
	}
	m := family(t, infos[:3]...)
	if first, _, _ := strings.Cut(m.View(), "\n"); strings.ContainsAny(first, "↑↓") {
		t.Errorf("all are seen, and the heading is %q", first)
	}
}

// A crowd on a small screen shows who needs the user first.
func TestFifteenSessionsOnASmallScreen(t *testing.T) {
	hub := newFakeHub()
	m := newScreen(t, Options{Redial: hub.dial}, termenv.Ascii)
	m.open = nil
	var all []control.Session
	for i := range 15 {
		one := live(fmt.Sprintf("s%02d", i), "api", watchdog.View{Phase: watchdog.Working, Settings: settings}, control.Facts{})
		one.Name = fmt.Sprint("agent number ", i)
		if i == 11 {
			one.Watch, one.Facts = watchdog.View{Phase: watchdog.Suspended, Settings: settings, Last: watchdog.WaitUser}, control.Facts{Idle: true}
		}
		all = append(all, one)
	}
	send(m, tea.WindowSizeMsg{Width: 80, Height: 24}, hubUp{hub, all})
	lines := strings.Split(m.View(), "\n")
	if !strings.Contains(lines[1], "waits    agent number 11") {
		t.Errorf("the first line is %q", lines[1])
	}
	for i := range 15 {
		if !strings.Contains(m.View(), fmt.Sprint("agent number ", i)) {
			t.Errorf("agent %d is cut or not there", i)
		}
	}
}
