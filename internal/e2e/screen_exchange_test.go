package e2e

import (
	"testing"

	"piwatch/internal/watchdog"
)

// TestScreenChangesExchanges: the fold of a check is undone, done again and made
// a rollback from the screen, and each is seen there.
func TestScreenChangesExchanges(t *testing.T) {
	RequireTmux(t)
	EachPi(t, func(t *testing.T, pi *Pi) {
		h := NewHome(t, pi, HomeOptions{})
		startHub(t, h)
		h.Provider.Enqueue(Text("It is done."), decision(watchdog.Done, "all of it"))
		rpc := watched(t, h, Launch{})
		rpc.Prompt("/watchdog timeout=0")
		rpc.askedTurn("do it", isOutcome(watchdog.Done))

		screen := startScreen(t, h, Size{Columns: 120, Rows: 40})
		screen.WaitText("all of it")
		screen.Keys("Tab", "End")
		screen.WaitText("u unfold")
		screen.Keys("u")
		screen.WaitText("unfolded by hand")
		screen.Keys("u")
		screen.WaitScreen("the fold again", func(s Screen) bool {
			return s.Contains("╰ folded") && s.Contains("u unfold")
		})
		screen.Keys("v")
		screen.WaitText("What it sees now")
		screen.Keys("R")
		screen.WaitText("for good")
		screen.Keys("y")
		screen.WaitText("rolled back")
		screen.Keys("q")
		screen.WaitExit()
	})
}
