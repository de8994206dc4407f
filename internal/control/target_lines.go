package control

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Lines tells all about one session, for people. There is foreign text in them:
// who shows them cleans them.
func (d TargetDetail) Lines() []string {
	var lines []string
	add := func(format string, values ...any) { lines = append(lines, fmt.Sprintf(format, values...)) }
	at := func(ms int64) string { return time.UnixMilli(ms).Format(time.TimeOnly) }
	title := d.ID
	if d.Name != "" {
		title = d.Name + " (" + d.ID + ")"
	}
	add("%s: %s since %s, judged from its %s", title, d.State, at(d.Since), d.Source)
	switch {
	case d.Link.Parent != "":
		add("parent: %s (%s)", d.Link.Parent, d.Link.By)
	case d.Link.Unknown != "":
		add("parent: unknown, %s", d.Link.Unknown)
	}
	if f := d.Finding; f != nil {
		add("maybe stuck since %s: %s, %s confidence", at(f.At), f.Rule, f.Confidence)
		for _, says := range f.Says {
			add("  %s", says)
		}
	}
	if d.Waits != nil {
		add("its child %s has ended, and it still waits in %s", d.Waits.Child, d.Waits.Tool)
	}
	if d.Paused {
		add("its alerts are held by hand")
	}
	var settings map[string]json.RawMessage
	if json.Unmarshal(d.Settings, &settings) == nil {
		for _, name := range slices.Sorted(maps.Keys(settings)) {
			if from := d.Origin[name]; from != "" && from != "default" {
				add("%s = %s (%s)", name, settings[name], from)
			}
		}
	}
	lines = append(lines, slices.Collect(strings.Lines(d.Problems))...)
	for _, e := range d.Trail {
		mark := ""
		if e.Error {
			mark = "error: "
		}
		add("%s %-8s %s %s%s", at(e.At), e.Kind, e.Tool, mark, e.Preview)
	}
	if x := d.Debug; x != nil {
		add("the last exchange with the provider, answered at %s, stop %s %s:", at(x.At), x.Stop, x.Failed)
		for _, part := range []string{x.Given, x.Text, x.Calls} {
			for line := range strings.Lines(part) {
				add("  %s", line)
			}
		}
	}
	return lines
}
