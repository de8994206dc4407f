package watchdog

import "encoding/json"

// Tool names the one tool of piwatch, and what it says of itself. Every
// session that was ever watched pays for these bytes in each request, so they
// are few; A test holds their cost together with the check message and an
// answer.
const (
	ToolName        = "watchdog_decide"
	ToolLabel       = "Watchdog"
	ToolDescription = "Answer a watchdog check; outside one, done or wait_user stops the watchdog."
)

// ToolParameters is the JSON Schema of the tool's arguments.
func ToolParameters() json.RawMessage {
	return json.RawMessage(`{"type":"object","properties":{"decision":{"type":"string","enum":["continue","done","wait_user"]},"note":{"type":"string","description":"one line"}},"required":["decision"]}`)
}

// The texts that the model reads. They never hold words of consent: an
// automated message that could be read as the user's yes once made an agent
// commit and push.
const (
	CheckText = "[piwatch: automated check, not the user] Your turn ended; it was not interrupted. " +
		"Now only call watchdog_decide; other tools are blocked, text is not read. " +
		"continue: you can go on alone, the work happens in the next turn. done: nothing is left. wait_user: only the user can help."
	// WrongHint is put before CheckText when the check before it got no valid
	// answer.
	WrongHint = "The last check got no call of watchdog_decide. "
	WorkText  = "[piwatch: automated, not the user] The check is over and all tools are back. " +
		"Go on with the task; what you delivered is delivered, do not repeat it. This approves nothing."

	// CutText is the work message after an answer that the token limit cut: there
	// is work left for certain, so no check asks for it.
	CutText = "[piwatch: automated, not the user] Your answer hit the token limit and was cut before a tool call. " +
		"Take the task up from there in smaller steps: call the next tool, or write the rest in parts. Do not repeat what you delivered. This approves nothing."

	BlockedText     = "Blocked: a watchdog check is open. Call watchdog_decide with continue, done or wait_user; tools are back in the next turn."
	GoneText        = "piwatch went away; the check is over. Stop here."
	AnswerContinue  = "Noted. End this turn; the work turn follows."
	AnswerStop      = "Noted. The watchdog stops."
	AnswerTwice     = "Already answered; the first answer counts."
	AnswerVoid      = "This check is void; nothing to answer."
	AnswerBad       = "decision is continue, done or wait_user."
	AnswerNoCheck   = "No check is open: just go on working. Call this only to stop the watchdog, with done or wait_user."
	AnswerOff       = "The watchdog is off; there is nothing to stop."
	LostStatus      = "⏱✗"
	taskInstruction = "\n\nThe user's instruction for this: "
)

// withTask is a work message with the task instruction of the settings.
func withTask(text string, s Settings) string {
	if s.Message == "" {
		return text
	}
	return text + taskInstruction + s.Message
}
