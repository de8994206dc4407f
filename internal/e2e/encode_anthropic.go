package e2e

import "strconv"

// anthropicEncoder writes Anthropic's messages stream: a list of content
// blocks, one open at a time.
type anthropicEncoder struct {
	model string
	index int    // of the open block, or the next
	open  string // type of the open block, "" if none is
}

func newAnthropicEncoder(model string) encoder { return &anthropicEncoder{model: model} }

func (a *anthropicEncoder) start(w *sse, n int) {
	a.event(w, "message_start", object{"message": object{
		"id": "msg_" + strconv.Itoa(n), "type": "message", "role": "assistant", "model": a.model,
		"content": []any{}, "stop_reason": nil, "stop_sequence": nil,
		"usage": object{"input_tokens": 0, "output_tokens": 0},
	}})
}

func (a *anthropicEncoder) text(w *sse, text string) {
	a.block(w, "text", object{"text": ""})
	a.delta(w, object{"type": "text_delta", "text": text})
}

func (a *anthropicEncoder) thinking(w *sse, text string) {
	a.block(w, "thinking", object{"thinking": "", "signature": ""})
	a.delta(w, object{"type": "thinking_delta", "thinking": text})
}

func (a *anthropicEncoder) call(w *sse, call ToolCall) {
	a.close(w)
	a.block(w, "tool_use", object{"id": call.ID, "name": call.Name, "input": object{}})
	a.delta(w, object{"type": "input_json_delta", "partial_json": call.Args})
	a.close(w)
}

func (a *anthropicEncoder) finish(w *sse, reason string, usage Usage) {
	a.close(w)
	stop := map[string]string{"stop": "end_turn", "length": "max_tokens", "tool_calls": "tool_use"}[reason]
	if stop == "" {
		stop = reason
	}
	a.event(w, "message_delta", object{
		"delta": object{"stop_reason": stop, "stop_sequence": nil},
		"usage": object{
			"input_tokens":            usage.Input - usage.Cached,
			"cache_read_input_tokens": usage.Cached,
			"output_tokens":           usage.Output,
		},
	})
	a.event(w, "message_stop", object{})
}

// block opens a content block, unless one of the type is open.
func (a *anthropicEncoder) block(w *sse, kind string, content object) {
	if a.open == kind {
		return
	}
	a.close(w)
	a.open = kind
	content["type"] = kind
	a.event(w, "content_block_start", object{"index": a.index, "content_block": content})
}

func (a *anthropicEncoder) delta(w *sse, delta object) {
	a.event(w, "content_block_delta", object{"index": a.index, "delta": delta})
}

func (a *anthropicEncoder) close(w *sse) {
	if a.open == "" {
		return
	}
	if a.open == "thinking" {
		// Thinking without a signature would come back as plain text.
		a.delta(w, object{"type": "signature_delta", "signature": "c2lnbmVk"})
	}
	a.event(w, "content_block_stop", object{"index": a.index})
	a.open = ""
	a.index++
}

func (a *anthropicEncoder) event(w *sse, name string, payload object) {
	payload["type"] = name
	w.event(name, payload)
}
