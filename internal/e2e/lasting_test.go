package e2e

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"piwatch/internal/control"
	"piwatch/internal/watchdog"
)

// Folds last: these tests take a session with checks through all that Pi can
// do to a session, and compare what goes to the provider with a session that
// went the same way and never had a check.

// wanderSource is an extension whose commands do what else only a person can do
// in Pi's terminal.
const wanderSource = `
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

export default function wander(pi: ExtensionAPI): void {
	pi.registerCommand("again", { description: "reload", handler: async (_args, ctx) => ctx.reload() });
	for (const [name, summarize] of [["go", false], ["leave", true]] as const) {
		pi.registerCommand(name, {
			description: "navigate to the first entry with a text",
			handler: async (args, ctx) => {
				const at = ctx.sessionManager.getEntries().find((e: any) => JSON.stringify(e).includes(args));
				const done = await ctx.navigateTree(at!.id, { summarize });
				ctx.ui.notify(name + (done.cancelled ? " cancelled" : " done"), "info");
			},
		});
	}
}
`

// What is said in each session.
var (
	whole  = Text("The rest is done too.")
	final  = Text("The parser and its tests are finished.")
	tidied = Text("It is tidy.")
)

// checkedPast is a session with a check that was answered continue, a stop by
// the agent itself, and a check that was answered done.
func (s *theatre) checkedPast() {
	s.t.Helper()
	s.rpc.arm()
	s.h.Provider.Enqueue(half)
	s.turn(task)
	s.h.Provider.Enqueue(decide(Reply{}, watchdog.Continue, "more"), whole)
	s.ask("0/50", 2)
	s.h.Provider.Enqueue(decide(final, watchdog.Done, "all"))
	s.turn("is it finished?")
	s.rpc.Prompt("/watchdog timeout=86400")
	s.h.Provider.Enqueue(tidied)
	s.turn("tidy up")
	s.h.Provider.Enqueue(decide(Thinking("it is"), watchdog.Done, "tidy"))
	s.ask("0/50", 1)
}

// plainPast is the same session without checks.
func (s *theatre) plainPast() {
	s.t.Helper()
	s.h.Provider.Enqueue(half, whole, final, tidied)
	s.turn(task)
	s.rpc.Pass()
	s.rpc.say(watchdog.WorkText)
	s.turn("is it finished?")
	s.turn("tidy up")
}

// armedPast is the same session, which has the tool and no check.
func (s *theatre) armedPast() {
	s.rpc.arm()
	s.plainPast()
}

// past is a session with checks, or without.
var past = map[bool]func(*theatre){true: (*theatre).checkedPast, false: (*theatre).plainPast}

// TestRestart: a session goes on in another Pi, with the bridge, without it and
// with it again.
func TestRestart(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		h := NewHome(t, pi, HomeOptions{Reasoning: true})
		startHub(t, h)
		s := &theatre{t: t, h: h}
		steps := []string{"continued", "without piwatch", "with it again"}
		var requests [2][]*Request
		for i, past := range []func(*theatre){(*theatre).checkedPast, (*theatre).armedPast} {
			s.start(true)
			past(s)
			for n, step := range steps {
				s.restart(n != 1)
				requests[i] = append(requests[i], s.next(step))
			}
			s.rpc.Close()
		}
		for n, step := range steps {
			t.Run(step, func(t *testing.T) { SameBytes(t, requests[0][n].Body, requests[1][n].Body) })
			if got := slices.Contains(requests[0][n].Tools(), watchdog.ToolName); got != (n != 1) {
				t.Errorf("%s: the request has the tool: %v", step, got)
			}
		}

		// A session that never knew piwatch: what is left of it is a note of Pi
		// 1.6.0 that a tool went away, and nothing on Pi 0.81.1.
		s.start(false)
		s.plainPast()
		s.restart(false)
		s.next(steps[0])
		s.restart(false)
		never := s.next(steps[1])
		s.rpc.Close()
		if !pi.Modern() {
			SameBytes(t, requests[0][1].Body, never.Body)
		}
		wantLines(t, "messages without piwatch", said(requests[0][1]), said(never)...)
	})
}

