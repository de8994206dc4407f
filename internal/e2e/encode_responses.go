package e2e

import "strconv"

// responsesEncoder writes OpenAI's responses stream: a list of output items,
// one open at a time.
type responsesEncoder struct {
	model     string
	number    string // of the reply; part of every id
	kind      string // type of the open item, "" if none is
	collected string // collected text of the open item
	items     []object
}

func newResponsesEncoder(model string) encoder { return &responsesEncoder{model: model} }

func (r *responsesEncoder) start(w *sse, n int) {
	r.number = strconv.Itoa(n)
	r.event(w, "response.created", object{"response": r.response("in_progress", nil)})
}

func (r *responsesEncoder) text(w *sse, text string) {
	if r.kind != "message" {
		r.close(w)
		r.open(w, "message", object{"role": "assistant", "content": []any{}})
		r.event(w, "response.content_part.added", r.at(object{"content_index": 0, "part": outputText("")}))
	}
	r.collected += text
	r.event(w, "response.output_text.delta", r.at(object{"content_index": 0, "delta": text}))
}

func (r *responsesEncoder) thinking(w *sse, text string) {
	if r.kind != "reasoning" {
		r.close(w)
		r.open(w, "reasoning", object{"summary": []any{}})
		r.event(w, "response.reasoning_summary_part.added", r.at(object{"summary_index": 0, "part": summaryText("")}))
	}
	r.collected += text
	r.event(w, "response.reasoning_summary_text.delta", r.at(object{"summary_index": 0, "delta": text}))
}

func (r *responsesEncoder) call(w *sse, call ToolCall) {
	r.close(w)
	r.open(w, "function_call", object{"call_id": call.ID, "name": call.Name, "arguments": ""})
	r.event(w, "response.function_call_arguments.delta", r.at(object{"delta": call.Args}))
	r.event(w, "response.function_call_arguments.done", r.at(object{"arguments": call.Args}))
	r.done(w, object{"call_id": call.ID, "name": call.Name, "arguments": call.Args})
}

func (r *responsesEncoder) finish(w *sse, reason string, usage Usage) {
	r.close(w)
	name, response := "response.completed", r.response("completed", r.items)
	if reason == "length" {
		name, response = "response.incomplete", r.response("incomplete", r.items)
		response["incomplete_details"] = object{"reason": "max_output_tokens"}
	}
	response["usage"] = object{
		"input_tokens": usage.Input, "input_tokens_details": object{"cached_tokens": usage.Cached},
		"output_tokens": usage.Output, "output_tokens_details": object{"reasoning_tokens": 0},
		"total_tokens": usage.Input + usage.Output,
	}
	r.event(w, name, object{"response": response})
}

// open starts an output item.
func (r *responsesEncoder) open(w *sse, kind string, item object) {
	r.kind, r.collected = kind, ""
	item["type"], item["id"], item["status"] = kind, r.id(), "in_progress"
	r.event(w, "response.output_item.added", object{"output_index": len(r.items), "item": item})
}

// close ends the open item of collected text.
func (r *responsesEncoder) close(w *sse) {
	switch r.kind {
	case "message":
		r.event(w, "response.output_text.done", r.at(object{"content_index": 0, "text": r.collected}))
		r.event(w, "response.content_part.done", r.at(object{"content_index": 0, "part": outputText(r.collected)}))
		r.done(w, object{"role": "assistant", "content": []any{outputText(r.collected)}})
	case "reasoning":
		r.event(w, "response.reasoning_summary_part.done", r.at(object{"summary_index": 0, "part": summaryText(r.collected)}))
		r.done(w, object{"summary": []any{summaryText(r.collected)}, "encrypted_content": "c2VhbGVk"})
	}
}

func (r *responsesEncoder) done(w *sse, item object) {
	item["type"], item["id"], item["status"] = r.kind, r.id(), "completed"
	r.event(w, "response.output_item.done", object{"output_index": len(r.items), "item": item})
	r.items = append(r.items, item)
	r.kind = ""
}

// id is the open item's id, in the form that its type has.
func (r *responsesEncoder) id() string {
	prefix := map[string]string{"message": "msg_", "reasoning": "rs_", "function_call": "fc_"}[r.kind]
	return prefix + r.number + "_" + strconv.Itoa(len(r.items))
}

// at adds where the open item is to an event.
func (r *responsesEncoder) at(payload object) object {
	payload["item_id"], payload["output_index"] = r.id(), len(r.items)
	return payload
}

func (r *responsesEncoder) response(status string, output []object) object {
	if output == nil {
		output = []object{}
	}
	return object{"id": "resp_" + r.number, "object": "response", "model": r.model, "status": status, "output": output}
}

func (r *responsesEncoder) event(w *sse, name string, payload object) {
	payload["type"] = name
	w.event(name, payload)
}

func outputText(text string) object {
	return object{"type": "output_text", "text": text, "annotations": []any{}}
}

func summaryText(text string) object { return object{"type": "summary_text", "text": text} }
