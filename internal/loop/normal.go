package loop

import "strings"

// Normalisation takes out of a text what differs each time although the work is
// the same: times, dates, durations, ids, hexadecimal numbers. Plain numbers
// stay: the offset of a page, the number in a file's name, a size, a count and a
// percentage are what makes work different.

// kind of a token that is taken out.
type kind int

const (
	noKind   kind = iota
	clock         // a time of day, with or without its date
	date          // a date alone
	duration      // 1.2s
	id            // a UUID, a long id
	hex           // at least 7 digits, or 0x…
	epoch         // seconds or milliseconds since 1970
	process       // the number of a process
	escape        // what steers a terminal
	scratch       // the random part of a temporary file's name
)

// taken stands where something was taken out.
const taken = 0x01

// maxToken bounds a token, in bytes: a longer run of letters and digits is
// content, a picture in base64 for one.
const maxToken = 128

// erase copies a text without the tokens that drop says to drop. It returns the
// number of letters and digits that stay.
func erase(dst []byte, s string, drop func(kind, string) bool) (out []byte, left int) {
	for i := 0; i < len(s); {
		c := s[i]
		if !starts(s, i) {
			dst = append(dst, c)
			if word(c) {
				left++
			}
			i++
			continue
		}
		k, n := token(s, i)
		if k == noKind || !drop(k, s[i:i+n]) {
			// The whole word, so that no token is found inside it.
			for n = 1; word(c) && i+n < len(s) && word(s[i+n]); n++ {
			}
			dst = append(dst, s[i:i+n]...)
			if word(c) {
				left += n
			}
			i += n
			continue
		}
		if k != escape {
			dst = append(dst, taken)
		}
		i += n
		if k == duration || k == clock { // columns move with the width of a number
			dst = trimSpaces(dst)
		}
	}
	return dst, left
}

// starts says whether a token can begin at i.
func starts(s string, i int) bool {
	switch c := s[i]; {
	case c == 0x1b:
		return true
	case c == '/':
		return strings.HasPrefix(s[i:], "/tmp/")
	default:
		return word(c) && (i == 0 || !word(s[i-1]))
	}
}

func trimSpaces(dst []byte) []byte {
	end := len(dst) - 1 // of what was taken out
	start := end
	for start > 0 && (dst[start-1] == ' ' || dst[start-1] == '\t') {
		start--
	}
	if start < end {
		dst = append(dst[:start], ' ', taken)
	}
	return dst
}

func word(c byte) bool  { return letter(c) || digit(c) }
func digit(c byte) bool { return '0' <= c && c <= '9' }
func letter(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_' || c >= 0x80
}
func hexDigit(c byte) bool { return digit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }

// token finds what begins at a place, the start of a word, and its length.
func token(s string, at int) (kind, int) {
	rest := s[at:]
	switch {
	case rest[0] == 0x1b:
		return escape, escapeLength(rest)
	case rest[0] == '/':
		if n := scratchLength(rest); n > 0 {
			return scratch, n
		}
		return noKind, 0
	}
	finders := wordFinders
	if digit(rest[0]) {
		finders = numberFinders
	}
	for i := range finders {
		if n := finders[i].match(s, at); n > 0 && (at+n == len(s) || !word(s[at+n])) {
			return finders[i].kind, n
		}
	}
	return noKind, 0
}

type finder struct {
	kind  kind
	match func(s string, i int) int // length of the token, 0 for none
}

// The tokens that begin with a digit, and those that begin with a letter. The
// first that matches counts.
var (
	numberFinders = []finder{{id, uuid}, {clock, dateTime}, {date, dateOnly}, {clock, timeOfDay}, {duration, durationAt}, {hex, hexNumber}, {epoch, epochAt}, {process, processAt}, {id, longID}}
	wordFinders   = []finder{{id, uuid}, {clock, monthDay}, {hex, hexNumber}, {id, longID}}
)

func escapeLength(s string) int {
	if len(s) < 2 || s[1] != '[' {
		return min(2, len(s))
	}
	for i := 2; i < len(s) && i < maxToken; i++ {
		if s[i] >= 0x40 && s[i] <= 0x7e {
			return i + 1
		}
	}
	return 2
}

// run is how many bytes at i fit.
func run(s string, i int, fits func(byte) bool) int {
	n := 0
	for i+n < len(s) && n <= maxToken && fits(s[i+n]) {
		n++
	}
	return n
}

