package pi

import (
	"bytes"
	"unicode/utf8"
)

// slim takes out of an entry what only a reader who looks at it needs, and
// copies the raw parts that stay: they still show the line.
func (e *Entry) slim() {
	e.Raw = nil
	if m := e.Message; m != nil {
		slimBlocks(m.Content)
		slimBlocks(m.TopCalls)
		m.Details = nil
		m.Output, _ = cutText(m.Output)
		m.ReasoningContent, _ = cutText(m.ReasoningContent)
	}
	if c := e.CustomMessage; c != nil {
		slimBlocks(c.Content)
		c.Details = bytes.Clone(c.Details)
	}
	if c := e.Custom; c != nil {
		c.Data = bytes.Clone(c.Data)
	}
	if c := e.ContextEdit; c != nil {
		c.Replacement = bytes.Clone(c.Replacement)
	}
	if c := e.Compaction; c != nil {
		c.Details = nil
	}
	if b := e.BranchSummary; b != nil {
		b.Details = nil
	}
}

func slimBlocks(blocks []Block) {
	for i := range blocks {
		b := &blocks[i]
		b.Raw, b.Signature = nil, ""
		b.Arguments = bytes.Clone(b.Arguments)
		var cut int64
		b.Text, cut = cutText(b.Text)
		b.Cut += cut
		b.Thinking, cut = cutText(b.Thinking)
		b.Cut += cut
	}
}

// cutText cuts a text at LeanText bytes, between two characters, and tells how
// many bytes it left out. The rest of the text is let go.
func cutText(text string) (string, int64) {
	if len(text) <= LeanText {
		return text, 0
	}
	end := LeanText
	for end > LeanText-utf8.UTFMax && !utf8.RuneStart(text[end]) {
		end--
	}
	return string([]byte(text[:end])), int64(len(text) - end)
}
