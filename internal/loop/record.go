package loop

// RecordType is the type of the entries that the supervisor writes into the
// session of a target. Its data is a Record.
const RecordType = "piwatch.loop"

// The events of a Record.
const (
	RecordFound   = "found"   // the session may be stuck
	RecordCleared = "cleared" // it goes on
	RecordSteered = "steered" // it was sent something
	RecordDryRun  = "dry_run" // it would have been
)

// Record is one thing the supervisor found or did.
type Record struct {
	Event      string   `json:"event"`
	By         string   `json:"by,omitempty"` // who steered: settings, tui, cli, agent ID
	Rule       string   `json:"rule,omitempty"`
	Confidence string   `json:"confidence,omitempty"`
	Key        string   `json:"key,omitempty"`
	Says       []string `json:"says,omitempty"` // the evidence, a line each
	// Told says what became of a finding, in words: who was told, or which setting
	// held it back.
	Told []string `json:"told,omitempty"`
	Text string   `json:"text,omitempty"` // that was sent, or would have been
}
