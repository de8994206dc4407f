package demo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"piwatch/internal/control"
	"piwatch/internal/watchdog"
)

// grace is the countdown of the story at its normal speed.
const grace = 3 * time.Second

// actor is one session of the story.
type actor struct {
	name   string
	prompt string
	watch  string // settings it is watched with
	script Script
	// act plays the session from the first prompt on, until nothing more comes
	// by itself.
	act func(*actor, context.Context) error
	// end is how the watchdog must stand afterwards.
	end  watchdog.Phase
	want []watchdog.Outcome // how its checks must have ended: End, Decision and Note count

	pi *Pi
}

// roles gives the agent's answers: those in checks and those at work. Beyond
// them there is nothing to do.
func roles(work, checks []Answer, speed float64) Script {
	next := func(list *[]Answer, otherwise Answer) Answer {
		if len(*list) == 0 {
			return otherwise
		}
		a := (*list)[0]
		*list = (*list)[1:]
		return a
	}
	return func(r Request) Answer {
		var a Answer
		if r.Check != "" {
			a = next(&checks, Decide(string(watchdog.Done), "nothing is left to do"))
		} else {
			a = next(&work, Say("Nothing is left to do."))
		}
		a.First += 250 * time.Millisecond
		a.Pace += 25 * time.Millisecond
		a.First, a.Pace = slower(a.First, speed), slower(a.Pace, speed)
		a.Calls = slices.Clone(a.Calls)
		for i := range a.Calls {
			a.Calls[i].Takes = slower(a.Calls[i].Takes, speed)
		}
		return a
	}
}

// slower is how long d takes at a speed.
func slower(d time.Duration, speed float64) time.Duration {
	return time.Duration(float64(d) / speed)
}

// settings are a settings line with the story's countdown.
func settings(mode watchdog.Mode, speed float64) string {
	s := watchdog.Defaults()
	s.Timeout, s.Max, s.Mode = int(slower(grace, speed)/time.Second), 10, mode
	return s.String()
}

// cast are the sessions of the story.
func cast(speed float64) []*actor {
	return []*actor{{
		name:   "port the parser",
		prompt: "Port the parser to Go, with tests.",
		watch:  settings(watchdog.Once, speed),
		script: roles([]Answer{
			{Thinking: "The lexer comes first.", Text: "I begin with the lexer.", Calls: []ToolCall{Bash("ls src", "lexer.js\nparser.js\n", 200*time.Millisecond)}},
			Use(Edit("lexer.go", "", "package parser"), Bash("go test ./...", "ok  \tparser\t0.12s\n", 400*time.Millisecond)),
			Say("The lexer is ported and its tests pass."),
			{Text: "Now the parser itself.", Calls: []ToolCall{Edit("parser.go", "", "func Parse()")}},
			Use(Bash("go test ./...", "ok  \tparser\t0.31s\n", 400*time.Millisecond)),
			Think("All files are there. I could stop here."),
		}, []Answer{
			Decide(string(watchdog.Continue), "the parser itself is still missing"),
			Say("I believe that everything is in place."),
			Decide(string(watchdog.Done), "lexer and parser are ported, all tests pass"),
		}, speed),
		act: (*actor).untilOff,
		end: watchdog.Off,
		want: []watchdog.Outcome{
			{End: watchdog.EndAnswered, Decision: watchdog.Continue, Note: "the parser itself is still missing"},
			{End: watchdog.EndNoAnswer},
			{End: watchdog.EndAnswered, Decision: watchdog.Done, Note: "lexer and parser are ported, all tests pass"},
		},
	}, {
		name:   "release notes",
		prompt: "Draft the release notes.",
		watch:  settings(watchdog.Keep, speed),
		script: roles([]Answer{
			Use(Bash("git log --oneline v1..", "a1b2c3 faster start\nd4e5f6 new theme\n", 300*time.Millisecond)),
			Say("The draft is in NOTES.md. It has no version number yet."),
		}, []Answer{
			Decide(string(watchdog.WaitUser), "which version number?"),
		}, speed),
		act:  (*actor).untilOff,
		end:  watchdog.Suspended,
		want: []watchdog.Outcome{{End: watchdog.EndAnswered, Decision: watchdog.WaitUser, Note: "which version number?"}},
	}, {
		name:   "update dependencies",
		prompt: "Update all dependencies.",
		watch:  settings(watchdog.Once, speed),
		script: roles([]Answer{
			{Text: "I update them all at once.", Calls: []ToolCall{Bash("go get -u all", "", time.Minute)}},
		}, nil, speed),
		act: func(a *actor, ctx context.Context) error { return a.interrupted(ctx, slower(grace, speed)) },
		end: watchdog.Interrupted,
	}}
}

