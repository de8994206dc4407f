package e2e

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"piwatch/internal/watchdog"
)

// startScreen opens piwatch's screen beside Pi.
func startScreen(t *testing.T, h *Home, size Size) *Pane {
	t.Helper()
	return h.StartPane("piwatch", Launch{}, size, Piwatch(t))
}

var withMode = regexp.MustCompile(`⏱\d+s 0/50( keep)?`)

// TestScreen: Pi in one pane, piwatch in the next, the whole story on both.
func TestScreen(t *testing.T) {
	RequireTmux(t)
	EachPi(t, func(t *testing.T, pi *Pi) {
		h := NewHome(t, pi, HomeOptions{})
		clock := newHubClock()
		startHubAt(t, h, clock)
		h.Provider.Enqueue(
			Text("Half of it is done."),
			decision(watchdog.Continue, "the second half is left"),
			Text("The second half is done too."),
			decision(watchdog.Done, "all of it is done"),
		)
		agent := h.StartTUI(Launch{Extensions: []string{bridgeFile(t)}}, Size{Columns: 100, Rows: 30})
		screen := startScreen(t, h, Size{Columns: 120, Rows: 40})
		agent.command("/watchdog timeout=30", "Watchdog started")
		agent.Type("do all of it")
		agent.Keys("Enter")
		agent.pass(clock, aroundThirty)
		screen.WaitScreen("the countdown", func(s Screen) bool { return counting.MatchString(s.Text) })

		for _, keep := range []bool{true, false} { // on both at once
			screen.Keys("m")
			for _, pane := range []*Pane{agent, screen} {
				pane.WaitScreen(fmt.Sprintf("a footer with keep %v", keep), func(s Screen) bool {
					footer := withMode.FindString(s.Text)
					return footer != "" && strings.HasSuffix(footer, " keep") == keep
				})
			}
		}
		screen.Keys("p")
		for _, pane := range []*Pane{agent, screen} {
			pane.WaitText("⏱⏸ 0/50")
		}
		clock.Advance(time.Hour)
		screen.Keys("p")
		screen.WaitScreen("the countdown again", func(s Screen) bool { return counting.MatchString(s.Text) })
		wantRequests(t, h, 1)

		screen.Keys("n")
		agent.WaitText("⏱ continue: the second half is left")
		agent.WaitText("The second half is done too.")
		screen.WaitText("the second half is left")
		screen.Keys("q")
		screen.WaitExit()
		// The screen is closed; monitoring goes on.
		agent.pass(clock, saysDone)
		wantRequests(t, h, 4)
		again := startScreen(t, h, Size{Columns: 120, Rows: 40})
		again.WaitText("all of it is done")
		again.WaitText("the second half is left")
	})
}
