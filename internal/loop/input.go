package loop

import "encoding/json"

// Input is what a request to the model added to the one before: results of
// calls, and texts in the role of the user. It keeps a hash and a preview. A
// result counts with its call: ten edits that all answer "done" are ten inputs.
type Input struct {
	hash Hash
	text string
	n    int
}

// AddResult adds the result of a call.
func (in *Input) AddResult(tool string, args json.RawMessage, text string, failed bool) {
	in.addResult(digestCall(tool, args, verbatim), text, failed)
}

func (in *Input) addResult(c call, text string, failed bool) {
	r := digestResult(text, failed, func(Hash) {})
	in.add(hashStart.number(c.hash).number(r.equal), c.tool+" "+c.preview+": "+preview(text, 1))
}

// AddText adds a text in the role of the user.
func (in *Input) AddText(text string) {
	in.add(hashStart.byte(1).bytes(plain(text)), preview(text, 3))
}

// Empty says that nothing was added.
func (in *Input) Empty() bool { return in.n == 0 }

func (in *Input) add(h Hash, text string) {
	if in.n == 0 {
		in.hash = hashStart
	}
	in.hash = in.hash.number(h)
	in.n++
	if len(in.text) < maxPreview {
		in.text = preview(in.text+"\n"+text, in.n)
	}
}
