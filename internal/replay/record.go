package replay

import (
	"cmp"

	"piwatch/internal/watchdog"
)

// recordCheck is the Type of the Record of a check.
const recordCheck = "check"

// record takes a record of piwatch: it is shown, and tells the simulation the
// answer of a check. Only when the record is to be honoured it also starts,
// stops and changes the watchdog.
func (w *walk) record(r *row) {
	data := r.Custom.Data
	switch r.Custom.CustomType {
	case watchdog.RecordStart:
		if v, ok := read[watchdog.Start](data); ok {
			w.sim.show(r, Record{Type: "start", By: v.By, Settings: v.Settings.String()})
			w.person(watchdog.StartWatch{By: v.By, Settings: v.Settings})
		}
	case watchdog.RecordSet:
		if v, ok := read[watchdog.Set](data); ok {
			w.sim.show(r, Record{Type: "set", By: v.By, Settings: v.Settings.String()})
			w.person(watchdog.ChangeSettings(v))
		}
	case watchdog.RecordPause:
		if v, ok := read[watchdog.Pause](data); ok {
			kind := "resume"
			if v.On {
				kind = "pause"
			}
			w.sim.show(r, Record{Type: kind, By: v.By})
			w.person(watchdog.PauseWatch(v))
		}
	case watchdog.RecordStop:
		if v, ok := read[watchdog.Stop](data); ok {
			w.sim.show(r, Record{Type: "stop", By: v.By, Reason: string(v.Reason)})
			w.person(watchdog.StopWatch{By: v.By})
		}
	case watchdog.RecordCheck:
		if v, ok := read[watchdog.Check](data); ok {
			w.sim.show(r, Record{Type: recordCheck, N: v.N, Max: v.Max, Reason: v.Reason})
			w.inside, w.aborted = true, false
			// By hand, or the times of the file differ a little from those of the
			// clock then. It is refused when the engine has asked by itself.
			w.person(watchdog.NudgeNow{By: "record"})
		}
	case watchdog.RecordOutcome:
		if v, ok := read[watchdog.Outcome](data); ok && !v.Again {
			w.sim.show(r, Record{Type: "outcome", End: v.End, Decision: v.Decision, Note: cmp.Or(v.Note, v.Why)})
			if v.Check != "" {
				w.inside = false
				// A check that is void for another reason, or got no answer, can end
				// by an abort of the bridge's own.
				w.sim.answered(v, w.aborted && v.End == watchdog.EndVoid)
			}
		}
	}
}

// person tells what a person wanted, if the record is honoured.
func (w *walk) person(ev watchdog.Event) {
	if w.recorded {
		w.sim.rejoin()
		w.sim.step(ev)
	}
}
