package watchdog

import "time"

// Event is something that happened to a session, or that a person wants of its
// watchdog.
type Event interface{ isEvent() }

// Events from Pi, through the bridge.
type (
	// Joined: a bridge connected. The engine was rebuilt from the record
	// before.
	Joined struct {
		Facts    Facts
		Headless bool   // print or json mode: nobody is there, so no countdown
		Instance string // the load of the bridge
		Rollback bool   // ended exchanges are rolled back, not only folded
	}
	// Left: the bridge is gone.
	Left struct{}
	// RunStarted: a run started; Own when a message of piwatch started it.
	RunStarted struct{ Own bool }
	// Settled: Pi settled.
	Settled struct{ Facts Facts }
	// Activity: the user pressed keys, or the draft changed.
	Activity struct{ Key, Draft bool }
	// DialogChanged: a dialog of Pi opened or closed.
	DialogChanged struct{ Open bool }
	// Spoken: a message was submitted; Human when a person did it. Said is how it
	// begins, at least SaidMax bytes of it.
	Spoken struct {
		Human bool
		Said  string
	}
	// CompactionChanged: compaction started or ended.
	CompactionChanged struct{ On bool }
	// Closed: the bridge closed a check and wrote its outcome.
	Closed struct{ Outcome Outcome }
	// Decided: the agent called the tool; Check is "" outside a check.
	// The reply is an Answer.
	Decided struct {
		Check    string
		Decision Decision
		Note     string
	}
	// Delivered: the bridge's receipt for a check or a work message.
	Delivered struct {
		Check  string
		Work   bool   // for the work message, else for the check
		Sent   bool   // else refused or stale
		Reason string // why it was refused or is stale
		Facts  *Facts // what the bridge saw
	}
	// RolledBack: the bridge's receipt for a rollback.
	RolledBack struct {
		Check  string
		Done   bool
		Reason string // why it was refused
		Facts  *Facts
	}
	// ChildrenChanged: so many child sessions run.
	ChildrenChanged struct{ Running int }
)

// Events from people and from the clock. The first group is answered with a
// Reply.
type (
	// StartWatch starts monitoring, or starts it anew.
	StartWatch struct {
		By       string
		Settings Settings
		Sure     bool // also when the user's last message asks to wait
	}
	// StopWatch ends monitoring.
	StopWatch struct{ By string }
	// PauseWatch pauses by hand, or lifts such a pause.
	PauseWatch struct {
		By string
		On bool
	}
	// ChangeSettings changes settings while it runs.
	ChangeSettings struct {
		By       string
		Settings Settings
	}
	// NudgeNow asks at once.
	NudgeNow struct{ By string }
	// SkipCheck leaves out the check that is being counted down to.
	SkipCheck struct{ By string }
	// ExtendCountdown moves the deadline; negative brings it nearer.
	ExtendCountdown struct {
		By string
		D  time.Duration
	}

	// Tick: time passed. The hub sends it when Wake says so.
	Tick struct{}
	// ClockJumped: the machine slept, or the clock was set.
	ClockJumped struct{}
)

func (Joined) isEvent()            {}
func (Left) isEvent()              {}
func (RunStarted) isEvent()        {}
func (Settled) isEvent()           {}
func (Activity) isEvent()          {}
func (DialogChanged) isEvent()     {}
func (Spoken) isEvent()            {}
func (CompactionChanged) isEvent() {}
func (Closed) isEvent()            {}
func (Decided) isEvent()           {}
func (Delivered) isEvent()         {}
func (RolledBack) isEvent()        {}
func (ChildrenChanged) isEvent()   {}
func (StartWatch) isEvent()        {}
func (StopWatch) isEvent()         {}
func (PauseWatch) isEvent()        {}
func (ChangeSettings) isEvent()    {}
func (NudgeNow) isEvent()          {}
func (SkipCheck) isEvent()         {}
func (ExtendCountdown) isEvent()   {}
func (Tick) isEvent()              {}
func (ClockJumped) isEvent()       {}

// Effect is what the engine wants done.
type Effect interface{ isEffect() }

// Effects for the bridge and for people.
type (
	// AskCheck opens a check.
	AskCheck struct {
		Record Check
		Text   string
		Settle int
		Leaf   string
	}
	// SendWork sends the agent back to work: after the answer continue, or
	// without a check.
	SendWork struct {
		Check string // the check that was answered; without one an id of its own
		// Record is that of a work message without a check, nil after a check. It
		// is written before the message.
		Record *Check
		Text   string
		Settle int
		Leaf   string
	}
	// VoidCheck makes the open check void; Abort also ends its turn.
	VoidCheck struct {
		Check string
		Why   string
		Abort bool
	}
	// Rollback moves the branch back to before a check.
	Rollback struct{ Check string }
	// Append writes a record into the session file.
	Append struct {
		Type string
		Data any
	}
	// RegisterTool makes the tool known to Pi.
	RegisterTool struct{}
	// Ended: monitoring ended or was suspended; the on-stop hook runs.
	Ended struct {
		Event string // done, wait_user, max, breaker
		Note  string
	}
	// Log is one line for the log: among others for every time nothing was
	// sent, why not.
	Log struct {
		Level string // info, warning, error
		Text  string
	}
	// Reply answers a person.
	Reply struct {
		Level string
		Text  string
	}
	// Answer is what the tool tells the agent.
	Answer struct {
		Text      string
		Accepted  bool // the decision counts
		Terminate bool // no further model call
	}
)

func (AskCheck) isEffect()     {}
func (SendWork) isEffect()     {}
func (VoidCheck) isEffect()    {}
func (Rollback) isEffect()     {}
func (Append) isEffect()       {}
func (RegisterTool) isEffect() {}
func (Ended) isEffect()        {}
func (Log) isEffect()          {}
func (Reply) isEffect()        {}
func (Answer) isEffect()       {}
