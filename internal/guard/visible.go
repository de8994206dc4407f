package guard

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// visible reports whether a person would see anything of the texts of one
// message: a character that is drawn, outside the tags in which models think.
// Such a tag inside code is text like any other.
func visible(texts ...string) bool {
	v := viewer{s: strings.Join(texts, "\n")}
	at := -1
	for _, text := range texts {
		at += len(text) + 1
		v.ends = append(v.ends, at)
	}
	return v.look()
}

// viewer reads a text from its start. Seen says whether something was visible
// so far.
type viewer struct {
	s      string
	ends   []int // of the texts that were joined
	at     int
	seen   bool
	opened bool // there was a thinking tag before
}

func (v *viewer) look() bool {
	for v.at < len(v.s) {
		switch c := v.s[v.at]; {
		case v.startsLine() && v.fence():
		case c == '`' && v.inlineCode():
		case c == '<' && v.tag():
		case c == 0x1b:
			v.at += escapeLen(v.s[v.at:])
		default:
			r, n := utf8.DecodeRuneInString(v.s[v.at:])
			v.seen = v.seen || isVisible(r)
			v.at += n
		}
	}
	return v.seen
}

func (v *viewer) startsLine() bool { return v.at == 0 || v.s[v.at-1] == '\n' }

var fenceLine = regexp.MustCompile("^ {0,3}(```+|~~~+)([^\n]*)(?:\n|$)")

// fence takes a block of code. Its marks are no words, and what is in it is
// literal; one that is never closed goes to the end.
func (v *viewer) fence() bool {
	m := fenceLine.FindStringSubmatchIndex(v.s[v.at:])
	if m == nil {
		return false
	}
	mark, info := v.s[v.at+m[2]:v.at+m[3]], v.s[v.at+m[4]:v.at+m[5]]
	if mark[0] == '`' && strings.Contains(info, "`") {
		return false // code in a line
	}
	rest := v.s[v.at+m[1]:]
	code := rest
	v.at = len(v.s)
	for from := 0; from < len(rest); {
		end := from + strings.IndexByte(rest[from:], '\n') + 1
		if end == from {
			end = len(rest)
		}
		if line := strings.TrimSpace(rest[from:end]); len(line) >= len(mark) && strings.Trim(line, mark[:1]) == "" {
			code, v.at = rest[:from], len(v.s)-len(rest)+end
			break
		}
		from = end
	}
	v.seen = v.seen || visibleRunes(code)
	return true
}

// inlineCode takes `code` in a line or a paragraph, whose content is literal.
func (v *viewer) inlineCode() bool {
	rest := v.s[v.at:]
	n := len(rest) - len(strings.TrimLeft(rest, "`"))
	mark := rest[:n]
	body := rest[n:]
	if end := strings.Index(body, "\n\n"); end >= 0 {
		body = body[:end]
	}
	for from := 0; ; {
		i := strings.Index(body[from:], mark)
		if i < 0 { // a mark without its pair is a character like any other
			v.seen = true
			v.at += n
			return true
		}
		i += from
		run := len(body[i:]) - len(strings.TrimLeft(body[i:], "`"))
		if run == n {
			v.seen = v.seen || visibleRunes(body[:i])
			v.at += n + i + n
			return true
		}
		from = i + run
	}
}

// A tag in which models think, at the start of a text: the slash of a closing
// one, the name, the slash of one that is both.
var thinkTag = regexp.MustCompile(`^<\s?(/?)\s?(?i:(think|thinking|thought|thoughts|reasoning))(?:\s[^<>\n]{0,200}?)?\s?(/?)>`)

type tag struct {
	name       string
	ends, both bool
	len        int
}

func tagAt(s string) (tag, bool) {
	m := thinkTag.FindStringSubmatch(s)
	if m == nil {
		return tag{}, false
	}
	return tag{name: strings.ToLower(m[2]), ends: m[1] != "", both: m[3] != "", len: len(m[0])}, true
}

// tag takes what is inside a thinking tag.
func (v *viewer) tag() bool {
	t, ok := tagAt(v.s[v.at:])
	if !ok {
		return false
	}
	switch {
	case t.both:
		v.at += t.len
	case t.ends:
		// Its beginning was in the prompt, as some chat templates do it: what came
		// before was thinking. A sentence about the tag does not put it on a line of
		// its own.
		if !v.opened && !visibleRunes(v.s[strings.LastIndexByte(v.s[:v.at], '\n')+1:v.at]) {
			v.seen = false
		}
		v.opened = true
		v.at += t.len
	default:
		v.opened = true
		v.at = v.endOf(t.name, v.at+t.len)
	}
	return true
}

// endOf is where the thinking ends that begins at a place: at the tag that
// closes it, nested ones left out. Where they do not pair, the last one counts:
// what comes after it may be the answer. Without any it goes to the end of its
// text.
func (v *viewer) endOf(name string, from int) int {
	depth, last := 1, -1
	for at := from; ; {
		i := strings.IndexByte(v.s[at:], '<')
		if i < 0 {
			break
		}
		at += i
		t, ok := tagAt(v.s[at:])
		if !ok {
			at++
			continue
		}
		at += t.len
		switch {
		case t.name != name || t.both:
		case !t.ends:
			depth++
		default:
			depth--
			last = at
		}
		if depth == 0 {
			return at
		}
	}
	if last >= 0 {
		return last
	}
	end, _ := slices.BinarySearch(v.ends, from)
	return v.ends[min(end, len(v.ends)-1)]
}

var escape = regexp.MustCompile("^\x1b(?:\\[[0-?]*[ -/]*[@-~]|[\\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\\\)|[ -/]*[0-~])?")

// escapeLen is the length of the escape sequence that a text starts with.
func escapeLen(s string) int { return len(escape.FindString(s)) }

func visibleRunes(s string) bool { return strings.ContainsFunc(s, isVisible) }

// invisible are the characters that draw nothing: blanks, controls, formats,
// marks without a letter, variation selectors, fillers.
var invisible = []*unicode.RangeTable{
	unicode.White_Space, unicode.Z, unicode.Cc, unicode.Cf, unicode.M,
	unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector, unicode.Noncharacter_Code_Point,
}

// isVisible takes a character that is not known yet for a visible one.
func isVisible(r rune) bool {
	const brailleBlank = 0x2800
	return r != brailleBlank && (!unicode.In(r, invisible...) || unicode.Is(unicode.Prepended_Concatenation_Mark, r))
}
