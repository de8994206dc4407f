package hub

import (
	"fmt"
	"strings"
	"time"

	"piwatch/internal/control"
	"piwatch/internal/watchdog"
)

// steering are the methods of a client for one session, and the verbs of the
// command in Pi: the same from every door.
var steering = map[string]func(*session, control.SteerParams) control.CommandReply{
	control.Start: func(s *session, p control.SteerParams) control.CommandReply {
		settings, err := watchdog.Parse(p.Line)
		if err != nil {
			return control.CommandReply{Level: "error", Text: "Watchdog not started: " + err.Error()}
		}
		return s.ask(watchdog.StartWatch{By: p.By, Settings: settings})
	},
	control.Set: func(s *session, p control.SteerParams) control.CommandReply {
		settings, err := s.engine.View(s.hub.clock.Now()).Settings.With(p.Line)
		if err != nil {
			return control.CommandReply{Level: "error", Text: "Nothing changed: " + err.Error()}
		}
		return s.ask(watchdog.ChangeSettings{By: p.By, Settings: settings})
	},
	control.Stop: func(s *session, p control.SteerParams) control.CommandReply {
		return s.ask(watchdog.StopWatch{By: p.By})
	},
	control.Pause: func(s *session, p control.SteerParams) control.CommandReply {
		return s.ask(watchdog.PauseWatch{By: p.By, On: true})
	},
	control.Resume: func(s *session, p control.SteerParams) control.CommandReply {
		return s.ask(watchdog.PauseWatch{By: p.By})
	},
	control.Nudge: func(s *session, p control.SteerParams) control.CommandReply {
		return s.ask(watchdog.NudgeNow{By: p.By})
	},
	control.Skip: func(s *session, p control.SteerParams) control.CommandReply {
		return s.ask(watchdog.SkipCheck{By: p.By})
	},
	control.Extend: func(s *session, p control.SteerParams) control.CommandReply {
		if p.Seconds == 0 || p.Seconds > watchdog.MaxTimeout || p.Seconds < -watchdog.MaxTimeout {
			return control.CommandReply{Level: "error", Text: fmt.Sprintf("seconds=%d: is a whole number from -%d to %d, not 0", p.Seconds, watchdog.MaxTimeout, watchdog.MaxTimeout)}
		}
		return s.ask(watchdog.ExtendCountdown{By: p.By, D: seconds(p.Seconds)})
	},
	control.StatusText: func(s *session, _ control.SteerParams) control.CommandReply {
		now := s.hub.clock.Now()
		text := s.engine.View(now).StatusText(now)
		if s.hello.File == "" {
			text += " This session has no file: what piwatch knows of it lives in Pi only."
		}
		return control.CommandReply{Level: "info", Text: text}
	},
}

// verbs are the words after /watchdog that are no settings.
var verbs = map[string]string{
	"stop":   control.Stop,
	"status": control.StatusText,
	"pause":  control.Pause,
	"resume": control.Resume,
	"nudge":  control.Nudge,
	"skip":   control.Skip,
}

// command takes what the user typed after a command of piwatch in Pi.
func (s *session) command(p control.CommandParams) control.CommandReply {
	if p.Name != "watchdog" {
		return control.CommandReply{Level: "error", Text: fmt.Sprintf("/%s: this hub does not know it", p.Name)}
	}
	args := strings.TrimSpace(p.Args)
	method, known := verbs[args]
	if !known {
		method = control.Start
	}
	return steering[method](s, control.SteerParams{Session: s.id, By: "pi", Line: p.Args})
}

func seconds(n int) time.Duration { return time.Duration(n) * time.Second }
