package e2e

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"piwatch/internal/control"
	"piwatch/internal/watchdog"
)

// What the agent delivered is kept, and work that it did is never folded: these
// tests play sessions in which a call of the tool stands beside something else,
// and compare what goes to the provider afterwards with control sessions in
// which the model said and did the same without the call.

// What is said in each session.
const (
	task   = "do all of it"
	thanks = "thank you"
)

var (
	half    = Text("Half of it is done.")
	welcome = Text("You are welcome.")
	// unsaid is an answer that leaves nothing in the context: rows of errors are
	// never sent again, and this error is not tried again.
	unsaid = Status(400, `{"error":{"message":"no"}}`)
)

func decide(r Reply, d watchdog.Decision, note string) Reply {
	return r.Call(watchdog.ToolName, map[string]any{"decision": d, "note": note})
}

// worked is a call of a tool that does something.
func worked(r Reply) Reply {
	return r.CallID("call_work", "bash", map[string]any{"command": "echo it worked"})
}

// refused is a call of a tool that must not run.
func refused(r Reply) Reply {
	return r.Call("bash", map[string]any{"command": "touch ran"})
}

// theatre is one Pi in which one session after the other is played.
type theatre struct {
	t   *testing.T
	h   *Home
	rpc *RPC
}

func newTheatre(t *testing.T, pi *Pi, options HomeOptions) *theatre {
	t.Helper()
	h := NewHome(t, pi, options)
	startHub(t, h)
	return &theatre{t, h, watched(t, h, Launch{Extensions: []string{controlFile(t)}})}
}

// session begins a watched session that is asked by hand only.
func (s *theatre) session(answers ...Reply) (file string) {
	s.t.Helper()
	s.rpc.NewSession()
	s.h.Provider.Take()
	s.rpc.arm()
	s.h.Provider.Enqueue(answers...)
	return s.rpc.SessionFile()
}

// arm starts a countdown that never ends by itself, and waits until the tool is
// there: the command is answered a moment before.
func (r *RPC) arm() {
	r.home.t.Helper()
	r.Pass()
	r.Prompt("/watchdog timeout=86400")
	r.WaitEvent("record of the tool", func(e Record) bool {
		return e.Type() == "entry_appended" && e.Str("entry.customType") == watchdog.RecordTool
	})
}

// ask has the check asked that is due much later, and waits until its run is
// over, and the work turn if there is one.
func (s *theatre) ask(count string, runs int) {
	s.t.Helper()
	s.nudge(count)
	for range runs {
		s.rpc.WaitSettled()
	}
}

// nudge has the check asked.
func (s *theatre) nudge(count string) {
	s.t.Helper()
	s.rpc.WaitStatus("piwatch", "a countdown", counts(count))
	s.rpc.Pass()
	var reply control.CommandReply
	if !poll(Timeout(), func() bool {
		reply = steer(s.t, s.h, control.Nudge, control.SteerParams{Session: s.rpc.SessionID()})
		return reply.Level == "info"
	}) {
		s.h.Fatalf("nudge: %s", reply.Text)
	}
}

// turn is a message of the user and the answer to it.
func (s *theatre) turn(text string) {
	s.t.Helper()
	s.rpc.Pass()
	s.rpc.Turn(text)
}

// scene makes the failures of a subtest its own.
func (s *theatre) scene(name string, play func(s *theatre)) {
	s.t.Run(name, func(t *testing.T) {
		defer func(before, home any) { s.t, s.h.t = before.(*testing.T), home.(testing.TB) }(s.t, s.h.t)
		s.t, s.h.t = t, t
		play(s)
	})
}

// next is the request of one more message of the user.
func (s *theatre) next(text string) *Request {
	s.t.Helper()
	s.h.Provider.Take()
	s.h.Provider.Enqueue(welcome)
	s.turn(text)
	got := s.h.Provider.Take()
	wantCount(s.t, got, 1)
	return got[0]
}

// restart ends Pi and goes on with the session in another one.
func (s *theatre) restart(bridge bool) {
	s.t.Helper()
	s.rpc.Close()
	s.start(bridge, "--continue")
}

