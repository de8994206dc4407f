package e2e

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"piwatch/internal/control"
	"piwatch/internal/watchdog"
)

// The void checks: something happens while a check is open, at one of several
// moments, and afterwards the session goes on as if the check had never been.
//
// Each scenario is one session: the agent stops, a check is asked, the cause
// comes at its moment, and the user's message is worked on, with a tool. What
// goes to the provider for that message, for its tool round and for one more
// message equals, byte for byte, what the control session sent, which never had
// a check.

// What is said in each scenario.
const (
	voidTask   = "do all of it"
	voidSaid   = "look at the note first"
	voidThanks = "thank you"
)

var (
	voidStopped = Text("Half of it is done.")
	// voidAnswers are the model's answers to the user's message, its tool round
	// and the thanks.
	voidAnswers = []Reply{
		Reply{}.CallID("call_user", "bash", map[string]any{"command": "cat note.txt"}),
		Text("It says: the note."),
		Text("You are welcome."),
	}
)

// holdSource is an extension that can hold Pi in one of its events, and gives
// commands what only an extension can do.
const holdSource = `
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

export default function hold(pi: ExtensionAPI): void {
	const on = pi.on.bind(pi) as (event: string, handler: (event: any, ctx: any) => unknown) => void;
	let armed = "";
	let release = (): void => {};
	for (const name of ["turn_end", "agent_end", "agent_before_settle", "agent_settled"]) {
		on(name, async (_event, ctx) => {
			if (armed !== name) return;
			armed = "";
			ctx.ui.setStatus("hold", name);
			await new Promise<void>((resolve) => (release = resolve));
			ctx.ui.setStatus("hold", undefined);
		});
	}
	pi.registerCommand("hold", { description: "hold the next event of a name", handler: async (args) => void (armed = args.trim()) });
	pi.registerCommand("release", { description: "let it go", handler: async () => release() });
	pi.registerCommand("again", { description: "reload", handler: async (_args, ctx) => ctx.reload() });
	pi.registerCommand("tree", {
		description: "navigate to the first entry with a text",
		handler: async (args, ctx) => {
			const at = ctx.sessionManager.getBranch().find((e: any) => JSON.stringify(e).includes(args.trim()));
			try {
				await ctx.navigateTree(at!.id, { summarize: false });
				ctx.ui.notify("tree: moved", "info");
			} catch (cause) {
				ctx.ui.notify("tree: " + String(cause), "info");
			}
		},
	});
}
`

// stage is a home with a hub, a wire, one Pi, and what the control session
// sent: a Pi plays one scenario after the other, each in a new session.
type stage struct {
	t       *testing.T
	h       *Home
	wire    *wire
	client  *control.Client
	rpc     *RPC
	control []*Request // task, the user's message, its tool round, thanks
}

func newStage(t *testing.T, pi *Pi, options HomeOptions) *stage {
	t.Helper()
	h := NewHome(t, pi, options)
	h.WriteFile("note.txt", "the note")
	startHub(t, h)
	s := &stage{t: t, h: h, wire: newWire(t, h), client: dialHub(t, h)}
	s.rpc = watched(t, h, Launch{
		Extensions: []string{h.WriteFile(filepath.Join(h.Dir, "hold.ts"), holdSource)},
		Env:        []string{s.wire.env()},
	})
	s.rpc.Prompt("/watchdog timeout=86400")
	s.h.Provider.Enqueue(voidStopped)
	s.h.Provider.Enqueue(voidAnswers...)
	for _, text := range []string{voidTask, voidSaid, voidThanks} {
		s.rpc.Turn(text)
	}
	s.control = h.Provider.Take()
	if len(s.control) != 4 {
		h.Fatalf("the control session made %d requests, want 4", len(s.control))
	}
	return s
}

