package timeline

// Kind says what a row shows.
type Kind string

// The kinds of rows.
const (
	User       Kind = "user"       // a message of the user
	Agent      Kind = "agent"      // text of the agent
	Thinking   Kind = "thinking"   // thinking of the agent
	ToolCall   Kind = "tool"       // a tool call with its result
	Shell      Kind = "shell"      // a command the user ran with "!"
	CheckCard  Kind = "check"      // a check of the watchdog, or a stop by the agent itself
	Watch      Kind = "watchdog"   // the watchdog was started, set, paused, stopped
	Work       Kind = "work"       // the message that sends the agent back to work
	Guard      Kind = "guard"      // the message that asks for the next action after a silent stop
	Silent     Kind = "silent"     // the agent stopped and said nothing
	Cut        Kind = "cut"        // the answer was cut by the token limit
	Aborted    Kind = "aborted"    // the user stopped a run
	Failed     Kind = "error"      // the provider failed
	Compaction Kind = "compaction" // the context was compacted
	Branch     Kind = "branch"     // summary of a branch that was left
	Setting    Kind = "setting"    // model, thinking level, name, label, use of tokens
	Message    Kind = "message"    // a message of another extension
	Ask        Kind = "ask"        // the message that opens a check
	Edit       Kind = "edit"       // a context edit that is not piwatch's
	Damage     Kind = "damage"     // a part of the file that cannot be read
	Unknown    Kind = "unknown"    // an entry of a type that is not known, verbatim
)

// Tone is how a row is drawn: its colours, and how many of its lines.
type Tone int

// The tones.
const (
	Plain   Tone = iota // one line of plain text
	Quiet               // one line, not worth a look in most cases
	Human               // what the user did
	Spoken              // what the agent said, in some lines
	Thought             // what the agent thought
	Judged              // a check
	Steered             // what the watchdog, or somebody by it, did
	Warns               // what should be looked at
	Fails               // what went wrong
)

// kinds is all that is known of the kinds. A new one is a constant above and a
// line here, and for what makes a row of it a line in records.go; the screen,
// the plain lines and the review take it from here.
var kinds = map[Kind]struct {
	label string // the word that a row begins with, at most LabelWidth cells
	tone  Tone
	seen  bool // the agent sees it
}{
	User:       {"user", Human, true},
	Agent:      {"agent", Spoken, true},
	Thinking:   {"think", Thought, true},
	ToolCall:   {"tool", Plain, true},
	Shell:      {"shell", Human, true},
	CheckCard:  {"check", Judged, false},
	Watch:      {"watch", Steered, false},
	Work:       {"work", Steered, true},
	Guard:      {"guard", Steered, true},
	Silent:     {"silent", Warns, false},
	Cut:        {"cut", Warns, false},
	Aborted:    {"abort", Warns, false},
	Failed:     {"error", Fails, false},
	Compaction: {"compact", Quiet, true},
	Branch:     {"branch", Quiet, true},
	Setting:    {"set", Quiet, false},
	Message:    {"ext", Quiet, true},
	Ask:        {"ask", Plain, false},
	Edit:       {"edit", Quiet, false},
	Damage:     {"damage", Fails, false},
	Unknown:    {"other", Quiet, false},
}

// LabelWidth is the width of the widest label, in cells.
const LabelWidth = 7

// Label is the word a row begins with.
func (k Kind) Label() string { return kinds[k].label }

// Tone is how rows of the kind are drawn.
func (k Kind) Tone() Tone { return kinds[k].tone }

// Seen says whether the agent sees rows of the kind.
func (k Kind) Seen() bool { return kinds[k].seen }
