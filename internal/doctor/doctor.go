// Package doctor looks at everything piwatch needs and says what is wrong and
// what to do about it. It changes nothing.
package doctor

import (
	"context"
	"os"

	"piwatch/internal/control"
)

// Level says how bad a finding is.
type Level string

// The levels.
const (
	OK   Level = "ok"
	Warn Level = "warn" // it works, but not all of it, or not for long
	Fail Level = "fail" // it does not work
)

// Finding is one line of the report.
type Finding struct {
	Area  string `json:"area"` // what was looked at
	Level Level  `json:"level"`
	Text  string `json:"text"`
	Next  string `json:"next,omitempty"` // what to do
}

// Report is everything that was found. The fields of its JSON are stable.
type Report struct {
	OK       bool      `json:"ok"` // nothing fails
	Findings []Finding `json:"findings"`
}

// World is what a Doctor looks at.
type World struct {
	Env     func(string) string
	Home    string
	Cwd     string
	Pi      string // program of Pi, as the user names it; "" for pi in PATH
	Version string // release of this program
	Binary  string // path of this program, as the bridge would call it
	// Dial connects to the hub.
	Dial func(context.Context) (*control.Client, error)
	// Config says what is wrong in the config file; a line each.
	Config func() (file string, problems []string)
	// Notify are the ways the config tells the user something.
	Notify []string
	// In and Out are the terminal; nil where there is none.
	In, Out *os.File
}

// check looks at one thing.
type check struct {
	area string
	look func(context.Context, *World) []Finding
}

var checks = []check{
	{"piwatch", lookProgram},
	{"pi", lookPi},
	{"bridge", lookBridge},
	{"others", lookOthers},
	{"hub", lookHub},
	{"socket", lookSocket},
	{"folders", lookFolders},
	{"config", lookConfig},
	{"files", lookInotify},
	{"terminal", lookTerminal},
	{"desktop", lookDesktop},
	{"tmux", lookTmux},
}

// Examine looks at everything, in the order of the report.
func Examine(ctx context.Context, w World) Report {
	r := Report{OK: true}
	for _, c := range checks {
		for _, f := range c.look(ctx, &w) {
			f.Area = c.area
			r.OK = r.OK && f.Level != Fail
			r.Findings = append(r.Findings, f)
		}
	}
	return r
}

func ok(text string) Finding         { return Finding{Level: OK, Text: text} }
func warn(text, next string) Finding { return Finding{Level: Warn, Text: text, Next: next} }
func fail(text, next string) Finding { return Finding{Level: Fail, Text: text, Next: next} }

func lookProgram(_ context.Context, w *World) []Finding {
	return []Finding{ok("piwatch " + w.Version + ", " + w.Binary)}
}