// said are the messages of a request, those of the system left out.
func said(r *Request) []string {
	var lines []string
	for _, m := range r.Messages() {
		if m.Role != "system" && m.Role != "developer" {
			lines = append(lines, m.Role+": "+m.Text)
		}
	}
	return lines
}

// TestMoves: the session is cloned, forked, left and taken up again, reloaded,
// and its tree is walked, into the exchanges too.
func TestMoves(t *testing.T) {
	entry := func(s *theatre, file, role, text string) string {
		return s.h.WaitEntry(file, "that says "+text, func(e Record) bool { return IsRole(role)(e) && e.Text() == text }).Str("id")
	}
	moves := []struct {
		name string
		move func(s *theatre, file string, checked bool)
	}{
		{"clone", func(s *theatre, _ string, _ bool) { s.rpc.Clone() }},
		{"back from the clone", func(s *theatre, file string, _ bool) { s.rpc.SwitchSession(file) }},
		{"fork", func(s *theatre, file string, _ bool) { s.rpc.Fork(entry(s, file, "user", "tidy up")) }},
		{"fork of the fork", func(s *theatre, _ string, _ bool) {
			s.rpc.Fork(entry(s, s.rpc.SessionFile(), "user", "is it finished?"))
		}},
		{"back from the forks", func(s *theatre, file string, _ bool) { s.rpc.SwitchSession(file) }},
		{"reload", func(s *theatre, _ string, _ bool) { s.rpc.Prompt("/again") }},
		{"before the check", goTo("Half of it is done.", "Half of it is done.")},
		{"to the check's record", goTo(`"customType":"piwatch.check"`, "Half of it is done.")},
		{"to the check message", goTo(`"customType":"piwatch.ask"`, "Half of it is done.")},
		{"into the check", goTo(`"decision":"continue"`, "Half of it is done.")},
		{"to the answer", goTo(watchdog.AnswerContinue, "Half of it is done.")},
		{"after the check", goTo("The rest is done too.", "The rest is done too.")},
		{"to the stop by the agent itself", goTo(watchdog.AnswerStop, "The parser and its tests are finished.")},
		{"after the stop", goTo("It is tidy.", "It is tidy.")},
		{"a restart there", func(s *theatre, _ string, _ bool) { s.restart(true) }},
		{"to the answer after the restart", goTo(watchdog.AnswerContinue, "Half of it is done.")},
		{"a restart at the answer", func(s *theatre, _ string, _ bool) { s.restart(true) }},
	}
	EachPi(t, func(t *testing.T, pi *Pi) {
		h := NewHome(t, pi, HomeOptions{Reasoning: true})
		startHub(t, h)
		s := &theatre{t: t, h: h}
		var requests [2][]*Request
		for i, past := range []func(*theatre){(*theatre).checkedPast, (*theatre).armedPast} {
			s.start(true)
			past(s)
			file := s.rpc.SessionFile()
			for _, m := range moves {
				m.move(s, file, i == 0)
				requests[i] = append(requests[i], s.next(m.name))
			}
			s.rpc.NewSession()
			fresh := s.next("a new session")
			if slices.Contains(fresh.Tools(), watchdog.ToolName) {
				t.Errorf("a new session has the tool: %v", fresh.Tools())
			}
			s.rpc.Close()
		}
		for n, m := range moves {
			t.Run(m.name, func(t *testing.T) { SameBytes(t, requests[0][n].Body, requests[1][n].Body) })
		}
	})
}

// goTo navigates to the first entry with a text, and in the session without
// checks to the one that is left of it there.
func goTo(checked, plain string) func(*theatre, string, bool) {
	return func(s *theatre, _ string, isChecked bool) {
		s.t.Helper()
		text := plain
		if isChecked {
			text = checked
		}
		s.rpc.Prompt("/go " + text)
		if !strings.Contains(s.rpc.Notifications()[len(s.rpc.Notifications())-1].Text, "go done") {
			s.t.Errorf("the tree did not move to %s", text)
		}
	}
}

