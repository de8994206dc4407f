package control

import "encoding/json"

// Notifications of a bridge about what the agent does, for the supervisor. Texts
// in them are cut in the middle; the hub keeps hashes and short previews.
const (
	Spoke    = "spoke"    // SpokeEvent: what the user said
	Called   = "called"   // CalledEvent: a tool starts
	Returned = "returned" // ReturnedEvent: a tool has ended
	Answered = "answered" // AnsweredEvent: the model has answered
	Artefact = "artefact" // ArtefactEvent: a tool named the session files of sub-agents
)

// Supervise is a request of a bridge: an agent calls a tool of the supervisor.
// SuperviseParams → SuperviseReply.
const Supervise = "supervise"

// Methods the hub calls on a bridge for the supervisor.
const (
	SendAlert  = "alert"  // AlertParams: tell this session of another one, at its next boundary
	SendRescue = "rescue" // RescueParams: steer this session
	RegTools   = "tools"  // ToolsParams: register the tools of the supervisor
)

// Methods a client calls on the hub for the supervisor.
const (
	LoopsList    = "loops.list"    // {} → []Target
	LoopsInspect = "loops.inspect" // TargetParams → TargetDetail
	LoopsPause   = "loops.pause"   // TargetParams → CommandReply: no alerts of this session
	LoopsResume  = "loops.resume"  // TargetParams → CommandReply
	LoopsSteer   = "loops.steer"   // TargetParams with Message and Send → CommandReply
	LoopsSet     = "loops.set"     // LoopsSetParams → CommandReply
)

// TargetPush is pushed to clients that watch: a Target that is new or changed.
const TargetPush = "target"

// SpokeEvent: the user sent a message.
type SpokeEvent struct {
	Text string `json:"text"`
}

// CalledEvent: a tool starts.
type CalledEvent struct {
	ID   string          `json:"id"`
	Tool string          `json:"tool"`
	Args json.RawMessage `json:"args"`
}

// ReturnedEvent: a tool has ended.
type ReturnedEvent struct {
	ID    string `json:"id"`
	Tool  string `json:"tool"`
	Text  string `json:"text"`
	Error bool   `json:"error"`
}

// AnsweredEvent: an answer of the model, without its thinking.
type AnsweredEvent struct {
	Text  string        `json:"text"`
	Calls []CalledEvent `json:"calls,omitempty"`
	// Given is the end of the request it answers, from the answer before on, in
	// the provider's own shape.
	Given json.RawMessage `json:"given,omitempty"`
	// Failed is the error of an answer that failed.
	Failed string `json:"failed,omitempty"`
	Stop   string `json:"stop,omitempty"`
}

// ArtefactEvent: a tool call named session files in the details of its result, or
// of a part of it. One that was told while the call ran is told again with its
// end; all are told again to a hub that comes back.
type ArtefactEvent struct {
	Call  string   `json:"call"`
	Since int64    `json:"since"`           // its start, Unix milliseconds
	Until int64    `json:"until,omitempty"` // its result, 0 while it runs
	Files []string `json:"files"`           // absolute
}

// SuperviseParams: an agent calls a tool of the supervisor.
type SuperviseParams struct {
	Tool string          `json:"tool"`
	Args json.RawMessage `json:"args"`
}

// SuperviseReply is what the tool answers: a short JSON text.
type SuperviseReply struct {
	Text  string `json:"text"`
	Error bool   `json:"error,omitempty"`
}

// AlertParams tells a session of others. A later one of the same target takes
// the place of one that was not told yet.
type AlertParams struct {
	Target string `json:"target"`
	Text   string `json:"text"`
	// Amend is for a text that is only told in the place of another one.
	Amend bool `json:"amend,omitempty"`
	// Wake allows a run for it when the session is idle: its watchdog is on.
	Wake bool `json:"wake"`
}

// RescueParams steers a session that runs.
type RescueParams struct {
	Text string `json:"text"`
	Key  string `json:"key"` // of the finding, "" for none
}

