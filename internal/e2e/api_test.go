package e2e

import (
	"strings"
	"testing"
)

// TestAPIs has the same conversation over every wire format.
func TestAPIs(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		for _, api := range []API{ChatCompletions, AnthropicMessages, Responses, GoogleGenerative} {
			t.Run(string(api), func(t *testing.T) {
				h := NewHome(t, pi, HomeOptions{API: api, Reasoning: true})
				h.Provider.Enqueue(
					Thinking("think ").Thinking("twice").Text("I ").Text("look.").
						CallID("call_a", "bash", object{"command": "echo from the tool"}).
						CallID("call_b", "bash", object{"command": "echo second"}),
					Text("It is done.").Usage(Usage{Input: 1000, Output: 7, Cached: 400}),
					Text("cut off").Finish("length").Usage(Usage{Input: 1100, Output: 16_384}),
				)
				rpc := h.StartRPC(Launch{})
				rpc.Turn("do it")
				requests := h.Provider.WaitRequests(2)
				roles := strings.ReplaceAll(requests[1].Roles(), "developer", "system")
				if want := "system user assistant tool tool"; roles != want {
					t.Fatalf("roles %q, want %q", roles, want)
				}
				messages := requests[1].Messages()
				if got := messages[2]; got.Text != "I look." || len(got.Calls) != 2 || !strings.Contains(got.Calls[1].Args, "echo second") {
					t.Errorf("the answer came back as %+v", got)
				}
				if got := messages[2].Thinking; got != "think twice" {
					t.Errorf("the thinking came back as %q", got)
				}
				id := "call_a"
				if api == GoogleGenerative {
					id = "" // Pi names calls only to Google's newer models
				}
				if got := messages[3]; !strings.HasPrefix(got.CallID, id) || !strings.Contains(got.Text, "from the tool") {
					t.Errorf("the tool's result is %+v", got)
				}
				if tools := strings.Join(requests[0].Tools(), " "); !strings.Contains(tools, "bash") {
					t.Errorf("tools %q", tools)
				}
				file := rpc.SessionFile()
				done := h.WaitEntry(file, "the end", func(r Record) bool { return r.Text() == "It is done." })
				if done.Str("message.stopReason") != "stop" || done.Num("message.usage.input") != 600 ||
					done.Num("message.usage.cacheRead") != 400 || done.Num("message.usage.output") != 7 {
					t.Errorf("the last entry is %s", done)
				}
				rpc.Turn("go on")
				cut := h.WaitEntry(file, "cut off", func(r Record) bool { return r.Text() == "cut off" })
				if got := cut.Str("message.stopReason"); got != "length" {
					t.Errorf("stopReason is %q, want length", got)
				}
			})
		}
	})
}
