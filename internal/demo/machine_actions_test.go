package demo_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"piwatch/internal/control"
	"piwatch/internal/demo"
)

// act is one thing that somebody does.
type act struct {
	name string
	do   func()
}

// The acts, by who does them. A name that stands twice is drawn twice as often.
var (
	words     = []string{"prompt", "prompt", "prompt", "follow-up", "extension"}
	keys      = []string{"type", "key", "key", "clear", "clear", "enter", "esc", "dialog", "dialog closes", "dialog closes"}
	fate      = []string{"hub dies", "hub starts", "hub restarts", "hub restarts", "Pi quits", "Pi is killed", "the channel breaks", "reload", "compaction"}
	clockwork = []string{"next timer", "deadline", "time passes", "an hour passes"}
	people    = []string{"start", "start", "steer", "steer"}
	// triggers lead to something by themselves; acts may come in the same moment.
	triggers = []string{"next timer", "deadline", "deadline", "release", "the channel breaks"}

	kindsOfActs = map[string][]string{
		"words": words, "keys": keys, "fate": fate, "time": clockwork, "people": people, "tree": {"tree"},
		"the agent goes on": {"release"}, "countdown": {"deadline"}, "peace": {"peace", "peace, but not at the end"},
	}
)

func drawAct(t *rapid.T, m *machine, label string, names []string) act {
	return action(t, m, rapid.SampledFrom(names).Draw(t, label))
}

// action is an action by its name, with what is left open drawn.
func action(t *rapid.T, m *machine, name string) act {
	if a, known := m.plain(name); known {
		return a
	}
	switch name {
	case "compaction":
		keep := rapid.IntRange(0, 4).Draw(t, "keep")
		return act{fmt.Sprint("compact, keep ", keep), func() { _ = m.pi.Compact(compactingTime, keep) }}
	case "time passes":
		ms := rapid.IntRange(1, 6000).Draw(t, "milliseconds")
		return act{fmt.Sprint(ms, " ms pass"), func() { m.advance(time.Duration(ms) * time.Millisecond) }}
	case "tree":
		n := rapid.IntRange(0, 200).Draw(t, "entry")
		return act{fmt.Sprint("tree ", n), func() { m.tree(n) }}
	case "start":
		return m.steering(rapid.Bool().Draw(t, "in Pi"), control.Start, settingsLine(t))
	case "steer":
		method := rapid.SampledFrom([]string{
			control.Stop, control.Pause, control.Resume, control.Nudge, control.Skip, control.Set, control.Extend, control.Resume, control.Nudge,
		}).Draw(t, "method")
		line := ""
		switch method {
		case control.Set:
			line = rapid.SampledFrom([]string{"timeout=0", "timeout=3", "max=1", "max=4", "mode=keep", "mode=once", "message=do it all"}).Draw(t, "setting")
		case control.Extend:
			line = fmt.Sprint(rapid.SampledFrom([]int{-30, -1, 1, 30}).Draw(t, "seconds"))
		}
		return m.steering(rapid.Bool().Draw(t, "in Pi"), method, line)
	}
	panic("no action " + name)
}

func settingsLine(t *rapid.T) string {
	return fmt.Sprintf("timeout=%d max=%d mode=%s",
		rapid.SampledFrom([]int{0, 0, 1, 5, 60}).Draw(t, "timeout"), rapid.IntRange(1, 3).Draw(t, "max"), rapid.SampledFrom([]string{"keep", "once"}).Draw(t, "mode"))
}

func (m *machine) steering(inPi bool, method, line string) act {
	p := control.SteerParams{Line: line}
	if method == control.Extend {
		p.Line = ""
		_, _ = fmt.Sscan(line, &p.Seconds)
	}
	from := "client"
	if inPi {
		from = "Pi"
	}
	return act{fmt.Sprintf("%s %s (%s)", method, line, from), func() { m.steer(inPi, method, p) }}
}

// plain is an action that leaves nothing open.
func (m *machine) plain(name string) (act, bool) {
	do := map[string]func(){
		"prompt":                    func() { m.speak(true, m.pi.Prompt) },
		"follow-up":                 func() { m.speak(true, m.pi.FollowUp) },
		"extension":                 func() { m.speak(false, func(text string) { m.pi.PromptFrom("extension", text) }) },
		"type":                      func() { m.pi.Type("half a ") },
		"key":                       func() { m.pi.Key() },
		"clear":                     func() { m.pi.ClearDraft() },
		"enter":                     func() { m.speak(true, nil) },
		"esc":                       func() { m.pi.Esc() },
		"dialog":                    m.pi.OpenDialog,
		"dialog closes":             m.pi.CloseDialog,
		"reload":                    func() { _ = m.pi.Reload() },
		"hub dies":                  m.killHub,
		"hub starts":                m.startHub,
		"Pi quits":                  func() { m.endPi((*demo.Pi).Quit) },
		"Pi is killed":              func() { m.endPi((*demo.Pi).Close) },
		"hub restarts":              func() { m.killHub(); m.startHub(); m.reconnect() },
		"peace":                     func() { m.peace(); m.toDeadline() },
		"peace, but not at the end": m.peace,
		"release":                   func() { m.pi.Release() },
		"deadline":                  m.toDeadline,
		"an hour passes":            func() { m.clock.Advance(time.Hour) },
		"the channel breaks":        m.breakChannel,
		"next timer":                m.toNext,
	}[name]
	return act{name, do}, do != nil
}