func (s *theatre) start(bridge bool, args ...string) {
	s.t.Helper()
	wander := s.h.WriteFile(filepath.Join(s.h.Dir, "wander.ts"), wanderSource)
	l := Launch{Extensions: []string{controlFile(s.t), wander}, Args: args}
	if bridge {
		l.Extensions = append(l.Extensions, bridgeFile(s.t))
	}
	s.rpc = s.h.StartRPC(l)
}

// shows blocks until Pi's footer shows a text now.
func (s *theatre) shows(text string) {
	s.t.Helper()
	var all []string
	if !poll(Timeout(), func() bool { all = s.rpc.Statuses("piwatch"); return len(all) > 0 && all[len(all)-1] == text }) {
		s.h.Fatalf("the footer does not show %q within %v, it was %q", text, Timeout(), all)
	}
}

// sameTail compares the last n requests of two sessions.
func sameTail(t *testing.T, got, want []*Request, n int) {
	t.Helper()
	if len(got) < n || len(want) < n {
		t.Fatalf("%d requests and %d in the control session, want at least %d:\n%s", len(got), len(want), n, rolesOf(got))
	}
	for i := range n {
		SameBytes(t, anyNumber(got[len(got)-n+i]), anyNumber(want[len(want)-n+i]))
	}
}

// numbers are what differs between two sessions in requests of the responses
// API: the session's id, and the numbers in the ids that the provider gave.
var numbers = regexp.MustCompile(`("prompt_cache_key":"|"(?:msg|rs|fc)_)[0-9a-f_-]+`)

func anyNumber(r *Request) []byte {
	if r.API != Responses {
		return r.Body
	}
	return numbers.ReplaceAll(r.Body, []byte("${1}N"))
}

// withoutTool is the body of a request as if the session had not the tool.
func withoutTool(t *testing.T, r *Request) []byte {
	t.Helper()
	var body struct{ Tools []json.RawMessage }
	if err := json.Unmarshal(r.Body, &body); err != nil {
		t.Fatal(err)
	}
	for _, tool := range body.Tools {
		if bytes.Contains(tool, []byte(watchdog.ToolName)) {
			return bytes.Replace(r.Body, slices.Concat([]byte(","), tool), nil, 1)
		}
	}
	return r.Body
}

func rolesOf(requests []*Request) string {
	var lines []string
	for _, r := range requests {
		lines = append(lines, r.Roles())
	}
	return strings.Join(lines, "\n")
}

func wantCount(t *testing.T, requests []*Request, n int) {
	t.Helper()
	if len(requests) != n {
		t.Fatalf("%d requests, want %d:\n%s", len(requests), n, rolesOf(requests))
	}
}

// TestStopsItself: the agent stops the watchdog outside a check. The call and
// its result leave the context; the report beside it, and work, stay.
func TestStopsItself(t *testing.T) {
	const report = "The parser and its tests are finished."
	scenes := []struct {
		name             string
		answers, control []Reply
		same             int // last requests that equal the control session's
		end              string
	}{
		{"report and done",
			[]Reply{decide(Text(report), watchdog.Done, "all")},
			[]Reply{Text(report)}, 1, "answered: done: all"},
		{"thinking, report and wait_user",
			[]Reply{decide(Thinking("so far so good").Text(report), watchdog.WaitUser, "needs a key")},
			[]Reply{Thinking("so far so good").Text(report)}, 1, "answered: wait_user: needs a key"},
		{"done alone",
			[]Reply{decide(Reply{}, watchdog.Done, "all")},
			[]Reply{unsaid}, 1, "answered: done: all"},
		{"thinking and done",
			[]Reply{decide(Thinking("it is finished"), watchdog.Done, "all")},
			[]Reply{unsaid}, 1, "answered: done: all"},
		{"work, then done alone",
			[]Reply{worked(Reply{}), decide(Reply{}, watchdog.Done, "all")},
			[]Reply{worked(Reply{}), unsaid}, 1, "answered: done: all"},
		{"done and work in one row",
			[]Reply{worked(decide(Reply{}, watchdog.Done, "all")), Text(report)},
			[]Reply{worked(Reply{}), Text(report)}, 2, "answered: done: all"},
		{"work and done in one row",
			[]Reply{decide(worked(Reply{}), watchdog.Done, "all"), Text(report)},
			[]Reply{worked(Reply{}), Text(report)}, 2, "answered: done: all"},
		{"report, work and done in one row",
			[]Reply{decide(worked(Text(report)), watchdog.Done, "all"), Text("As I said.")},
			[]Reply{worked(Text(report)), Text("As I said.")}, 2, "answered: done: all"},
	}
	EachPi(t, func(t *testing.T, pi *Pi) {
		for _, api := range []API{ChatCompletions, AnthropicMessages, Responses} {
			t.Run(string(api), func(t *testing.T) {
				s := newTheatre(t, pi, HomeOptions{API: api, Reasoning: true})
				for _, scene := range scenes {
					s.scene(scene.name, func(s *theatre) {
						s.session(append(scene.control, welcome)...)
						s.turn(task)
						s.turn(thanks)
						want := s.h.Provider.Take()

						file := s.session(append(scene.answers, welcome)...)
						s.turn(task)
						s.rpc.status("") // it is off
						s.turn(thanks)
						wantLines(s.t, "outcomes", outcomes(s.h, file), scene.end)
						got := s.h.Provider.Take()
						wantCount(s.t, got, len(scene.answers)+1)
						sameTail(s.t, got, want, scene.same)
					})
				}
			})
		}
	})
}

