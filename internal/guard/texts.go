package guard

// head begins each message: what it is, and who it is not.
const head = "[piwatch: automated, not the user] "

// task ends each message. It asks for an action, since words like "go on" after
// an answer of thinking only are read as leave to think on; and it holds no
// words of consent, which an agent would take for the user's.
const task = " Take the next action now: call the tool it needs. If nothing is left to do, say so in one visible line. This approves nothing."

// texts are what the model reads, by the cause of the silent stop.
var texts = map[Cause]string{
	Thought: head + "Your turn ended without a tool call and without a visible word; nobody reads your reasoning." + task,
	Tagged:  head + "Your turn ended without a tool call, and all of its text was inside a reasoning tag, which nobody sees." + task,
	Blank:   head + "Your turn ended without a tool call, and its text was blank." + task,
	Empty:   head + "Your turn ended with an empty answer." + task,
}

// words tell people the cause of a silent stop.
var words = map[Cause]string{
	Thought: "thinking only",
	Tagged:  "text inside thinking tags only",
	Blank:   "blank text",
	Empty:   "an empty answer",
}

// String is the cause in words for people; a cause that is not known verbatim.
func (c Cause) String() string {
	if w, ok := words[c]; ok {
		return w
	}
	return string(c)
}
