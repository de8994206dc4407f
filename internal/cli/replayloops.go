package cli

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/clipperhouse/displaywidth"

	"piwatch/internal/loop"
	"piwatch/internal/pi"
	"piwatch/internal/replay"
	"piwatch/internal/timeline"
)

// replayedLoops is what is printed of one file. The names of the JSON fields are
// stable.
type replayedLoops struct {
	File    string         `json:"file"`
	Session string         `json:"session"`
	Cwd     string         `json:"cwd"`
	Damage  map[string]int `json:"damage"`
	replay.LoopReport
}

func (a *app) replayLoops(files []string) error {
	set, err := a.supervisor(".")
	if err != nil {
		a.tell(err)
	}
	return a.eachFile(files, pi.Load, func(file *pi.File) error {
		r := replayedLoops{
			File: file.Path, Session: file.Header.ID, Cwd: file.Header.Cwd, Damage: file.Damage.Counts,
			LoopReport: replay.Loops(&file.Tree, set.Rules(), set.CooldownSec),
		}
		for i := range r.Findings {
			cleanEvidence(r.Findings[i].Evidence)
		}
		if a.json {
			return a.printJSON(r)
		}
		var text strings.Builder
		writeLoops(&text, r)
		_, err := io.WriteString(a.out, cutLines(text.String(), columns(a.out)))
		return err
	})
}

// cleanEvidence makes previews fit to print.
func cleanEvidence(evidence []loop.Evidence) {
	for i := range evidence {
		e := &evidence[i]
		e.Tool = timeline.OneLine(e.Tool)
		e.Preview = displaywidth.TruncateString(timeline.OneLine(e.Preview), maxPreview, "…")
		e.Result = displaywidth.TruncateString(timeline.OneLine(e.Result), maxPreview, "…")
	}
}

func writeLoops(out io.Writer, r replayedLoops) {
	fmt.Fprintln(out, timeline.OneLine(r.File))
	fmt.Fprintf(out, "session %s, %s\n", orDash(timeline.OneLine(r.Session)), orDash(timeline.OneLine(r.Cwd)))
	writeDamage(out, r.Damage)
	if len(r.Findings) > 0 {
		table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(table, "AT\tLINE\tMAYBE STUCK\tCONFIDENCE\tSTOOD\tWHAT")
		for _, f := range r.Findings {
			fmt.Fprintln(table, strings.Join(foundCells(f), "\t"))
		}
		_ = table.Flush() // into memory
	}
	told := 0
	for _, f := range r.Findings {
		if f.Told {
			told++
		}
	}
	fmt.Fprintf(out, "calls %d, findings %d, told %d\n", r.Calls, len(r.Findings), told)
}

func foundCells(f replay.LoopFound) []string {
	at, stood := "", "to the end"
	if !f.At.IsZero() {
		at = f.At.Local().Format(time.DateTime)
	}
	if !f.Ended.IsZero() {
		stood = shortTime(f.Ended.Sub(f.At).Seconds())
	}
	rule := string(f.Rule)
	if !f.Told {
		rule += " (held back)"
	}
	return []string{orDash(at), fmt.Sprint(f.Line), rule, string(f.Confidence), stood, f.Evidence[0].Says()}
}
