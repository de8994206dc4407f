package timeline

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"piwatch/internal/guard"
	"piwatch/internal/pi"
	"piwatch/internal/watchdog"
)

// limits are how much text a row keeps, in bytes. A tool's output keeps less:
// there is most of it, and it is read least.
type limits struct{ body, output, title int }

var (
	full  = limits{maxBody, 2 << 10, maxTitle}
	brief = limits{480, 64, 120}
)

const (
	maxBody  = 8 << 10
	maxTitle = 400
)

// BriefText is how much of each text of a message DigestBrief looks at, in
// bytes: for the parser that reads the entry.
const BriefText = 1 << 10

// digest reduces an entry to its rows and its event.
func digest(e *pi.Entry, keep limits) node {
	n := node{id: e.ID, time: e.Time}
	row := func(k Kind, title, body string) {
		n.rows = append(n.rows, newRow(e, len(n.rows), k, title, body, keep))
	}
	switch {
	case e.Message != nil:
		n.event = digestMessage(e, e.Message, row)
	case e.CustomMessage != nil:
		n.event = digestCustomMessage(e.CustomMessage.CustomType, e.CustomMessage.Text(), e.CustomMessage.Details, row)
	case e.Custom != nil:
		n.event = digestCustom(e.Custom, row)
	case e.ContextEdit != nil:
		row(Edit, "context edit", "")
		n.event = editEvent{target: e.ContextEdit.TargetID, omit: e.ContextEdit.Omit}
	case e.Compaction != nil:
		row(Compaction, fmt.Sprintf("compacted, %d tokens before", e.Compaction.TokensBefore), e.Compaction.Summary)
	case e.BranchSummary != nil:
		row(Branch, "another branch was left; its summary", e.BranchSummary.Summary)
	case e.ModelChange != nil:
		row(Setting, "model "+e.ModelChange.Provider+"/"+e.ModelChange.ModelID, "")
		n.event = modelEvent{}
	case e.ThinkingLevel != nil:
		row(Setting, "thinking "+e.ThinkingLevel.Level, "")
	case e.SessionInfo != nil:
		row(Setting, nameTitle(e.SessionInfo.Name), "")
	case e.Label != nil:
		row(Setting, labelTitle(e.Label.Label), "")
	case e.Usage != nil:
		row(Setting, usageTitle(e.Usage), "")
	default:
		row(Unknown, unknownTitle(e), "")
	}
	return n
}

// whole keeps all of each text.
var whole = limits{math.MaxInt / 4, math.MaxInt / 4, maxTitle}

// Text is the whole text of a row, from the entry that it is of; ok is false
// for another entry.
func Text(e *pi.Entry, r *Row) (text string, ok bool) {
	if id, _ := r.Source(); e.ID != id || e.Header != nil {
		return "", false
	}
	n := digest(e, whole)
	for i := range n.rows {
		if own := &n.rows[i]; own.Key == r.Key || r.joined != "" && i == 0 {
			return firstOf(own.Body, own.Title), true
		}
	}
	return "", false
}

// newRow makes a row of foreign text. An empty title is the first line of the
// body.
func newRow(e *pi.Entry, part int, k Kind, title, body string, keep limits) Row {
	r := Row{Key: e.ID + ":" + strconv.Itoa(part), Entry: e.ID, Kind: k, Time: e.Time, offset: e.Offset}
	limit := keep.body
	switch k {
	case ToolCall, Thinking:
		limit = keep.output
	case Ask: // the review shows it whole
		limit = maxBody
	}
	r.Body, r.Rest = cut(strings.Trim(Clean(short(body, 2*limit)), "\n "), limit)
	if len(body) > 2*limit {
		r.Rest += len(body) - 2*limit
	}
	r.Title = OneLine(short(title, keep.title))
	if title == "" {
		r.Title = OneLine(short(firstLine(r.Body), keep.title))
		if r.Title == r.Body && r.Rest == 0 {
			r.Body = ""
		}
	}
	// A part of a string keeps the whole of it in memory.
	r.Body = strings.Clone(r.Body)
	if strings.HasPrefix(r.Body, r.Title) {
		r.Title = r.Body[:len(r.Title)]
	} else {
		r.Title = strings.Clone(r.Title)
	}
	return r
}

func digestMessage(e *pi.Entry, m *pi.Message, row adder) any {
	switch m.Role {
	case pi.RoleSystem:
		return nil // the prompt: not part of the story
	case pi.RoleUser:
		row(User, "", messageText(m))
		return userEvent{}
	case pi.RoleAssistant:
		return digestAssistant(e, m, row)
	case pi.RoleToolResult:
		row(ToolCall, m.ToolName, m.Text())
		return resultEvent{call: m.ToolCallID, failed: m.IsError}
	case pi.RoleBashExecution:
		row(Shell, shellTitle(m), m.Output)
	case pi.RoleCustom:
		return digestCustomMessage(m.CustomType, m.Text(), m.Details, row)
	case pi.RoleBranchSummary:
		row(Branch, "another branch was left; its summary", m.Summary)
	case pi.RoleCompactionSummary:
		row(Compaction, fmt.Sprintf("compacted, %d tokens before", m.TokensBefore), m.Summary)
	default:
		row(Unknown, unknownTitle(e), "")
	}
	return nil
}

