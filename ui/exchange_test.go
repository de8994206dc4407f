package ui

import (
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/muesli/termenv"

	"piwatch/internal/control"
	"piwatch/internal/pi"
	"piwatch/internal/timeline"
	"piwatch/internal/watchdog"
)

// onCard is the screen of a stopped session with the cursor on the card of a
// check.
func onCard(t *testing.T, check string) (*Model, *fakeHub) {
	t.Helper()
	hub := newFakeHub()
	hub.answer(levelInfo, "as you wish")
	m := newScreen(t, Options{Redial: hub.dial, Select: "aaaa-1"}, termenv.Ascii)
	send(m, tea.WindowSizeMsg{Width: 120, Height: 40}, fixtures(t), hubUp{hub, liveSessions(watchdog.Suspended)}, key("tab"), key("home"))
	for m.card() == nil || m.card().ID != check {
		if m.story.cursor == len(m.story.rows)-1 {
			t.Fatalf("no card of check %s", check)
		}
		send(m, key("down"))
	}
	return m, hub
}

// outcome appends an outcome to the story of a screen.
func outcome(m *Model, id string, o watchdog.Outcome) {
	send(m, entriesCame{path: m.story.path, entries: []timeline.Entry{timeline.Digest(&pi.Entry{
		ID: id, ParentID: m.story.rows[len(m.story.rows)-1].Entry, Custom: &pi.Custom{CustomType: watchdog.RecordOutcome, Data: mustJSON(o)},
	})}})
}

func wantAsked(t *testing.T, hub *fakeHub, want steered) {
	t.Helper()
	select {
	case got := <-hub.asked:
		want.params.By, want.params.Session = "tui", "aaaa-1"
		if got != want {
			t.Errorf("the hub was asked for %+v, want %+v", got, want)
		}
	default:
		t.Fatal("the hub was asked for nothing")
	}
}

func wantNothingAsked(t *testing.T, hub *fakeHub) {
	t.Helper()
	select {
	case got := <-hub.asked:
		t.Fatalf("the hub was asked for %+v", got)
	default:
	}
}

func TestAFoldIsUndoneAndDoneAgain(t *testing.T) {
	m, hub := onCard(t, "c1")
	if !strings.Contains(bottomLine(m), "u unfold") {
		t.Errorf("the bottom line is %q", bottomLine(m))
	}
	press(m, "u")
	wantAsked(t, hub, steered{control.Unfold, control.SteerParams{Check: "c1"}})
	outcome(m, "n1", watchdog.Outcome{Check: "c1", End: watchdog.EndAnswered, Decision: watchdog.Continue, Unfolded: watchdog.FoldEdit, Again: true})
	if !strings.Contains(m.View(), "unfolded by hand") || !strings.Contains(bottomLine(m), "u fold again") {
		t.Errorf("the card does not show it\n%s", m.View())
	}
	press(m, "u")
	wantAsked(t, hub, steered{control.Fold, control.SteerParams{Check: "c1"}})
}

func TestARollbackAsksFirst(t *testing.T) {
	for _, c := range []struct {
		answer string
		asked  bool
	}{{"y", true}, {"n", false}, {"esc", false}, {"enter", false}} {
		m, hub := onCard(t, "c2")
		press(m, "R")
		if frame := m.View(); !strings.Contains(frame, "Roll check 2/50 back?") || !strings.Contains(frame, "y yes") {
			t.Fatalf("it does not ask:\n%s", frame)
		}
		wantNothingAsked(t, hub)
		press(m, c.answer)
		if c.asked {
			wantAsked(t, hub, steered{control.Rollback, control.SteerParams{Check: "c2"}})
		} else {
			wantNothingAsked(t, hub)
		}
	}
}

func TestARolledBackCardSaysSo(t *testing.T) {
	m, _ := onCard(t, "c2")
	outcome(m, "n1", watchdog.Outcome{Check: "c2", End: watchdog.EndAnswered, Decision: watchdog.Continue, Fold: watchdog.FoldRollback})
	if frame := m.View(); !strings.Contains(frame, "rolled back") {
		t.Errorf("the card does not show it\n%s", frame)
	}
	press(m, "u")
	if !strings.Contains(bottomLine(m), "it was rolled back") {
		t.Errorf("the bottom line is %q", bottomLine(m))
	}
}

