package cli

import (
	"fmt"
	"os"

	"piwatch/internal/ending"
)

// endCodes are the exit codes of piwatch run and wait.
var endCodes = map[ending.Kind]int{
	ending.Done: exitOK, ending.WaitUser: exitWaitUser, ending.Max: exitMax,
	ending.Breaker: exitFailed, ending.Failed: exitFailed, ending.Stopped: exitFailed, ending.Gone: exitFailed,
	ending.Timeout: exitTimeout,
}

// endTexts say what an end means, before the note.
var endTexts = map[ending.Kind]string{
	ending.Done:     "done",
	ending.WaitUser: "the agent needs you",
	ending.Max:      "the cap of checks was reached",
	ending.Breaker:  "the breaker tripped",
	ending.Failed:   "failed",
	ending.Stopped:  "the watchdog was stopped",
	ending.Gone:     "Pi ended before the agent said that it is done",
	ending.Timeout:  "it took too long",
}

// endError is an end that is not done. The code alone says it where the rest
// was said already.
type endError struct {
	kind  ending.Kind
	note  string
	quiet bool
}

func (e *endError) Error() string {
	if e.note == "" {
		return endTexts[e.kind]
	}
	return endTexts[e.kind] + ": " + e.note
}

// signalError is the end by a signal.
type signalError struct{ signal os.Signal }

func (e *signalError) Error() string { return fmt.Sprintf("stopped by %v", e.signal) }
