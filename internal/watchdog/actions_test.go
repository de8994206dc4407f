package watchdog

import (
	"fmt"
	"slices"
	"time"

	"piwatch/internal/pi"
)

// action is one thing that can happen in a world.
type action struct {
	name string
	in   alphabet
	can  func(*world) bool
	do   func(*world)
}

// alphabet is what an action belongs to.
type alphabet int

const (
	core alphabet = iota // few enough to go deep
	wide                 // all that can happen
)

func joined(w *world) bool { return w.pi.joined }

// canAbort: what is to be recorded is recorded before the agent's next step.
func canAbort(w *world) bool { return w.pi.running && !w.pi.compacting && !w.recording() }

// canSettle: a message that steers comes into the run before it can settle.
func canSettle(w *world) bool { return canAbort(w) && w.pi.steers == nobody }

func canDecide(w *world) bool {
	return canAbort(w) && w.pi.joined && !w.pi.ownEnd
}

// noSelfStop: nobody is so fast as to start or resume between a stop by the
// agent itself and the end of its turn.
func noSelfStop(w *world) bool { return w.pi.joined && w.pi.ownStop == "" }

func steer(ev Event) func(*world) { return func(w *world) { w.step(ev) } }

// actions is all that can happen.
var actions = []action{
	// Pi and its agent.
	{"run", wide, func(w *world) bool { return !w.pi.running && !w.pi.own && !w.pi.compacting }, func(w *world) { w.startRun(false) }},
	{"run own", core, func(w *world) bool { return w.pi.own && !w.pi.running && !w.pi.compacting }, func(w *world) { w.startRun(true) }},
	{"settle", core, canSettle, func(w *world) { w.settle(pi.StopStop) }},
	{"settle cut", wide, canSettle, func(w *world) { w.settle(pi.StopLength) }},
	{"settle aborted", core, func(w *world) bool { return canAbort(w) && !w.pi.ownEnd }, func(w *world) { w.settle(pi.StopAborted) }},
	{"turn ends", core, func(w *world) bool {
		return canAbort(w) && (w.pi.check != "" || w.pi.ownStop != "" || w.pi.steers != nobody)
	}, (*world).endTurn},
	{"decide continue", core, canDecide, func(w *world) { w.decide(Continue) }},
	{"decide done", core, canDecide, func(w *world) { w.decide(Done) }},
	{"decide wait_user", wide, canDecide, func(w *world) { w.decide(WaitUser) }},
	{"decide bad", wide, canDecide, func(w *world) { w.decide("bad") }},
	{"compaction on", wide, func(w *world) bool { return joined(w) && !w.pi.compacting && !w.pi.own }, func(w *world) {
		w.pi.compacting = true
		w.step(CompactionChanged{true})
	}},
	{"compaction off", wide, func(w *world) bool { return joined(w) && w.pi.compacting }, func(w *world) {
		w.pi.compacting = false
		w.pi.leaf++
		w.step(CompactionChanged{false})
	}},
	// The user at Pi's keyboard.
	{"key", core, joined, func(w *world) { w.step(Activity{Key: true, Draft: w.pi.draft}) }},
	{"draft on", core, func(w *world) bool { return joined(w) && !w.pi.draft }, func(w *world) {
		w.pi.draft = true
		w.step(Activity{Key: true, Draft: true})
	}},
	{"draft off", core, func(w *world) bool { return joined(w) && w.pi.draft }, func(w *world) {
		w.pi.draft = false
		w.step(Activity{Draft: false})
	}},
	{"dialog on", wide, func(w *world) bool { return joined(w) && !w.pi.dialog }, func(w *world) {
		w.pi.dialog = true
		w.step(DialogChanged{true})
	}},
	{"dialog off", wide, func(w *world) bool { return joined(w) && w.pi.dialog }, func(w *world) {
		w.pi.dialog = false
		w.step(DialogChanged{false})
	}},
	{"input human", core, func(w *world) bool { return w.pi.waits == nobody && w.pi.steers == nobody }, func(w *world) { w.speak(human) }},
	{"input extension", wide, func(w *world) bool { return w.pi.waits == nobody && w.pi.steers == nobody }, func(w *world) { w.speak(extension) }},
	// The channel.
	{"bridge acts", core, func(w *world) bool { return joined(w) && len(w.queue) > 0 && w.receipt == nil }, (*world).handle},
	{"receipt", core, func(w *world) bool { return joined(w) && w.receipt != nil }, func(w *world) {
		r := w.receipt
		w.receipt = nil
		w.step(r)
	}},
	{"left", core, joined, func(w *world) { w.lose(false) }},
	{"reload", wide, func(w *world) bool { return joined(w) && !w.pi.running && !w.pi.compacting }, func(w *world) { w.lose(true) }},
	{"joined", core, func(w *world) bool { return !w.pi.joined }, (*world).rejoin},
	// People.
	{"start", core, noSelfStop, steer(StartWatch{By: "tui", Settings: Settings{4, 2, Once, ""}})},
	{"start keep", wide, noSelfStop, steer(StartWatch{By: "pi", Settings: Settings{0, 2, Keep, ""}})},
	{"start env", wide, func(w *world) bool { return noSelfStop(w) && !w.e.on }, steer(StartWatch{By: ByEnv, Settings: Settings{4, 1, Once, ""}})},
	{"stop", core, joined, steer(StopWatch{"tui"})},
	{"pause", wide, joined, steer(PauseWatch{"tui", true})},
	{"resume", wide, noSelfStop, steer(PauseWatch{"tui", false})},
	{"nudge", core, joined, steer(NudgeNow{"tui"})},
	{"skip", wide, joined, steer(SkipCheck{"tui"})},
	{"extend", wide, joined, steer(ExtendCountdown{"tui", 30 * time.Second})},
	{"set", wide, joined, steer(ChangeSettings{"tui", Settings{4, 1, Keep, ""}})},
	// Time and other sessions.
	{"tick", core, func(w *world) bool { _, any := w.wake(); return any && joined(w) }, func(w *world) { w.tick(0) }},
	{"late tick", wide, func(w *world) bool { _, any := w.wake(); return any && joined(w) }, func(w *world) { w.tick(time.Hour) }},
	{"clock jump", wide, joined, func(w *world) {
		w.pass(w.now.Add(time.Hour))
		w.step(ClockJumped{})
	}},
	{"child runs", wide, func(w *world) bool { return joined(w) && w.spec.children == 0 }, steer(ChildrenChanged{1})},
	{"child ends", wide, func(w *world) bool { return joined(w) && w.spec.children > 0 }, steer(ChildrenChanged{0})},
}

