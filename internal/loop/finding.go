package loop

import (
	"fmt"
	"slices"
	"time"
)

// Rule names what was found.
type Rule string

// The rules.
const (
	RepeatedCall   Rule = "repeated_call"       // the same call with the same result, at any period up to 8
	RepeatedInput  Rule = "repeated_llm_input"  // the same input to the model, in a row
	RepeatedOutput Rule = "repeated_llm_output" // the same answer of the model, in a row
	IdleNoProgress Rule = "idle_no_progress"    // tools run, and nothing was edited for long
)

// Rules are all of them.
func Rules() []Rule { return []Rule{RepeatedCall, RepeatedInput, RepeatedOutput, IdleNoProgress} }

// Confidence says how sure a finding is.
type Confidence string

// One kind of evidence is medium, two or more are high.
const (
	Medium Confidence = "medium"
	High   Confidence = "high"
)

// Finding is a reason to think that a session may be stuck.
type Finding struct {
	Rule       Rule       `json:"rule"`
	Confidence Confidence `json:"confidence"`
	// Key is the same for the same circle, whichever of its calls completes the
	// count: what a cooldown goes by.
	Key      string     `json:"key"`
	At       time.Time  `json:"at"`
	Evidence []Evidence `json:"evidence"`
}

// Evidence is one kind of proof, that of the finding's rule first.
type Evidence struct {
	Rule Rule `json:"rule"`
	// Count is how often it was seen; for idle_no_progress the calls since.
	Count int `json:"count"`
	// Period is the length of the circle in calls, 0 when there is none.
	Period int `json:"period,omitempty"`
	// Seconds is the time without progress, of idle_no_progress.
	Seconds int    `json:"seconds,omitempty"`
	Tool    string `json:"tool,omitempty"`
	Hash    Hash   `json:"hash"`
	// Preview is how it begins. It is foreign text, not safe to draw.
	Preview string `json:"preview,omitempty"`
	// Result is how the result begins, of repeated_call; foreign, too.
	Result string `json:"result,omitempty"`
}

// stand makes a finding of fresh evidence and of what stands already, and keeps
// the evidence standing.
func (d *Detector) stand(now time.Time, fresh Evidence, key Hash) Finding {
	evidence := []Evidence{fresh}
	for _, old := range d.standing {
		if old.Rule != fresh.Rule {
			evidence = append(evidence, old)
		}
	}
	d.standing = evidence
	f := Finding{Rule: fresh.Rule, Confidence: Medium, Key: string(fresh.Rule) + ":" + key.String(), At: now, Evidence: slices.Clone(evidence)}
	if len(evidence) > 1 {
		f.Confidence = High
	}
	d.last = &f
	return f
}

// Says tells the evidence in one line, its previews on it as they are.
func (e *Evidence) Says() string {
	var text string
	switch e.Rule {
	case RepeatedCall:
		text = fmt.Sprintf("the same call with the same result %d times", e.Count)
		if e.Period > 1 {
			text += fmt.Sprintf(", every %d calls", e.Period)
		}
		text += ": " + e.Tool
	case RepeatedInput:
		text = fmt.Sprintf("the same input to the model %d times in a row", e.Count)
	case RepeatedOutput:
		text = fmt.Sprintf("the same answer %d times in a row", e.Count)
	case IdleNoProgress:
		return fmt.Sprintf("%d calls in %d s without an edit", e.Count, e.Seconds)
	}
	for i, more := range []string{e.Preview, e.Result} {
		if more != "" {
			text += [...]string{" ", " -> "}[i] + more
		}
	}
	return text
}
