package replay

import (
	"time"

	"piwatch/internal/loop"
	"piwatch/internal/pi"
)

// LoopReport is what the loop rules found in a session. The names of the JSON
// fields are stable.
type LoopReport struct {
	Entries  int         `json:"entries"` // in the file
	Calls    int         `json:"calls"`   // calls of tools that were judged
	Findings []LoopFound `json:"findings"`
}

// LoopFound is a finding, and where it would have come.
type LoopFound struct {
	Entry string `json:"entry"` // id of the entry that completed it
	Line  int    `json:"line"`  // its line in the file, from 1
	loop.Finding
	// Told is false when the cooldown would have held it back.
	Told bool `json:"told"`
	// Ended is when it stood no longer; zero when it stood at the end.
	Ended time.Time `json:"ended,omitzero"`
}

// Loops judges all entries in the order of the file, as a hub that followed it
// would have: cooldown is in seconds, or loop.Once. The file must not be lean.
func Loops(tree *pi.Tree, config loop.Config, cooldown int) LoopReport {
	r := LoopReport{Findings: []LoopFound{}}
	var reader loop.Reader
	var told loop.Cooldown
	d := loop.New(config)
	standing := 0 // the findings before it stand no longer
	for e := range tree.All() {
		r.Entries++
		for _, ev := range reader.Read(e) {
			if _, ok := ev.Event.(loop.Called); ok {
				r.Calls++
			}
			for _, f := range d.Step(ev.At, ev.Event) {
				ok, _ := told.Allow(f.At, "", f.Key, cooldown)
				r.Findings = append(r.Findings, LoopFound{Entry: e.ID, Line: e.Line, Finding: f, Told: ok})
			}
			if d.Standing() == nil {
				for ; standing < len(r.Findings); standing++ {
					r.Findings[standing].Ended = ev.At
				}
			}
		}
	}
	return r
}