func digestAssistant(e *pi.Entry, m *pi.Message, row adder) any {
	ev := agentEvent{}
	if m.Usage != nil {
		ev.tokens = int(m.Usage.Output)
	}
	thinking, spoken := splitThinking(m)
	if thinking != "" {
		row(Thinking, "", thinking)
	}
	if spoken != "" {
		row(Agent, "", spoken)
	}
	for _, c := range m.ToolCalls() {
		row(ToolCall, c.ToolName, "")
		arg := mainArgument(c.Arguments)
		ev.calls = append(ev.calls, Tool{
			Name: OneLine(strings.Clone(short(c.ToolName, maxTitle))), Arg: OneLine(strings.Clone(short(arg, maxTitle))),
			call: c.ToolCallID, from: e.Time, decide: decideOf(c.ToolName, c.Arguments),
		})
	}
	ev.firstCall = rowsBeforeCalls(thinking, spoken)
	switch m.StopReason {
	case pi.StopAborted:
		row(Aborted, firstOf(m.ErrorMessage, "aborted"), "")
	case pi.StopError:
		row(Failed, "", firstOf(m.ErrorMessage, "error without a text"))
	case pi.StopLength:
		row(Cut, "the answer was cut by the token limit", "")
	case pi.StopStop:
		if a := guard.Classify(m); a.Kind == guard.Silent {
			row(Silent, silentTitle(a.Cause), "")
		}
	}
	return ev
}

func rowsBeforeCalls(texts ...string) int {
	n := 0
	for _, t := range texts {
		if t != "" {
			n++
		}
	}
	return n
}

func silentTitle(cause guard.Cause) string {
	if cause == guard.Thought || cause == guard.Tagged {
		return "stopped after thinking, without a word"
	}
	return "stopped without a word"
}

func damageNode(d pi.Damage) node {
	title := fmt.Sprintf("line %d of the file: %s", d.Line, d.Kind)
	if d.Detail != "" {
		title += ", " + d.Detail
	}
	e := pi.Entry{ID: fmt.Sprintf("damage-%d-%s", d.Offset, d.Kind)}
	return node{rows: []Row{newRow(&e, 0, Damage, title, "", full)}}
}

func unknownTitle(e *pi.Entry) string {
	if len(e.Raw) > 0 {
		return string(e.Raw)
	}
	return firstOf(e.Type, "entry without a type")
}

func nameTitle(name string) string {
	if strings.TrimSpace(name) == "" {
		return "name taken away"
	}
	return "named " + name
}

func labelTitle(label string) string {
	if label == "" {
		return "label taken away"
	}
	return "label " + label
}

func usageTitle(u *pi.UsageEntry) string {
	title := "use of tokens: " + u.Kind
	if u.Usage != nil {
		title += fmt.Sprintf(", %d", u.Usage.TotalTokens)
	}
	return title
}

func shellTitle(m *pi.Message) string {
	switch {
	case m.Cancelled:
		return m.Command + " (cancelled)"
	case m.ExitCode != nil && *m.ExitCode != 0:
		return fmt.Sprintf("%s (exit %d)", m.Command, *m.ExitCode)
	}
	return m.Command
}

func messageText(m *pi.Message) string {
	text := m.Text()
	images := 0
	for i := range m.Content {
		if m.Content[i].Type == "image" {
			images++
		}
	}
	if images > 0 {
		text = strings.TrimLeft(fmt.Sprintf("%s\n[images: %d]", text, images), "\n")
	}
	return firstOf(text, "(empty message)")
}

// digestCustomMessage tells the messages of a watchdog from all others.
func digestCustomMessage(kind, text string, details json.RawMessage, row adder) any {
	switch kind {
	case watchdog.MessageCheck:
		row(Ask, "", text)
		return askEvent{check: checkOf(details)}
	case watchdog.MessageWork:
		row(Work, "back to work", text)
		return workEvent{check: checkOf(details)}
	}
	if kind == guard.Type {
		var d guard.Details
		_ = json.Unmarshal(details, &d) // a row without details tells less
		row(Guard, "asked for the next action"+guardCounts(d.Row, d.Total), text)
		return guardEvent{}
	}
	if ev := digestExtensionMessage(kind, text, details, row); ev != nil {
		return ev
	}
	row(Message, kind, text)
	return nil
}

func checkOf(details json.RawMessage) string {
	var d watchdog.MessageDetails
	_ = json.Unmarshal(details, &d) // a row without details opens a card without a record
	return d.Check
}
