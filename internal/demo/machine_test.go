package demo_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"piwatch/internal/control"
	"piwatch/internal/demo"
	"piwatch/internal/hub"
	"piwatch/internal/watchdog"
)

// machine is the real hub, a stand-in, a client, and the rules that must hold
// of them whatever people, agent and fate do.
type machine struct {
	t interface {
		Helper()
		Fatalf(string, ...any)
		Errorf(string, ...any)
	}
	dir    string
	clock  *waits
	rules  *rules
	poked  chan struct{}
	relay  *relay // nil: no hub
	stop   func() error
	client *control.Client
	pi     *demo.Pi
	unpoke context.CancelFunc
	file   record
	answer func(demo.Request) demo.Answer
	fault  fault
	done   []string // what was done so far

	said    int
	waiting map[string]*speech // messages that are no rows yet
	seen    int                // events of this Pi
	begun   int
	// unlike: the file cannot say what the hub knows, until the user speaks again:
	// after the row of an extension, which looks like one of the user, and after a
	// message that never became a row.
	unlike  bool
	moved   string // by /tree, when nothing was written since the file had this size
	movedAt int64
	orphans map[string]bool // the checks that were open when a Pi was killed
	totals  map[string]int
}

// speech is a message that was submitted.
type speech struct {
	human   bool
	unheard bool // the hub began anew meanwhile
	crossed bool // the agent stopped the watchdog meanwhile
}

// fault damages what the parts of a machine say to each other.
type fault struct {
	wire    func(wire) []wire
	request func(*demo.Request)
	events  func([]demo.Event) []demo.Event
}

func newMachine(t *testing.T, answer func(demo.Request) demo.Answer, f fault) *machine {
	dir, err := os.MkdirTemp("", "demo")
	if err != nil {
		t.Fatal(err)
	}
	m := &machine{t: t, dir: dir, poked: make(chan struct{}, 1), answer: answer, fault: f, waiting: map[string]*speech{}, totals: map[string]int{}, orphans: map[string]bool{}}
	m.clock = newWaits(m.poke)
	m.rules = newRules(m.clock.Now)
	m.startHub()
	m.startPi(nil)
	m.file.path = m.pi.File()
	return m
}

func (m *machine) close() {
	err := m.pi.Close()
	m.unpoke()
	m.killHub()
	if err = errors.Join(err, os.RemoveAll(m.dir)); err != nil {
		m.t.Errorf("%v", err)
	}
}

func (m *machine) poke() {
	select {
	case m.poked <- struct{}{}:
	default:
	}
}

func (m *machine) history() string { return strings.Join(m.done, " → ") }

func (m *machine) doctored(events []demo.Event) []demo.Event {
	if m.fault.events == nil {
		return events
	}
	return m.fault.events(events)
}

func (m *machine) startHub() {
	if m.relay != nil {
		return
	}
	run := filepath.Join(m.dir, "run")
	ctx, cancel := context.WithCancel(context.Background())
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- hub.Run(ctx, hub.Options{Socket: filepath.Join(run, "hub.sock"), Version: "test", Ready: ready, Clock: m.clock, IdleExit: -1})
	}()
	select {
	case <-ready:
	case err := <-ended:
		m.t.Fatalf("hub: %v", err)
	}
	m.stop = func() error { cancel(); return <-ended }
	var err error
	if m.client, err = control.DialClient(context.Background(), filepath.Join(run, "hub.sock"), "test", "cli"); err != nil {
		m.t.Fatalf("client: %v", err)
	}
	if m.relay, err = listen(filepath.Join(run, "pi.sock"), filepath.Join(run, "hub.sock"), m.poke, m.rules.saw, m.fault.wire); err != nil {
		m.t.Fatalf("relay: %v", err)
	}
}

