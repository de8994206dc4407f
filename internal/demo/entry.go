package demo

import (
	"bytes"
	"encoding/json"
	"time"
)

// isoTime is how Pi writes an entry's time: UTC, milliseconds.
const isoTime = "2006-01-02T15:04:05.000Z"

// entry is one record of the session in memory.
type entry struct {
	id, parent string
	kind       string // Pi's entry type
	customType string // of custom and custom_message
	raw        json.RawMessage

	message *row        // of a message
	text    string      // of a custom_message and a compaction: what the model is sent
	check   string      // of a custom_message of piwatch: the check in its details
	data    any         // of a custom entry
	edit    *editRecord // of a context_edit
	kept    string      // of a compaction: the first entry that stays
}

// The records, in the order of fields that Pi writes.
type (
	headerRecord struct {
		Type      string `json:"type"`
		Version   int    `json:"version"`
		ID        string `json:"id"`
		Timestamp string `json:"timestamp"`
		Cwd       string `json:"cwd"`
	}
	place struct {
		ID        string  `json:"id"`
		ParentID  *string `json:"parentId"`
		Timestamp string  `json:"timestamp"`
	}
	modelRecord struct {
		Type string `json:"type"`
		place
		Provider string `json:"provider"`
		ModelID  string `json:"modelId"`
	}
	levelRecord struct {
		Type string `json:"type"`
		place
		Level string `json:"thinkingLevel"`
	}
	nameRecord struct {
		Type string `json:"type"`
		place
		Name string `json:"name"`
	}
	messageRecord struct {
		Type string `json:"type"`
		place
		Message *row `json:"message"`
	}
	customRecord struct {
		Type       string `json:"type"`
		CustomType string `json:"customType"`
		Data       any    `json:"data,omitempty"`
		place
	}
	customMessageRecord struct {
		Type       string `json:"type"`
		CustomType string `json:"customType"`
		Content    string `json:"content"`
		Display    bool   `json:"display"`
		Details    any    `json:"details,omitempty"`
		place
	}
	editRecord struct {
		Type string `json:"type"`
		place
		TargetID    string       `json:"targetId"`
		Replacement *replacement `json:"replacement"`
	}
	compactionRecord struct {
		Type string `json:"type"`
		place
		Summary      string   `json:"summary"`
		FirstKept    string   `json:"firstKeptEntryId"`
		TokensBefore int      `json:"tokensBefore"`
		Details      struct{} `json:"details"`
		Usage        usage    `json:"usage"`
		FromHook     bool     `json:"fromHook"`
	}
)

type replacement struct {
	Content any `json:"content"`
}

// row is a message as Pi 1.6.0 keeps it.
type row struct {
	Role         string            `json:"role"`
	ToolCallID   string            `json:"toolCallId,omitempty"`
	ToolName     string            `json:"toolName,omitempty"`
	Content      any               `json:"content"` // []block; "" in a system row
	Sections     map[string]string `json:"sections,omitempty"`
	Details      any               `json:"details,omitempty"`
	IsError      *bool             `json:"isError,omitempty"` // of a tool result
	API          string            `json:"api,omitempty"`
	Provider     string            `json:"provider,omitempty"`
	Model        string            `json:"model,omitempty"`
	Usage        *usage            `json:"usage,omitempty"`
	StopReason   string            `json:"stopReason,omitempty"`
	Timestamp    int64             `json:"timestamp"`
	ResponseID   string            `json:"responseId,omitempty"`
	ErrorMessage string            `json:"errorMessage,omitempty"`
	RawStop      string            `json:"rawStopReason,omitempty"`
	DurationMs   *int64            `json:"durationMs,omitempty"` // milliseconds; of answers, and of tools that ran
	Level        string            `json:"thinkingLevel,omitempty"`
	ToolsAdded   []toolRecord      `json:"toolsAdded,omitempty"`
}

type toolRecord struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

// block is one piece of a message's content.
type block struct {
	Type      string `json:"type"` // text, thinking, toolCall
	Text      string `json:"text,omitempty"`
	Thinking  string `json:"thinking,omitempty"`
	Signature string `json:"thinkingSignature,omitempty"`
	ID        string `json:"id,omitempty"`
	Name      string `json:"name,omitempty"`
	Arguments any    `json:"arguments,omitempty"`
}

type usage struct {
	Input       int  `json:"input"`
	Output      int  `json:"output"`
	CacheRead   int  `json:"cacheRead"`
	CacheWrite  int  `json:"cacheWrite"`
	Reasoning   int  `json:"reasoning"`
	TotalTokens int  `json:"totalTokens"`
	Cost        cost `json:"cost"`
}

type cost struct {
	Input      float64 `json:"input"`
	Output     float64 `json:"output"`
	CacheRead  float64 `json:"cacheRead"`
	CacheWrite float64 `json:"cacheWrite"`
	Total      float64 `json:"total"`
}

// blocks is the content of a row; none for a system row.
func (r *row) blocks() []block {
	list, _ := r.Content.([]block)
	return list
}

// calls are the tool calls of a row.
func (r *row) calls() []block {
	var calls []block
	for _, b := range r.blocks() {
		if b.Type == "toolCall" {
			calls = append(calls, b)
		}
	}
	return calls
}

func (r *row) failed() bool { return r.IsError != nil && *r.IsError }

func textBlocks(text string) []block { return []block{{Type: "text", Text: text}} }

// encode writes JSON as JavaScript does: <, > and & stay as they are.
func encode(v any) (json.RawMessage, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

func at(parent string, id string, now time.Time) place {
	p := place{ID: id, Timestamp: now.UTC().Format(isoTime)}
	if parent != "" {
		p.ParentID = &parent
	}
	return p
}
