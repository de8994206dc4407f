package e2e

import (
	"context"

	"slices"
	"strings"
	"syscall"
	"testing"

	"piwatch/internal/control"
)

// supervisor is a client that looks at what the hub's supervisor says.
type supervisor struct {
	t   *testing.T
	h   *Home
	ctx context.Context
	*control.Client
}

func supervise(t *testing.T, h *Home) *supervisor {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 4*Timeout())
	t.Cleanup(cancel)
	client, err := control.DialClient(ctx, hubSocket(t, h), "0.0.0-test", "cli")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return &supervisor{t, h, ctx, client}
}

func (s *supervisor) targets() []control.Target {
	s.t.Helper()
	var list []control.Target
	if err := s.Loops(s.ctx, control.LoopsList, struct{}{}, &list); err != nil {
		s.t.Fatal(err)
	}
	return list
}

// wait waits for a target that fits.
func (s *supervisor) wait(what string, fits func(control.Target) bool) control.Target {
	s.t.Helper()
	var found control.Target
	if !poll(Timeout(), func() bool {
		list := s.targets()
		at := slices.IndexFunc(list, fits)
		if at >= 0 {
			found = list[at]
		}
		return at >= 0
	}) {
		s.h.Fatalf("the hub has no target %s; it has %+v", what, s.targets())
	}
	return found
}

func (s *supervisor) set(key, value string) {
	s.t.Helper()
	s.reply(control.LoopsSet, control.LoopsSetParams{Key: key, Value: value}, "info: "+key)
}

// reply expects a reply that begins so.
func (s *supervisor) reply(method string, params any, want string) {
	s.t.Helper()
	var r control.CommandReply
	if err := s.Loops(s.ctx, method, params, &r); err != nil || !strings.HasPrefix(r.Level+": "+r.Text, want) {
		s.t.Fatalf("%s: %+v, %v; want %s", method, r, err, want)
	}
}

// shell is the command line that starts a child Pi.
func shell(t *testing.T, pi *Pi, prefix string, args ...string) string {
	words := pi.Command(append([]string{"-e", bridgeFile(t)}, args...)...)
	for i, word := range words {
		words[i] = "'" + word + "'"
	}
	return strings.TrimSpace(prefix + " " + strings.Join(words, " ") + " </dev/null")
}

// isChild says whether a request is that of the child of a test.
func isChild(r *Request) bool { return r.Contains("child task") && !r.Contains("parent task") }

// The story of the README: a main session starts a child through bash, the child
// goes in circles, the list shows it under its parent and as maybe stuck, a dry
// run shows what would be sent, the policy sends it, the child recovers, and the
// main session has been told.
func TestSupervisorStory(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		h := NewHome(t, pi, HomeOptions{Pis: 2})
		startHub(t, h)
		s := supervise(t, h)
		const rescue = "You go in circles. Stop and report."
		s.set("rescueMessage", `"`+rescue+`"`)
		gate := h.Provider.NewGate("the child's fifth answer")
		parent := []Reply{Call("bash", map[string]any{"command": shell(t, pi, "", "-p", "--no-session", "child task")}), Text("The child has reported.")}
		turns := 0
		h.Provider.Handle(func(r *Request) Reply {
			switch {
			case !isChild(r):
				next := parent[0]
				parent = parent[1:]
				return next
			case r.Contains(rescue):
				return Text("I went in circles.")
			}
			turns++
			again := Call("bash", map[string]any{"command": "echo the same"})
			if turns == 5 {
				return Reply{}.Gate(gate).Call("bash", map[string]any{"command": "echo the same"})
			}
			return again
		})
		rpc := watched(t, h, Launch{})
		main, file := rpc.SessionID(), rpc.SessionFile()
		rpc.Prompt("parent task")
		gate.WaitReached()
		child := s.wait("that may be stuck", func(c control.Target) bool { return c.Finding != nil })
		if child.Link != (control.Link{Parent: main, By: "marker"}) || child.State != "working" || child.Finding.Rule != "repeated_call" {
			t.Errorf("the child is %+v, finding %+v", child, child.Finding)
		}
		s.reply(control.LoopsSteer, control.TargetParams{Target: child.ID}, "info: Dry run, nothing is sent. It would be: "+rescue)
		for _, r := range h.Provider.Requests() {
			if r.Contains(rescue) {
				t.Error("a dry run was sent")
			}
		}
		s.set("alertMode", "both")
		s.set("steerDryRunDefault", "false")
		gate.Release()
		s.wait("that recovered", func(c control.Target) bool { return c.ID == child.ID && c.State == "done" && c.Finding == nil })
		rpc.WaitSettled()
		rpc.Close()
		last := h.Provider.Requests()[len(h.Provider.Requests())-1]
		if isChild(last) || !last.Contains("seemed stuck for a time (repeated_call), and is not any more") {
			t.Errorf("the main session was not told:\n%s", last)
		}
		if turns != 8 && turns != 9 { // four of each finding; the message can cross the next request
			t.Errorf("the child was steered after %d turns, want 8 or 9", turns)
		}
		told := 0
		for _, e := range h.Entries(file) {
			if e.Type() == "custom_message" && e.Str("customType") == "piwatch.alert" {
				told++
			}
		}
		if told != 1 {
			t.Errorf("the main session was told %d times, want once", told)
		}
	})
}

