package loop

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	// maxText is how much of a text is normalised at each end, in bytes. What
	// lies between counts as it stands: too different at worst.
	maxText = 32 << 10
	// maxPreview bounds a preview, in bytes.
	maxPreview = 240
	// saysMuch is how long a result must be, in bytes, to say that two calls
	// that differ in an id did the same.
	saysMuch = 64
)

// result is what is kept of the result of a call.
type result struct {
	equal Hash // equal for equal results
	loose Hash // equal also where all that differs was taken out
	says  bool // it is an error, or long enough to tell calls apart
}

// tokens hears of the ids in a text.
type tokens func(Hash)

// digestResult normalises a result. Where hardly anything stays, as in the
// output of date or of git rev-parse HEAD, what was taken out is what it says.
func digestResult(text string, failed bool, seen tokens) result {
	var buf []byte
	var erased, left int
	drop := func(k kind, s string) bool {
		switch k {
		case id, hex, scratch, clock:
			seen(tokenHash(k, s))
		}
		if k != escape && k != duration {
			erased += len(s)
		}
		return true
	}
	raw := hashStart
	head, middle, tail := ends(text)
	buf, left = erase(buf, head, drop)
	raw = raw.text(head).text(middle).text(tail)
	loose := hashStart.bytes(bytes.TrimRight(buf, " \r\n\t")).byte(0xff).text(middle)
	if tail != "" {
		more := 0
		buf, more = erase(buf[:0], tail, drop)
		left += more
		loose = loose.bytes(buf)
	}
	if failed {
		raw, loose = raw.byte(1), loose.byte(1)
	}
	r := result{equal: loose, loose: loose, says: failed || len(text) >= saysMuch}
	const few = 4
	if erased > 0 && (left < few || left < erased/2) {
		r.equal = raw
	}
	return r
}

// ends cuts a long text in three.
func ends(text string) (head, middle, tail string) {
	if len(text) <= 2*maxText {
		return text, "", ""
	}
	return text[:maxText], text[maxText : len(text)-maxText], text[len(text)-maxText:]
}

// tokenHash is the same for an id and for its usual abbreviation.
func tokenHash(k kind, s string) Hash {
	const short = 7
	s = strings.ToLower(s)
	if k == hex || k == id && len(s) == 36 {
		s = s[:min(short, len(s))]
	}
	return hashStart.part(s)
}

// call is what is kept of a call.
type call struct {
	hash    Hash
	loose   bool // ids that came from nowhere were taken out
	tool    string
	preview string
	changes bool // it may change files
	waits   bool // it waits on purpose
}

// digestCall reads a call. Its arguments say what the work is, so they count as
// they stand, but for ids that nobody mentioned before: those the model made up.
func digestCall(tool string, args json.RawMessage, known func(Hash) bool) call {
	c := call{tool: tool, changes: changes(tool, args)}
	h := hashStart.part(tool)
	var seen []byte // text of the arguments, for the preview
	walk(args, func(key string, text string) {
		drop := func(k kind, s string) bool {
			switch k {
			case clock, epoch, scratch:
			case id:
			case hex:
				if len(s) < 8 {
					return false
				}
			default:
				return false
			}
			if known(tokenHash(k, s)) {
				return false
			}
			c.loose = true
			return true
		}
		head, middle, tail := ends(text)
		buf, _ := erase(nil, head, drop)
		h = h.part(key).bytes(buf).text(middle).part(tail)
		if len(seen) < maxPreview && text != "" {
			if len(seen) > 0 {
				seen = append(seen, ' ')
			}
			seen = append(seen, text[:min(len(text), maxPreview)]...)
		}
		c.waits = c.waits || waits(text)
	})
	c.hash, c.preview = h, preview(string(seen), 3)
	return c
}

// waits says whether a command waits on purpose before it looks.
func waits(text string) bool {
	at := strings.Index(text, "sleep ")
	return at >= 0 && (at == 0 || !word(text[at-1]))
}

// walk gives the values in some JSON in a fixed order, whatever that of its
// keys. What is no JSON is one value.
func walk(raw json.RawMessage, leaf func(key, text string)) {
	var v any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if len(raw) == 0 {
		return
	}
	if err := dec.Decode(&v); err != nil {
		leaf("", string(raw))
		return
	}
	walkValue("", v, leaf)
}

func walkValue(key string, v any, leaf func(key, text string)) {
	switch v := v.(type) {
	case map[string]any:
		names := make([]string, 0, len(v))
		for name := range v {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			walkValue(key+"."+name, v[name], leaf)
		}
	case []any:
		for _, one := range v {
			walkValue(key+"[]", one, leaf)
		}
		leaf(key+"]", "") // two lists and one longer one differ
	case string:
		leaf(key, v)
	case json.Number:
		leaf(key+"#", v.String())
	case bool:
		if v {
			leaf(key+"!", "true")
			return
		}
		leaf(key+"!", "false")
	default:
		leaf(key+"?", "")
	}
}

// digestAnswer is the same for answers with the same text and calls, whatever
// the thinking. ok is false for an answer that says nothing.
func digestAnswer(a Answered) (h Hash, text string, ok bool) {
	buf := plain(a.Text)
	h = hashStart.bytes(buf).byte(0xff)
	text = a.Text
	for _, one := range a.Calls {
		c := digestCall(one.Tool, one.Args, verbatim)
		h = h.number(c.hash)
		text += "\n" + one.Tool + " " + c.preview
	}
	return h, strings.TrimSpace(text), len(bytes.TrimSpace(buf)) > 0 || len(a.Calls) > 0
}

// verbatim has the arguments of a call count as they stand.
func verbatim(Hash) bool { return true }

// plain normalises a text of the conversation.
func plain(text string) []byte {
	head, middle, tail := ends(strings.TrimSpace(text))
	everything := func(kind, string) bool { return true }
	buf, _ := erase(nil, head, everything)
	buf, _ = erase(append(buf, middle...), tail, everything)
	return buf
}

// preview is the beginning of a text: at most so many lines and maxPreview
// bytes. It is not safe to draw.
func preview(text string, lines int) string {
	text = strings.TrimSpace(text)
	end := 0
	for n := 0; n < lines && end < len(text) && end < maxPreview; n++ {
		next := strings.IndexByte(text[end:], '\n')
		if next < 0 {
			end = len(text)
			break
		}
		end += next + 1
	}
	cut := min(end, maxPreview)
	for cut > 0 && cut < len(text) && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return strings.Clone(strings.TrimSpace(strings.ToValidUTF8(text[:cut], "\uFFFD")))
}
