package hub

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"piwatch/internal/control"
	"piwatch/internal/guard"
	"piwatch/internal/watchdog"
)

// asker is who wants something of a session.
type asker struct {
	by   string // pi, tui, cli
	peer *peer  // nil for Pi
}

// steering are the methods of a client for one session, and the verbs of the
// command in Pi: the same from every door.
var steering = map[string]func(*session, asker, control.SteerParams) control.CommandReply{
	control.Start: func(s *session, who asker, p control.SteerParams) control.CommandReply {
		settings, err := watchdog.Parse(p.Line)
		if err != nil {
			return control.CommandReply{Level: "error", Text: "Watchdog not started: " + err.Error()}
		}
		return s.change(who, watchdog.StartWatch{By: who.by, Settings: settings, Sure: p.Sure})
	},
	control.Set: func(s *session, who asker, p control.SteerParams) control.CommandReply {
		settings, err := s.engine.View(s.hub.clock.Now()).Settings.With(p.Line)
		if err != nil {
			return control.CommandReply{Level: "error", Text: "Nothing changed: " + err.Error()}
		}
		return s.change(who, watchdog.ChangeSettings{By: who.by, Settings: settings})
	},
	control.Stop: func(s *session, who asker, _ control.SteerParams) control.CommandReply {
		return s.change(who, watchdog.StopWatch{By: who.by})
	},
	control.Pause: func(s *session, who asker, _ control.SteerParams) control.CommandReply {
		return s.hub.loops.pauseInstead(s, s.ask(who, watchdog.PauseWatch{By: who.by, On: true}), true)
	},
	control.Resume: func(s *session, who asker, _ control.SteerParams) control.CommandReply {
		return s.hub.loops.pauseInstead(s, s.ask(who, watchdog.PauseWatch{By: who.by}), false)
	},
	control.Nudge: func(s *session, who asker, _ control.SteerParams) control.CommandReply {
		return s.ask(who, watchdog.NudgeNow{By: who.by})
	},
	control.Skip: func(s *session, who asker, _ control.SteerParams) control.CommandReply {
		return s.ask(who, watchdog.SkipCheck{By: who.by})
	},
	control.Extend: func(s *session, who asker, p control.SteerParams) control.CommandReply {
		if p.Seconds == 0 || p.Seconds > watchdog.MaxTimeout || p.Seconds < -watchdog.MaxTimeout {
			return control.CommandReply{Level: "error", Text: fmt.Sprintf("seconds=%d: must be a whole number from -%d to %d, not 0", p.Seconds, watchdog.MaxTimeout, watchdog.MaxTimeout)}
		}
		return s.ask(who, watchdog.ExtendCountdown{By: who.by, D: time.Duration(p.Seconds) * time.Second})
	},
	control.StatusText: func(s *session, _ asker, _ control.SteerParams) control.CommandReply {
		now := s.hub.clock.Now()
		text := s.engine.View(now).StatusText(now)
		text += s.hub.loops.statusText(s)
		if s.hello.File == "" {
			text += " This session has no file: what piwatch knows of it lives in Pi only."
		}
		return control.CommandReply{Level: "info", Text: text}
	},
	control.GuardStatus: func(s *session, _ asker, _ control.SteerParams) control.CommandReply {
		return control.CommandReply{Level: "info", Text: s.guard.View().StatusText() + s.gatewayText()}
	},
	control.GuardOn: func(s *session, who asker, _ control.SteerParams) control.CommandReply {
		return s.askGuard(who, guard.Switch{By: who.by, On: true})
	},
	control.GuardOff: func(s *session, who asker, _ control.SteerParams) control.CommandReply {
		return s.askGuard(who, guard.Switch{By: who.by})
	},
	control.GuardReset: func(s *session, who asker, _ control.SteerParams) control.CommandReply {
		return s.askGuard(who, guard.Reset{By: who.by})
	},
}

