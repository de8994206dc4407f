package pi

import (
	"encoding/json"
	"strings"
	"time"
)

// Roles of a message.
const (
	RoleSystem            = "system" // since 1.6.0
	RoleUser              = "user"
	RoleAssistant         = "assistant"
	RoleToolResult        = "toolResult"
	RoleBashExecution     = "bashExecution"
	RoleCustom            = "custom" // "hookMessage" in files before version 3
	RoleBranchSummary     = "branchSummary"
	RoleCompactionSummary = "compactionSummary"
)

// Stop reasons of an assistant message. Others are carried verbatim.
const (
	StopStop     = "stop"
	StopLength   = "length"
	StopToolUse  = "toolUse"
	StopError    = "error"
	StopAborted  = "aborted"
	StopDeferred = "deferred"
)

// Message is the message of a message entry. Which fields are set depends on
// the role.
type Message struct {
	Role    string
	Content []Block
	// Timestamp is when the message came to be, in the precision of a
	// millisecond; zero when absent.
	Timestamp time.Time

	// Assistant.
	StopReason, ErrorMessage string
	API, Provider, Model     string
	Usage                    *Usage
	// ReasoningContent is thinking that a provider left beside the content.
	ReasoningContent string
	// TopCalls are tool calls found beside the content ("tool_calls" and its
	// like).
	TopCalls []Block

	// Tool result. Details also belong to custom messages.
	ToolCallID, ToolName string
	IsError              bool
	Details              json.RawMessage

	// Bash execution: a command the user ran with "!".
	Command, Output    string
	FullOutputPath     string
	ExitCode           *int
	Cancelled          bool
	Truncated          bool
	ExcludeFromContext bool

	// Custom message.
	CustomType string
	Display    bool

	// Branch and compaction summaries.
	Summary      string
	FromID       string
	TokensBefore int64
}

// Block is one piece of a message's content.
type Block struct {
	// Type is the block's type verbatim: text, thinking, toolCall, image, …
	Type string
	// Text is the text of a text block.
	Text string
	// Thinking is the text of a thinking block; a redacted one has none.
	Thinking string
	// Signature is the provider's opaque mark on a thinking or text block; it
	// is no content.
	Signature string
	Redacted  bool
	// ToolCallID, ToolName and Arguments are set for tool calls of any shape.
	// Arguments is a JSON value; arguments given as a JSON text are unwrapped.
	ToolCallID, ToolName string
	Arguments            json.RawMessage
	// MimeType is the type of an image.
	MimeType string
	// Cut is the number of bytes of text that a Lean parser left out, as they
	// stand in the file.
	Cut int64
	// Raw is the block as read; nil when the parser is Lean.
	Raw json.RawMessage
}

// IsToolCall says whether the block is a tool call, in any of the shapes
// toolCall, tool_use, tool_call and function.
func (b *Block) IsToolCall() bool { return callTypes[b.Type] }

// IsText says whether the block is text that the user sees.
func (b *Block) IsText() bool { return textTypes[b.Type] }

// IsThinking says whether the block is the model's thinking.
func (b *Block) IsThinking() bool { return thinkingTypes[b.Type] }

// Text is the visible text: the text blocks joined by newlines, or the summary
// of a summary message. Thinking, calls and images are no text.
func (m *Message) Text() string {
	if m.Summary != "" {
		return m.Summary
	}
	return blocksText(m.Content)
}

// ThinkingText is the model's thinking joined by newlines.
func (m *Message) ThinkingText() string {
	var parts []string
	for i := range m.Content {
		if b := &m.Content[i]; b.IsThinking() && b.Thinking != "" {
			parts = append(parts, b.Thinking)
		}
	}
	if m.ReasoningContent != "" {
		parts = append(parts, m.ReasoningContent)
	}
	return strings.Join(parts, "\n")
}

// HasToolCall says whether the message calls a tool, in any shape.
func (m *Message) HasToolCall() bool {
	if len(m.TopCalls) > 0 {
		return true
	}
	for i := range m.Content {
		if m.Content[i].IsToolCall() {
			return true
		}
	}
	return false
}

// ToolCalls are the tool calls of the message, those in the content first.
func (m *Message) ToolCalls() []Block {
	var calls []Block
	for i := range m.Content {
		if m.Content[i].IsToolCall() {
			calls = append(calls, m.Content[i])
		}
	}
	return append(calls, m.TopCalls...)
}

func blocksText(blocks []Block) string {
	var parts []string
	for i := range blocks {
		if blocks[i].IsText() {
			parts = append(parts, blocks[i].Text)
		}
	}
	return strings.Join(parts, "\n")
}
