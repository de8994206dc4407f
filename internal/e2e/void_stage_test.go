package e2e

import (
	"context"
	"errors"
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
import { existsSync, rmSync } from "node:fs";
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

export default function hold(pi: ExtensionAPI): void {
	const on = pi.on.bind(pi) as (event: string, handler: (event: any, ctx: any) => unknown) => void;
	let armed = "";
	// A file lets it go: Pi 1.6.0 takes no command while agent_settled is handled (measured).
	const release = process.env.HOME + "/release";
	on("session_start", (_event, ctx) => ctx.ui.setStatus("hold", undefined));
	for (const name of ["turn_end", "agent_end", "agent_before_settle", "agent_settled"]) {
		on(name, async (_event, ctx) => {
			if (armed !== name) return;
			armed = "";
			ctx.ui.setStatus("hold", name);
			while (!existsSync(release)) await new Promise((resolve) => setTimeout(resolve, 5));
			rmSync(release);
			ctx.ui.setStatus("hold", undefined);
		});
	}
	pi.registerCommand("hold", { description: "hold the next event of a name", handler: async (args) => void (armed = args.trim()) });
	pi.registerCommand("interject", {
		description: "steer with a message of this extension",
		handler: async (args) => pi.sendUserMessage(args, { deliverAs: "steer" }),
	});
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

// swallowSource is an extension that takes messages for itself. Loaded after the
// bridge, which has heard of them by then.
const swallowSource = `
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

export default function swallow(pi: ExtensionAPI): void {
	pi.on("input", (event) => (event.text.startsWith("swallow") ? { action: "handled" } : undefined));
}
`

// stage is a home with a hub, a wire, one Pi, and what the control session
// sent: a Pi plays one scenario after the other, each in a new session.
type stage struct {
	all     *testing.T // as long as the stage stands
	t       *testing.T // the scenarios that are played now
	h       *Home
	wire    *wire
	client  *control.Client
	rpc     *RPC
	control []*Request // task, the user's message, its tool round, thanks
}

func newStage(t *testing.T, pi *Pi, options HomeOptions) *stage {
	t.Helper()
	s := bareStage(t, pi, options)
	startHub(t, s.h)
	s.wire = newWire(t, s.h)
	s.client = dialHub(t, s.h)
	s.start()
	s.playControl()
	return s
}

func bareStage(t *testing.T, pi *Pi, options HomeOptions) *stage {
	t.Helper()
	s := &stage{all: t, t: t, h: NewHome(t, pi, options)}
	s.h.WriteFile("note.txt", "the note")
	s.h.WriteFile(s.holdFile(), holdSource)
	return s
}

func (s *stage) holdFile() string { return filepath.Join(s.h.Dir, "hold.ts") }

// start starts the stage's Pi.
func (s *stage) start(args ...string) {
	s.all.Helper()
	before := s.h.t
	s.h.t = s.all // it outlives a scenario
	defer func() { s.h.t = before }()
	s.rpc = s.h.StartRPC(Launch{
		Extensions: []string{s.holdFile(), bridgeFile(s.all), s.h.WriteFile(filepath.Join(s.h.Dir, "swallow.ts"), swallowSource)},
		Env:        []string{s.wire.env()}, Args: args,
	})
}

// playControl plays the session that has no check.
func (s *stage) playControl() {
	s.t.Helper()
	s.rpc.Prompt("/watchdog timeout=86400")
	s.h.Provider.Enqueue(voidStopped)
	s.h.Provider.Enqueue(voidAnswers...)
	for _, text := range []string{voidTask, voidSaid, voidThanks} {
		s.rpc.Turn(text)
	}
	if s.control = s.h.Provider.Take(); len(s.control) != 4 {
		s.h.Fatalf("the control session made %d requests, want 4", len(s.control))
	}
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

// group plays a group of scenarios in a subtest.
func (s *stage) group(name string, scenarios func(*stage)) {
	outer := s.t
	defer func() { s.t = outer }()
	if !outer.Run(name, func(t *testing.T) {
		s.t = t
		scenarios(s)
	}) {
		outer.FailNow()
	}
}

// run plays one scenario in a subtest.
func (s *stage) run(name string, scenario func(p *play)) {
	s.t.Helper()
	ok := s.t.Run(name, func(t *testing.T) {
		before := s.h.t
		s.h.t = t // failures belong to the scenario
		defer func() { s.h.t = before }()
		s.rpc.NewSession()
		s.h.Provider.Take()
		p := &play{stage: s, t: t, id: s.rpc.SessionID(), file: s.rpc.SessionFile()}
		s.rpc.Prompt("/watchdog timeout=86400")
		s.h.Provider.Enqueue(voidStopped)
		p.turn(voidTask)
		scenario(p)
	})
	if !ok {
		s.t.FailNow() // what it left behind would fail the next ones
	}
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
	p.begin(method, "")()
}

// begin is steer up to the moment when the hub has the request, whose answer may
// wait for the bridge; the result waits for it.
func (p *play) begin(method, line string) (wait func()) {
	answer := make(chan error, 1)
	go func() {
		reply, err := p.client.Steer(context.Background(), method, control.SteerParams{Session: p.id, Line: line})
		if err == nil && reply.Level == "error" {
			err = errors.New(reply.Text)
		}
		answer <- err
	}()
	return func() {
		p.t.Helper()
		if err := <-answer; err != nil {
			p.h.Fatalf("%s: %v", method, err)
		}
	}
}

// session is what the hub says of the session.
func (p *play) session() (session control.Session, live bool) {
	p.t.Helper()
	sessions, err := p.client.Sessions(context.Background())
	if err != nil {
		p.h.Fatalf("sessions: %v", err)
	}
	i := slices.IndexFunc(sessions, func(s control.Session) bool { return s.ID == p.id })
	if i < 0 {
		return control.Session{}, false
	}
	return sessions[i], true
}

// turn is a turn of the user's, up to the countdown after it.
func (p *play) turn(text string) {
	p.t.Helper()
	before, _ := p.session()
	p.rpc.Prompt(text)
	if !poll(Timeout(), func() bool {
		now, _ := p.session()
		return now.Facts.Settle > before.Facts.Settle && now.Watch.Phase == watchdog.Counting
	}) {
		p.h.Fatalf("no countdown after %q within %v", text, Timeout())
	}
}

// wait blocks until the hub sees the session in a state.
func (p *play) wait(what string, match func(watchdog.View) bool) {
	p.t.Helper()
	var now control.Session
	var live bool
	if !poll(Timeout(), func() bool { now, live = p.session(); return live && match(now.Watch) }) {
		p.h.Fatalf("the watchdog is not %s within %v: live %v, %+v", what, Timeout(), live, now.Watch)
	}
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

// idle waits until Pi is.
func (p *play) idle() {
	p.t.Helper()
	if !poll(Timeout(), func() bool { return !p.rpc.State().Bool("isStreaming") }) {
		p.h.Fatalf("Pi is not idle within %v", Timeout())
	}
}

// tell gives the user's message to a Pi that is idle.
func (p *play) tell() {
	p.t.Helper()
	p.h.Provider.Enqueue(voidAnswers...)
	p.rpc.Prompt(voidSaid)
}

// end is how a scenario ends.
type end struct {
	outcome string // its one line, if any; with a * at its end, what it begins with
	phase   watchdog.Phase
	count   int
	checks  int // requests of the check
}

// over checks the end, after the user's message was said: see [end], and what
// holds for all scenarios.
func (p *play) over(want end) {
	p.t.Helper()
	requests := p.ended(want)
	for i, request := range requests[1+want.checks:] {
		SameBytes(p.t, request.Body, p.control[1+i].Body)
	}
}

// strayed is [play.over] where Pi itself asked the model once more: what it said
// then stays in the context, the check does not.
func (p *play) strayed(want end) {
	p.t.Helper()
	want.checks++
	requests := p.ended(want)
	for i, request := range requests[1+want.checks:] {
		if got, want := request.Roles(), strings.Replace(p.control[1+i].Roles(), "assistant", "assistant assistant", 1); got != want {
			p.t.Errorf("roles %q, want %q", got, want)
		}
		if request.Contains(watchdog.CheckText) || request.Contains(watchdog.ToolName) {
			p.t.Errorf("the check is in the context: %s", request)
		}
	}
}

// ended checks all of the end but what the requests hold, and returns them.
func (p *play) ended(want end) []*Request {
	p.t.Helper()
	p.said("It says: the note.")
	p.idle()
	p.rpc.Prompt(voidThanks)
	p.said("You are welcome.")
	p.idle()
	p.wait(string(want.phase), is(want.phase, want.count))

	got := outcomes(p.h, p.file)
	if begin, cut := strings.CutSuffix(want.outcome, "*"); cut && len(got) == 1 && strings.HasPrefix(got[0], begin) {
		got[0] = want.outcome
	}
	if want.outcome != "" || len(got) > 0 {
		wantLines(p.t, "outcomes", got, want.outcome)
	}
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
		p.t.Fatalf("%d requests, want %d:\n%s", len(requests), want, rolesOf(requests))
	}
	return requests
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