// TestContinueOutside: without a check there is nothing to continue: the agent
// is told so, monitoring goes on, and what it did in the same row stays.
func TestContinueOutside(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		s := newTheatre(t, pi, HomeOptions{})
		file := s.session(
			decide(worked(Text("I go on.")), watchdog.Continue, "more"),
			decide(Reply{}, watchdog.Continue, "more"),
			Text("Half of it is done."),
			welcome,
		)
		s.turn(task)
		s.rpc.status("⏱86400s 0/50")
		s.turn(thanks)
		wantLines(t, "outcomes", outcomes(s.h, file))
		got := s.h.Provider.Take()
		wantCount(t, got, 4)
		wantLines(t, "roles", []string{got[3].Roles()}, "system user assistant tool tool assistant tool assistant user")
		messages := got[3].Messages()
		if row := messages[2]; row.Text != "I go on." || len(row.Calls) != 2 {
			t.Errorf("the row with the work came back as %+v", row)
		}
		if result := messages[3]; result.Text != "it worked\n" {
			t.Errorf("the result of the work is %q", result.Text)
		}
		for _, i := range []int{4, 6} {
			if messages[i].Text != watchdog.AnswerNoCheck {
				t.Errorf("the agent was told %q, want the hint", messages[i].Text)
			}
		}
	})
}

