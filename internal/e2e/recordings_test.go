package e2e

import "strings"

// recording is one session to record.
type recording struct {
	name    string
	options HomeOptions
	play    func(h *Home, rpc *RPC) // ends in the session to keep
	holds   []string                // entry types, roles, stop reasons in both versions' files
}

// branchSummary is the model's summary of a branch in the recordings.
const branchSummary = "What was tried: the better way."

var recordings = []recording{
	{
		name:  "plain",
		holds: []string{"user", "assistant", "stop", "model_change"},
		play: func(h *Home, rpc *RPC) {
			h.Provider.Enqueue(Text("Hello. What shall I do?"), Text("Nothing, then."))
			rpc.Turn("hello")
			rpc.Turn("nothing today, thanks")
		},
	},
	{
		name:  "tools",
		holds: []string{"toolUse", "toolResult", "stop"},
		play: func(h *Home, rpc *RPC) {
			h.WriteFile("note.txt", "one line\n")
			h.Provider.Enqueue(
				Thinking("I should look at it first.").Text("I read the note.").Call("bash", object{"command": "cat note.txt"}),
				Call("bash", object{"command": "wc -l < note.txt"}).Call("bash", object{"command": "ls nowhere; exit 2"}),
				Text("It has one line."),
			)
			rpc.Turn("what is in the note?")
		},
	},
	{
		name:  "aborted",
		holds: []string{"aborted", "stop"},
		play: func(h *Home, rpc *RPC) {
			h.Provider.Enqueue(Text("I begin to wri").Gate(h.Provider.NewGate("aborted text")), Text("Understood."))
			rpc.Prompt("write a long report")
			rpc.WaitEvent("the first words", func(e Record) bool { return e.Str("assistantMessageEvent.delta") != "" })
			rpc.Abort()
			rpc.WaitSettled()
			rpc.Turn("stop, a short one please")
		},
	},
	{
		name:  "aborted-tool",
		holds: []string{"aborted", "toolResult"},
		play: func(h *Home, rpc *RPC) {
			h.Provider.Enqueue(Text("I wait.").Call("bash", object{"command": "echo waiting; read line < /dev/zero"}))
			rpc.Prompt("wait for the build")
			rpc.WaitEvent("output of the tool", func(e Record) bool {
				return e.Type() == "tool_execution_update" && strings.Contains(Record{"content": e.Get("partialResult.content")}.Text(), "waiting")
			})
			rpc.Abort()
			rpc.WaitSettled()
		},
	},
	{
		name:  "error",
		holds: []string{"error"},
		play: func(h *Home, rpc *RPC) {
			h.Provider.Enqueue(Status(401, `{"error":{"message":"the key of the recording is not known"}}`))
			rpc.Turn("hello")
		},
	},
	{
		name:  "retried",
		holds: []string{"error", "stop"},
		play: func(h *Home, rpc *RPC) {
			h.Provider.Enqueue(Status(503, "down for the recording"), Text("Half an ans").Reset(), Text("The whole answer."))
			rpc.Turn("answer me")
		},
	},
	{
		name:  "silent",
		holds: []string{"stop"},
		play: func(h *Home, rpc *RPC) {
			h.Provider.Enqueue(Thinking("I could do this, or that."), Empty(), Text("  \n"), Text("<think>inline</think>"))
			rpc.Turn("think about it")
			rpc.Turn("say nothing")
			rpc.Turn("only white space")
			rpc.Turn("think aloud")
		},
	},
	{
		name:  "length",
		holds: []string{"length"},
		play: func(h *Home, rpc *RPC) {
			// At the model's maxTokens; fewer would be a full context to 1.6.0.
			h.Provider.Enqueue(Text("One, two, thr").Finish("length").Usage(Usage{Input: 100, Output: 16_384}))
			rpc.Turn("count for ever")
		},
	},
	{
		name: "compaction",
		options: HomeOptions{Settings: map[string]any{
			"compaction": map[string]any{"enabled": true, "reserveTokens": 2000, "keepRecentTokens": 10},
		}},
		holds: []string{"compaction", "stop"},
		play: func(h *Home, rpc *RPC) {
			h.Provider.Enqueue(Text("First is done."), Text("Second is done."), Text("Two things were done."), Text("Third is done."))
			rpc.Turn("do the first thing")
			rpc.Turn("do the second thing: " + strings.Repeat("and more ", 20))
			rpc.Compact()
			rpc.Turn("do the third thing")
		},
	},
	{
		name:  "fork",
		holds: []string{"user", "stop"},
		play: func(h *Home, rpc *RPC) {
			h.Provider.Enqueue(Text("Answer one."), Text("Answer two."), Text("Another answer two."))
			rpc.Turn("question one")
			rpc.Turn("question two")
			rpc.Fork(userEntry(h, rpc, "question two"))
			rpc.Turn("another question two")
		},
	},
	{
		name:  "branch",
		holds: []string{"label", "session_info", "branch_summary", "stop"},
		play: func(h *Home, rpc *RPC) {
			h.Provider.Enqueue(Text("Answer one."), Text("A wrong way."), Text("A better way."), Text(branchSummary), Text("The best way."))
			rpc.Start("set_session_name", object{"name": "three ways"}).Must()
			rpc.Turn("question one")
			rpc.Turn("try a way")
			first := userEntry(h, rpc, "try a way")
			rpc.Prompt("/record-label " + first + " wrong")
			rpc.Prompt("/record-tree " + parentOf(h, rpc, first))
			rpc.Turn("try a better way")
			rpc.Prompt("/record-tree " + parentOf(h, rpc, first) + " summary")
			rpc.Turn("try the best way")
		},
	},
	{
		name:  "custom",
		holds: []string{"custom", "custom_message", "bashExecution", "thinking_level_change", "stop"},
		play: func(h *Home, rpc *RPC) {
			h.Provider.Enqueue(Text("Ready."), Text("I went on."))
			rpc.Turn("get ready")
			rpc.Start("bash", object{"command": "echo typed by the user"}).Must()
			rpc.Start("set_thinking_level", object{"level": "high"}).Must()
			rpc.Prompt("/record-custom")
			rpc.WaitSettled()
		},
	},
	{
		name:  "queued",
		holds: []string{"toolResult", "stop"},
		play: func(h *Home, rpc *RPC) {
			gate := h.Provider.NewGate("while messages are queued")
			h.Provider.Enqueue(
				Text("Step one.").Gate(gate).Call("bash", object{"command": "echo step one"}),
				Text("Steered."), Text("Followed up."),
			)
			rpc.Prompt("do step one")
			gate.WaitReached()
			rpc.Steer("this way")
			rpc.FollowUp("and then that")
			gate.Release()
			rpc.WaitSettled()
		},
	},
}

// userEntry is the id of the user message with a text.
func userEntry(h *Home, rpc *RPC, text string) string {
	h.t.Helper()
	return h.WaitEntry(rpc.SessionFile(), "of the user: "+text, func(r Record) bool {
		return IsRole("user")(r) && r.Text() == text
	}).Str("id")
}

func parentOf(h *Home, rpc *RPC, id string) string {
	h.t.Helper()
	return h.WaitEntry(rpc.SessionFile(), id, func(r Record) bool { return r.Str("id") == id }).Str("parentId")
}