// untilOff waits until the last check that the story wants has ended, and the
// agent rests.
func (a *actor) untilOff(ctx context.Context) error {
	closed := 0
	for e := range a.pi.Events(ctx) {
		switch {
		case e.Kind == Closed:
			closed++
		case e.Kind == Rest && closed == len(a.want):
			return nil
		}
	}
	return a.unfinished(ctx)
}

// interrupted is a user who stops the agent when a tool has run for a while.
func (a *actor) interrupted(ctx context.Context, after time.Duration) error {
	if err := a.pi.Wait(ctx, func(s State) bool { return s.Moment == InTool }); err != nil {
		return a.unfinished(ctx)
	}
	if err := a.pi.clock.Sleep(ctx, after); err != nil {
		return a.unfinished(ctx)
	}
	a.pi.Esc()
	if err := a.pi.Wait(ctx, Settled(1)); err != nil {
		return a.unfinished(ctx)
	}
	return nil
}

func (a *actor) unfinished(ctx context.Context) error {
	s := a.pi.State()
	return fmt.Errorf("%s: after %d settles and %d requests, %q in the footer: %w", a.name, s.Facts.Settle, s.Requests, s.Status, context.Cause(ctx))
}

// play starts monitoring and gives the agent its task.
func (a *actor) play(ctx context.Context) error {
	if err := a.pi.Wait(ctx, func(s State) bool { return s.Connected }); err != nil {
		return a.unfinished(ctx)
	}
	if reply, err := a.pi.Command(ctx, "/watchdog "+a.watch); err != nil || reply.Level == "error" {
		return fmt.Errorf("%s: /watchdog %s: %s: %w", a.name, a.watch, reply.Text, err)
	}
	a.pi.Prompt(a.prompt)
	return a.act(a, ctx)
}

// check compares how it ended with how it must have ended.
func (a *actor) check(view control.Session) error {
	var wrong []string
	expect := func(ok bool, format string, args ...any) {
		if !ok {
			wrong = append(wrong, fmt.Sprintf(format, args...))
		}
	}
	var outcomes []watchdog.Outcome
	over, works, continues := false, 0, 0
	ended, stop := context.WithCancel(context.Background())
	stop() // only what happened until now
	for e := range a.pi.Events(ended) {
		switch e.Kind {
		case Closed:
			o := e.Outcome
			outcomes = append(outcomes, watchdog.Outcome{End: o.End, Decision: o.Decision, Note: o.Note})
			expect(o.Fold == watchdog.FoldEdit && len(o.Rows) >= 2, "the exchange of check %s was not folded", o.Check)
			over = o.End == watchdog.EndAnswered && o.Decision != watchdog.Continue
			if o.Decision == watchdog.Continue {
				continues++
			}
		case Asked, Worked, Prompted:
			expect(!over, "a message came after the end: %q", e.Text)
			if e.Kind == Worked {
				works++
			}
		}
	}
	expect(slices.EqualFunc(outcomes, a.want, func(x, y watchdog.Outcome) bool {
		return x.End == y.End && x.Decision == y.Decision && x.Note == y.Note
	}),
		"the checks ended as %+v, not as %+v", outcomes, a.want)
	expect(works == continues, "%d work messages for %d decisions to continue", works, continues)
	expect(view.Watch.Phase == a.end, "the watchdog is %s, not %s", view.Watch.Phase, a.end)
	messages, err := a.pi.Context()
	expect(err == nil, "%v", err)
	for _, m := range messages {
		expect(!strings.Contains(string(m.Content), DecideTool), "the model is still sent %s", m.Content)
	}
	if err := a.pi.Err(); err != nil {
		wrong = append(wrong, err.Error())
	}
	if len(wrong) > 0 {
		return errors.New(a.name + ": " + strings.Join(wrong, "; "))
	}
	return nil
}