// TestUnfoldLasts: a fold that was undone stays undone in the next Pi, and one
// that was done again is left out of summaries too.
func TestUnfoldLasts(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		h := NewHome(t, pi, HomeOptions{Reasoning: true})
		startHub(t, h)
		s := &theatre{t: t, h: h}
		s.start(true)
		s.budget(1)
		s.rpc.arm()
		s.h.Provider.Enqueue(half)
		s.turn(task)
		s.h.Provider.Enqueue(decide(Reply{}, watchdog.Done, "all"))
		s.ask("0/50", 1)
		check := h.WaitEntry(s.rpc.SessionFile(), "of the check", IsCustom(watchdog.RecordCheck)).Str("data.id")
		byHand := func(method string) {
			t.Helper()
			reply := steer(t, h, method, control.SteerParams{Session: s.rpc.SessionID(), Check: check})
			if reply.Level != "info" {
				t.Fatalf("%s: %s", method, reply.Text)
			}
		}
		plain := []string{"user: do all of it", "assistant: Half of it is done.",
			"user: one", "assistant: You are welcome.", "user: two", "assistant: You are welcome.", "user: three"}
		byHand(control.Unfold)
		s.restart(true)
		wantLines(t, "unfolded", said(s.next("one")),
			"user: do all of it", "assistant: Half of it is done.", "user: "+watchdog.CheckText, "assistant: ", "tool: "+watchdog.AnswerStop, "user: one")
		byHand(control.Fold)
		wantLines(t, "folded again", said(s.next("two")), plain[:5]...)
		s.restart(true)
		wantLines(t, "folded again, in the next Pi", said(s.next("three")), plain...)
		leave := func() { s.rpc.Prompt("/leave do all of it") }
		for _, summary := range append(s.compact(), s.summary(leave)...) {
			if summary.Contains("watchdog") {
				t.Errorf("the summary is asked for with the check: %s", summary)
			}
		}
		s.rpc.Close()
	})
}

// TestRecordsLast: what was set while a check was open holds in the next Pi.
func TestRecordsLast(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		s := newTheatre(t, pi, HomeOptions{})
		gate := s.h.Provider.NewGate("the answer to the check")
		s.session(half)
		s.turn(task)
		s.h.Provider.Enqueue(decide(Reply{}.Gate(gate), watchdog.Continue, "more"), whole)
		s.nudge("0/50")
		gate.WaitReached()
		steer(t, s.h, control.Set, control.SteerParams{Session: s.rpc.SessionID(), Line: "max=7"})
		gate.Release()
		s.rpc.WaitSettled()
		s.rpc.WaitSettled()
		s.restart(true)
		s.rpc.WaitStatus("piwatch", "the setting", func(text string) bool { return strings.HasSuffix(text, "/7") })
		s.rpc.Close()
	})
}

// budget sets how many tokens a compaction keeps.
func (s *theatre) budget(keep int) {
	s.t.Helper()
	s.h.options.Settings = map[string]any{"compaction": map[string]any{"enabled": true, "reserveTokens": 16384, "keepRecentTokens": keep}}
	s.h.writeSettings()
	s.rpc.Prompt("/again")
}

// compact compacts the session and returns the requests for it.
func (s *theatre) compact() []*Request {
	s.t.Helper()
	return s.summary(func() { s.rpc.Compact() })
}

// summary returns the requests of something that asks for summaries alone.
func (s *theatre) summary(do func()) []*Request {
	s.t.Helper()
	s.h.Provider.Take()
	s.h.Provider.Handle(func(*Request) Reply { return Text("It was half done, then done.") })
	do()
	s.h.Provider.Handle(nil)
	got := s.h.Provider.Take()
	if len(got) == 0 {
		s.h.Fatalf("no summary was asked for")
	}
	return got
}

