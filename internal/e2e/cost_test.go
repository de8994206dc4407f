package e2e

import (
	"encoding/json"
	"testing"

	"github.com/tiktoken-go/tokenizer"

	"piwatch/internal/watchdog"
)

// costLimit is what one check may cost, in tokens of o200k_base: the tool's
// definition, the prompt text it adds, the check message and the answer.
const costLimit = 180

// TestCost counts the tokens of a check in the bytes that go to the provider,
// and shows that nothing is left behind after done but the tool itself.
func TestCost(t *testing.T) {
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		t.Fatal(err)
	}
	tokens := func(text string) int {
		ids, _, err := codec.Encode(text)
		if err != nil {
			t.Fatal(err)
		}
		return len(ids)
	}
	EachPi(t, func(t *testing.T, pi *Pi) {
		h := NewHome(t, pi, HomeOptions{})
		startHub(t, h)
		h.Provider.Enqueue(Text("Hello."))
		plain := watched(t, h, Launch{})
		plain.Turn("hello")
		plain.Close()
		without := h.Provider.Take()[0]

		answer := `{"decision":"done","note":"the parser and its tests are finished"}`
		h.Provider.Enqueue(Text("Hello."), Call(watchdog.ToolName, json.RawMessage(answer)))
		rpc := watched(t, h, Launch{})
		rpc.Prompt("/watchdog timeout=0")
		rpc.Prompt("hello")
		rpc.status("⏱▶ 1/50")
		rpc.status("")
		rpc.Close()
		requests := h.Provider.Take()

		tool := tokens(string(requests[0].Body)) - tokens(string(without.Body))
		question := tokens(requests[1].Last().Text)
		reply := tokens(watchdog.ToolName + answer)
		t.Logf("tool and prompt %d + check message %d + answer %d = %d tokens, at most %d",
			tool, question, reply, tool+question+reply, costLimit)
		if sum := tool + question + reply; sum > costLimit {
			t.Errorf("a check costs %d tokens, at most %d", sum, costLimit)
		}
		if tool <= 0 || question <= 0 {
			t.Errorf("tool %d and check message %d tokens: not both were measured", tool, question)
		}
	})
}
