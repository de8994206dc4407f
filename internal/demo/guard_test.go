package demo_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"piwatch/internal/demo"
	"piwatch/internal/guard"
	"piwatch/internal/pi"
)

// silence is a model that thinks and says nothing, except where the script
// holds an answer for a request.
func silence(speaks map[int]demo.Answer) demo.Script {
	return func(r demo.Request) demo.Answer {
		if a, ok := speaks[r.N]; ok {
			return a
		}
		return demo.Think("hm")
	}
}

// shown are the lines that the hub showed in Pi.
func (h *house) shown() []string {
	ctx, done := cancelled(h.t)
	defer done()
	var lines []string
	for e := range h.pi.Events(ctx) {
		if e.Kind == demo.Shown {
			lines = append(lines, e.Text)
		}
	}
	return lines
}

func (h *house) guard(word, want string) {
	h.t.Helper()
	reply, err := h.pi.Command(h.t.Context(), "/guard "+word)
	if err != nil || !strings.Contains(reply.Text, want) {
		h.t.Fatalf("/guard %s: %+v, %v; want %q", word, reply, err, want)
	}
}

func TestGuard(t *testing.T) {
	h := newHouse(t, demo.Setup{Sessions: t.TempDir(), Script: silence(map[int]demo.Answer{5: demo.Say("There is more to do.")})})
	h.pi.Prompt("go")
	settled(t, h.pi, 1)
	h.sync()
	same(t, "requests and continuations", []int{len(h.pi.Requests()), h.count(demo.Urged)}, []int{4, 3})
	if lines := h.shown(); len(lines) != 1 || !strings.Contains(lines[0], "4 times in a row") {
		t.Errorf("shown %q", lines)
	}
	h.guard("status", "Breaker: tripped")

	// It all happened in one run, and the records are in the file.
	got := strings.Join(kinds(t, h.pi.File()), " ")
	if want := strings.Repeat(guard.Type+" "+guard.Type+" assistant ", 3) + guard.Type; !strings.HasSuffix(got, "user assistant "+want) {
		t.Errorf("the file holds %s", got)
	}
	last := h.pi.Requests()[3].Messages
	if text := string(last[len(last)-1].Content); last[len(last)-1].Role != pi.RoleUser || !strings.Contains(text, "Take the next action now") {
		t.Errorf("the last request ends with %s", text)
	}

	// The user speaks: all begins anew, and a word ends a row.
	h.pi.Prompt("and now?")
	settled(t, h.pi, 2)
	h.guard("status", "0 of 10, in a row: 0 of 3")
	h.pi.Prompt("and now?")
	settled(t, h.pi, 3)
	same(t, "requests and continuations", []int{len(h.pi.Requests()), h.count(demo.Urged)}, []int{9, 6})
	h.guard("reset", "Guard reset")
	h.guard("off", "Guard turned off")
	h.pi.Prompt("and now?")
	settled(t, h.pi, 4)
	same(t, "requests and continuations", []int{len(h.pi.Requests()), h.count(demo.Urged)}, []int{10, 6})
	h.guard("on", "Guard turned on")
	h.guard("nonsense", "the words are status, on, off and reset")
}

// The death of the hub resets nothing.
func TestGuardSurvivesTheHub(t *testing.T) {
	h := newHouse(t, demo.Setup{Sessions: t.TempDir(), Script: silence(nil)})
	h.pi.Prompt("go")
	settled(t, h.pi, 1)
	h.restartHub()
	h.guard("status", "3 of 10, in a row: 3 of 3. Breaker: tripped")
	if err := h.pi.Reload(); err != nil {
		t.Fatal(err)
	}
	wait(t, h.pi, "connected", func(s demo.State) bool { return s.Connected })
	h.guard("status", "3 of 10, in a row: 3 of 3. Breaker: tripped")
	h.pi.PromptFrom("extension", "a subagent is done")
	settled(t, h.pi, 1) // of this load
	h.guard("status", "3 of 10, in a row: 3 of 3 (the last: thinking only). Breaker: tripped")
	same(t, "continuations", h.count(demo.Urged), 3)
}