// compared plays the same in a session with checks and in one that never knew
// piwatch, and compares what goes to the provider in it, the tool aside.
func compared(t *testing.T, pi *Pi, names []string, play func(s *theatre, name string, checked bool) []*Request) {
	t.Helper()
	h := NewHome(t, pi, HomeOptions{Reasoning: true})
	startHub(t, h)
	s := &theatre{t: t, h: h}
	requests := map[bool]map[string][]*Request{true: {}, false: {}}
	for _, checked := range []bool{true, false} {
		s.start(checked)
		for _, name := range names {
			requests[checked][name] = play(s, name, checked)
		}
		s.rpc.Close()
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			got, want := requests[true][name], requests[false][name]
			if len(got) != len(want) {
				t.Fatalf("%d requests, and %d without checks:\n%s\n%s", len(got), len(want), rolesOf(got), rolesOf(want))
			}
			for i := range got {
				SameBytes(t, withoutTool(t, got[i]), want[i].Body)
			}
		})
	}
}

// TestCompact: wherever the cut falls, what is summarised and what is kept is
// the same as without checks; so it is the second time.
func TestCompact(t *testing.T) {
	// The budgets put the cut at each row in turn, from the last one back.
	budgets := []string{"1", "4", "8", "16", "20", "60", "70"}
	EachPi(t, func(t *testing.T, pi *Pi) {
		compared(t, pi, budgets, func(s *theatre, budget string, checked bool) []*Request {
			keep, err := strconv.Atoi(budget)
			if err != nil {
				s.t.Fatal(err)
			}
			s.budget(keep)
			s.rpc.NewSession()
			past[checked](s)
			all := s.compact()
			all = append(all, s.next(strings.Repeat("and now? ", 50))) // more than any budget
			all = append(all, s.compact()...)
			return append(all, s.next("what else?"))
		})
	})
}

// TestLeave: the branch that is left by /tree is summarised without its checks.
func TestLeave(t *testing.T) {
	targets := map[string][2]string{ // by what they are: with checks, without
		"to the beginning": {task, task},
		"before the check": {"Half of it is done.", "Half of it is done."},
		"into the check":   {watchdog.AnswerContinue, "Half of it is done."},
		"after the check":  {"The rest is done too.", "The rest is done too."},
	}
	EachPi(t, func(t *testing.T, pi *Pi) {
		targets := maps.Clone(targets)
		if pi.Modern() { // on Pi 0.81.1 the row with the call is not on the branch that is left
			targets["into the stop"] = [2]string{watchdog.AnswerStop, "The parser and its tests are finished."}
		}
		compared(t, pi, slices.Sorted(maps.Keys(targets)), func(s *theatre, name string, checked bool) []*Request {
			s.rpc.NewSession()
			past[checked](s)
			target := targets[name][1]
			if checked {
				target = targets[name][0]
			}
			all := s.summary(func() { s.rpc.Prompt("/leave " + target) })
			return append(all, s.next("and now?"))
		})
	})
}

