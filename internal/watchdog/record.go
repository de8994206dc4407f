package watchdog

// The record: what piwatch writes into a session file, through the bridge, so
// that nothing of value lives in a process only. Custom entries (Pi type
// "custom") never reach the model; the two messages (Pi type
// "custom_message") do, and are marked by their custom type.
const (
	RecordTool    = "piwatch.tool"    // Tool: the tool as it was registered, so that it is the same to the byte on resume
	RecordStart   = "piwatch.start"   // Start
	RecordSet     = "piwatch.set"     // Set
	RecordStop    = "piwatch.stop"    // Stop
	RecordPause   = "piwatch.pause"   // Pause
	RecordCheck   = "piwatch.check"   // Check: appended directly before the check message; its id is the rollback target
	RecordOnward  = "piwatch.onward"  // Check: appended directly before a work message that no check came before
	RecordHook    = "piwatch.hook"    // Hook: how the user's on-stop command ended
	RecordGateway = "piwatch.gateway" // Gateway: what became of a request on its way through the gateway
	RecordOutcome = "piwatch.outcome" // Outcome: how an exchange ended, and which rows were folded

	MessageCheck = "piwatch.ask"  // custom message that opens a check; details: MessageDetails
	MessageWork  = "piwatch.work" // custom message that sends the agent back to work; details: MessageDetails
)

// MessageDetails are the details of a MessageCheck or MessageWork row. Pi does
// not send details to the model.
type MessageDetails struct {
	Check string `json:"check"` // id of the check, or of the RecordOnward
}

// ByEnv is who starts a session that finds PI_WATCHDOG set.
const ByEnv = "env"

// Start is the data of a RecordStart: monitoring began, from these settings.
type Start struct {
	By       string   `json:"by"` // pi, tui, cli, or ByEnv
	Settings Settings `json:"settings"`
	// Instance is the load of the bridge in which it was started: a start by
	// hand may count at once in that one only.
	Instance string `json:"instance,omitempty"`
	// Count are the checks since the last message of the user that already
	// count. A start by ByEnv does not say: it goes on from what there was.
	Count int `json:"count,omitempty"`
}

// Set is the data of a RecordSet: settings were changed while it runs.
type Set struct {
	By       string   `json:"by"`
	Settings Settings `json:"settings"`
}

// Pause is the data of a RecordPause: paused by hand, or resumed.
type Pause struct {
	By string `json:"by"`
	On bool   `json:"on"` // true: paused; false: resumed
}

// StopReason says why monitoring ended.
type StopReason string

// The reasons of a Stop.
const (
	StopByHand StopReason = "stopped" // a person stopped it
	StopMax    StopReason = "max"     // the cap of checks was reached
)

// Stop is the data of a RecordStop. An end by the agent's own decision needs
// none: the Outcome says it.
type Stop struct {
	By     string     `json:"by"`
	Reason StopReason `json:"reason"`
}

// Hook is the data of a RecordHook.
type Hook struct {
	Event  string `json:"event"`  // what it ran for: done, wait_user, max, breaker
	Result string `json:"result"` // exit status, and the first line of its stderr
}

// Check is the data of a RecordCheck: a check is about to be asked; and of a
// RecordOnward, where the agent is sent on without being asked.
type Check struct {
	ID     string  `json:"id"`
	N      int     `json:"n"`      // number since the last real user message, from 1
	Max    int     `json:"max"`    // the cap at that time
	Reason string  `json:"reason"` // why it fired, in words
	Waited float64 `json:"waited"` // seconds of idleness before it
}

// Decision is an answer of the agent.
type Decision string

// The three decisions.
const (
	Continue Decision = "continue"
	Done     Decision = "done"
	WaitUser Decision = "wait_user"
)

// Valid reports whether d is one of the three decisions.
func (d Decision) Valid() bool { return d == Continue || d == Done || d == WaitUser }

// End says how an exchange ended.
type End string

// The ends of an exchange.
const (
	EndAnswered End = "answered"  // a valid decision, which counts
	EndNoAnswer End = "no_answer" // the turn ended without a valid call
	EndVoid     End = "void"      // the user spoke, stopped it or pressed Esc; the session was replaced; piwatch went away
	EndError    End = "error"     // the provider failed
)

// FoldHow says by which means rows were taken out of the context.
type FoldHow string

// The means of a fold.
const (
	FoldNone   FoldHow = ""             // nothing was folded
	FoldEdit   FoldHow = "context_edit" // Pi's own context edits: durable
	FoldBranch FoldHow = "branch"       // the branch pointer moved back, and the context hook for the running process
	FoldHook   FoldHow = "hook"         // the context hook only
	// FoldRollback: the branch moved back to before the check, so that the
	// exchange left Pi's screen too.
	FoldRollback FoldHow = "rollback"
)

// Outcome is the data of a RecordOutcome.
type Outcome struct {
	Check    string   `json:"check,omitempty"` // id of the check; empty: a stop by the agent itself, outside a check
	End      End      `json:"end"`
	Decision Decision `json:"decision,omitempty"`
	Note     string   `json:"note,omitempty"`
	Why      string   `json:"why,omitempty"` // void, error, no answer: the cause in words
	// Wrong counts the wrong answers before the end: text only, blocked tools, bad values.
	Wrong  int      `json:"wrong,omitempty"`
	Tokens int      `json:"tokens,omitempty"` // output tokens of the exchange, as the provider counted
	Fold   FoldHow  `json:"fold,omitempty"`
	Rows   []string `json:"rows,omitempty"` // entry ids taken out of the context
	// Unfolded is the fold that was undone by hand.
	Unfolded FoldHow `json:"unfolded,omitempty"`
	// Again marks a repeated outcome that only changes the fold by hand.
	Again bool     `json:"again,omitempty"`
	Kept  []string `json:"kept,omitempty"` // entry ids that stayed or were replaced, since they hold work or text worth keeping
	// Drop tells the context hook of a Pi without context edits what to leave out.
	Drop *Drop `json:"drop,omitempty"`
}

// Drop names rows as the context hook of a Pi without context edits can see
// them: it gets messages, not entries.
type Drop struct {
	Assistant []int64  `json:"assistant,omitempty"` // message timestamps, milliseconds
	Calls     []string `json:"calls,omitempty"`     // tool call ids whose results go
}
