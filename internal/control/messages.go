package control

import (
	"encoding/json"

	"piwatch/internal/guard"
	"piwatch/internal/watchdog"
)

// Protocol is the version of the messages. A hub answers a hello of another
// version with an error that names both; unknown fields are ignored.
const Protocol = 1

// Methods a bridge calls on the hub. All but hello, ended, settled, decide and
// command are notifications.
const (
	Hello       = "hello"        // BridgeHello → BridgeWelcome (a client: ClientHello → ClientWelcome)
	Run         = "run"          // RunEvent: a run started
	Ended       = "ended"        // EndedEvent → {}: answered as settled; where nothing may be sent it is a notification
	Settled     = "settled"      // SettledEvent → {}: answered when the hub has nothing more to send for it
	Activity    = "activity"     // ActivityEvent: keys and draft, at most 4 a second
	Dialog      = "dialog"       // DialogEvent
	Input       = "input"        // InputEvent: a message was submitted
	Compaction  = "compaction"   // CompactionEvent
	Tree        = "tree"         // TreeEvent: the leaf was moved
	Renamed     = "renamed"      // RenamedEvent
	CheckClosed = "check_closed" // CheckClosedEvent
	Decide      = "decide"       // DecideParams → DecideReply
	Command     = "command"      // CommandParams → CommandReply
	Bye         = "bye"          // ByeEvent: the session is torn down
)

// Methods the hub calls on a bridge. Each is answered with a Receipt.
const (
	SendCheck  = "check"    // CheckParams
	SendWork   = "work"     // WorkParams
	SendGuard  = "guard"    // GuardParams
	Void       = "void"     // VoidParams
	Record     = "record"   // RecordParams
	Status     = "status"   // StatusParams
	Notify     = "notify"   // NotifyParams
	RegTool    = "tool"     // ToolDef
	FoldRows   = "fold"     // FoldParams: fold or unfold an ended exchange by hand
	RollbackTo = "rollback" // RollbackParams
)

// Methods a client calls on the hub. The methods that steer are answered with
// a CommandReply.
const (
	Sessions   = "sessions"   // {} → []Session
	Watch      = "watch"      // {} → []Session; afterwards the hub pushes Session and Gone
	Start      = "start"      // SteerParams with Line
	Stop       = "stop"       // SteerParams
	Pause      = "pause"      // SteerParams
	Resume     = "resume"     // SteerParams
	Nudge      = "nudge"      // SteerParams
	Skip       = "skip"       // SteerParams
	Extend     = "extend"     // SteerParams with Seconds
	Fold       = "fold"       // SteerParams with Check: fold an exchange again
	Unfold     = "unfold"     // SteerParams with Check: bring an exchange back into the context
	Rollback   = "rollback"   // SteerParams with Check: take an exchange off the branch, and off Pi's screen
	Set        = "set"        // SteerParams with Line
	StatusText = "statusText" // SteerParams: the text of /watchdog status
	StopHub    = "stop-hub"   // StopHubParams

	GuardStatus = "guard.status" // SteerParams: the text of /guard status
	GuardOn     = "guard.on"     // SteerParams
	GuardOff    = "guard.off"    // SteerParams
	GuardReset  = "guard.reset"  // SteerParams: close the breaker, begin the counts anew
)

// Notifications the hub pushes to clients that watch.
const (
	SessionPush = "session" // Session: new or changed
	GonePush    = "gone"    // GoneEvent: no bridge any more
	NoticePush  = "notice"  // Notice
)

// Receipt answers a request of the hub to a bridge.
type Receipt struct {
	Result string `json:"result"`           // sent, queued, refused, stale
	Reason string `json:"reason,omitempty"` // why it was refused or is stale
	// Entry is the id of the entry that came to be, where one did.
	Entry string `json:"entry,omitempty"`
	// Facts are what the bridge sees now, so that a refusal also corrects the hub.
	Facts *Facts `json:"facts,omitempty"`
}

// The results of a Receipt.
const (
	Sent    = "sent"    // done
	Queued  = "queued"  // accepted, Pi will do it
	Refused = "refused" // not done, Reason says why
	Stale   = "stale"   // the fence does not match any more
)

// Facts are what a bridge knows of its session at one moment.
type Facts = watchdog.Facts

