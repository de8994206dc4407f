package demo

import (
	"encoding/json"

	"piwatch/internal/pi"
)

// The frame Pi 1.6.0 puts around the summary of a compaction begins the
// context; its words do not matter to a stand-in.
const summaryFrame = "The conversation before this point was compacted:\n\n"

// context is what the model is sent: the branch after the last compaction and
// after the context edits, without rows that Pi never sends again (aborted and
// failed answers). A later edit of an entry wins over an earlier one.
func (s *session) context() ([]Message, error) {
	branch := s.branch()
	edits := map[string]*replacement{}
	start := 0
	var messages []Message
	add := func(m Message, content any) error {
		raw, err := encode(content)
		m.Content = raw
		messages = append(messages, m)
		return err
	}
	for i, e := range branch {
		switch e.kind {
		case pi.TypeContextEdit:
			edits[e.edit.TargetID] = e.edit.Replacement
		case pi.TypeCompaction:
			messages, start = nil, i
			if err := add(Message{Role: pi.RoleUser}, textBlocks(summaryFrame+e.text)); err != nil {
				return nil, err
			}
			for j, k := range branch[:i] {
				if k.id == e.kept {
					start = j
				}
			}
		}
	}
	for _, e := range branch[start:] {
		m, content := e.forModel()
		if with, edited := edits[e.id]; edited {
			if with == nil {
				continue
			}
			content = with.Content
		}
		if content == nil {
			continue
		}
		if err := add(m, content); err != nil {
			return nil, err
		}
	}
	return messages, nil
}

// forModel is an entry as the provider is sent it; content is nil for entries
// that stay in the session.
func (e *entry) forModel() (m Message, content any) {
	switch {
	case e.kind == pi.TypeCustomMessage:
		return Message{Role: pi.RoleUser}, textBlocks(e.text)
	case e.message == nil, e.message.Role == pi.RoleSystem,
		e.message.StopReason == pi.StopAborted, e.message.StopReason == pi.StopError:
		return Message{}, nil
	}
	r := e.message
	return Message{Role: r.Role, Call: r.ToolCallID, IsError: r.failed()}, r.Content
}

// declared are the names of the tools that the system rows of the branch
// declare.
func (s *session) declared() []string {
	var names []string
	for _, e := range s.branch() {
		if e.message != nil {
			for _, t := range e.message.ToolsAdded {
				names = append(names, t.Name)
			}
		}
	}
	return names
}

// size estimates tokens: four bytes each.
func size(messages []Message) int {
	n := 0
	for _, m := range messages {
		n += len(m.Content)
	}
	return n / 4
}

// standInTools are the tools a stand-in declares at its first request.
func standInTools() []toolRecord {
	schema := func(fields string) json.RawMessage {
		return json.RawMessage(`{"type":"object","properties":{` + fields + `}}`)
	}
	return []toolRecord{
		{"read", "Read a file", schema(`"path":{"type":"string"}`)},
		{"bash", "Run a command", schema(`"command":{"type":"string"}`)},
		{"edit", "Edit a file", schema(`"path":{"type":"string"},"edits":{"type":"array"}`)},
		{"write", "Write a file", schema(`"path":{"type":"string"},"content":{"type":"string"}`)},
	}
}