// ask gives the engine what a person wants and returns its reply. What was done
// is told to everybody else who watches.
func (s *session) ask(who asker, ev watchdog.Event) control.CommandReply {
	for _, effect := range s.step(ev) {
		if reply, ok := effect.(watchdog.Reply); ok {
			if reply.Level == "info" {
				s.hub.noticeBut(who.peer, s.id, reply.Level, who.by+": "+reply.Text)
			}
			return control.CommandReply{Level: reply.Level, Text: reply.Text}
		}
	}
	return control.CommandReply{Level: "error", Text: "The watchdog gave no answer."}
}

// change is ask for what Pi's footer does not show by itself: it is also told in
// Pi, unless it was said there.
func (s *session) change(who asker, ev watchdog.Event) control.CommandReply {
	reply := s.ask(who, ev)
	if b := s.driver(); b != nil && who.peer != nil && reply.Level == "info" {
		b.send(control.Notify, control.NotifyParams{Level: reply.Level, Text: reply.Text + " (" + who.by + ")"})
	}
	return reply
}

// recorded gives a reply once everything that led to it is with the bridge: what
// was said to be done must hold when hub or Pi die afterwards.
func (s *session) recorded(reply control.CommandReply) any {
	b := s.driver()
	if b == nil || reply.Level != "info" {
		return reply
	}
	done := b.barrier()
	return control.Later(func(ctx context.Context) (any, error) {
		select {
		case <-done:
		case <-b.done:
			reply.Level, reply.Text = "warning", reply.Text+" But the session ended before it was recorded."
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		return reply, nil
	})
}

// verbs are the words after /watchdog that are no settings, with what follows
// them read into the parameters.
var verbs = map[string]struct {
	method string
	read   func(rest string, p *control.SteerParams) error
}{
	"stop":   {control.Stop, noMore},
	"status": {control.StatusText, noMore},
	"pause":  {control.Pause, noMore},
	"resume": {control.Resume, noMore},
	"nudge":  {control.Nudge, noMore},
	"skip":   {control.Skip, noMore},
	"set":    {control.Set, func(rest string, p *control.SteerParams) error { p.Line = rest; return nil }},
	"mode": {control.Set, func(rest string, p *control.SteerParams) error {
		p.Line = "mode=" + strings.TrimSpace(rest)
		return nil
	}},
	"extend": {control.Extend, func(rest string, p *control.SteerParams) (err error) {
		if p.Seconds, err = strconv.Atoi(strings.TrimSpace(rest)); err != nil {
			return &watchdog.SettingError{Token: rest, Why: "extend takes seconds, as in extend 30 or extend -30"}
		}
		return nil
	}},
}

func noMore(rest string, _ *control.SteerParams) error {
	if strings.TrimSpace(rest) != "" {
		return &watchdog.SettingError{Token: rest, Why: "nothing may follow this word"}
	}
	return nil
}

// command takes what the user typed after a command of piwatch in Pi.
func (s *session) command(p control.CommandParams) control.CommandReply {
	switch p.Name {
	case "watchdog":
	case "guard":
		return s.guardCommand(p.Args)
	default:
		return control.CommandReply{Level: "error", Text: fmt.Sprintf("/%s: this hub does not know it", p.Name)}
	}
	steer := control.SteerParams{Session: s.id, Line: p.Args, Sure: p.Sure}
	word, rest, _ := strings.Cut(strings.TrimLeftFunc(p.Args, unicode.IsSpace), " ")
	if reply, known := s.hub.loops.command(s, strings.TrimSpace(word), rest); known {
		return reply
	}
	verb, known := verbs[strings.TrimSpace(word)]
	if !known {
		return steering[control.Start](s, asker{by: "pi"}, steer)
	}
	if err := verb.read(rest, &steer); err != nil {
		return control.CommandReply{Level: "error", Text: "Nothing changed: " + err.Error()}
	}
	return steering[verb.method](s, asker{by: "pi"}, steer)
}
