package demo_test

import (
	"testing"

	"piwatch/internal/control"
	"piwatch/internal/demo"
)

// A stand-in that goes in circles may be stuck, and is not any more when it goes
// on.
func TestLoopIsFound(t *testing.T) {
	again := demo.Use(demo.ToolCall{Name: "bash", Args: map[string]any{"command": "make test"}, Result: "FAIL", IsError: true})
	held := demo.Answer{Calls: []demo.ToolCall{demo.Edit("parser.go", "a", "b")}, Hold: demo.InArguments}
	h := newHouse(t, demo.Setup{Script: demo.Answers(again, again, again, again, held, demo.Say("It passes."))})
	client, err := control.DialClient(t.Context(), h.socket, "test", "cli")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	stuck := func() *control.Finding {
		h.sync()
		sessions, err := client.Sessions(t.Context())
		if err != nil || len(sessions) != 1 {
			t.Fatalf("%+v, %v", sessions, err)
		}
		return sessions[0].Stuck
	}
	h.pi.Prompt("make the tests pass")
	wait(t, h.pi, "held", func(s demo.State) bool { return s.Held })
	f := stuck()
	if f == nil {
		t.Fatal("it goes in circles, and nobody says so")
	}
	same(t, "finding", []string{f.Rule, f.Says[0]}, []string{"repeated_call", "the same call with the same result 4 times: bash make test -> FAIL"})
	h.pi.Release()
	wait(t, h.pi, "settled", demo.Settled(1))
	if f := stuck(); f != nil {
		t.Errorf("it went on, and is said to be stuck: %+v", f)
	}
}