// TestBesideTheAnswer: what stands beside the answer to a check goes with it,
// and no tool but the one runs; the session goes on as if it had not been asked.
func TestBesideTheAnswer(t *testing.T) {
	done := func(r Reply) Reply { return decide(r, watchdog.Done, "all") }
	goOn := func(r Reply) Reply { return decide(r, watchdog.Continue, "more") }
	whole := Text("The rest is done too.")
	answered, continued := "answered: done: all", "answered: continue: more"
	more := Text("I said it.")
	scenes := []struct {
		name    string
		answers []Reply // to the check
		older   []Reply // what Pi 0.81.1 asks for besides: a blocked call does not end a run there
		end     string
		work    bool
	}{
		{"text and done", []Reply{done(Text("Here is a report nobody reads."))}, nil, answered, false},
		{"thinking, text and done", []Reply{done(Thinking("what do they want").Text("Well."))}, nil, answered, false},
		{"thinking and continue", []Reply{goOn(Thinking("there is more"))}, nil, continued, true},
		{"done and a tool", []Reply{refused(done(Reply{}))}, []Reply{more}, answered, false},
		{"a tool and done", []Reply{done(refused(Reply{}))}, []Reply{goOn(Reply{})}, answered, false},
		{"done and tools", []Reply{refused(done(Reply{}))}, []Reply{refused(Reply{}), refused(more)}, answered, false},
		{"a tool and continue", []Reply{goOn(refused(Reply{}))}, []Reply{more}, continued, true},
		{"a tool, then done", []Reply{refused(Reply{}), done(Reply{})}, nil, answered, false},
		{"done and continue", []Reply{goOn(done(Reply{}))}, nil, answered, false},
		{"continue and done", []Reply{done(goOn(Reply{}))}, nil, continued, true},
		{"bad value, then done", []Reply{decide(Reply{}, "finished", "all"), done(Reply{})}, nil, answered, false},
		{"bad value and done", []Reply{done(decide(Reply{}, "finished", "all")), more}, nil, answered, false},
		{"bad value and done, then a fault", []Reply{done(decide(Reply{}, "finished", "all")), Status(503, "{}"), more}, nil, answered, false},
		{"bad value and continue", []Reply{goOn(decide(Reply{}, "finished", "all")), more}, nil, continued, true},
		{"bad values", []Reply{decide(Reply{}, "finished", ""), decide(Reply{}, "ready", ""), decide(more, "yes", "")}, nil,
			"no_answer: only blocked tools or bad values", false},
	}
	EachPi(t, func(t *testing.T, pi *Pi) {
		s := newTheatre(t, pi, HomeOptions{Reasoning: true})
		want := map[bool][]*Request{}
		for _, work := range []bool{false, true} {
			s.session(half)
			s.turn(task)
			if work {
				s.h.Provider.Enqueue(whole)
				s.rpc.Pass()
				s.rpc.say(watchdog.WorkText)
			}
			s.h.Provider.Enqueue(welcome)
			s.turn(thanks)
			want[work] = s.h.Provider.Take()
		}
		for _, scene := range scenes {
			s.scene(scene.name, func(s *theatre) {
				file := s.session(half)
				s.turn(task)
				answers := scene.answers
				if !pi.Modern() {
					answers = append(answers[:len(answers):len(answers)], scene.older...)
				}
				s.h.Provider.Enqueue(answers...)
				runs := 1
				if scene.work {
					s.h.Provider.Enqueue(whole)
					runs = 2
				}
				s.ask("0/50", runs)
				s.h.Provider.Enqueue(welcome)
				s.turn(thanks)
				wantLines(s.t, "outcomes", outcomes(s.h, file), scene.end)
				got := s.h.Provider.Take()
				wantCount(s.t, got, len(answers)+len(want[scene.work]))
				sameTail(s.t, got, want[scene.work], len(want[scene.work])-1)
				if ran, _ := filepath.Glob(filepath.Join(s.h.Project, "ran")); len(ran) > 0 {
					s.t.Error("a tool ran in the check")
				}
			})
		}
	})
}

// TestPrintedOnce: pi -p prints what was delivered last, once, also where the
// run does not end on it.
func TestPrintedOnce(t *testing.T) {
	const report = "The parser is finished."
	done := func(r Reply) Reply { return decide(r, watchdog.Done, "all") }
	goOn := decide(Reply{}, watchdog.Continue, "more")
	scenes := []struct {
		name    string
		answers []Reply
	}{
		{"report and done", []Reply{done(Text(report))}},
		{"report, work and done, then no more", []Reply{done(worked(Text("I test it."))), Text(report)}},
		{"report, then done", []Reply{half, goOn, Text(report), done(Reply{})}},
		{"report at the cap", []Reply{half, goOn, half, goOn, Text(report)}},
	}
	EachPi(t, func(t *testing.T, pi *Pi) {
		h := NewHome(t, pi, HomeOptions{})
		startHub(t, h)
		for _, scene := range scenes {
			t.Run(scene.name, func(t *testing.T) {
				h.Provider.Take()
				h.Provider.Enqueue(scene.answers...)
				result := h.Print(Launch{Extensions: []string{bridgeFile(t)}, Env: []string{"PI_WATCHDOG=max=2"}}, task)
				if result.ExitCode != 0 || result.Text() != report {
					t.Errorf("status %d, the result is %q: %s", result.ExitCode, result.Text(), result.Stderr)
				}
				wantRequests(t, h, len(scene.answers))
			})
		}
	})
}