// BridgeHello is the first message of a bridge, at each connect.
type BridgeHello struct {
	Role     string            `json:"role"` // "bridge"
	Protocol int               `json:"protocol"`
	Bridge   string            `json:"bridge"`   // version of the bridge
	Pi       string            `json:"pi"`       // version of Pi, "" when unknown
	Instance string            `json:"instance"` // random, one for each load of the extension
	Session  string            `json:"session"`  // Pi's session id
	File     string            `json:"file"`     // "" for --no-session; may not exist yet
	Cwd      string            `json:"cwd"`
	Name     string            `json:"name"`
	Model    string            `json:"model"` // provider/model
	Pid      int               `json:"pid"`
	Mode     string            `json:"mode"`   // tui, rpc, json, print
	Reason   string            `json:"reason"` // startup, reload, new, resume, fork; reconnect when the channel broke, tree when the branch changed
	History  bool              `json:"history"`
	Boundary bool              `json:"boundary"` // Pi has turn_end entries and agent_before_settle
	Parent   *Parent           `json:"parent,omitempty"`
	Env      map[string]string `json:"env"` // PI_WATCHDOG and its neighbours when set
	// Inherited is PI_SESSION_ID in the environment this Pi was started with, Origin the file of the session that this
	// one was forked, cloned or started from.
	Inherited string `json:"inherited,omitempty"`
	Origin    string `json:"origin,omitempty"`
	// Created is when the header of the session was made, RFC 3339; Resumed says that this Pi went on with a session
	// that was there.
	Created string `json:"created,omitempty"`
	Resumed bool   `json:"resumed,omitempty"`
	Other   string `json:"other,omitempty"` // another extension has the command watchdog
	Facts   Facts  `json:"facts"`
	// Records are the entries of the branch that say where the watchdog stands: those of piwatch, and
	// that the user spoke. Of what was said they hold how the last message of the user begins, see watchdog.SaidMax.
	Records []json.RawMessage `json:"records,omitempty"`
	// Provider is that of the model; nil where there is none.
	Provider *ProviderEvent `json:"provider,omitempty"`
}

// Parent is the session whose process started this one.
type Parent struct {
	Session string `json:"session"`
	Pid     int    `json:"pid"`
}

// BridgeWelcome answers a BridgeHello.
type BridgeWelcome struct {
	Protocol int     `json:"protocol"`
	Hub      string  `json:"hub"` // version of the hub
	Texts    Texts   `json:"texts"`
	Tool     ToolDef `json:"tool"`
	Driver   bool    `json:"driver"` // this bridge drives its session; another Pi that has it open only watches
	On       bool    `json:"on"`     // monitoring is on
	Status   string  `json:"status"` // footer text, "" for none
	// Gateway is where the session's provider is to be pointed; nil for nowhere.
	// A bridge that cannot do it tells a ProviderEvent that says why in Other.
	Gateway *PointParams `json:"gateway,omitempty"`
	// Tools are those of the supervisor, for a session that asked for them.
	Tools []ToolDef `json:"tools,omitempty"`
}

// Texts are the texts that a bridge needs without asking the hub first.
type Texts struct {
	Blocked string `json:"blocked"` // reason of a tool blocked in a check
	Gone    string `json:"gone"`    // answer of the tool when the hub is gone
	Lost    string `json:"lost"`    // footer while the hub is gone
}

// ToolDef is a tool as Pi registers it.
type ToolDef struct {
	Name        string          `json:"name"`
	Label       string          `json:"label"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"` // JSON Schema
}

// RunEvent: a run started.
type RunEvent struct {
	Own bool `json:"own"` // started by a message of piwatch
}

// EndedEvent: a run came to its end, and Pi has not settled yet: what is sent
// now belongs to the same run.
type EndedEvent struct {
	// Answers are the assistant rows since the last result of a tool in the run,
	// or since what piwatch sent into it. Of long texts they hold the beginning.
	Answers []json.RawMessage `json:"answers"`
	Short   bool              `json:"short,omitempty"`  // not all of their text is there
	Worked  bool              `json:"worked,omitempty"` // tools were called in it before
	Check   bool              `json:"check,omitempty"`  // its last turn was that of a check
	Facts   Facts             `json:"facts"`
}

// SettledEvent: Pi settled.
type SettledEvent struct {
	Facts Facts `json:"facts"`
}

// ActivityEvent: the user pressed keys, or the draft changed.
type ActivityEvent struct {
	Key   bool `json:"key"`   // a key was pressed since the last event
	Draft bool `json:"draft"` // the editor holds text now
}

// DialogEvent: a dialog of Pi opened or closed.
type DialogEvent struct {
	Open bool `json:"open"`
}

// InputEvent: a message was submitted to Pi.
type InputEvent struct {
	Source string `json:"source"` // interactive, rpc, extension
	Said   string `json:"said"`   // how it begins, see watchdog.SaidMax
}

// CompactionEvent: compaction started or ended.
type CompactionEvent struct {
	On bool `json:"on"`
}

// TreeEvent: the leaf was moved by navigation.
type TreeEvent struct {
	Facts   Facts             `json:"facts"`
	Records []json.RawMessage `json:"records"` // as in BridgeHello, of the branch it is on now
}

// RenamedEvent: the session's display name or model changed.
type RenamedEvent struct {
	Name  string `json:"name"`
	Model string `json:"model"`
}

// CheckClosedEvent: the bridge closed a check and wrote its Outcome.
type CheckClosedEvent struct {
	Outcome watchdog.Outcome `json:"outcome"`
}

// DecideParams: the agent called the tool.
type DecideParams struct {
	Call     string `json:"call"`  // tool call id
	Check    string `json:"check"` // the open check, "" outside one
	Decision string `json:"decision"`
	Note     string `json:"note"`
}

