package demo

import (
	"encoding/json"
	"sync"
	"time"

	"piwatch/internal/watchdog"
)

// DecideTool is the name of the tool that answers a check.
const DecideTool = watchdog.ToolName

// Script is the model: it gives the answer to a request. It is called in the
// order of the requests, never twice at a time, and must not call the Pi that
// asks.
type Script func(Request) Answer

// Request is what the model is sent in one call, after all folds.
type Request struct {
	N     int    // number of the call in this process, from 1
	Check string // id of the open check, "" outside one
	// Messages are the messages as they go to the provider: no ids, no times.
	Messages []Message
	// Tools are the names of the tools declared to the model, in their order.
	Tools []string
}

// Message is one message of a [Request].
type Message struct {
	Role    string          `json:"role"` // user, assistant, toolResult
	Content json.RawMessage `json:"content"`
	Call    string          `json:"toolCallId,omitempty"` // of a toolResult
	IsError bool            `json:"isError,omitempty"`    // of a toolResult
}

// Moment is a place inside a run, where a test may hold it.
type Moment string

// The moments.
const (
	NoMoment     Moment = ""         // no run, or nothing to wait for
	BeforeAnswer Moment = "request"  // the request is out, no byte came yet
	InThinking   Moment = "thinking" // the thinking is complete, nothing else yet
	InText       Moment = "text"     // the text is complete, its calls are not
	InArguments  Moment = "args"     // text and calls are streamed, the row is not in the file yet
	InTool       Moment = "tool"     // a tool runs
	InDecide     Moment = "decide"   // the bridge waits for the hub's reply to decide
	InEnd        Moment = "end"      // the bridge waits for the hub at the end of a run
)

// Answer is one answer of the model: an assistant row.
type Answer struct {
	Thinking string
	Text     string
	Calls    []ToolCall
	Error    string // the provider failed with this text; the row keeps what came before
	Stop     string // stop reason; "" gives toolUse with calls, else stop
	Tokens   int    // output tokens; 0 gives an estimate from the length

	First time.Duration // time until the first byte
	Pace  time.Duration // time for each word of thinking and text
	// Hold stops the run at this moment until [Pi.Release] or an abort.
	Hold Moment
}

// ToolCall is a call in an [Answer], with the result the tool gives.
type ToolCall struct {
	ID      string         // "" gives one of its own
	Name    string         // bash, read, edit, write, or DecideTool
	Args    map[string]any // arguments
	Result  string         // what the tool prints; DecideTool asks the hub instead
	IsError bool
	Takes   time.Duration
}

// Say is an answer of text only.
func Say(text string) Answer { return Answer{Text: text} }

// Think is an answer of thinking only: a silent stop.
func Think(thinking string) Answer { return Answer{Thinking: thinking} }

// Fail is an answer that the provider breaks off with an error.
func Fail(text string) Answer { return Answer{Error: text} }

// Use is an answer that calls tools.
func Use(calls ...ToolCall) Answer { return Answer{Calls: calls} }

// Decide is an answer that calls the tool of a check. An empty note is left out.
func Decide(decision, note string) Answer { return Use(DecideCall(decision, note)) }

// DecideCall is the call of [Decide].
func DecideCall(decision, note string) ToolCall {
	args := map[string]any{"decision": decision}
	if note != "" {
		args["note"] = note
	}
	return ToolCall{Name: DecideTool, Args: args}
}

// Bash is a call of the bash tool.
func Bash(command, output string, takes time.Duration) ToolCall {
	return ToolCall{Name: "bash", Args: map[string]any{"command": command}, Result: output, Takes: takes}
}

// Edit is a call of the edit tool.
func Edit(path, before, after string) ToolCall {
	return ToolCall{
		Name:   "edit",
		Args:   map[string]any{"path": path, "edits": []any{map[string]any{"oldText": before, "newText": after}}},
		Result: "Successfully replaced 1 block(s) in " + path + ".",
	}
}

// Answers is a script that gives one answer after the other, and an error when
// they are used up.
func Answers(answers ...Answer) Script {
	var mu sync.Mutex
	return func(Request) Answer {
		mu.Lock()
		defer mu.Unlock()
		if len(answers) == 0 {
			return Fail("the script has no further answer")
		}
		next := answers[0]
		answers = answers[1:]
		return next
	}
}
