package watchdog

// Facts are what a bridge knows of its session at one moment.
type Facts struct {
	Idle       bool   `json:"idle"`       // no run and no compaction
	Compacting bool   `json:"compacting"` // Pi 0.81.1 says idle during compaction, so the bridge follows it itself
	Queued     bool   `json:"queued"`     // messages wait in Pi's queue
	Dialog     bool   `json:"dialog"`     // a dialog is open
	Draft      bool   `json:"draft"`      // the editor holds text
	Settle     int    `json:"settle"`     // settles of this bridge instance so far
	Leaf       string `json:"leaf"`       // the last entry on the branch that is not a record of piwatch
	Runs       int    `json:"runs"`       // runs finished in this session by this process
	Aborted    bool   `json:"aborted"`    // the last run was aborted, and no message of the user came since
	Cut        bool   `json:"cut"`        // the token limit cut the last answer before any call of a tool, outside a check
	Check      string `json:"check"`      // id of the open check, "" when none
}
