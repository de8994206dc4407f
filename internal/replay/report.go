package replay

import (
	"time"

	"piwatch/internal/watchdog"
)

// Report is what a replay found. The names of the JSON fields are stable.
type Report struct {
	Entries int    `json:"entries"` // on the branch
	Steps   []Step `json:"steps"`
	Totals  Totals `json:"totals"`
}

// Step is one thing to tell, in the order of the branch: idle time, or a record
// of what piwatch really did. One of the pointers is set.
type Step struct {
	Kind   StepKind  `json:"kind"`
	Entry  string    `json:"entry"` // id of the entry that began it
	Line   int       `json:"line"`  // its line in the file, from 1
	At     time.Time `json:"at,omitzero"`
	Idle   *Idle     `json:"idle,omitempty"`
	Record *Record   `json:"record,omitempty"`
}

// StepKind says which pointer of a Step is set.
type StepKind string

// The kinds of steps.
const (
	StepIdle   StepKind = "idle"
	StepRecord StepKind = "record"
)

// Idle is the time between the end of a run and what really came next. Times
// are those of the entries.
type Idle struct {
	// Stop is the stop reason of the run's last answer, verbatim; StopTool or
	// StopNothing where the run has no last answer.
	Stop  string `json:"stop"`
	Shape Shape  `json:"shape,omitempty"` // of the last answer
	// Seconds is its length, 0 when the file ends in it.
	Seconds float64 `json:"seconds"`
	Verdict Verdict `json:"verdict"`
	// Why says why nothing was asked, in words. It ends with BeforeDue when
	// the verdict is Short or Ends.
	Why string `json:"why,omitempty"`
	// CountsFrom is when the last countdown began; zero when none did. Due is
	// when it would have been over, if that was not reached.
	CountsFrom time.Time `json:"counts_from,omitzero"`
	Due        time.Time `json:"due,omitzero"`
	Asks       []Ask     `json:"asks,omitempty"`
	// Ended is set when monitoring ended or was suspended in it: done,
	// wait_user or max.
	Ended string `json:"ended,omitempty"`
	// Next is what really came next; nil when the file ends.
	Next *Next `json:"next,omitempty"`

	cut bool // the run has no end
}

// Values of Idle.Stop beside the stop reasons of Pi.
const (
	StopTool    = "tool"    // the run ended on the result of a tool
	StopNothing = "nothing" // nothing followed the message that began the run
)

// BeforeDue ends the words for something that came during a countdown.
const BeforeDue = " before it was due"

// Verdict says in one word what the watchdog would have done.
type Verdict string

// The verdicts. Those but the first say why nothing was asked.
const (
	Asked       Verdict = "ask"
	Short       Verdict = "short"       // something came before the countdown was over
	Ends        Verdict = "ends"        // the file ends before the countdown was over
	CutOff      Verdict = "cut_off"     // the run has no end: Pi was ended in it
	Off         Verdict = "off"         // the watchdog was off: never started, stopped, answered, or at its cap
	Paused      Verdict = "paused"      // by hand
	Suspended   Verdict = "suspended"   // keep mode, after done or wait_user
	Interrupted Verdict = "interrupted" // the user had pressed Esc
	Held        Verdict = "held"        // something else was in the way
)

var verdicts = map[watchdog.Phase]Verdict{
	watchdog.Off: Off, watchdog.Paused: Paused, watchdog.Suspended: Suspended,
	watchdog.Interrupted: Interrupted, watchdog.Lost: CutOff,
}

// Ask is a check that would have been asked, or after an answer that the token
// limit cut a work message without a check.
type Ask struct {
	At     time.Time `json:"at,omitzero"`
	N      int       `json:"n"`      // number since the last message of the user, from 1
	Max    int       `json:"max"`    // the cap at that time
	Reason string    `json:"reason"` // why it fired, in words
	// Answer is continue, done, wait_user, no_answer, void or error where the
	// record tells it, else unknown.
	Answer string `json:"answer"`
	Note   string `json:"note,omitempty"`

	moment time.Time // on the clock of the simulation
}

// AnswerUnknown is the answer of a check that nobody really asked.
const AnswerUnknown = "unknown"

// By says from whom what came next came.
type By string

// From whom what came next came.
const (
	ByUser      By = "user"
	ByExtension By = "extension" // a message of an extension
	ByPiwatch   By = "piwatch"   // the work message after an answer continue
	ByAgent     By = "agent"     // an answer that nothing in the file asked for
	ByBranch    By = "branch"    // the branch was left, and gone on with later
)

// Next is what really came after idle time.
type Next struct {
	By    By        `json:"by"`
	Entry string    `json:"entry"`
	At    time.Time `json:"at,omitzero"`
	// AfterAsk is the time from the first check that would have been asked, in
	// seconds; 0 when none would.
	AfterAsk float64 `json:"after_ask,omitempty"`
	// Preview is how it began. It is foreign text, as it stands in the file.
	Preview string `json:"preview,omitempty"`
}

// Record is something piwatch really did, as the session file records it.
type Record struct {
	Type     string            `json:"type"` // start, set, stop, pause, resume, check, outcome
	By       string            `json:"by,omitempty"`
	Settings string            `json:"settings,omitempty"` // in the grammar
	N        int               `json:"n,omitempty"`        // of a check
	Max      int               `json:"max,omitempty"`
	Reason   string            `json:"reason,omitempty"` // of a check or a stop
	End      watchdog.End      `json:"end,omitempty"`    // of an outcome
	Decision watchdog.Decision `json:"decision,omitempty"`
	Note     string            `json:"note,omitempty"` // of an outcome, or why it has no answer
}

// Totals are the sums of a replay. The stops are those of the file, the checks
// of piwatch not among them.
type Totals struct {
	Idle  int `json:"idle"`  // times the agent was idle
	Asked int `json:"asked"` // checks that would have been asked
	// EarlierSeconds is the idle time from the checks to what really came next:
	// so much at most would have been over earlier, if the agent had gone on.
	// Time that a recorded answer done or wait_user explains is not in it.
	EarlierSeconds float64 `json:"earlier_seconds"`
	ThinkingOnly   int     `json:"thinking_only"` // silent stops after thinking
	Empty          int     `json:"empty"`         // silent stops with nothing at all
	Length         int     `json:"length"`        // answers cut by the token limit
	Aborted        int     `json:"aborted"`       // answers the user stopped
	Errors         int     `json:"errors"`        // answers that failed, those that Pi retried too
	CutOff         int     `json:"cut_off"`       // runs without an end
	Recorded       int     `json:"recorded"`      // checks that piwatch really asked
}

// sum adds up what the steps say.
func (t *Totals) sum(steps []Step) {
	for _, s := range steps {
		switch {
		case s.Record != nil && s.Record.Type == recordCheck:
			t.Recorded++
		case s.Idle != nil:
			t.sumIdle(s.Idle)
		}
	}
}

func (t *Totals) sumIdle(i *Idle) {
	if i.cut {
		t.CutOff++
	} else {
		t.Idle++
	}
	t.Asked += len(i.Asks)
	if len(i.Asks) == 0 || i.Next == nil || i.Next.By == ByPiwatch {
		return
	}
	switch watchdog.Decision(i.Asks[len(i.Asks)-1].Answer) {
	case watchdog.Done, watchdog.WaitUser:
	default:
		t.EarlierSeconds += i.Next.AfterAsk
	}
}
