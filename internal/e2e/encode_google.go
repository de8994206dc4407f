package e2e

import (
	"encoding/json"
	"strconv"
)

// googleEncoder writes the stream of Google's generateContent: each event is a
// response with the parts that are new.
type googleEncoder struct{ id string }

func newGoogleEncoder(string) encoder { return &googleEncoder{} }

func (g *googleEncoder) start(_ *sse, n int) { g.id = "google-" + strconv.Itoa(n) }

func (g *googleEncoder) text(w *sse, text string) { g.part(w, object{"text": text}) }

func (g *googleEncoder) thinking(w *sse, text string) {
	g.part(w, object{"text": text, "thought": true})
}

func (g *googleEncoder) call(w *sse, call ToolCall) {
	g.part(w, object{"functionCall": object{"id": call.ID, "name": call.Name, "args": json.RawMessage(call.Args)}})
}

func (g *googleEncoder) finish(w *sse, reason string, usage Usage) {
	stop := map[string]string{"stop": "STOP", "tool_calls": "STOP", "length": "MAX_TOKENS"}[reason]
	if stop == "" {
		stop = reason
	}
	w.event("", object{
		"responseId": g.id,
		"candidates": []object{{"index": 0, "finishReason": stop}},
		"usageMetadata": object{
			"promptTokenCount":        usage.Input,
			"cachedContentTokenCount": usage.Cached,
			"candidatesTokenCount":    usage.Output,
			"totalTokenCount":         usage.Input + usage.Output,
		},
	})
}

func (g *googleEncoder) part(w *sse, part object) {
	w.event("", object{
		"responseId": g.id,
		"candidates": []object{{"index": 0, "content": object{"role": "model", "parts": []object{part}}}},
	})
}