// Whose child a session is, by each of the sources.
func TestFamilyOfRealPis(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		env := "process" // Pi 0.81.1 does not hand its session on
		if pi.Modern() {
			env = "environment"
		}
		for _, c := range []struct{ name, prefix, want string }{
			{"the marker of the bridge", "", "marker"},
			{"what Pi hands on", "env -u PIWATCH_PARENT", env},
			{"the processes alone", "env -u PIWATCH_PARENT -u PI_SESSION_ID -u PI_SESSION_FILE", "process"},
		} {
			t.Run(c.name, func(t *testing.T) {
				h := NewHome(t, pi, HomeOptions{Pis: 2})
				startHub(t, h)
				s := supervise(t, h)
				gate := h.Provider.NewGate("the child's answer")
				parent := []Reply{Call("bash", map[string]any{"command": shell(t, pi, c.prefix, "-p", "child task")}), Text("Done.")}
				h.Provider.Handle(func(r *Request) Reply {
					if isChild(r) {
						return Text("ch").Gate(gate).Text("ild")
					}
					next := parent[0]
					parent = parent[1:]
					return next
				})
				rpc := watched(t, h, Launch{})
				main := rpc.SessionID()
				rpc.Prompt("parent task")
				gate.WaitReached()
				child := s.wait("of the child", func(c control.Target) bool { return c.ID != main && c.State == "working" })
				if child.Link != (control.Link{Parent: main, By: c.want}) {
					t.Errorf("linked %+v, want by %s", child.Link, c.want)
				}
				gate.Release()
				rpc.WaitSettled()
				s.wait("of the child that ended", func(c control.Target) bool { return c.ID == child.ID && c.State == "done" })
				rpc.Close()
			})
		}
	})
}

// A fork and a session that is resumed are nobody's children.
func TestNoFamily(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		h := NewHome(t, pi, HomeOptions{})
		startHub(t, h)
		s := supervise(t, h)
		h.Provider.Enqueue(Text("One."), Text("Two."), Text("Three."))
		rpc := watched(t, h, Launch{})
		first, file := rpc.SessionID(), rpc.SessionFile()
		rpc.Turn("first")
		rpc.Turn("second")
		var user string
		for _, e := range h.Entries(file) {
			if IsRole("user")(e) {
				user = e.Str("id")
			}
		}
		rpc.Fork(user)
		fork := s.wait("of the fork", func(c control.Target) bool { return c.ID != first && c.Source == "bridge" })
		if fork.Link != (control.Link{Parent: first, By: "header"}) {
			t.Errorf("the fork is linked %+v", fork.Link)
		}
		sessions, err := s.Sessions(s.ctx)
		if err != nil || len(sessions) != 1 || sessions[0].Parent != nil {
			t.Errorf("a fork counts as a child that runs: %+v, %v", sessions, err)
		}
		rpc.Close()
		again := watched(t, h, Launch{Args: []string{"--session", file}})
		resumed := s.wait("that was resumed", func(c control.Target) bool { return c.ID == first && c.Source == "bridge" })
		if resumed.Link != (control.Link{}) {
			t.Errorf("a resumed session is linked %+v", resumed.Link)
		}
		again.Turn("third")
		again.Close()
	})
}