// DecideReply is what the tool answers.
type DecideReply struct {
	Text      string `json:"text"`
	Accepted  bool   `json:"accepted"`  // the decision counts
	Terminate bool   `json:"terminate"` // no further model call
}

// CommandParams: the user typed a command of piwatch in Pi.
type CommandParams struct {
	Name string `json:"name"` // watchdog, guard
	Args string `json:"args"`
	Sure bool   `json:"sure,omitempty"` // as in SteerParams
}

// CommandReply answers a command and every method that steers.
type CommandReply struct {
	Text  string `json:"text"`  // for people
	Level string `json:"level"` // info, warning, error; Confirm asks for the same again with Sure
}

// Confirm is the level of a reply that is a question: nothing was done yet.
const Confirm = "confirm"

// ByeEvent: the session is torn down.
type ByeEvent struct {
	Reason string `json:"reason"` // quit, reload, new, resume, fork
}

// Fence is the moment a send was decided for; the bridge compares it in the
// same tick as it sends.
type Fence struct {
	Settle int    `json:"settle"`
	Leaf   string `json:"leaf"`
	// Until is when the hub stops to believe that it arrives, in Unix
	// milliseconds: a Pi that was suspended must not act on it afterwards.
	Until int64 `json:"until,omitempty"`
}

// CheckParams opens a check.
type CheckParams struct {
	Record watchdog.Check `json:"record"`
	Text   string         `json:"text"`
	Fence  Fence          `json:"fence"`
}

// WorkParams sends the agent back to work.
type WorkParams struct {
	Check string `json:"check"`
	// Record is written before a message that no check came before.
	Record *watchdog.Check `json:"record,omitempty"`
	Text   string          `json:"text"`
	Fence  Fence           `json:"fence"`
}

// GuardParams asks the agent for its next action in the run that is ending. The
// bridge writes the record in the same tick.
type GuardParams struct {
	Record guard.Record `json:"record"`
	Text   string       `json:"text"`
	Fence  Fence        `json:"fence"`
}

// VoidParams makes the open check void.
type VoidParams struct {
	Check string `json:"check"`
	Why   string `json:"why"`
	Abort bool   `json:"abort"` // also abort the turn
}

// RecordParams appends a custom entry to the session.
type RecordParams struct {
	Type string          `json:"type"`
	Data json.RawMessage `json:"data"`
}

// StatusParams sets Pi's footer text; "" clears it.
type StatusParams struct {
	Text string `json:"text"`
}

// NotifyParams shows a line in Pi.
type NotifyParams struct {
	Text  string `json:"text"`
	Level string `json:"level"`
}

// FoldParams folds or unfolds an ended exchange by hand.
type FoldParams struct {
	Check string `json:"check"`
	On    bool   `json:"on"`
}

// RollbackParams moves the branch back to before a check.
type RollbackParams struct {
	Check string `json:"check"`
}

// ClientHello is the first message of a client.
type ClientHello struct {
	Role     string `json:"role"` // "client"
	Protocol int    `json:"protocol"`
	Version  string `json:"version"`
	Name     string `json:"name"` // tui, cli
}

// ClientWelcome answers a ClientHello.
type ClientWelcome struct {
	Protocol int    `json:"protocol"`
	Hub      string `json:"hub"`
	Pid      int    `json:"pid"`
}

// SteerParams is what a client asks for one session.
type SteerParams struct {
	Session string `json:"session"`           // Pi's session id
	By      string `json:"by"`                // tui, cli
	Line    string `json:"line,omitempty"`    // settings in the one grammar
	Seconds int    `json:"seconds,omitempty"` // signed, for extend
	Check   string `json:"check,omitempty"`   // id of the check, "" for the last one
	Sure    bool   `json:"sure,omitempty"`    // do it without asking back
}

// StopHubParams ends the hub.
type StopHubParams struct {
	Why string `json:"why"`
}

// Session is what the hub tells clients of a session with a bridge.
type Session struct {
	ID     string        `json:"id"`
	File   string        `json:"file"`
	Cwd    string        `json:"cwd"`
	Name   string        `json:"name"`
	Model  string        `json:"model"`
	Pid    int           `json:"pid"`
	Mode   string        `json:"mode"`
	Pi     string        `json:"pi"`
	Bridge string        `json:"bridge"`          // version of the bridge
	Other  string        `json:"other,omitempty"` // another extension has the command watchdog
	Parent *Parent       `json:"parent,omitempty"`
	Live   bool          `json:"live"`  // a bridge is connected
	Watch  watchdog.View `json:"watch"` // the watchdog's state
	Guard  guard.View    `json:"guard"` // the guard's state
	Facts  Facts         `json:"facts"`
	// Stuck is set while the session may be stuck.
	Stuck *Finding `json:"stuck,omitempty"`
}

// GoneEvent: a session has no bridge any more.
type GoneEvent struct {
	ID string `json:"id"`
}

// Notice is one line for the log of a session: also for every time nothing
// was sent, why not.
type Notice struct {
	Session string `json:"session"`
	Time    int64  `json:"time"` // Unix milliseconds
	Level   string `json:"level"`
	Text    string `json:"text"`
}
