package pi

import (
	"bytes"
	"errors"
)

// ParseMessage reads one message as it is in a session file or in an event of
// Pi's RPC mode. It fails on anything but a JSON object.
func ParseMessage(raw []byte) (*Message, error) {
	raw = bytes.Trim(raw, jsonSpace)
	if end, ok := scan(raw); !ok || end != len(raw) || raw[0] != '{' {
		return nil, errors.New("parse message: not a JSON object")
	}
	return new(reader).message(value(bytes.Clone(raw))), nil
}

// message reads the object of a message.
func (r *reader) message(v value) *Message {
	m := new(Message)
	v.fields(func(key []byte, v value) {
		switch string(key) {
		case "role":
			r.text(&m.Role, key, v)
		case "content":
			m.Content = r.content(v)
		case "timestamp":
			r.time(&m.Timestamp, key, v)
		case "usage":
			r.usage(&m.Usage, key, v)
		case "details":
			m.Details = v.raw()
		case "display":
			r.flag(&m.Display, key, v)
		case "customType":
			r.text(&m.CustomType, key, v)
		default:
			r.assistant(m, key, v)
			r.results(m, key, v)
		}
	})
	if m.Role == "hookMessage" { // Pi's migration from version 2 to 3
		m.Role = RoleCustom
	}
	return m
}

func (r *reader) assistant(m *Message, key []byte, v value) {
	switch string(key) {
	case "stopReason":
		r.text(&m.StopReason, key, v)
	case "errorMessage":
		r.text(&m.ErrorMessage, key, v)
	case "api":
		r.text(&m.API, key, v)
	case "provider":
		r.text(&m.Provider, key, v)
	case "model":
		r.text(&m.Model, key, v)
	case "reasoning_content", "reasoning", "reasoning_text":
		if v[0] == '"' {
			m.ReasoningContent = unquote(v)
		}
	case "tool_calls", "toolCalls":
		m.TopCalls = append(m.TopCalls, r.topCalls(v)...)
	case "function_call": // OpenAI's form before tool_calls
		if v[0] == '{' {
			call := Block{Type: "function", Raw: v.raw()}
			call.readCall(r, v)
			m.TopCalls = append(m.TopCalls, call)
		}
	}
}

// results reads the fields of tool results, bash executions and summaries.
func (r *reader) results(m *Message, key []byte, v value) {
	switch string(key) {
	case "toolCallId":
		r.text(&m.ToolCallID, key, v)
	case "toolName":
		r.text(&m.ToolName, key, v)
	case "isError":
		r.flag(&m.IsError, key, v)
	case "command":
		r.text(&m.Command, key, v)
	case "output":
		r.text(&m.Output, key, v)
	case "fullOutputPath":
		r.text(&m.FullOutputPath, key, v)
	case "exitCode":
		r.optional(&m.ExitCode, key, v)
	case "cancelled":
		r.flag(&m.Cancelled, key, v)
	case "truncated":
		r.flag(&m.Truncated, key, v)
	case "excludeFromContext":
		r.flag(&m.ExcludeFromContext, key, v)
	case "summary":
		r.text(&m.Summary, key, v)
	case "fromId":
		r.text(&m.FromID, key, v)
	case "tokensBefore":
		r.int(&m.TokensBefore, key, v)
	}
}