// peace takes away what may be in the way of a countdown.
func (m *machine) peace() {
	m.startHub()
	m.reconnect()
	m.pi.ClearDraft()
	for m.pi.State().Facts.Dialog {
		m.pi.CloseDialog()
	}
	for m.quiet(); m.pi.Release(); {
		m.quiet()
	}
	for range 2 { // less than a machine that slept
		m.clock.Advance(compactingTime / 2)
		m.quiet()
	}
}

// reconnect lets time pass until the bridge is with the hub.
func (m *machine) reconnect() {
	for m.quiet(); m.relay != nil && !m.pi.State().Connected; {
		m.toNext()
		m.quiet()
	}
}

func (m *machine) breakChannel() {
	if m.relay != nil {
		m.relay.cut()
	}
}

func (m *machine) toNext() {
	if at, any := m.clock.next(); any {
		m.clock.Advance(max(at.Sub(m.clock.Now()), 0))
	}
}

// The answers of the agent, to a check and else.
var (
	checkAnswers = map[string]demo.Answer{
		"continue":             demo.Decide("continue", "more"),
		"done":                 demo.Decide("done", ""),
		"wait_user":            demo.Decide("wait_user", "which?"),
		"bad value":            demo.Decide("maybe", ""),
		"text":                 demo.Say("I am done."),
		"nothing":              demo.Think("hm"),
		"blocked tool":         demo.Use(demo.Bash("ls", "files", 0)),
		"two calls":            demo.Use(demo.DecideCall("continue", "first"), demo.DecideCall("done", "second")),
		"bad and good":         demo.Use(demo.DecideCall("maybe", ""), demo.DecideCall("continue", "")),
		"answer beside a tool": demo.Use(demo.Bash("ls", "files", 0), demo.DecideCall("continue", "")),
		"error":                demo.Fail("502 bad gateway"),
	}
	workAnswers = map[string]demo.Answer{
		"text":              demo.Say("worked"),
		"nothing":           demo.Think("hm"),
		"tool":              demo.Use(demo.Bash("make", "built", 0)),
		"error":             demo.Fail("502 bad gateway"),
		"stops itself":      demo.Decide("done", "all"),
		"waits":             {Text: "Which one?", Calls: []demo.ToolCall{demo.DecideCall("wait_user", "which?")}},
		"stops and works":   {Text: "last", Calls: []demo.ToolCall{demo.DecideCall("done", ""), demo.Bash("make", "built", 0)}},
		"continues unasked": demo.Decide("continue", ""),
	}
	holds = []demo.Moment{demo.NoMoment, demo.NoMoment, demo.NoMoment, demo.BeforeAnswer, demo.InThinking, demo.InText, demo.InArguments, demo.InTool}
)

// answers draws the agent: its answers come again when they are used up. They
// are drawn by their names, with where they are held.
func answers(t *rapid.T) func(demo.Request) demo.Answer {
	list := func(label string, of map[string]demo.Answer) []demo.Answer {
		names := slices.Sorted(maps.Keys(of))
		one := rapid.Custom(func(t *rapid.T) string {
			return rapid.SampledFrom(names).Draw(t, label) + "@" + string(rapid.SampledFrom(holds).Draw(t, "hold"))
		})
		var all []demo.Answer
		for _, drawn := range rapid.SliceOfN(one, 1, 12).Draw(t, label) {
			name, hold, _ := strings.Cut(drawn, "@")
			a := of[name]
			a.Hold = demo.Moment(hold)
			all = append(all, a)
		}
		return all
	}
	return agent(list("answers to checks", checkAnswers), list("other answers", workAnswers))
}

// agent answers checks and requests one after the other, and ends its turn
// after its tools.
func agent(checks, works []demo.Answer) func(demo.Request) demo.Answer {
	checked, worked := 0, 0
	return func(r demo.Request) demo.Answer {
		if r.Check != "" {
			checked++
			return checks[(checked-1)%len(checks)]
		}
		worked++
		a := works[(worked-1)%len(works)]
		if r.Messages[len(r.Messages)-1].Role == "toolResult" {
			return demo.Answer{Text: "after the tool", Hold: a.Hold}
		}
		return a
	}
}