// An alert never wakes a session that was interrupted: it comes with the next
// message of the user.
func TestAlertWaitsForTheUser(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		h := NewHome(t, pi, HomeOptions{Pis: 2})
		startHub(t, h)
		s := supervise(t, h)
		first := h.Provider.NewGate("the child's first answer")
		held := h.Provider.NewGate("the child's fifth answer")
		hold := h.Provider.NewGate("the parent's word")
		command := "(" + shell(t, pi, "env -u PI_WATCHDOG", "-p", "--no-session", "child task") + ") >/dev/null 2>&1 &"
		parent := []Reply{Call("bash", map[string]any{"command": command}), Text("I ").Gate(hold).Text("wait."), Text("I see.")}
		turns := 0
		h.Provider.Handle(func(r *Request) Reply {
			if !isChild(r) {
				next := parent[0]
				parent = parent[1:]
				return next
			}
			turns++
			if turns == 1 {
				return Reply{}.Gate(first).Call("bash", map[string]any{"command": "echo the same"})
			}
			if turns == 5 {
				return Text("I ").Gate(held).Text("stop.")
			}
			return Call("bash", map[string]any{"command": "echo the same"})
		})
		rpc := watched(t, h, Launch{Env: []string{"PI_WATCHDOG=timeout=3600"}})
		rpc.Prompt("parent task")
		first.WaitReached()
		hold.WaitReached()
		rpc.Abort()
		rpc.WaitSettled()
		first.Release()
		held.WaitReached()
		s.wait("that may be stuck", func(c control.Target) bool { return c.Finding != nil })
		rpc.State() // the alert went out before the hub answered: what Pi does of it, it has done
		for _, r := range h.Provider.Requests() {
			if r.Contains("may be stuck") {
				t.Fatalf("the alert woke the session:\n%s", r)
			}
		}
		rpc.Prompt("how is it going?")
		rpc.WaitSettled()
		held.Release()
		child := s.wait("that ended", func(c control.Target) bool { return c.Link.Parent != "" && c.State == "done" })
		if !poll(Timeout(), func() bool { return syscall.Kill(child.Pid, 0) != nil }) {
			t.Error("the child did not end")
		}
		rpc.Close()
		told := slices.ContainsFunc(h.Provider.Requests(), func(r *Request) bool {
			return r.Contains("how is it going?") && r.Contains("may be stuck")
		})
		if !told {
			t.Error("the alert did not come with the user's message")
		}
	})
}

// The input rule reads what Pi sends to each kind of provider.
func TestRepeatedInputOfEachAPI(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		for _, api := range []API{ChatCompletions, AnthropicMessages, Responses, GoogleGenerative} {
			t.Run(string(api), func(t *testing.T) {
				h := NewHome(t, pi, HomeOptions{API: api})
				startHub(t, h)
				s := supervise(t, h)
				s.set("llmRepeatThreshold", "3")
				_, pushes, err := s.Watch(s.ctx)
				if err != nil {
					t.Fatal(err)
				}
				for range 4 {
					h.Provider.Enqueue(Thinking("hm").Call("bash", map[string]any{"command": "echo the same"}))
				}
				h.Provider.Enqueue(Text("I stop."))
				rpc := watched(t, h, Launch{})
				rpc.Turn("do it")
				var rules []string
				for push := range pushes {
					if push.Notice == nil {
						continue
					}
					if text, is := strings.CutPrefix(push.Notice.Text, "Maybe stuck ("); is {
						rule, _, _ := strings.Cut(text, ",")
						rules = append(rules, rule)
					}
					if push.Notice.Text == "Not stuck any more." {
						break
					}
				}
				rpc.Close()
				want := []string{"repeated_llm_output", "repeated_llm_input", "repeated_call"}
				if !slices.Equal(rules, want) {
					t.Errorf("found %v, want %v", rules, want)
				}
			})
		}
	})
}

// A supervising agent has its tools from its first request on, and is refused
// what the user alone may change; a session that did not ask has none of them.
func TestSupervisingAgentInPi(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		h := NewHome(t, pi, HomeOptions{})
		startHub(t, h)
		h.Provider.Enqueue(
			Call("watchdog_list_targets", map[string]any{}),
			Call("watchdog_config", map[string]any{"action": "set", "config": map[string]any{"alertMode": "both"}}),
			Text("I may not."), Text("Hello."),
		)
		rpc := watched(t, h, Launch{Env: []string{"PI_WATCHDOG_SUPERVISOR=1"}})
		rpc.Prompt("watch them")
		rpc.WaitNotification("that the agent was refused", func(n Notification) bool {
			return strings.Contains(n.Text, "the agent wanted to change alertMode, which is yours alone: refused")
		})
		rpc.WaitSettled()
		rpc.Close()
		requests := h.Provider.Requests()
		if !slices.Contains(requests[0].Tools(), "watchdog_steer_subagent") {
			t.Errorf("the first request has the tools %v", requests[0].Tools())
		}
		if got := requests[1].Last().Text; got != `{"targets":[]}` {
			t.Errorf("the list is %q", got)
		}
		if got := requests[2].Last().Text; !strings.Contains(got, "alertMode is the user's alone; nothing changed") {
			t.Errorf("the agent was told %q", got)
		}
		plain := watched(t, h, Launch{})
		plain.Turn("hello")
		plain.Close()
		for _, tool := range h.Provider.Requests()[3].Tools() {
			if strings.HasPrefix(tool, "watchdog_") {
				t.Errorf("a session that did not ask has the tool %s", tool)
			}
		}
	})
}
