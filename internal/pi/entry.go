// Package pi reads what the Pi coding agent writes: session files, their
// entries, the tree the entries form, the messages inside them, and where the
// files live. It parses; it decides nothing and writes nothing.
//
// Facts about Pi in the comments were read in, or measured with, Pi 1.6.0 and
// 0.81.1 ("both" = both versions).
package pi

import (
	"encoding/json"
	"time"
)

// CurrentVersion is the session file version both Pi 1.6.0 and 0.81.1 write.
// Files of version 1 and 2 are migrated by Pi when it loads them: it rewrites
// the whole file in place.
const CurrentVersion = 3

// Entry types of Pi 1.6.0. Other types are carried with their name verbatim.
const (
	TypeSession       = "session" // the header line; not part of the tree
	TypeMessage       = "message"
	TypeModelChange   = "model_change"
	TypeThinkingLevel = "thinking_level_change"
	TypeUsage         = "usage"
	TypeCompaction    = "compaction"
	TypeBranchSummary = "branch_summary"
	TypeCustom        = "custom"
	TypeCustomMessage = "custom_message"
	TypeContextEdit   = "context_edit"
	TypeLabel         = "label"
	TypeSessionInfo   = "session_info"
)

// Entry is one record of a session file. At most one of the typed pointers is
// set: that of a known type whose payload was there. Raw holds all the rest.
type Entry struct {
	// Type is the record's type, verbatim, "" when it has none.
	Type string
	// ID and ParentID place the entry in the tree. ParentID is "" for a root.
	// Entries without an id of their own (version 1 files) get "v1-<n>", n
	// being the record's place in the file, and are chained one to the next.
	ID, ParentID string
	// Time is when Pi appended the entry; zero when absent or unreadable.
	Time time.Time
	// Raw is the record as read, without the newline. NUL bytes are replaced
	// by spaces so that it can be decoded again. It is nil when the parser is
	// Lean.
	Raw json.RawMessage

	Header        *Header
	Message       *Message
	Custom        *Custom
	CustomMessage *CustomMessage
	ContextEdit   *ContextEdit
	Compaction    *Compaction
	BranchSummary *BranchSummary
	ModelChange   *ModelChange
	ThinkingLevel *ThinkingLevel
	Label         *Label
	SessionInfo   *SessionInfo
	Usage         *UsageEntry

	// Line is the line number in the file, from 1.
	Line int
	// Offset and Length are the record's place in the file, in bytes.
	Offset, Length int64
}

// Header is the first record of a session file.
type Header struct {
	// Version is the file's format version; 1 when the record names none.
	Version int
	// ID is the session id, Cwd the folder Pi was started in.
	ID, Cwd string
	// ParentSession is the path of the session this one was forked, cloned or
	// started from; "" for a session of its own.
	ParentSession string
	Time          time.Time
}

// Custom is state an extension keeps in the session; the model never sees it.
type Custom struct {
	CustomType string
	Data       json.RawMessage
}

// CustomMessage is a message an extension sent: the model sees its content in
// the role of the user, but no human wrote it.
type CustomMessage struct {
	CustomType string
	Content    []Block
	// Display is false for messages Pi's screen hides.
	Display bool
	Details json.RawMessage
}

// Text is the visible text of the message.
func (c *CustomMessage) Text() string { return blocksText(c.Content) }

// ContextEdit omits or replaces the content of an earlier entry for the model,
// from its place on the branch onward. Pi 0.81.1 ignores it.
type ContextEdit struct {
	TargetID string
	// Replacement is {"content": …}; nil when Omit or when the record has none.
	Replacement json.RawMessage
	// Omit says the target is left out altogether (replacement null).
	Omit bool
}

// Content is the replacement's content, nil when Omit.
func (c *ContextEdit) Content() []Block {
	end, ok := scan(c.Replacement)
	if !ok || end != len(c.Replacement) {
		return nil
	}
	var blocks []Block
	value(c.Replacement).fields(func(key []byte, v value) {
		if string(key) == "content" {
			blocks = new(reader).content(v)
		}
	})
	return blocks
}

// Compaction replaces the entries before FirstKeptEntryID by a summary.
type Compaction struct {
	Summary string
	// FirstKeptEntryID is the first entry before the compaction that the model
	// still sees. The compaction's own id means that none is kept.
	FirstKeptEntryID string
	// TokensBefore is the size of the context before, in tokens.
	TokensBefore int64
	// FromHook is true when an extension made the summary.
	FromHook bool
	Details  json.RawMessage
	Usage    *Usage
}

// BranchSummary stands for a branch that was left by /tree.
type BranchSummary struct {
	Summary string
	// FromID is the leaf that was left (1.6.0) or the branching point (0.81.1).
	FromID   string
	FromHook bool
	Details  json.RawMessage
	Usage    *Usage
}

// ModelChange is the choice of a model.
type ModelChange struct{ Provider, ModelID string }

// ThinkingLevel is the choice of a thinking level: off, minimal, low, …
type ThinkingLevel struct{ Level string }

// Label is a bookmark on an entry; an empty Label takes it away.
type Label struct{ TargetID, Label string }

// SessionInfo names the session; an empty Name takes the name away. The last
// one in the file counts, whatever its branch (both).
type SessionInfo struct{ Name string }

// UsageEntry is use of a model outside the conversation, cache warming for one.
type UsageEntry struct {
	Kind, Provider, Model, Note string
	Usage                       *Usage
}

// Usage counts the tokens of one model call, and its price in US dollars.
// Reasoning is part of Output, TotalTokens the sum the provider gave.
type Usage struct {
	Input       int64
	Output      int64
	CacheRead   int64
	CacheWrite  int64
	Reasoning   int64
	TotalTokens int64
	Cost        Cost
}

// Cost is the price of one model call in US dollars.
type Cost struct {
	Input      float64
	Output     float64
	CacheRead  float64
	CacheWrite float64
	Total      float64
}

// IsRealUserMessage says whether a human wrote the entry: a message of role
// user. Messages that extensions send by sendMessage are custom_message rows
// and are not; those sent by sendUserMessage leave no mark and look human.
func (e *Entry) IsRealUserMessage() bool {
	return e.Message != nil && e.Message.Role == RoleUser
}