// dialHub is a client of the home's hub.
func dialHub(t *testing.T, h *Home) *control.Client {
	t.Helper()
	client, err := control.DialClient(context.Background(), hubSocket(t, h), "0.0.0-test", "tui")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// play is one scenario: a session with a check that becomes void.
type play struct {
	*stage
	t        *testing.T
	id, file string
}

// run plays one scenario in a subtest.
func (s *stage) run(name string, scenario func(p *play)) {
	s.t.Run(name, func(t *testing.T) {
		before := s.h.t
		s.h.t = t // failures belong to the scenario
		defer func() { s.h.t = before }()
		s.rpc.NewSession()
		s.h.Provider.Take()
		p := &play{stage: s, t: t, id: s.rpc.SessionID(), file: s.rpc.SessionFile()}
		s.rpc.Prompt("/watchdog timeout=86400")
		s.h.Provider.Enqueue(voidStopped)
		s.rpc.Turn(voidTask)
		p.wait("counting", func(v watchdog.View) bool { return v.Phase == watchdog.Counting })
		scenario(p)
	})
}

// ask opens a check that the model answers so.
func (p *play) ask(answers ...Reply) {
	p.t.Helper()
	p.h.Provider.Enqueue(answers...)
	p.steer(control.Nudge)
}

// steer does what a client of the hub can do.
func (p *play) steer(method string) {
	p.t.Helper()
	reply, err := p.client.Steer(context.Background(), method, control.SteerParams{Session: p.id})
	if err != nil || reply.Level == "error" {
		p.h.Fatalf("%s: %v %s", method, err, reply.Text)
	}
}

// view is what the hub says of the session.
func (p *play) view() (watchdog.View, bool) {
	p.t.Helper()
	sessions, err := p.client.Sessions(context.Background())
	if err != nil {
		p.h.Fatalf("sessions: %v", err)
	}
	i := slices.IndexFunc(sessions, func(s control.Session) bool { return s.ID == p.id })
	if i < 0 {
		return watchdog.View{}, false
	}
	return sessions[i].Watch, true
}

// wait blocks until the hub sees the session in a state.
func (p *play) wait(what string, match func(watchdog.View) bool) watchdog.View {
	p.t.Helper()
	var view watchdog.View
	var live bool
	if !poll(Timeout(), func() bool { view, live = p.view(); return live && match(view) }) {
		p.h.Fatalf("the watchdog is not %s within %v: live %v, %+v", what, Timeout(), live, view)
	}
	return view
}

// is matches a phase with a count.
func is(phase watchdog.Phase, count int) func(watchdog.View) bool {
	return func(v watchdog.View) bool { return v.Phase == phase && v.Count == count && v.Check == "" }
}

// said waits until a text of the model is in the session file.
func (p *play) said(text string) {
	p.t.Helper()
	p.h.WaitEntry(p.file, "that says "+text, func(e Record) bool { return IsRole("assistant")(e) && e.Text() == text })
}

// closed waits until the check has an outcome.
func (p *play) closed() {
	p.t.Helper()
	p.h.WaitEntry(p.file, "with the outcome", IsCustom(watchdog.RecordOutcome))
}

// end is how a scenario ends.
type end struct {
	outcome string // its one line
	phase   watchdog.Phase
	count   int
	checks  int // requests of the check
}

// over checks the end, after the user's message was said: see [end], and what
// holds for all scenarios.
func (p *play) over(want end) {
	p.t.Helper()
	p.said("It says: the note.")
	p.wait(string(want.phase), is(want.phase, want.count))
	p.rpc.Pass()
	p.rpc.Turn(voidThanks)
	p.wait(string(want.phase), is(want.phase, want.count))

	wantLines(p.t, "outcomes", outcomes(p.h, p.file), want.outcome)
	for _, e := range p.h.Entries(p.file) {
		if IsCustom(watchdog.MessageWork)(e) {
			p.t.Errorf("a work turn was started: %s", e)
		}
	}
	if n := p.count(voidSaid); n != 1 {
		p.t.Errorf("the user's message is in the session %d times", n)
	}
	if ran, _ := filepath.Glob(filepath.Join(p.h.Project, "ran")); len(ran) > 0 {
		p.t.Error("a tool ran in the check")
	}
	requests := p.h.Provider.Take()
	if want := 4 + want.checks; len(requests) != want {
		p.t.Fatalf("%d requests, want %d:\n%s", len(requests), want, roles(requests))
	}
	for i, request := range requests[1+want.checks:] {
		SameBytes(p.t, request.Body, p.control[1+i].Body)
	}
}

// count counts the rows of the user with a text.
func (p *play) count(text string) int {
	n := 0
	for _, e := range p.h.Entries(p.file) {
		if IsRole("user")(e) && e.Text() == text {
			n++
		}
	}
	return n
}

func roles(requests []*Request) string {
	var lines []string
	for _, r := range requests {
		lines = append(lines, r.Roles())
	}
	return strings.Join(lines, "\n")
}