// Where somebody is about to speak, or has stopped it, nothing is sent.
func TestGuardKeepsStill(t *testing.T) {
	quiet := func(hold demo.Moment) demo.Script {
		return func(demo.Request) demo.Answer { return demo.Answer{Thinking: "hm", Hold: hold} }
	}
	for name, c := range map[string]struct {
		script demo.Script
		act    func(*demo.Pi)
		hold   demo.Moment
	}{
		"a draft":      {quiet(demo.InText), func(p *demo.Pi) { p.Type("half a sen") }, demo.InText},
		"a dialog":     {quiet(demo.InText), (*demo.Pi).OpenDialog, demo.InText},
		"Esc":          {quiet(demo.InThinking), (*demo.Pi).Esc, demo.InThinking},
		"an error":     {func(demo.Request) demo.Answer { return demo.Fail("502") }, nil, demo.NoMoment},
		"a cut answer": {func(demo.Request) demo.Answer { return demo.Answer{Thinking: "hm", Stop: pi.StopLength} }, nil, demo.NoMoment},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t, demo.Setup{Script: c.script})
			h.pi.Prompt("go")
			if c.act != nil {
				held(t, h.pi, c.hold)
				c.act(h.pi)
				h.pi.Release()
			}
			settled(t, h.pi, 1)
			h.sync()
			same(t, "requests and continuations", []int{len(h.pi.Requests()), h.count(demo.Urged)}, []int{1, 0})
		})
	}
}

// A message that was queued meanwhile goes first, and is an episode of its own.
func TestGuardAndAQueuedMessage(t *testing.T) {
	h := newHouse(t, demo.Setup{Script: func(r demo.Request) demo.Answer {
		if r.N == 1 {
			return demo.Answer{Thinking: "hm", Hold: demo.InText}
		}
		return demo.Say("Done.")
	}})
	h.pi.Prompt("go")
	held(t, h.pi, demo.InText)
	h.pi.Prompt("and this")
	h.pi.Release()
	settled(t, h.pi, 1)
	same(t, "requests and continuations", []int{len(h.pi.Requests()), h.count(demo.Urged)}, []int{2, 0})
}

// One stop, one message: the guard comes first, and the countdown only once
// the guard has had its say. A check has its own rules.
func TestGuardAndWatchdog(t *testing.T) {
	h := newHouse(t, demo.Setup{Script: func(r demo.Request) demo.Answer {
		if r.Check != "" && r.N > 6 {
			return demo.Decide("done", "")
		}
		return demo.Think("hm") // in a check too
	}})
	h.watch("timeout=60")
	h.pi.Prompt("go")
	h.footer("⏱60s 0/50")
	same(t, "requests, continuations and checks", []int{len(h.pi.Requests()), h.count(demo.Urged), h.count(demo.Asked)}, []int{4, 3, 0})
	h.advance(60 * time.Second)
	h.footer("⏱60s 1/50") // the check got no answer, and the guard did not speak in it
	same(t, "requests, continuations and checks", []int{len(h.pi.Requests()), h.count(demo.Urged), h.count(demo.Asked)}, []int{5, 3, 1})
	h.advance(60 * time.Second)
	h.footer("⏱60s 2/50")
	h.advance(60 * time.Second)
	h.footer("")
	same(t, "requests, continuations and checks", []int{len(h.pi.Requests()), h.count(demo.Urged), h.count(demo.Asked)}, []int{7, 3, 3})
}

// A session without a silent stop has no trace of the guard.
func TestGuardLeavesNoTrace(t *testing.T) {
	script := func() demo.Script {
		return demo.Answers(demo.Use(demo.Bash("ls", "a", 0)), demo.Answer{Thinking: "hm", Text: "Done."}, demo.Say("Yes."))
	}
	run := func(env map[string]string) (*house, []demo.Request) {
		h := newHouse(t, demo.Setup{Sessions: t.TempDir(), Env: env, Script: script()})
		for i, text := range []string{"go", "sure?"} {
			h.pi.Prompt(text)
			settled(t, h.pi, i+1)
		}
		h.sync()
		return h, h.pi.Requests()
	}
	h, with := run(nil)
	_, without := run(map[string]string{"PI_WATCHDOG_GUARD": "0"})
	same(t, "the requests", with, without)
	if got := kinds(t, h.pi.File()); slices.Contains(got, guard.Type) {
		t.Errorf("the file holds %q", got)
	}
}

func TestGuardOffByTheEnvironment(t *testing.T) {
	h := newHouse(t, demo.Setup{Env: map[string]string{"PI_WATCHDOG_GUARD": "0"}, Script: silence(nil)})
	h.pi.Prompt("go")
	settled(t, h.pi, 1)
	h.guard("status", "Guard: off by PI_WATCHDOG_GUARD")
	same(t, "continuations", h.count(demo.Urged), 0)
	h.guard("on", "Guard turned on")
	h.pi.Prompt("go")
	settled(t, h.pi, 2)
	same(t, "continuations", h.count(demo.Urged), 3)
}
