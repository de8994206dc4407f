package e2e

import "strconv"

// chatEncoder writes OpenAI's chat completions stream.
type chatEncoder struct {
	model string
	id    string
	calls int
}

func newChatEncoder(model string) encoder { return &chatEncoder{model: model} }

type object = map[string]any

func (c *chatEncoder) start(w *sse, n int) {
	c.id = "chatcmpl-" + strconv.Itoa(n)
	c.delta(w, object{"role": "assistant", "content": ""}, nil)
}

func (c *chatEncoder) text(w *sse, text string) { c.delta(w, object{"content": text}, nil) }

func (c *chatEncoder) thinking(w *sse, text string) {
	c.delta(w, object{"reasoning_content": text}, nil)
}

func (c *chatEncoder) call(w *sse, call ToolCall) {
	index := c.calls
	c.calls++
	c.delta(w, object{"tool_calls": []object{{
		"index": index, "id": call.ID, "type": "function",
		"function": object{"name": call.Name, "arguments": ""},
	}}}, nil)
	c.delta(w, object{"tool_calls": []object{{
		"index": index, "function": object{"arguments": call.Args},
	}}}, nil)
}

func (c *chatEncoder) finish(w *sse, reason string, usage Usage) {
	c.delta(w, object{}, reason)
	chunk := c.chunk()
	chunk["choices"] = []object{}
	chunk["usage"] = object{
		"prompt_tokens":         usage.Input,
		"completion_tokens":     usage.Output,
		"total_tokens":          usage.Input + usage.Output,
		"prompt_tokens_details": object{"cached_tokens": usage.Cached},
	}
	w.event("", chunk)
	w.write("data: [DONE]\n\n")
}

func (c *chatEncoder) delta(w *sse, delta object, finish any) {
	chunk := c.chunk()
	chunk["choices"] = []object{{"index": 0, "delta": delta, "finish_reason": finish}}
	w.event("", chunk)
}

func (c *chatEncoder) chunk() object {
	return object{"id": c.id, "object": "chat.completion.chunk", "created": 1, "model": c.model}
}