// shaped matches a pattern: 9 stands for a digit, x for a hexadecimal one.
func shaped(s string, i int, pattern string) bool {
	if len(s)-i < len(pattern) {
		return false
	}
	for j := range len(pattern) {
		switch c := s[i+j]; pattern[j] {
		case '9':
			if !digit(c) {
				return false
			}
		case 'x':
			if !hexDigit(c) {
				return false
			}
		default:
			if c != pattern[j] {
				return false
			}
		}
	}
	return true
}

func uuid(s string, i int) int {
	const pattern = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx"
	if !hexDigit(s[i]) || len(s)-i < len(pattern) || s[i+8] != '-' || !shaped(s, i, pattern) {
		return 0
	}
	return len(pattern)
}

func dateOnly(s string, i int) int {
	if !digit(s[i]) || !shaped(s, i, "9999-99-99") && !shaped(s, i, "9999/99/99") {
		return 0
	}
	const length = 10
	if month, day := number(s[i+5:i+7]), number(s[i+8:i+length]); month < 1 || month > 12 || day < 1 || day > 31 {
		return 0
	}
	return length
}

// dateTime is 2026-11-30T23:42:27.5Z, 2026-11-30 23:42 and the like.
func dateTime(s string, i int) int {
	n := dateOnly(s, i)
	if n == 0 || i+n+1 >= len(s) || s[i+n] != 'T' && s[i+n] != ' ' && s[i+n] != '_' {
		return 0
	}
	m := hoursMinutes(s, i+n+1)
	if m == 0 {
		return 0
	}
	n += 1 + m
	switch {
	case i+n < len(s) && s[i+n] == 'Z':
		n++
	case shaped(s, i+n, "+99:99"), shaped(s, i+n, "-99:99"):
		n += 6
	case shaped(s, i+n, "+9999"), shaped(s, i+n, "-9999"):
		n += 5
	case shaped(s, i+n, " +9999"), shaped(s, i+n, " -9999"):
		n += 6
	}
	return n
}

// hoursMinutes is 23:42, 23:42:27 and 23:42:27.5.
func hoursMinutes(s string, i int) int {
	if !shaped(s, i, "99:99") || s[i] > '2' || s[i+3] > '5' {
		return 0
	}
	n := 5
	if shaped(s, i+n, ":99") {
		n += 3
		if i+n+1 < len(s) && (s[i+n] == '.' || s[i+n] == ',') && digit(s[i+n+1]) {
			n += 1 + run(s, i+n+1, digit)
		}
	}
	return n
}

// timeOfDay needs its seconds: 12:30 alone is a line and a column, too.
func timeOfDay(s string, i int) int {
	if !digit(s[i]) || i > 0 && (s[i-1] == ':' || s[i-1] == '.') {
		return 0
	}
	n := hoursMinutes(s, i)
	const withSeconds = 8
	if n < withSeconds || i+n < len(s) && s[i+n] == ':' {
		return 0
	}
	return n
}

const months = "JanFebMarAprMayJunJulAugSepOctNovDec"

// monthDay is Nov 30 23:42, Nov 30 23:42:27 UTC 2026, Nov 30 2026.
func monthDay(s string, i int) int {
	if s[i] < 'A' || s[i] > 'S' || len(s)-i < 8 {
		return 0
	}
	if at := strings.Index(months, s[i:i+3]); at < 0 || at%3 != 0 || s[i+3] != ' ' {
		return 0
	}
	n := 4
	if s[i+n] == ' ' {
		n++
	}
	days := run(s, i+n, digit)
	if days < 1 || days > 2 || i+n+days >= len(s) {
		return 0
	}
	n += days + run(s, i+n+days, func(c byte) bool { return c == ' ' || c == ',' })
	m := hoursMinutes(s, i+n)
	if m > 0 {
		n += m
		if shaped(s, i+n, " UTC") || shaped(s, i+n, " GMT") {
			n += 4
		}
		if shaped(s, i+n, " 9999") {
			n += 5
		}
		return n
	}
	if shaped(s, i+n, "9999") && (s[i+n:i+n+2] == "20" || s[i+n:i+n+2] == "19") {
		return n + 4
	}
	return 0
}

var units = map[string]bool{
	"ns": true, "us": true, "µs": true, "μs": true, "ms": true, "s": true, "sec": true, "secs": true, "second": true, "seconds": true,
	"min": true, "mins": true, "minute": true, "minutes": true, "hour": true, "hours": true,
}

