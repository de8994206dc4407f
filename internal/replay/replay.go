// Package replay says what the watchdog would have done over an old session: it
// reads the entries of the active branch, tells the engine the events that a live session
// would have told it, and notes for every time the agent was idle whether it
// would have been asked, or why not.
//
// What a session file does not hold is assumed:
//   - What the agent would have answered is unknown. A check is followed by what
//     really came next; only where the record of piwatch holds an answer in the
//     same idle time, that answer counts.
//   - Pi stayed open while the agent was idle, and nobody pressed a key, opened a
//     dialog or had a draft, unless an entry shows it.
//   - A compaction took no time.
//   - What was done on branches that were left is not told; only that the agent
//     was not idle on this one meanwhile.
//
// It is a pure function of the entries: no I/O, and no clock but theirs.
package replay

import (
	"piwatch/internal/pi"
	"piwatch/internal/watchdog"
)

// Options say which watchdog is imagined.
type Options struct {
	// Settings it runs with, from the first entry on.
	Settings watchdog.Settings
	// Recorded takes its starts, stops, pauses and settings from the record of
	// piwatch in the session instead; Settings are not used. A session without
	// such a record was never watched.
	Recorded bool
}

// Run replays the active branch of a session.
func Run(tree *pi.Tree, o Options) Report {
	branch := tree.Branch(tree.Leaf())
	w := walk{rows: rowsOf(branch, tree), recorded: o.Recorded, sim: newSim()}
	w.sim.join()
	if !o.Recorded {
		// As if the variable of the environment had held the settings: nobody
		// started it by hand, so it counts after the first run at the earliest.
		w.sim.step(watchdog.StartWatch{By: watchdog.ByEnv, Settings: o.Settings})
	}
	for i := range w.rows {
		w.take(i)
	}
	w.sim.endIdle(nil)
	w.totals.sum(w.sim.steps)
	return Report{Entries: len(branch), Steps: w.sim.steps, Totals: w.totals}
}
