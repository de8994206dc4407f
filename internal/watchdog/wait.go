package watchdog

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// SaidMax is how many bytes of the user's last message are looked at, and kept.
const SaidMax = 200

// Beginning is how a message begins: at most SaidMax bytes of it, in one line.
func Beginning(text string) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "")), " ")
	if len(text) <= SaidMax {
		return text
	}
	end := SaidMax
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}

var (
	waitFirst = regexp.MustCompile(`(?i)^(?:(?:ok(?:ay)?|please|no|hey|now),?[\s.!]+)*(?:stop|wait|hold on|hold it|halt|pause|enough)\b`)
	waitFor   = regexp.MustCompile(`(?i)\b(?:do not|don['’]?t) (?:continue|go on|proceed|carry on|do anything|keep going)\b`)
	// What a task can begin with: "wait for the port to open, then …".
	waitTask = regexp.MustCompile(`(?i)^(?:\S+\s+)?(?:stop|pause|halt|wait(?: for| until| on)?) (?:the|a|an|using)\b`)
)

// asksToWait says whether a message seems to ask the agent to stop or to wait.
// It is a question of words, so it may only lead to a question.
func asksToWait(said string) bool {
	return waitFor.MatchString(said) || waitFirst.MatchString(said) && !waitTask.MatchString(said)
}
