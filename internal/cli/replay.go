package cli

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/clipperhouse/displaywidth"
	"github.com/spf13/cobra"

	"piwatch/internal/pi"
	"piwatch/internal/replay"
	"piwatch/internal/timeline"
	"piwatch/internal/watchdog"
)

// maxPreview is how much is shown of what came next, in cells.
const maxPreview = 80

// replayed is what is printed of one file. The names of the JSON fields are
// stable.
type replayed struct {
	File     string         `json:"file"`
	Session  string         `json:"session"`
	Cwd      string         `json:"cwd"`
	Recorded bool           `json:"recorded"`
	Settings string         `json:"settings,omitempty"` // unless recorded
	Damage   map[string]int `json:"damage"`
	replay.Report
}

func (a *app) replayCommand() *cobra.Command {
	var line string
	var recorded, loops bool
	cmd := &cobra.Command{
		Use:     "replay FILE...",
		GroupID: groupWatch,
		Short:   "Say what the watchdog would have done over old session files, and why",
		Long: `Say what the watchdog would have done over old session files, and why: for each
time the agent was idle whether it would have been asked and when, or why not,
and what really came next. Nothing is sent, and no hub is needed.

The watchdog is imagined from the first entry of the active branch on, with the
settings given, as if PI_WATCHDOG had held them. What piwatch really did in the
session is shown as "really" and otherwise passed over, except for the agent's
answers: one that was given in the same idle time counts, so that after done or
wait_user it is off (mode=keep goes on with the next message). With --recorded
the record is honoured instead: on, off, paused and set as it was then.

What a file does not hold is assumed. What the agent would have answered is
unknown: a check is followed by what really came next. Pi stayed open while the
agent was idle. Nobody pressed a key, unless an entry shows it: who wrote soon
after a check may have been typing already, and then it would have waited. After
an answer that the token limit cut comes a work message without a check, which
counts like one. The guard is not imagined; silent stops are counted.

--json prints an object for each file: file, session, cwd, recorded, settings,
damage (counts by kind), entries, steps, totals. A step has kind, entry, line, at
and either
  idle    stop, shape (call, text, thinking, empty), seconds, verdict, why,
          counts_from, due, asks (at, n, max, reason, answer, note), ended,
          next (by: user, extension, piwatch, agent, branch; entry, at,
          after_ask, preview)
  record  type (start, set, pause, resume, stop, check, outcome), by, settings,
          n, max, reason, end, decision, note
The verdict is ask, or why not: short (something came sooner), ends (the file
ends sooner), cut_off (the run has no end), off, paused, suspended, interrupted,
held. Totals: idle, asked, earlier_seconds (idle time after the checks, which at
most would have been over earlier), thinking_only, empty, length, aborted, errors,
cut_off, recorded (checks that piwatch really asked). What is not known is left out.

--loops looks for agents that went in circles instead, in all entries of the file:
the same call with the same result, the same input to the model or output from it,
with the settings of the supervisor in this folder ("piwatch config show"). --json
then prints for each file: file, session, cwd, damage, entries, calls, findings
(entry, line, rule, confidence, key, at, evidence, told, ended).`,
		Example: `  piwatch replay ~/.pi/agent/sessions/*/*.jsonl
  piwatch replay --settings "timeout=120 mode=keep" session.jsonl
  piwatch replay --recorded --json session.jsonl
  piwatch replay --loops ~/.pi/agent/sessions/*/*.jsonl`,
		Args: args(1, -1),
		RunE: func(cmd *cobra.Command, files []string) error {
			if recorded && cmd.Flags().Changed("settings") {
				return &usageError{"--settings and --recorded exclude each other: the record holds the settings", cmd.CommandPath()}
			}
			settings, err := watchdog.Parse(line)
			if err != nil {
				return err
			}
			if loops {
				if recorded || cmd.Flags().Changed("settings") {
					return &usageError{"--loops goes with neither --settings nor --recorded: they are the watchdog's", cmd.CommandPath()}
				}
				return a.replayLoops(files)
			}
			return a.replay(files, replay.Options{Settings: settings, Recorded: recorded})
		},
	}
	cmd.Flags().StringVar(&line, "settings", "", `of the watchdog, as for start: "timeout=60 max=50"`)
	cmd.Flags().BoolVar(&recorded, "recorded", false, "start, stop and set the watchdog as the record in the session says")
	cmd.Flags().BoolVar(&loops, "loops", false, "look for agents that went in circles")
	a.addJSON(cmd)
	return cmd
}

func (a *app) replay(files []string, o replay.Options) error {
	return a.eachFile(files, pi.LoadLean, func(file *pi.File) error { return a.printReplay(replayFile(file, o)) })
}

// eachFile prints each file that can be read. The errors of the others are told
// after them; the last one is returned.
func (a *app) eachFile(files []string, load func(string) (*pi.File, error), print func(*pi.File) error) error {
	var problems []error
	for i, path := range files {
		file, err := load(path)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		if i > 0 && !a.json {
			fmt.Fprintln(a.out)
		}
		if err := print(file); err != nil {
			return err
		}
	}
	if len(problems) == 0 {
		return nil
	}
	last := len(problems) - 1
	for _, err := range problems[:last] {
		a.tell(err)
	}
	return problems[last]
}

