package loop

import (
	"fmt"
	"strings"
	"time"

	"piwatch/internal/pi"
)

// ownTool is the tool of the watchdog: its calls are no work.
const ownTool = "watchdog_"

// ownEntry begins the types of the entries that piwatch writes.
const ownEntry = "piwatch."

// Reader turns the entries of a session file, in file order, into events. The
// zero value is ready. It keeps no text.
type Reader struct {
	leaf  string
	calls map[string]call // of the last answer
	input Input           // since the last answer
	own   bool            // the model answers a check of piwatch
}

// Timed is an event and when it happened.
type Timed struct {
	At    time.Time
	Event Event
}

// Read gives the events of one entry.
func (r *Reader) Read(e *pi.Entry) []Timed {
	if e.Type == pi.TypeSession || e.ID == "" {
		return nil
	}
	var out []Timed
	add := func(ev Event) { out = append(out, Timed{e.Time, ev}) }
	if r.leaf != "" && e.ParentID != r.leaf && !ownRow(e) {
		add(Spoken{}) // somebody went to another branch
		r.input, r.calls = Input{}, nil
	}
	r.leaf = e.ID
	switch {
	case e.CustomMessage != nil:
		r.own = e.CustomMessage.CustomType == ownEntry+"ask"
		r.input.AddText(e.CustomMessage.Text())
		add(Began{})
	case e.Message != nil:
		r.message(e.Message, add)
	}
	return out
}

func ownRow(e *pi.Entry) bool {
	return e.Custom != nil && strings.HasPrefix(e.Custom.CustomType, ownEntry) ||
		e.CustomMessage != nil && strings.HasPrefix(e.CustomMessage.CustomType, ownEntry)
}

func (r *Reader) message(m *pi.Message, add func(Event)) {
	switch m.Role {
	case pi.RoleUser:
		text := m.Text()
		r.own = false
		r.input.AddText(text)
		add(Spoken{text})
		add(Began{})
	case pi.RoleCustom:
		r.input.AddText(m.Text())
		add(Began{})
	case pi.RoleAssistant:
		r.answer(m, add)
	case pi.RoleToolResult:
		r.result(m, add)
	}
}

func (r *Reader) answer(m *pi.Message, add func(Event)) {
	switch {
	case m.StopReason == pi.StopAborted:
		add(Ended{})
		r.input = Input{}
		return
	case m.StopReason == pi.StopError:
		return // its calls do not run, and Pi may ask again
	}
	calls := m.ToolCalls()
	r.calls = make(map[string]call, len(calls))
	answered := Answered{Text: m.Text()}
	for i := range calls {
		b := &calls[i]
		answered.Calls = append(answered.Calls, Call{b.ToolCallID, b.ToolName, b.Arguments})
		if len(r.calls) < keepOpen {
			r.calls[b.ToolCallID] = digestCall(b.ToolName, b.Arguments, verbatim)
		}
	}
	if !r.own {
		add(Given{r.input})
		add(answered)
	}
	r.input = Input{}
	for _, one := range answered.Calls {
		if !strings.HasPrefix(one.Tool, ownTool) {
			add(Called(one))
		}
	}
	if len(calls) == 0 {
		r.own = false
		add(Ended{})
	}
}

func (r *Reader) result(m *pi.Message, add func(Event)) {
	text := ResultText(m.Content)
	c, known := r.calls[m.ToolCallID]
	if !known {
		c = call{tool: m.ToolName}
	}
	delete(r.calls, m.ToolCallID)
	r.input.addResult(c, text, m.IsError)
	if !strings.HasPrefix(m.ToolName, ownTool) {
		add(Returned{ID: m.ToolCallID, Tool: m.ToolName, Text: text, Error: m.IsError})
	}
}

// ResultText is the text of a result; what is no text stands in it as a hash.
func ResultText(blocks []pi.Block) string {
	if len(blocks) == 1 && blocks[0].IsText() {
		return blocks[0].Text
	}
	var b strings.Builder
	for i := range blocks {
		if one := &blocks[i]; one.IsText() {
			b.WriteString(one.Text)
		} else {
			fmt.Fprintf(&b, "[%s %s]", one.Type, hashStart.bytes(one.Raw))
		}
		b.WriteByte('\n')
	}
	return b.String()
}