func TestExchangesThatCannotBeChanged(t *testing.T) {
	for _, c := range []struct {
		name string
		card timeline.Card
		key  string
		want string
	}{
		{"open", timeline.Card{ID: "c", Origin: timeline.ByWatchdog}, "R", "still open"},
		{"of the extension", timeline.Card{Origin: timeline.ByExtension, End: watchdog.EndAnswered}, "u", "pi-extension-watchdog"},
		{"of the agent", timeline.Card{Origin: timeline.ByAgent, End: watchdog.EndAnswered}, "u", "outside a check"},
		{"never folded", timeline.Card{ID: "c", Origin: timeline.ByWatchdog, End: watchdog.EndAnswered}, "u", "never folded"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, hub := onCard(t, "c2")
			*m.card() = c.card
			press(m, c.key)
			wantNothingAsked(t, hub)
			if m.sure != nil || !strings.Contains(bottomLine(m), c.want) {
				t.Errorf("the bottom line is %q, want %q in it", bottomLine(m), c.want)
			}
		})
	}
	m, hub := onCard(t, "c1")
	busy := liveSessions(watchdog.Working)[0]
	send(m, hubPush{control.Push{Session: &busy}})
	press(m, "u")
	wantNothingAsked(t, hub)
	if !strings.Contains(bottomLine(m), "the agent works") {
		t.Errorf("the bottom line is %q", bottomLine(m))
	}
}

func TestReviewOfFoldedExchanges(t *testing.T) {
	m, hub := onCard(t, "c1")
	press(m, "v")
	frame := m.View()
	for _, want := range []string{"Review 1 of 2", "check 1/50", "What the agent saw", "What it sees now", "This is an automated check", "2 rows removed", "saved in each request"} {
		if !strings.Contains(frame, want) {
			t.Errorf("%q is not in the review\n%s", want, frame)
		}
	}
	press(m, "]")
	if !strings.Contains(m.View(), "Review 2 of 2") {
		t.Errorf("the next one is not shown\n%s", m.View())
	}
	press(m, "u")
	wantAsked(t, hub, steered{control.Unfold, control.SteerParams{Check: "c2"}})
	outcome(m, "n1", watchdog.Outcome{Check: "c2", End: watchdog.EndAnswered, Decision: watchdog.Continue, Unfolded: watchdog.FoldEdit, Again: true})
	if frame := m.View(); !strings.Contains(frame, "brought back") || !strings.Contains(frame, "nothing is saved") {
		t.Errorf("the review does not follow\n%s", frame)
	}
	press(m, "[")
	press(m, "R")
	press(m, "y")
	wantAsked(t, hub, steered{control.Rollback, control.SteerParams{Check: "c1"}})
	press(m, "esc")
	if m.over != overlayNone {
		t.Error("esc does not leave the review")
	}
}

func TestReviewWithoutFolds(t *testing.T) {
	m := screenIn(t, Options{}, termenv.Ascii, "counting", 100, 30)
	m.list.selected = "dddd-4"
	send(m, tick{})
	press(m, "v")
	if m.over == overlayReview || !strings.Contains(bottomLine(m), "no exchange was folded") {
		t.Errorf("the bottom line is %q", bottomLine(m))
	}
}

func TestStopAsksWhenSeveralAreOn(t *testing.T) {
	m, hub := onCard(t, "c1")
	press(m, "x")
	wantNothingAsked(t, hub)
	if !strings.Contains(m.View(), `Stop the watchdog of "Fix the flaky login test"? 2 are on`) {
		t.Errorf("it does not ask\n%s", m.View())
	}
	press(m, "y")
	wantAsked(t, hub, steered{control.Stop, control.SteerParams{}})
}

// Without context edits an unfold moves the branch: the card is another row,
// with as many changes as the one before.
func TestAnUnfoldThatMovesTheBranchIsDrawn(t *testing.T) {
	m := screenIn(t, Options{}, termenv.Ascii, "suspended", 120, 40)
	path := m.story.path
	entry := func(e pi.Entry) entriesCame {
		return entriesCame{path: path, entries: []timeline.Entry{timeline.Digest(&e)}}
	}
	record := func(id, parent, kind string, data any) entriesCame {
		return entry(pi.Entry{ID: id, ParentID: parent, Custom: &pi.Custom{CustomType: kind, Data: mustJSON(data)}})
	}
	ended := watchdog.Outcome{Check: "k", End: watchdog.EndAnswered, Decision: watchdog.Done, Fold: watchdog.FoldBranch, Rows: []string{"ask"}}
	undone := ended
	undone.Fold, undone.Unfolded, undone.Again = watchdog.FoldNone, watchdog.FoldBranch, true
	last := m.story.rows[len(m.story.rows)-1].Entry
	send(m,
		record("rec", last, watchdog.RecordCheck, watchdog.Check{ID: "k", N: 9, Max: 50}),
		entry(pi.Entry{ID: "ask", ParentID: "rec", CustomMessage: &pi.CustomMessage{CustomType: watchdog.MessageCheck, Details: mustJSON(watchdog.MessageDetails{Check: "k"})}}),
		record("out", "rec", watchdog.RecordOutcome, ended))
	if !strings.Contains(m.View(), "folded by branch") {
		t.Fatalf("the fold is not drawn\n%s", m.View())
	}
	send(m, record("again", "ask", watchdog.RecordOutcome, undone))
	if frame := m.View(); strings.Contains(frame, "folded by branch") || !strings.Contains(frame, "unfolded by hand") {
		t.Errorf("the unfold is not drawn\n%s", frame)
	}
}