// killHub ends the hub; what is on its way to or from it is lost.
func (m *machine) killHub() {
	if m.relay == nil {
		return
	}
	m.relay.close()
	m.relay = nil
	if err := errors.Join(m.client.Close(), m.stop()); err != nil {
		m.t.Errorf("hub: %v", err)
	}
}

func (m *machine) startPi(before *demo.Pi) {
	p, err := demo.New(context.Background(), demo.Setup{
		Socket: filepath.Join(m.dir, "run", "pi.sock"), Sessions: m.dir, Cwd: "/p", Clock: m.clock, Resume: before,
		Script: func(r demo.Request) demo.Answer {
			if m.fault.request != nil {
				m.fault.request(&r)
			}
			m.file.request(r, m.rules.breach)
			return m.answer(r)
		},
	})
	if err != nil {
		m.t.Fatalf("%v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		_ = p.Wait(ctx, func(demo.State) bool { m.poke(); return false })
	}()
	m.pi, m.seen = p, 0
	m.unpoke = func() { cancel(); <-watched }
}

// endPi ends Pi, as the user does or by a kill, and resumes its session.
func (m *machine) endPi(end func(*demo.Pi) error) {
	check := m.pi.State().Facts.Check
	if err := end(m.pi); err != nil {
		m.t.Fatalf("%v", err)
	}
	m.heed()
	m.unpoke()
	clear(m.waiting)
	m.orphans[check] = true
	m.startPi(m.pi)
}

// speak submits a message of a person or of an extension.
func (m *machine) speak(human bool, submit func(text string)) {
	m.said++
	text := fmt.Sprintf("message %d", m.said)
	if draft := m.pi.State().Draft; submit == nil {
		text = draft
		submit = func(string) { m.pi.Enter() }
	}
	if strings.TrimSpace(text) == "" {
		return
	}
	m.waiting[text] = &speech{human: human}
	m.rules.speaks(human)
	submit(text)
}

// heed takes what became of the messages that were submitted.
func (m *machine) heed() {
	m.rules.mu.Lock()
	begun := m.rules.begun
	m.rules.mu.Unlock()
	if begun != m.begun {
		m.begun, m.unlike = begun, false
		for _, s := range m.waiting {
			s.unheard = true
		}
	}
	events := m.events()
	for _, e := range events[m.seen:] {
		m.totals[string(e.Kind)]++
		if e.Kind == demo.Closed {
			m.totals[fmt.Sprint(e.Outcome.End, " ", e.Outcome.Decision)]++
		}
		switch s := m.waiting[e.Text]; {
		case e.Kind == demo.Closed && e.Outcome.Check == "":
			for _, s := range m.waiting {
				s.crossed = true
			}
		case e.Kind == demo.Prompted && s != nil:
			m.unlike = !s.human || s.unheard || s.crossed
			delete(m.waiting, e.Text)
		}
	}
	m.seen = len(events)
	draft := m.pi.State().Draft
	for text := range m.waiting {
		if strings.Contains(draft, text) { // Pi put it back
			m.unlike = true
			delete(m.waiting, text)
		}
	}
}

// steer does what a person wants, in Pi or from a client.
func (m *machine) steer(inPi bool, method string, p control.SteerParams) {
	if m.relay == nil || !m.pi.State().Connected {
		return
	}
	settings, err := watchdog.Parse(p.Line)
	if method == control.Set {
		m.rules.mu.Lock()
		settings, err = m.rules.settings.With(p.Line)
		m.rules.mu.Unlock()
	}
	if err != nil {
		m.t.Fatalf("%v", err)
	}
	m.rules.person(method, settings)
	line := map[string]string{control.Start: p.Line, control.Set: "set " + p.Line, control.Extend: fmt.Sprint("extend ", p.Seconds)}[method]
	if line == "" {
		line = method
	}
	var reply control.CommandReply
	if inPi {
		reply, err = m.pi.Command(context.Background(), "/watchdog "+line)
	} else {
		p.Session, p.By = m.pi.Session(), "cli"
		reply, err = m.client.Steer(context.Background(), method, p)
	}
	if err != nil {
		m.t.Fatalf("%s: %v after %s", method, err, m.history())
	}
	m.totals[method+" "+reply.Level]++
	if method == control.Start || method == control.Resume {
		m.unlike = m.unlike && method == control.Resume
	}
	if method == control.Nudge && reply.Level == "info" {
		m.rules.asks()
	}
}

// advance lets time pass from timer to timer.
func (m *machine) advance(d time.Duration) {
	for end := m.clock.Now().Add(d); m.clock.Now().Before(end); m.quiet() {
		to := end
		if at, any := m.clock.next(); any && at.Before(end) {
			to = at
		}
		m.clock.Advance(to.Sub(m.clock.Now()))
	}
}

// toDeadline lets time pass to the end of the countdown, if there is one.
func (m *machine) toDeadline() {
	if m.relay == nil {
		return
	}
	sessions, err := m.client.Sessions(context.Background())
	if err != nil || len(sessions) == 0 || sessions[0].Watch.Deadline.IsZero() {
		return
	}
	m.clock.Advance(max(sessions[0].Watch.Deadline.Sub(m.clock.Now()), 0))
}

func (m *machine) tree(n int) {
	m.file.mu.Lock()
	var ids []string
	if m.file.read() {
		for e := range m.file.tree.All() {
			ids = append(ids, e.ID)
		}
	}
	size := m.file.size
	m.file.mu.Unlock()
	if len(ids) == 0 {
		return
	}
	id := ids[n%len(ids)]
	m.rules.moves()
	if m.pi.Tree(id) == nil {
		m.moved, m.movedAt = id, size
	}
}

// step does one thing, waits until all is quiet, and judges.
func (m *machine) step(name string, do func()) {
	m.t.Helper()
	m.done = append(m.done, name)
	do()
	m.quiet()
	m.heed()
	m.judge()
}

// TestMachine lets people, agent and fate do what they like, one after the
// other and sometimes at once.
func TestMachine(t *testing.T) {
	totals := map[string]int{}
	rapid.Check(t, func(rt *rapid.T) {
		m := newMachine(t, answers(rt), fault{})
		m.t, m.totals = rt, totals
		defer m.close()
		m.quiet()
		if rapid.SampledFrom([]bool{true, true, true, false}).Draw(rt, "watched from the beginning") {
			a := action(rt, m, "start")
			m.step(a.name, a.do)
			m.step("prompt", func() { m.speak(true, m.pi.Prompt) })
		}
		step := func(name string, do func()) {
			if len(m.done) >= longest {
				return
			}
			m.step(name, do)
			if len(m.rules.broken) > 0 {
				rt.Fatalf("broken: %s\nafter %s\n%s", strings.Join(m.rules.broken, "\n"), m.history(), m.rules.said())
			}
		}
		actions := map[string]func(*rapid.T){
			"at once": func(rt *rapid.T) {
				first, second := drawAct(rt, m, "first", triggers), drawAct(rt, m, "second", slices.Concat(words, keys, fate))
				step("at once: "+first.name+" + "+second.name, func() { first.do(); second.do() })
			},
		}
		for name, of := range kindsOfActs {
			actions[name] = func(rt *rapid.T) {
				one := drawAct(rt, m, name, of)
				step(one.name, one.do)
			}
		}
		rt.Repeat(actions)
		totals["histories"]++
		totals["actions"] += len(m.done)
	})
	t.Log(totals)
	if totals["histories"] < 100 {
		return
	}
	for _, kind := range []demo.Kind{demo.Asked, demo.Worked, demo.Closed, demo.Blocked, demo.ToolRan, demo.Interrupt, demo.Gone} {
		if totals[string(kind)] == 0 {
			t.Errorf("no history has an event %q: %v", kind, totals)
		}
	}
}
