package cli

import (
	"context"
	"fmt"
	"io"
	"time"

	"piwatch/internal/timeline"
)

// noticeLabel is the word that a line of the hub begins with, as rows have theirs.
const noticeLabel = "hub"

// followNotices prints what the hub says of a session beside its timeline: every
// time nothing was sent, why not. It ends with ctx.
func (a *app) followNotices(ctx context.Context, session string, out io.Writer) {
	watchHub(ctx, a.dial, func(ev hubEvent) { a.showNotice(ev, session, out) })
}

// showNotice prints a notice about a session, unless its timeline tells it too:
// those of the level info do.
func (a *app) showNotice(ev hubEvent, session string, out io.Writer) {
	n := ev.push.Notice
	if n == nil || n.Session != session || n.Level == "info" {
		return
	}
	at := time.UnixMilli(n.Time)
	// Who does not read these lines gets the error of those of the timeline.
	if a.json {
		_ = a.printLine(loggedRow{Kind: "notice", Time: &at, Text: timeline.OneLine(n.Text)})
		return
	}
	_, _ = fmt.Fprintf(out, "%s  %-*s  %s\n", at.Local().Format(time.TimeOnly), timeline.LabelWidth, noticeLabel, timeline.OneLine(n.Text))
}