// TestCompactByItself: Pi compacts after a turn, since the context is nearly
// full. Pi 0.81.1 does so too when the answer to a check says it is; to Pi 1.6.0
// a folded row says nothing.
func TestCompactByItself(t *testing.T) {
	full := Usage{Input: 120_000, Output: 10}
	scenes := []struct {
		name   string
		turn   Reply
		answer Reply // to the check
		work   bool
	}{
		{"after a turn", half.Usage(full), decide(Reply{}, watchdog.Continue, "more"), true},
		{"after a check, then work", half, decide(Reply{}, watchdog.Continue, "more").Usage(full), true},
		{"after a check, then nothing", half, decide(Reply{}, watchdog.Done, "all").Usage(full), false},
	}
	var names []string
	for _, scene := range scenes {
		names = append(names, scene.name)
	}
	EachPi(t, func(t *testing.T, pi *Pi) {
		compared(t, pi, names, func(s *theatre, name string, checked bool) []*Request {
			scene := scenes[slices.Index(names, name)]
			byCheck := scene.answer.usage != nil
			s.budget(4)
			s.rpc.NewSession()
			if checked {
				s.rpc.arm()
			}
			s.next("look around")
			s.h.Provider.Handle(func(r *Request) Reply {
				switch r.Last().Text {
				case task:
					return scene.turn
				case watchdog.CheckText:
					return scene.answer
				case watchdog.WorkText:
					return whole
				}
				return Text("It was looked around.")
			})
			runs := map[bool]int{false: 1, true: 2}[scene.work]
			s.turn(task)
			switch {
			case checked:
				s.ask("0/50", runs)
			case byCheck && !pi.Modern():
				s.rpc.Compact()
			}
			if !checked && scene.work {
				s.rpc.Pass()
				s.rpc.say(watchdog.WorkText)
			}
			s.h.Provider.Handle(nil)
			all := slices.DeleteFunc(s.h.Provider.Take(), func(r *Request) bool { return r.Last().Text == watchdog.CheckText })
			compacted := slices.ContainsFunc(all, func(r *Request) bool { return len(r.Tools()) == 0 })
			if want := !byCheck || !pi.Modern(); compacted != want {
				s.t.Errorf("%s: a summary was asked for: %v, want %v:\n%s", name, compacted, want, rolesOf(all))
			}
			return append(all, s.next("and now?"))
		})
	})
}

// TestSummaryStopsTheCountdown: nothing is sent while Pi asks for a summary,
// whatever time passes, and the countdown begins anew when it has it, or not.
func TestSummaryStopsTheCountdown(t *testing.T) {
	scenes := []struct {
		name    string
		command string
		fields  map[string]any
		fails   bool
	}{
		{"of a branch", "prompt", map[string]any{"message": "/leave Half of it is done."}, false},
		{"of a branch, which fails", "prompt", map[string]any{"message": "/leave Half of it is done."}, true},
		{"by compact", "compact", nil, false},
		{"by compact, which fails", "compact", nil, true},
	}
	EachPi(t, func(t *testing.T, pi *Pi) {
		h := NewHome(t, pi, HomeOptions{Settings: map[string]any{
			"compaction": map[string]any{"enabled": true, "reserveTokens": 16384, "keepRecentTokens": 10},
			"retry":      map[string]any{"enabled": false},
		}})
		clock := newHubClock()
		startHubAt(t, h, clock)
		s := &theatre{t: t, h: h}
		s.start(true)
		for _, scene := range scenes {
			if scene.fails && !pi.Modern() {
				continue // Pi 0.81.1 does not tell of it, and says that it is idle all the while
			}
			s.scene(scene.name, func(s *theatre) {
				s.session(half, whole)
				s.rpc.Prompt("/watchdog timeout=30")
				s.turn(task)
				s.turn("is it finished?")
				s.shows("⏱30s 0/50")
				s.h.Provider.Take()

				gate := s.h.Provider.NewGate(scene.name)
				answer := Reply{}.Gate(gate).Text("It was half done.")
				if scene.fails {
					answer = answer.Early()
				}
				s.h.Provider.Enqueue(answer)
				summary := s.rpc.Start(scene.command, scene.fields)
				gate.WaitReached()
				s.shows("⏱▶ 0/50")
				clock.Advance(31 * time.Second)
				s.h.Provider.Enqueue(decide(Reply{}, watchdog.Done, "all"))
				gate.Release()
				summary.Wait()
				s.shows("⏱30s 0/50")
				clock.Advance(29 * time.Second)
				s.shows("⏱1s 0/50")
				wantCount(s.t, s.h.Provider.Requests(), 1)
				clock.Advance(time.Second)
				s.shows("")
				wantCount(s.t, s.h.Provider.Requests(), 2)
			})
		}
	})
}
