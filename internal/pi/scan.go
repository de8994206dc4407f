package pi

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// The files are read with a scanner of our own: encoding/json scans each
// nested value again for every level and took 55 s for a file of 1 GB. It also
// tells where a record ends, which glued records need. Tests hold it to what
// encoding/json accepts and reads.

// maxDepth bounds the nesting of values, as encoding/json does.
const maxDepth = 10_000

// scan finds the end of the JSON value that data begins with. When there is
// none, end tells how far the scan came.
func scan(data []byte) (end int, ok bool) {
	var stack []byte // the open brackets
	i := 0
	for {
		if i, ok = scanOne(data, skipSpace(data, i), &stack); !ok {
			return i, false
		}
		// Behind a value, or right behind an open bracket.
		for !opened(data, i) {
			if len(stack) == 0 {
				return i, true
			}
			if i = skipSpace(data, i); i == len(data) {
				return i, false
			}
			top := stack[len(stack)-1]
			if data[i] == ',' {
				i++
				if top == '{' {
					if i, ok = scanKey(data, skipSpace(data, i)); !ok {
						return i, false
					}
				}
				break
			}
			if data[i] != top+2 { // the closing bracket of either kind
				return i, false
			}
			stack = stack[:len(stack)-1]
			i++
		}
	}
}

// opened says that data[:i] ends in the opening of an array, or in a key: a
// value must follow.
func opened(data []byte, i int) bool { return data[i-1] == '[' || data[i-1] == ':' }

// scanOne reads a plain value, or the opening of an object up to its first
// value, or the opening of an array; empty ones it reads whole.
func scanOne(data []byte, i int, stack *[]byte) (end int, ok bool) {
	if i == len(data) {
		return i, false
	}
	switch c := data[i]; c {
	case '{', '[':
		if len(*stack) == maxDepth {
			return i, false
		}
		first := skipSpace(data, i+1)
		if first < len(data) && data[first] == c+2 {
			return first + 1, true
		}
		*stack = append(*stack, c)
		if c == '{' {
			return scanKey(data, first)
		}
		return i + 1, true
	case '"':
		return scanString(data, i)
	case 't':
		return scanWord(data, i, "true")
	case 'f':
		return scanWord(data, i, "false")
	case 'n':
		return scanWord(data, i, "null")
	}
	return scanNumber(data, i)
}

// scanKey reads the key of a field and its colon.
func scanKey(data []byte, i int) (end int, ok bool) {
	if i == len(data) || data[i] != '"' {
		return i, false
	}
	if i, ok = scanString(data, i); !ok {
		return i, false
	}
	i = skipSpace(data, i)
	if i == len(data) || data[i] != ':' {
		return i, false
	}
	return i + 1, true
}

func scanString(data []byte, i int) (end int, ok bool) {
	for i = skipPlain(data, i+1); i < len(data); i = skipPlain(data, i+1) {
		switch data[i] {
		case '"':
			return i + 1, true
		case '\\':
			i++
			if i == len(data) {
				return i, false
			}
			if data[i] == 'u' {
				if len(data)-i < 5 || !isHex(data[i+1:i+5]) {
					return i, false
				}
				i += 4
			} else if escaped[data[i]] == 0 {
				return i, false
			}
		default: // a control character
			return i, false
		}
	}
	return len(data), false
}

// lows and highs are the lowest and the highest bit of each byte of a word.
const lows, highs = 0x0101010101010101, 0x8080808080808080

