package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"piwatch/internal/control"
	"piwatch/internal/pi"
	"piwatch/internal/watchdog"
)

// result is what a tool call came to.
type result struct {
	text      string
	isError   bool
	terminate bool
	details   any
	took      *int64 // milliseconds; nil for a tool that did not run
}

func failed(text string) *result { return &result{text: text, isError: true, details: struct{}{}} }

// execute runs the calls of a row. As in Pi, all calls are looked at before
// the first one runs, and the results come into the session together, in the
// order of the calls. The run ends when every result of the row says so.
func (p *Pi) execute(ctx context.Context, r *row, a Answer) (rows []*entry, terminate bool) {
	if len(a.Calls) == 0 {
		return nil, false
	}
	results := make([]*result, len(a.Calls))
	for i, c := range a.Calls {
		p.tellCall(c)
		if results[i] = p.prepare(ctx, r, c); results[i] != nil {
			p.tellResult(c, results[i])
		}
	}
	for i, c := range a.Calls {
		if results[i] == nil {
			results[i] = p.runTool(ctx, c, a.Hold)
			if p.ctx.Err() == nil {
				p.tellResult(c, results[i])
			}
		}
		if p.ctx.Err() != nil {
			return nil, true
		}
	}
	terminate = true
	for i, c := range a.Calls {
		res := results[i]
		now := p.clock.Now()
		rows = append(rows, p.session.addMessage(&row{
			Role: pi.RoleToolResult, ToolCallID: c.ID, ToolName: c.Name, Content: textBlocks(res.text),
			Details: res.details, IsError: &res.isError, DurationMs: res.took, Timestamp: now.UnixMilli(),
		}, now))
		terminate = terminate && res.terminate
	}
	return rows, terminate
}

// prepare answers a call that does not run; nil for one that does.
func (p *Pi) prepare(ctx context.Context, r *row, c ToolCall) *result {
	if r.StopReason == pi.StopLength {
		return failed(fmt.Sprintf("Tool call %q was not executed: the response hit the output token limit, so its arguments may be truncated. Re-issue the tool call with complete arguments.", c.Name))
	}
	if ctx.Err() != nil {
		return failed(aborted)
	}
	if !slices.ContainsFunc(p.tools, func(t toolRecord) bool { return t.Name == c.Name }) {
		return failed("Tool " + c.Name + " not found")
	}
	if p.isDecide(c.Name) {
		if why := validate(p.tool.Parameters, c.Args); why != "" {
			received, err := json.MarshalIndent(c.Args, "", "  ")
			if err != nil {
				received = []byte(err.Error())
			}
			return failed(fmt.Sprintf("Validation failed for tool %q:\n  - %s\n\nReceived arguments:\n%s", c.Name, why, received))
		}
		return nil
	}
	if blocked := p.block(c); blocked != nil {
		p.note(Event{Kind: Blocked, Text: brief(c)})
		return blocked
	}
	return nil
}

func (p *Pi) runTool(ctx context.Context, c ToolCall, hold Moment) *result {
	if ctx.Err() != nil {
		return failed(aborted)
	}
	began := p.clock.Now()
	var res *result
	switch {
	case p.isDecide(c.Name):
		res = p.decide(c)
	case p.pause(ctx, InTool, hold == InTool, c.Takes) != nil:
		res = failed("Command aborted")
	default:
		res = &result{text: c.Result, isError: c.IsError}
		p.note(Event{Kind: ToolRan, Text: brief(c)})
	}
	took := p.clock.Now().Sub(began).Milliseconds()
	res.took = &took
	return res
}

func (p *Pi) isDecide(name string) bool { return p.tool != nil && p.tool.Name == name }

func (p *Pi) callsTool(r *row) bool {
	return slices.ContainsFunc(r.calls(), func(b block) bool { return p.isDecide(b.Name) })
}

// register gives the model the tool of the check, once, with the definition
// that the session holds, so that a resumed session declares the same bytes.
func (p *Pi) register(def control.ToolDef) {
	if p.tool != nil {
		return
	}
	if held, ok := p.heldTool(); ok {
		def = held
	} else {
		p.session.addCustom(watchdog.RecordTool, def, p.clock.Now())
	}
	p.tool = &def
	if !slices.ContainsFunc(p.tools, func(t toolRecord) bool { return t.Name == def.Name }) {
		p.tools = append(p.tools, toolRecord{def.Name, def.Description, def.Parameters})
	}
	p.bump()
}

// validate checks what a stand-in needs of JSON Schema: required fields and
// the values of an enum. It returns "" or Pi's words for what is wrong.
func validate(schema json.RawMessage, args map[string]any) string {
	var s struct {
		Required   []string `json:"required"`
		Properties map[string]struct {
			Enum []any `json:"enum"`
		} `json:"properties"`
	}
	if json.Unmarshal(schema, &s) != nil {
		return ""
	}
	for _, name := range s.Required {
		if _, ok := args[name]; !ok {
			return name + ": must have required property '" + name + "'"
		}
	}
	for name, value := range args {
		if enum := s.Properties[name].Enum; enum != nil && !slices.Contains(enum, value) {
			return name + ": must be equal to one of the allowed values"
		}
	}
	return ""
}

// brief is a call in a few words.
func brief(c ToolCall) string {
	for _, key := range []string{"command", "path", "decision"} {
		if v, ok := c.Args[key].(string); ok {
			return c.Name + " " + strings.TrimSpace(v)
		}
	}
	return c.Name
}
