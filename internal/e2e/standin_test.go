package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"sync"
	"testing"

	"piwatch/internal/control"
	"piwatch/internal/demo"
	"piwatch/internal/loop"
)

// listener is a hub that only listens: it keeps what bridges tell the
// supervisor.
type listener struct {
	mu      sync.Mutex
	reports []told
	settled int
}

// told is one report, with what a payload adds as the loop rules read it.
type told struct {
	Method string
	Event  any
	Input  loop.Input
}

func listen(t *testing.T, socket string) *listener {
	t.Helper()
	l := &listener{}
	socketListener, err := control.Listen(socket)
	if err != nil {
		t.Fatal(err)
	}
	var work sync.WaitGroup
	work.Go(func() {
		for {
			conn, err := socketListener.Accept()
			if err != nil {
				return
			}
			c := control.NewConn(context.Background(), conn, l.handle)
			work.Go(func() { <-c.Done() })
			t.Cleanup(func() { _ = c.Close() })
		}
	})
	t.Cleanup(func() {
		_ = socketListener.Close()
		work.Wait()
	})
	return l
}

func (l *listener) handle(_ context.Context, _ *control.Conn, method string, params json.RawMessage) (any, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	read := map[string]func() (told, error){
		control.Spoke:    func() (told, error) { return reportOf[control.SpokeEvent](params) },
		control.Called:   func() (told, error) { return reportOf[control.CalledEvent](params) },
		control.Returned: func() (told, error) { return reportOf[control.ReturnedEvent](params) },
		control.Answered: func() (told, error) {
			r, err := reportOf[control.AnsweredEvent](params)
			e := r.Event.(control.AnsweredEvent)
			if len(e.Given) > 0 {
				r.Input, err = loop.ReadPayload(e.Given)
			}
			e.Given = nil
			if len(e.Calls) == 0 {
				e.Calls = nil
			}
			if e.Failed != "" {
				e.Failed = "failed" // in the words of who failed
			}
			r.Event = e
			return r, err
		},
	}[method]
	switch {
	case method == control.Hello:
		return control.BridgeWelcome{Protocol: control.Protocol, Driver: true}, nil
	case method == control.Settled:
		l.settled++
	case read != nil:
		r, err := read()
		if err != nil {
			return nil, err
		}
		r.Method = method
		l.reports = append(l.reports, r)
	}
	return struct{}{}, nil
}

func reportOf[E any](params json.RawMessage) (told, error) {
	var e E
	err := json.Unmarshal(params, &e)
	return told{Event: e}, err
}

// wait waits until the agent has settled n times, and gives what was told.
func (l *listener) wait(t *testing.T, n int) []told {
	t.Helper()
	if !poll(Timeout(), func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.settled >= n
	}) {
		t.Fatalf("it did not settle %d times; told was %+v", n, l.reports)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.reports
}

// The stand-in tells the supervisor what the bridge in the real Pi does, in the
// same order.
func TestStandInReports(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		h := NewHome(t, pi, HomeOptions{Reasoning: true})
		real := listen(t, hubSocket(t, h))
		run, none := object{"command": "echo FAIL; exit 1"}, object{"path": "a"}
		h.Provider.Enqueue(
			Thinking("hm").Text("I look.").CallID("call_a", "bash", run).CallID("call_b", "nowhere", none),
			Reply{}.CallID("call_c", "bash", run),
			Text("It is done."),
			Status(401, `{"error":{"message":"no key"}}`),
		)
		rpc := watched(t, h, Launch{})
		rpc.Turn("go")
		rpc.Turn("again")
		want := real.wait(t, 2)
		rpc.Close()

		if len(want) != 12 {
			t.Fatalf("the real Pi told %+v", want)
		}
		printed := ""
		for _, r := range want {
			if e, is := r.Event.(control.ReturnedEvent); is && e.ID == "call_a" {
				printed = e.Text
			}
		}
		bash := func(id string) demo.ToolCall {
			return demo.ToolCall{ID: id, Name: "bash", Args: run, Result: printed, IsError: true}
		}
		socket := filepath.Join(h.Run, "standin.sock")
		fake := listen(t, socket)
		p, err := demo.New(t.Context(), demo.Setup{Socket: socket, Cwd: h.Project, Script: demo.Answers(
			demo.Answer{Thinking: "hm", Text: "I look.", Calls: []demo.ToolCall{bash("call_a"), {ID: "call_b", Name: "nowhere", Args: none}}},
			demo.Use(bash("call_c")), demo.Say("It is done."), demo.Fail("no key"),
		)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = p.Close() })
		for n, text := range []string{"go", "again"} {
			if err := p.Wait(t.Context(), func(s demo.State) bool { return s.Connected && s.Facts.Idle && s.Facts.Settle == n }); err != nil {
				t.Fatal(err)
			}
			p.Prompt(text)
		}
		got := fake.wait(t, 2)
		for i := range max(len(got), len(want)) {
			var g, w told
			if i < len(got) {
				g = got[i]
			}
			if i < len(want) {
				w = want[i]
			}
			if !reflect.DeepEqual(g, w) {
				t.Errorf("report %d:\n stand-in %s\n real Pi  %s", i, sprint(g), sprint(w))
			}
		}
	})
}

func sprint(r told) string {
	event, _ := json.Marshal(r.Event) // it was read as JSON
	return fmt.Sprintf("%s %s, input %+v", r.Method, event, r.Input)
}
