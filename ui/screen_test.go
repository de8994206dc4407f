package ui

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"

	"piwatch/internal/control"
	"piwatch/internal/pi"
	"piwatch/internal/timeline"
	"piwatch/internal/watchdog"
	"piwatch/themes"
)

// now is the time of all drawings in the tests.
var now = time.Date(2026, 11, 30, 18, 30, 0, 0, time.UTC)

func TestMain(m *testing.M) {
	if folder := os.Getenv(crowdFolder); folder != "" {
		if err := appendNotes(folder); err != nil {
			panic(err)
		}
		return
	}
	if what := os.Getenv(seamScreen); what != "" {
		if err := runSeamScreen(what); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	time.Local = time.UTC // rows show the local time
	if err := os.Unsetenv("NO_COLOR"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

func allThemes(t testing.TB) []themes.Theme {
	t.Helper()
	all, err := themes.Load("", "")
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// newScreen is a screen without a terminal: session files are read at once.
func newScreen(t testing.TB, o Options, profile termenv.Profile) *Model {
	t.Helper()
	if o.Now == nil {
		o.Now = func() time.Time { return now }
	}
	r := lipgloss.NewRenderer(nil)
	r.SetColorProfile(profile)
	all := allThemes(t)
	theme, err := themes.Pick(all, o.Theme)
	if err != nil {
		t.Fatal(err)
	}
	m := newModel(o, r, all, theme)
	m.open = func(path string) {
		if path != "" {
			m.take(readEntries(t, path))
		}
	}
	return m
}

// readEntries reads a session file as the feed does.
func readEntries(t testing.TB, path string) entriesCame {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var parser pi.Parser
	msg := entriesCame{path: path, caught: true}
	for line := range strings.Lines(string(data)) {
		for _, e := range parser.Add([]byte(strings.TrimSuffix(line, "\n")), 0) {
			msg.entries = append(msg.entries, timeline.Digest(&e))
		}
	}
	return msg
}

// fixtures are the session files of the tests.
func fixtures(t testing.TB) filesChanged {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", "sessions", "*.jsonl"))
	if err != nil || len(paths) == 0 {
		t.Fatal("no session files", err)
	}
	msg := filesChanged{first: true}
	for _, path := range paths {
		stat, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		info, err := readInfo(pi.Found{Path: path, Size: stat.Size()})
		if err != nil {
			t.Fatal(err)
		}
		msg.changed = append(msg.changed, info)
	}
	return msg
}

var settings = watchdog.Settings{Timeout: 60, Max: 50, Mode: watchdog.Keep}

// live is a session with a bridge.
func live(id, folder string, view watchdog.View, facts control.Facts) control.Session {
	return control.Session{ID: id, Cwd: "/home/dev/" + folder, Model: "anthropic/claude-sonnet-5", Pi: "1.6.0", Live: true, Watch: view, Facts: facts}
}

// viewOf is what the watchdog says in a phase.
func viewOf(p watchdog.Phase) watchdog.View {
	v := watchdog.View{Phase: p, Count: 2, Settings: settings, Last: watchdog.Continue, Note: "the store still uses time.Now in two places"}
	switch p {
	case watchdog.Counting:
		v.Deadline = now.Add(22500 * time.Millisecond)
	case watchdog.Typing:
		v.Why, v.Left = "you are typing", 41*time.Second
	case watchdog.Paused:
		v.Why, v.Left, v.Paused = "paused by hand", 12*time.Second, true
	case watchdog.Suspended:
		v.Why, v.Last, v.Note = "suspended until your next message", watchdog.Done, "all tests pass"
	case watchdog.Interrupted:
		v.Why = "you stopped the run"
	case watchdog.Working:
		v.Why = "the agent works"
	case watchdog.Checking:
		v.Why, v.Check = "check 3 is open", "c3"
	case watchdog.Off:
		v = watchdog.View{Phase: watchdog.Off, Settings: watchdog.Defaults()}
	}
	return v
}

// liveSessions are the sessions of the fake hub; the first is in the phase.
func liveSessions(p watchdog.Phase) []control.Session {
	return []control.Session{
		live("aaaa-1", "api", viewOf(p), control.Facts{Idle: p != watchdog.Working && p != watchdog.Checking}),
		live("bbbb-2", "web", watchdog.View{Phase: watchdog.Off, Count: 1, Settings: settings, Last: watchdog.WaitUser, Note: "needs a choice between zod and yup", Why: "the agent waits for you"}, control.Facts{Idle: true}),
		live("cccc-3", "infra", watchdog.View{Phase: watchdog.Off}, control.Facts{Idle: true}),
		live("dddd-4", "docs", watchdog.View{Phase: watchdog.Working, Settings: settings}, control.Facts{}),
	}
}

// states are the states a screen is drawn in.
var states = []string{"counting", "typing", "paused", "suspended", "interrupted", "working", "checking", "off", "read-only", "hub-gone"}

// screenIn is a screen in a state, at a size.
func screenIn(t testing.TB, o Options, profile termenv.Profile, state string, w, h int) *Model {
	t.Helper()
	hub := newFakeHub()
	o.Select = "aaaa-1"
	if state != "read-only" {
		o.Redial = hub.dial
	}
	m := newScreen(t, o, profile)
	send(m, tea.WindowSizeMsg{Width: w, Height: h}, fixtures(t))
	switch state {
	case "read-only":
	case "hub-gone":
		send(m, hubUp{hub, liveSessions(watchdog.Counting)}, hubDown{fmt.Errorf("the hub closed the connection")}, key("esc"))
	default:
		send(m, hubUp{hub, liveSessions(watchdog.Phase(state))})
	}
	return m
}

func mustJSON(v any) json.RawMessage {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return data
}

// send gives messages to the model and runs no command.
func send(m *Model, messages ...tea.Msg) {
	for _, msg := range messages {
		m.Update(msg)
	}
}

// keyTypes are the keys that are no letters.
var keyTypes = map[string]tea.KeyType{
	"enter": tea.KeyEnter, "esc": tea.KeyEsc, "tab": tea.KeyTab, "up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft,
	"right": tea.KeyRight, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "home": tea.KeyHome, "end": tea.KeyEnd, "ctrl+c": tea.KeyCtrlC,
}

// key is a key message by the name that Bubble Tea gives it.
func key(name string) tea.KeyMsg {
	if kind, ok := keyTypes[name]; ok {
		return tea.KeyMsg{Type: kind}
	}
	return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(name)}
}

// wantFits fails when a frame is larger than its screen.
func wantFits(t fataler, frame string, w, h int) {
	t.Helper()
	if w <= 0 || h <= 0 {
		if frame != "" {
			t.Fatalf("a screen of %d×%d shows %q", w, h, frame)
		}
		return
	}
	lines := strings.Split(frame, "\n")
	if len(lines) > h {
		t.Fatalf("the frame has %d lines on a screen of %d:\n%s", len(lines), h, frame)
	}
	for i, line := range lines {
		if n := max(ansi.StringWidth(line), width(line)); n > w {
			t.Fatalf("line %d is %d cells wide on a screen of %d: %q", i, n, w, line)
		}
	}
}

// fataler is a test, or a check of a property.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}
