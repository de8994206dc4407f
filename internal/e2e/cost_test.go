package e2e

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/tiktoken-go/tokenizer"

	"piwatch/internal/watchdog"
)

// costLimit is what one check may cost, in tokens of o200k_base: the tool's
// definition, the prompt text it adds, the check message and the answer.
const costLimit = 180

// TestCost counts the tokens of a check in the bytes that go to the provider.
func TestCost(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		cost := measureCost(t, pi)
		t.Log(cost)
		if cost.sum() > costLimit {
			t.Errorf("a check costs %v, at most %d", cost, costLimit)
		}
		if cost.tool <= 0 || cost.question <= 0 || cost.answer <= 0 {
			t.Errorf("not every part was measured: %v", cost)
		}
	})
}

// BenchmarkCost prints the same figures; they are tokens, not times.
func BenchmarkCost(b *testing.B) {
	for _, version := range Versions() {
		b.Run("pi-"+version, func(b *testing.B) {
			cost := measureCost(b, RequirePi(b, version))
			for b.Loop() {
			}
			b.ReportMetric(0, "ns/op") // nothing is timed here
			b.ReportMetric(float64(cost.tool), "tool-tokens")
			b.ReportMetric(float64(cost.question), "message-tokens")
			b.ReportMetric(float64(cost.answer), "answer-tokens")
			b.ReportMetric(float64(cost.sum()), "tokens/check")
		})
	}
}

// checkCost is what one check costs, in tokens.
type checkCost struct {
	tool     int // definition of the tool, and all it adds to a request
	question int // the check message
	answer   int // the agent's call
}

func (c checkCost) sum() int { return c.tool + c.question + c.answer }

func (c checkCost) String() string {
	return fmt.Sprintf("tool %d + check message %d + answer %d = %d tokens", c.tool, c.question, c.answer, c.sum())
}

func measureCost(t testing.TB, pi *Pi) checkCost {
	t.Helper()
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
	with := h.Provider.Take()
	return checkCost{
		tool:     tokens(string(with[0].Body)) - tokens(string(without.Body)),
		question: tokens(with[1].Last().Text),
		answer:   tokens(watchdog.ToolName + answer),
	}
}