// ToolsParams are tools to register.
type ToolsParams struct {
	Tools []ToolDef `json:"tools"`
}

// Target is what the supervisor knows of a session.
type Target struct {
	ID   string `json:"id"`
	File string `json:"file"`
	Cwd  string `json:"cwd"`
	Name string `json:"name"`
	Pid  int    `json:"pid,omitempty"`
	// Source is where it is judged from: bridge or file.
	Source string `json:"source"`
	// State is working, idle, done, failed or gone. Of a session without a
	// bridge it is what its file says last: working or idle.
	State string `json:"state"`
	Since int64  `json:"since"` // of the state, Unix milliseconds
	Link  Link   `json:"link"`
	// Finding is set while the session may be stuck.
	Finding *Finding `json:"finding,omitempty"`
	// Waits is set while it waits for a child that has ended.
	Waits  *Waits `json:"waits,omitempty"`
	Paused bool   `json:"paused,omitempty"` // its alerts are held by hand
	Events int    `json:"events"`           // seen
}

// Link says whose child a session is.
type Link struct {
	Parent string `json:"parent,omitempty"`
	// By is how the parent is known: marker, environment, process, artefact,
	// header. The first three are of a child whose run counts as the parent's.
	By string `json:"by,omitempty"`
	// Unknown is why the parent is not known although something hints at one.
	Unknown string `json:"unknown,omitempty"`
}

// Waits is a tool of a parent that goes on after the child it ran has ended.
type Waits struct {
	Child string `json:"child"`
	Tool  string `json:"tool"`
	Since int64  `json:"since"` // the child's end, Unix milliseconds
}

// Finding is why a session may be stuck.
type Finding struct {
	Rule       string `json:"rule"`
	Confidence string `json:"confidence"`
	Key        string `json:"key"`
	At         int64  `json:"at"` // Unix milliseconds
	// Says tells the evidence, a line each. Foreign text in it is cleaned.
	Says []string `json:"says"`
}

// TargetParams names a session for the supervisor.
type TargetParams struct {
	Target  string `json:"target"`
	By      string `json:"by,omitempty"` // tui, cli
	Limit   int    `json:"limit,omitempty"`
	Message string `json:"message,omitempty"` // "" for rescueMessage
	Send    bool   `json:"send,omitempty"`    // not only show what would be sent
}

// LoopsSetParams changes a setting of the supervisor until the hub ends.
type LoopsSetParams struct {
	Key   string `json:"key"`
	Value string `json:"value"` // as typed
	By    string `json:"by,omitempty"`
}

// TargetDetail is all about one session.
type TargetDetail struct {
	Target
	Settings json.RawMessage   `json:"settings"`
	Origin   map[string]string `json:"origin"`
	Problems string            `json:"problems,omitempty"` // what is wrong with the settings
	Trail    []TrailEvent      `json:"trail"`
	Debug    *Exchange         `json:"debug,omitempty"`
}

// Exchange is the last message to and from the provider, kept with debug=true.
// It is foreign text, not safe to draw.
type Exchange struct {
	At    int64  `json:"at"`    // when the answer was whole, Unix milliseconds
	Given string `json:"given"` // what the request added, in the provider's shape
	Text  string `json:"text"`
	Calls string `json:"calls"` // JSON
	Stop  string `json:"stop"`
	// Failed is the error of an answer that failed.
	Failed string `json:"failed,omitempty"`
}

// TrailEvent is one of the last events of a session. Foreign text in it is
// cleaned.
type TrailEvent struct {
	N       int    `json:"n"`
	At      int64  `json:"at"` // Unix milliseconds
	Kind    string `json:"kind"`
	Tool    string `json:"tool,omitempty"`
	Hash    string `json:"hash,omitempty"`
	Error   bool   `json:"error,omitempty"`
	Preview string `json:"preview,omitempty"`
}
