package pi

import "encoding/json"

// The names of a block differ by provider and by Pi's age; a row that an
// extension or a proxy wrote may hold any of them.
var (
	callTypes     = map[string]bool{"toolCall": true, "tool_use": true, "tool_call": true, "function": true}
	textTypes     = map[string]bool{"text": true, "output_text": true, "input_text": true}
	thinkingTypes = map[string]bool{"thinking": true, "redacted_thinking": true, "reasoning": true}
)

// content reads a message's content: an array of blocks, or a bare string.
// Content of another kind is kept in one block.
func (r *reader) content(v value) []Block {
	switch v[0] {
	case '[':
		var blocks []Block
		v.elements(func(v value) { blocks = append(blocks, r.block(v)) })
		return blocks
	case 'n':
		return nil
	}
	return []Block{r.block(v)}
}

// block reads a block in any known shape; what is not known is in its Raw.
func (r *reader) block(v value) Block {
	b := Block{Raw: v.raw()}
	if v[0] == '"' {
		b.Type = "text"
		r.most(&b.Text, &b.Cut, nil, v)
		return b
	}
	// The type decides where the rest belongs, and need not come first.
	var room [8]field
	all := v.list(room[:0])
	for _, f := range all {
		if string(f.key) == "type" {
			r.text(&b.Type, f.key, f.value)
		}
	}
	for _, f := range all {
		switch {
		case b.IsToolCall():
			b.call(r, f.key, f.value)
		case b.IsThinking():
			b.thought(r, f.key, f.value)
		default:
			b.said(r, f.key, f.value)
		}
	}
	return b
}

func (b *Block) thought(r *reader, key []byte, v value) {
	switch string(key) {
	case "thinking", "reasoning", "text":
		r.most(&b.Thinking, &b.Cut, key, v)
	case "thinkingSignature":
		r.text(&b.Signature, key, v)
	case "redacted":
		r.flag(&b.Redacted, key, v)
	}
}

func (b *Block) said(r *reader, key []byte, v value) {
	switch string(key) {
	case "text":
		r.most(&b.Text, &b.Cut, key, v)
	case "textSignature":
		r.text(&b.Signature, key, v)
	case "mimeType":
		r.text(&b.MimeType, key, v)
	}
}

// readCall reads a tool call in the shapes of Pi, Anthropic and OpenAI.
func (b *Block) readCall(r *reader, v value) {
	v.fields(func(key []byte, v value) { b.call(r, key, v) })
}

func (b *Block) call(r *reader, key []byte, v value) {
	switch string(key) {
	case "id", "toolCallId":
		r.text(&b.ToolCallID, key, v)
	case "name", "toolName":
		r.text(&b.ToolName, key, v)
	case "arguments", "input", "args":
		b.Arguments = unwrapArguments(v)
	case "function":
		b.readCall(r, v)
	}
}

// topCalls reads a list of calls beside the content; its elements may lack a
// type.
func (r *reader) topCalls(v value) []Block {
	var calls []Block
	v.elements(func(v value) {
		b := r.block(v)
		if !b.IsToolCall() {
			b = Block{Type: "function", Raw: v.raw()}
			b.readCall(r, v)
		}
		calls = append(calls, b)
	})
	return calls
}

// unwrapArguments turns arguments that are a JSON text (OpenAI's shape) into
// the value they hold; a text that is no JSON stays a string.
func unwrapArguments(v value) json.RawMessage {
	if v[0] == '"' {
		if text := []byte(unquote(v)); json.Valid(text) {
			return text
		}
	}
	return v.raw()
}
