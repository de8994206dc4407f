package pi

import "bytes"

// slim takes out of an entry what only a reader who looks at it needs, and
// copies the raw parts that stay: they still show the line. The texts of blocks
// were cut when they were read.
func (e *Entry) slim() {
	e.Raw = nil
	if m := e.Message; m != nil {
		slimBlocks(m.Content)
		slimBlocks(m.TopCalls)
		m.Details = nil
		m.Output = cutText(m.Output)
		m.ReasoningContent = cutText(m.ReasoningContent)
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
	}
}

// cutText cuts a text at LeanText bytes, between two characters. The rest of
// the text is let go.
func cutText(text string) string {
	if len(text) <= LeanText {
		return text
	}
	return string([]byte(text[:charStart([]byte(text[:LeanText+1]), LeanText)]))
}