// skipPlain finds the next quote, backslash or control character of a string.
// It looks at eight bytes at once: most of a session file are long texts.
func skipPlain(data []byte, i int) int {
	for ; i+8 <= len(data); i += 8 {
		w := binary.LittleEndian.Uint64(data[i:])
		quote, slash := w^lows*'"', w^lows*'\\'
		// The lowest of the bits that are left is right; a borrow may set higher
		// ones.
		if found := ((quote-lows)&^quote | (slash-lows)&^slash | (w-lows*' ')&^w) & highs; found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for i < len(data) && data[i] >= ' ' && data[i] != '"' && data[i] != '\\' {
		i++
	}
	return i
}

func isHex(digits []byte) bool {
	for _, c := range digits {
		if letter := c | 0x20; (c < '0' || c > '9') && (letter < 'a' || letter > 'f') {
			return false
		}
	}
	return true
}

func scanWord(data []byte, i int, word string) (end int, ok bool) {
	if !bytes.HasPrefix(data[i:], []byte(word)) {
		return i, false
	}
	return i + len(word), true
}

func scanNumber(data []byte, i int) (end int, ok bool) {
	if data[i] == '-' {
		i++
	}
	whole := i
	if i = skipDigits(data, i); i == whole || data[whole] == '0' && i > whole+1 {
		return i, false
	}
	if i < len(data) && data[i] == '.' {
		from := i + 1
		if i = skipDigits(data, from); i == from {
			return i, false
		}
	}
	if i < len(data) && data[i]|0x20 == 'e' {
		i++
		if i < len(data) && (data[i] == '+' || data[i] == '-') {
			i++
		}
		from := i
		if i = skipDigits(data, from); i == from {
			return i, false
		}
	}
	return i, true
}

func skipDigits(data []byte, i int) int {
	for i < len(data) && data[i] >= '0' && data[i] <= '9' {
		i++
	}
	return i
}

func skipSpace(data []byte, i int) int {
	for i < len(data) && (data[i] == ' ' || data[i] == '\t' || data[i] == '\n' || data[i] == '\r') {
		i++
	}
	return i
}

// skipValid finds the end of the value at i in data that scan has accepted.
func skipValid(data []byte, i int) int {
	depth := 0
	for {
		switch data[i] {
		case '"':
			i = skipString(data, i)
		case '{', '[':
			depth++
			i++
		case '}', ']':
			depth--
			i++
		case ' ', '\t', '\n', '\r', ',', ':':
			i++
		default: // a number or a word
			for i < len(data) && data[i] > ' ' && data[i] != ',' && data[i] != ']' && data[i] != '}' {
				i++
			}
		}
		if depth == 0 {
			return i
		}
	}
}

// skipString finds the end of the string at i in data that scan has accepted.
func skipString(data []byte, i int) int {
	i++
	for {
		i += bytes.IndexByte(data[i:], '"')
		escapes := 0
		for data[i-1-escapes] == '\\' {
			escapes++
		}
		i++
		if escapes%2 == 0 {
			return i
		}
	}
}

// unquote decodes a string that scan has accepted. Bytes that are no UTF-8 and
// halves of surrogate pairs become U+FFFD, as in Pi.
func unquote(quoted []byte) string {
	text, _ := unquoteUpTo(quoted, math.MaxInt)
	return text
}

// unquoteUpTo decodes a string up to a limit in bytes, between two characters,
// and says how many bytes of the file it left.
func unquoteUpTo(quoted []byte, limit int) (text string, left int) {
	quoted = quoted[1 : len(quoted)-1]
	room := min(len(quoted), limit)
	if plain := skipPlain(quoted[:room], 0); plain == room {
		plain = charStart(quoted, plain)
		return valid(string(quoted[:plain])), len(quoted) - plain
	}
	var out strings.Builder
	out.Grow(room)
	for len(quoted) > 0 && out.Len() < limit {
		room = min(len(quoted), limit-out.Len())
		plain := skipPlain(quoted[:room], 0)
		if plain == 0 {
			size, r := unescape(quoted)
			if out.Len()+utf8.RuneLen(r) > limit {
				break
			}
			out.WriteRune(r)
			quoted = quoted[size:]
			continue
		}
		whole := plain < room || room == len(quoted)
		if !whole {
			plain = charStart(quoted, plain)
		}
		out.Write(quoted[:plain])
		quoted = quoted[plain:]
		if !whole {
			break
		}
	}
	return valid(out.String()), len(quoted)
}

// valid is the text with U+FFFD for each byte that is no UTF-8.
func valid(text string) string {
	if !utf8.ValidString(text) {
		return string([]rune(text))
	}
	return text
}

// charStart is the start of the character that the byte at i is part of.
func charStart(text []byte, i int) int {
	for n := 1; n < utf8.UTFMax && i > 0 && i < len(text) && !utf8.RuneStart(text[i]); n++ {
		i--
	}
	return i
}

// unescape reads the escape, or the two of a surrogate pair, that text begins
// with.
func unescape(text []byte) (size int, r rune) {
	if text[1] != 'u' {
		return 2, rune(escaped[text[1]])
	}
	r = hexRune(text[2:])
	if !utf16.IsSurrogate(r) {
		return 6, r
	}
	if len(text) >= 12 && text[6] == '\\' && text[7] == 'u' {
		if r = utf16.DecodeRune(r, hexRune(text[8:])); r != utf8.RuneError {
			return 12, r
		}
	}
	return 6, utf8.RuneError
}

var escaped = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

func hexRune(digits []byte) rune {
	var r rune
	for _, c := range digits[:4] {
		switch {
		case c <= '9':
			c -= '0'
		default:
			c = c | 0x20 - 'a' + 10
		}
		r = r<<4 | rune(c)
	}
	return r
}
