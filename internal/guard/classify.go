package guard

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"

	"piwatch/internal/pi"
)

// Kind is what an answer of the agent is to the guard.
type Kind string

// The kinds of answers. Each stop reason has its own: only a Silent one is ever
// continued.
const (
	Spoke   Kind = "spoke"   // it stopped with a visible word
	Called  Kind = "called"  // it calls a tool
	Silent  Kind = "silent"  // it stopped, and nothing of it is visible
	Cut     Kind = "cut"     // the token limit cut it, before any call of a tool
	Failed  Kind = "failed"  // the provider failed
	Aborted Kind = "aborted" // somebody stopped it
	Other   Kind = "other"   // another stop reason, or one that does not fit its content
)

// Cause is how a silent stop came to hold nothing.
type Cause string

// The causes of a silent stop.
const (
	Thought Cause = "thought" // thinking only, in blocks or beside the content
	Tagged  Cause = "tagged"  // all of the text is inside <think> or its like
	Blank   Cause = "blank"   // text without a visible character
	Empty   Cause = "empty"   // no content at all
)

// Answer is an answer of the agent as the guard sees it.
type Answer struct {
	Kind    Kind
	Cause   Cause  // of a Silent one
	Visible bool   // it holds a visible word
	Reason  string // the stop reason, verbatim
}

// Progress reports whether the answer ends a row of silent stops: by a visible
// word or a call of a tool.
func (a Answer) Progress() bool { return a.Visible || a.Kind == Called }

// abortTexts are the errors by which an abort inside a tool shows.
var abortTexts = regexp.MustCompile(`Request was aborted|Operation aborted`)

// Classify tells what an assistant message is. The message may have any of the
// shapes that Pi and relays write. When in doubt it is not Silent: a stop that
// is not caught is found by the watchdog, an answer that is taken for nothing
// costs a request and annoys.
func Classify(m *pi.Message) Answer {
	a := Answer{Reason: m.StopReason}
	text, cut, others := contents(m)
	a.Visible = cut || others || visible(text...)
	switch {
	case m.StopReason == pi.StopAborted, m.StopReason == pi.StopError && abortTexts.MatchString(m.ErrorMessage):
		a.Kind = Aborted
	case m.StopReason == pi.StopError:
		a.Kind = Failed
	case m.HasToolCall():
		a.Kind = Called
	case m.StopReason == pi.StopLength:
		a.Kind = Cut
	case m.StopReason != pi.StopStop:
		a.Kind = Other
	case a.Visible:
		a.Kind = Spoke
	default:
		a.Kind, a.Cause = Silent, causeOf(m, text)
	}
	return a
}

// contents are the texts of a message; cut says that one of them is not there
// as a whole, others that there is a block whose content nobody knows.
func contents(m *pi.Message) (text []string, cut, others bool) {
	for i := range m.Content {
		switch b := &m.Content[i]; {
		case b.IsToolCall(), isThinking(b):
		case b.IsText() || b.Type == "":
			text = append(text, b.Text)
			cut = cut || b.Cut > 0
		default:
			others = true
		}
	}
	return text, cut, others
}

// isThinking knows also what relays make of thinking: block types like
// reasoning.text and thought_summary, and parts that are marked as thoughts.
func isThinking(b *pi.Block) bool {
	if b.IsThinking() {
		return true
	}
	for _, word := range []string{"think", "thought", "reason"} {
		if strings.Contains(strings.ToLower(b.Type), word) {
			return true
		}
	}
	if !bytes.Contains(b.Raw, []byte(`"thought"`)) {
		return false
	}
	var part struct {
		Thought bool `json:"thought"`
	}
	return json.Unmarshal(b.Raw, &part) == nil && part.Thought
}

func causeOf(m *pi.Message, text []string) Cause {
	for i := range m.Content {
		if isThinking(&m.Content[i]) {
			return Thought
		}
	}
	all := strings.Join(text, "")
	switch {
	case visibleRunes(all):
		return Tagged
	case strings.TrimSpace(m.ReasoningContent) != "":
		return Thought
	case all != "":
		return Blank
	}
	return Empty
}