func replayFile(file *pi.File, o replay.Options) replayed {
	r := replayed{
		File: file.Path, Session: file.Header.ID, Cwd: file.Header.Cwd, Recorded: o.Recorded, Damage: file.Damage.Counts,
		Report: replay.Run(&file.Tree, o),
	}
	if !o.Recorded {
		r.Settings = o.Settings.String()
	}
	for _, s := range r.Steps {
		switch {
		case s.Record != nil:
			s.Record.Note = timeline.OneLine(s.Record.Note)
		case s.Idle.Next != nil:
			s.Idle.Next.Preview = displaywidth.TruncateString(timeline.OneLine(s.Idle.Next.Preview), maxPreview, "…")
		}
		if s.Idle != nil {
			for i := range s.Idle.Asks {
				s.Idle.Asks[i].Note = timeline.OneLine(s.Idle.Asks[i].Note)
			}
		}
	}
	return r
}

func (a *app) printReplay(r replayed) error {
	if a.json {
		return a.printJSON(r)
	}
	var text strings.Builder
	writeReplay(&text, r)
	return printLines(a.out, text.String())
}

func writeReplay(out io.Writer, r replayed) {
	fmt.Fprintln(out, timeline.OneLine(r.File))
	settings := r.Settings
	if r.Recorded {
		settings = "as recorded"
	}
	fmt.Fprintf(out, "session %s, %s: %s\n", orDash(timeline.OneLine(r.Session)), orDash(timeline.OneLine(r.Cwd)), timeline.OneLine(settings))
	writeDamage(out, r.Damage)
	if len(r.Steps) > 0 {
		table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(table, "FROM\tIDLE\tSTOP\tWATCHDOG\tTHEN")
		for _, s := range r.Steps {
			cells := stepCells(s)
			for i, cell := range cells {
				cells[i] = orDash(timeline.OneLine(cell))
			}
			fmt.Fprintln(table, strings.Join(cells, "\t"))
		}
		_ = table.Flush() // into memory
	}
	writeTotals(out, r.Totals)
}

func writeDamage(out io.Writer, damage map[string]int) {
	if len(damage) == 0 {
		return
	}
	var kinds []string
	for _, kind := range slices.Sorted(maps.Keys(damage)) {
		kinds = append(kinds, fmt.Sprintf("%d %s", damage[kind], kind))
	}
	fmt.Fprintln(out, "damage: "+strings.Join(kinds, ", "))
}

func stepCells(s replay.Step) []string {
	from := ""
	if !s.At.IsZero() {
		from = s.At.Local().Format(time.DateTime)
	}
	if s.Record != nil {
		return []string{from, "", "", "really: " + recordText(s.Record), ""}
	}
	i := s.Idle
	idle, then := "", "the file ends"
	if i.Next != nil {
		idle = shortTime(i.Seconds)
		then = string(i.Next.By)
		if i.Next.By == replay.ByBranch {
			then = "another branch"
		}
		if i.Next.AfterAsk > 0 {
			then = shortTime(i.Next.AfterAsk) + " later: " + then
		}
		if i.Next.Preview != "" {
			then += ": " + i.Next.Preview
		}
	}
	stop := i.Stop
	if i.Shape == replay.Thinking || i.Shape == replay.Empty {
		stop += ", " + string(i.Shape)
	}
	return []string{from, idle, stop, verdictText(s.At, i), then}
}

func verdictText(from time.Time, i *replay.Idle) string {
	if i.Verdict != replay.Asked {
		if i.Due.IsZero() {
			return "no: " + i.Why
		}
		return "no: " + strings.TrimSuffix(i.Why, replay.BeforeDue) + " before " + clockTime(i.Due, from)
	}
	var asks []string
	for _, ask := range i.Asks {
		text := fmt.Sprintf("asks %d/%d", ask.N, ask.Max)
		if !ask.At.IsZero() {
			text += " at " + clockTime(ask.At, from)
		}
		if ask.Answer != replay.AnswerUnknown {
			text += " -> " + ask.Answer
		}
		asks = append(asks, text)
	}
	return strings.Join(asks, "; ")
}

func recordText(r *replay.Record) string {
	text := r.Type
	if r.N > 0 {
		text += fmt.Sprintf(" %d/%d", r.N, r.Max)
	}
	if r.By != "" {
		text += " by " + r.By
	}
	for _, more := range []string{r.Settings, r.Reason, string(r.End), string(r.Decision), r.Note} {
		if more != "" {
			text += ", " + more
		}
	}
	return text
}

func writeTotals(out io.Writer, t replay.Totals) {
	fmt.Fprintf(out, "total: idle %d, asks %d", t.Idle, t.Asked)
	if t.EarlierSeconds > 0 {
		fmt.Fprintf(out, ", at most %s of idleness over earlier", shortTime(t.EarlierSeconds))
	}
	if t.Recorded > 0 {
		fmt.Fprintf(out, "; really asked %d", t.Recorded)
	}
	fmt.Fprintf(out, "\nstops: silent %d (thinking only %d, empty %d), length %d, aborted %d, errors %d, without an end %d\n",
		t.ThinkingOnly+t.Empty, t.ThinkingOnly, t.Empty, t.Length, t.Aborted, t.Errors, t.CutOff)
}

// clockTime leaves the day out where it is that of the step.
func clockTime(t, step time.Time) string {
	t, step = t.Local(), step.Local()
	if t.YearDay() == step.YearDay() && t.Year() == step.Year() {
		return t.Format(time.TimeOnly)
	}
	return t.Format(time.DateTime)
}

// shortTime writes a duration short: 28ms, 1.2s, 3m20s, 2h.
func shortTime(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return d.Round(100 * time.Millisecond).String()
	}
	text := d.Round(time.Second).String()
	if short, ok := strings.CutSuffix(text, "m0s"); ok {
		text = short + "m"
	}
	if short, ok := strings.CutSuffix(text, "h0m"); ok {
		text = short + "h"
	}
	return text
}
