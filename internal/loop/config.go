package loop

import "time"

// Config are the thresholds of the rules.
type Config struct {
	// LLMRepeat is how often the same input or output makes a finding; 0: never.
	LLMRepeat int
	// IdleNoProgress is how long tools may run without an edit; 0: for ever.
	IdleNoProgress time.Duration
	// PreviewLines bounds the previews in findings and trails, in lines.
	PreviewLines int
}

// Defaults are the thresholds of a user who set none.
func Defaults() Config { return Config{LLMRepeat: 10, PreviewLines: 20} }

const (
	// callRepeat is how often the same call with the same result makes a finding.
	// Three are common in healthy work: a test run again to be sure of it.
	callRepeat = 4
	// maxPeriod is the longest circle that is looked for, in calls.
	maxPeriod = 8
	// maxGap is how many calls may lie between two calls that count as one row:
	// a circle with other calls strewn in.
	maxGap = 2 * maxPeriod
	// clearAfter is how many new calls in a row end what stood.
	clearAfter = 3
	// keepPairs is how many calls with their results are remembered.
	keepPairs = 64
	// keepOpen is how many calls may be open at once.
	keepOpen = 64
)