// durationAt is 12ms, 0.52 seconds, 1m30s, 2h5m, and a number named so.
func durationAt(s string, i int) int {
	n := decimal(s, i)
	if n == 0 {
		return 0
	}
	gap := 0
	if i+n < len(s) && s[i+n] == ' ' {
		gap = 1
	}
	unit := run(s, i+n+gap, letter)
	name := s[i+n+gap : i+n+gap+unit]
	switch {
	case units[strings.ToLower(name)] && !(gap == 1 && len(name) == 1):
		return n + gap + unit
	case gap == 0 && (name == "m" || name == "h") && i+n+1 < len(s) && digit(s[i+n+1]):
		more := decimal(s, i+n+1)
		rest := durationAt(s, i+n+1)
		if rest > 0 {
			return n + 1 + rest
		}
		if end := i + n + 1 + more; name == "h" && end < len(s) && s[end] == 'm' {
			return n + 1 + more + 1
		}
	}
	if named(s, i, "elapsed", "duration", "latency", "uptime", "took") {
		return n
	}
	return 0
}

// decimal is the length of 12 or 0.52.
func decimal(s string, i int) int {
	n := run(s, i, digit)
	if n == 0 || n > 12 {
		return 0
	}
	if i+n+1 < len(s) && s[i+n] == '.' && digit(s[i+n+1]) {
		n += 1 + run(s, i+n+1, digit)
	}
	return n
}

// named says whether the word before i, with at most some signs between, holds
// one of the names.
func named(s string, i int, names ...string) bool {
	end := i
	for end > 0 && i-end < 4 && strings.IndexByte(` "':=`, s[end-1]) >= 0 {
		end--
	}
	start := end
	for start > 0 && end-start < 32 && letter(s[start-1]) {
		start--
	}
	if end == i || start == end {
		return false
	}
	before := strings.ToLower(s[start:end])
	for _, name := range names {
		if strings.Contains(before, name) {
			return true
		}
	}
	return false
}

// hexNumber is 0x7f…, or at least 7 hexadecimal digits, of both kinds.
func hexNumber(s string, i int) int {
	if strings.HasPrefix(s[i:], "0x") {
		if n := run(s, i+2, hexDigit); n > 0 {
			return 2 + n
		}
		return 0
	}
	n := run(s, i, hexDigit)
	if n < 7 || n > maxToken {
		return 0
	}
	digits := run(s[i:i+n], 0, digit)
	if digits == n { // a plain number
		return 0
	}
	for _, c := range []byte(s[i : i+n]) {
		if digit(c) {
			return n
		}
	}
	return 0 // a word: defaced
}

// epochAt is a time as a number: in milliseconds, or in seconds where it is
// named so or has a fraction.
func epochAt(s string, i int) int {
	n := run(s, i, digit)
	if n < 10 || s[i] != '1' || s[i+1] < '4' {
		return 0
	}
	fraction := i+n+1 < len(s) && s[i+n] == '.' && digit(s[i+n+1])
	switch {
	case fraction && (n == 10 || n == 13):
		return n + 1 + run(s, i+n+1, digit)
	case n == 13, n == 16, n == 19:
		return n
	case n == 10 && (named(s, i, "time", "epoch", "stamp", "date", "since") || i > 1 && s[i-2:i] == "t=" || i > 2 && s[i-3:i] == "ts="):
		return n
	}
	return 0
}

func processAt(s string, i int) int {
	n := run(s, i, digit)
	if n == 0 || n > 7 || !named(s, i, "pid") {
		return 0
	}
	return n
}

// longID is a word in which letters and digits take turns: req_011CSabc42….
func longID(s string, i int) int {
	n := run(s, i, word)
	if n < 16 || n > maxToken {
		return 0
	}
	digits, turns := 0, 0
	for j := i; j < i+n; j++ {
		if s[j] >= 0x80 {
			return 0
		}
		if digit(s[j]) {
			digits++
			if j > i && !digit(s[j-1]) {
				turns++
			}
		}
	}
	if digits < 4 || turns < 3 {
		return 0
	}
	return n
}

// scratchLength is the first part of a path below /tmp, when it holds what
// mktemp and its kind made up.
func scratchLength(s string) int {
	const dir = len("/tmp/")
	n := run(s, dir, func(c byte) bool { return word(c) || c == '.' || c == '-' })
	name := s[dir : dir+n]
	if strings.HasPrefix(name, "tmp") && n >= 8 {
		return dir + n
	}
	for j := 0; j < n; j++ {
		if d := run(name, j, digit); d >= 5 {
			return dir + n
		} else if d > 0 {
			j += d
		}
	}
	return 0
}

func number(s string) int {
	n := 0
	for _, c := range []byte(s) {
		n = n*10 + int(c-'0')
	}
	return n
}
