package replay

import (
	"encoding/json"
	"sort"
	"strings"
	"time"

	"piwatch/internal/guard"
	"piwatch/internal/pi"
	"piwatch/internal/watchdog"
)

// row is an entry of the branch and what it is to the watchdog.
type row struct {
	*pi.Entry
	kind kind
}

type kind int

const (
	otherRow  kind = iota // nothing that the watchdog would have been told
	userRow               // a message of the user
	agentRow              // an answer of the model
	resultRow             // the result of a tool
	extRow                // a message of an extension
	askRow                // the message of a check
	workRow               // a work message
	recordRow             // a record of piwatch
	shellRow              // a command that the user ran with "!"
	choiceRow             // a model or thinking level was chosen
	compactionRow
	leftRow // the first row of the conversation on another branch
)

// rowsOf makes rows of a branch. Where the branch was left and gone on with
// later, a leftRow stands between.
func rowsOf(branch []pi.Entry, tree *pi.Tree) []row {
	on := make(map[place]bool, len(branch))
	for i := range branch {
		on[placeOf(&branch[i])] = true
	}
	var off []row // in file order
	for e := range tree.All() {
		if r := (row{e, kindOf(e)}); r.kind.converses() && !on[placeOf(e)] {
			r.kind = leftRow
			off = append(off, r)
		}
	}
	rows := make([]row, 0, len(branch))
	for i := range branch {
		e := &branch[i]
		if i > 0 {
			from := placeOf(&branch[i-1])
			at := sort.Search(len(off), func(n int) bool { return from.before(placeOf(off[n].Entry)) })
			if at < len(off) && placeOf(off[at].Entry).before(placeOf(e)) {
				rows = append(rows, off[at])
			}
		}
		rows = append(rows, row{e, kindOf(e)})
	}
	return rows
}

// place is where a record stands in its file.
type place struct {
	line   int
	offset int64
}

func placeOf(e *pi.Entry) place { return place{e.Line, e.Offset} }

func (p place) before(q place) bool {
	return p.line < q.line || p.line == q.line && p.offset < q.offset
}

// converses says whether rows of the kind are part of the conversation.
func (k kind) converses() bool {
	switch k {
	case userRow, agentRow, resultRow, extRow, askRow, workRow:
		return true
	}
	return false
}

func kindOf(e *pi.Entry) kind {
	switch {
	case e.Message != nil:
		return messageKind(e.Message.Role)
	case e.CustomMessage != nil && e.CustomMessage.CustomType == watchdog.MessageCheck:
		return askRow
	case e.CustomMessage != nil && e.CustomMessage.CustomType == watchdog.MessageWork:
		return workRow
	case e.CustomMessage != nil:
		return extRow
	case e.Custom != nil && strings.HasPrefix(e.Custom.CustomType, "piwatch."):
		return recordRow
	case e.Compaction != nil:
		return compactionRow
	case e.ModelChange != nil, e.ThinkingLevel != nil:
		return choiceRow
	}
	return otherRow
}

func messageKind(role string) kind {
	switch role {
	case pi.RoleUser:
		return userRow
	case pi.RoleAssistant:
		return agentRow
	case pi.RoleToolResult:
		return resultRow
	case pi.RoleCustom, "hookMessage":
		return extRow
	case pi.RoleBashExecution:
		return shellRow
	}
	return otherRow
}

// time is when the row was written, zero when nobody can tell.
func (r *row) time() time.Time {
	if plausible(r.Time) {
		return r.Time
	}
	return r.sent()
}

// sent is when the message of the row came to be: a message of the user waits
// in Pi's queue while the agent works. Zero when nobody can tell.
func (r *row) sent() time.Time {
	if r.Message != nil && plausible(r.Message.Timestamp) {
		return r.Message.Timestamp
	}
	return time.Time{}
}

// plausible times can be added to and written as JSON.
func plausible(t time.Time) bool { return !t.IsZero() && t.Year() > 1 && t.Year() < 9999 }

// aborted says whether the user stopped the answer. An abort in a tool can end
// as an error of these texts.
func (r *row) aborted() bool {
	m := r.Message
	if r.kind != agentRow {
		return false
	}
	return m.StopReason == pi.StopAborted || m.StopReason == pi.StopError &&
		(strings.Contains(m.ErrorMessage, "Request was aborted") || strings.Contains(m.ErrorMessage, "Operation aborted"))
}

// open says whether a run cannot end on the row: Pi goes on after a message, a
// result, and an answer with tool calls. The calls of a failed answer are not
// run, and piwatch's own tool ends a run.
func (r *row) open() bool {
	switch r.kind {
	case agentRow:
		m := r.Message
		return m.HasToolCall() && m.StopReason != pi.StopError && m.StopReason != pi.StopAborted
	case resultRow:
		return r.Message.ToolName != watchdog.ToolName
	}
	return true
}

// stop says how the run ended, for a row that ended it.
func (r *row) stop() (stop string, shape Shape) {
	switch r.kind {
	case agentRow:
		return r.Message.StopReason, ShapeOf(r.Message)
	case resultRow:
		return StopTool, ""
	}
	return StopNothing, ""
}

// maxPreview bounds the preview of what came next, in bytes.
const maxPreview = 400

func (r *row) preview() string {
	var text string
	switch {
	case r.Message != nil:
		text = r.Message.Text()
	case r.kind == extRow:
		text = r.CustomMessage.CustomType + ": " + r.CustomMessage.Text()
	}
	if text = strings.TrimSpace(text); len(text) > maxPreview {
		text = strings.ToValidUTF8(text[:maxPreview], "")
	}
	return text
}

// Shape says what an answer holds.
type Shape string

// The shapes of answers. Thinking and Empty with the stop reason "stop" are
// silent stops.
const (
	Call     Shape = "call"     // a tool call
	Text     Shape = "text"     // visible text, and no call
	Thinking Shape = "thinking" // thinking, and neither text nor call
	Empty    Shape = "empty"    // nothing
)

// ShapeOf tells the shape of an answer, as the guard sees it.
func ShapeOf(m *pi.Message) Shape {
	stopped := *m
	stopped.StopReason = pi.StopStop // what it holds is asked, not how it ended
	switch a := guard.Classify(&stopped); {
	case a.Kind == guard.Called:
		return Call
	case a.Visible:
		return Text
	case a.Cause == guard.Thought, a.Cause == guard.Tagged:
		return Thinking
	}
	return Empty
}

// read decodes the data of a record; a damaged one counts as absent.
func read[T any](data json.RawMessage) (T, bool) {
	var v T
	err := json.Unmarshal(data, &v)
	return v, err == nil
}