// play makes things happen by their names.
func (w *world) play(names ...string) *world {
	for _, name := range names {
		i := slices.IndexFunc(actions, func(a action) bool { return a.name == name })
		if i < 0 || !actions[i].can(w) && w.fault == nil {
			panic(fmt.Sprintf("%q cannot happen", name))
		}
		if actions[i].can(w) { // a broken engine may not get there
			actions[i].do(w)
		}
	}
	return w
}

// flush lets the bridge do all that the hub wants.
func (w *world) flush() *world {
	for len(w.queue) > 0 || w.receipt != nil {
		if w.receipt != nil {
			w.play("receipt")
		} else {
			w.play("bridge acts")
		}
	}
	return w
}

// starts are the worlds that a walk begins with: the stations of a check.
func starts(f *fault) map[string]*world {
	talked := State{Settings: Defaults(), Human: true}
	resumed := State{Started: true, On: true, Settings: Settings{4, 2, Keep, ""}, Human: true, Count: 1, Instance: "i0"}
	counting := func(mode Mode) *world {
		return newWorld(f, talked).play("run", "settle").begin(Settings{4, 2, mode, ""}).flush()
	}
	checking := func(mode Mode) *world { return counting(mode).play("tick").flush().play("run own") }
	owed := func() *world { return checking(Once).play("decide continue", "turn ends") }
	cut := func() *world {
		return newWorld(f, talked).play("run", "settle cut").begin(Settings{4, 2, Once, ""}).flush()
	}
	rolling := newWorld(f, talked, func(p *piModel) { p.rollback = true }).play("run", "settle").begin(Settings{4, 2, Keep, ""}).flush()
	return map[string]*world{
		"a check runs that is rolled back":  rolling.play("tick").flush().play("run own"),
		"never watched, no message":         newWorld(f, State{Settings: Defaults()}),
		"started by hand before any run":    newWorld(f, talked).begin(Settings{4, 2, Once, ""}),
		"resumed in another process":        newWorld(f, resumed),
		"resumed where nobody types":        newWorld(f, resumed, func(p *piModel) { p.headless = true }),
		"counting":                          counting(Once),
		"a check is on its way":             counting(Keep).play("tick"),
		"a check runs, once":                checking(Once),
		"a check runs, keep":                checking(Keep),
		"answered continue":                 owed(),
		"a work message is on its way":      owed().play("settle"),
		"a work message is owed to a draft": owed().play("draft on", "settle"),
		"at work":                           owed().play("settle").flush().play("run own"),
		"suspended":                         checking(Keep).play("decide done", "turn ends", "settle"),
		"interrupted":                       counting(Once).play("run", "settle aborted"),
		"the answer was cut":                cut(),
		"sent on after a cut answer":        cut().play("tick").flush().play("run own"),
		"the last check runs":               checking(Once).play("turn ends", "settle", "tick").flush().play("run own"),
	}
}

func (w *world) begin(s Settings) *world {
	w.step(StartWatch{By: "tui", Settings: s})
	return w
}
