package pi

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"time"
)

// value is one JSON value that scan has accepted, without blanks around it.
type value []byte

// fields calls set for each field of an object, in order; of a field that is
// there twice the last one counts, as in Pi. Other values have none.
// The key is only good for the call.
func (v value) fields(set func(key []byte, v value)) {
	if v[0] != '{' {
		return
	}
	for i := skipSpace(v, 1); v[i] != '}'; {
		end := skipString(v, i)
		key := v[i+1 : end-1]
		if bytes.IndexByte(key, '\\') >= 0 {
			key = value(unquote(v[i:end]))
		}
		i = skipSpace(v, skipSpace(v, end)+1) // the colon
		end = skipValid(v, i)
		set(key, v[i:end:end])
		if i = skipSpace(v, end); v[i] == ',' {
			i = skipSpace(v, i+1)
		}
	}
}

// field is one field of an object. The key is only good as long as the object.
type field struct {
	key   []byte
	value value
}

// list appends the fields of an object, in order; see fields.
func (v value) list(all []field) []field {
	v.fields(func(key []byte, v value) { all = append(all, field{key, v}) })
	return all
}

// elements calls add for each element of an array. Other values have none.
func (v value) elements(add func(v value)) {
	if v[0] != '[' {
		return
	}
	for i := skipSpace(v, 1); v[i] != ']'; {
		end := skipValid(v, i)
		add(v[i:end:end])
		if i = skipSpace(v, end); v[i] == ',' {
			i = skipSpace(v, i+1)
		}
	}
}

func (v value) isNull() bool { return v[0] == 'n' }

// raw is the value for others to decode; nothing was copied.
func (v value) raw() json.RawMessage { return json.RawMessage(v) }

// reader reads fields into Go values and remembers the first field that was of
// another kind than Pi writes. Null leaves a field as it is.
type reader struct {
	odd string
	// limit is how much is read of each text of a message, in bytes; zero: all.
	limit int
}

func (r *reader) wrong(key []byte) {
	if r.odd == "" {
		r.odd = string(key)
	}
}

func (r *reader) text(to *string, key []byte, v value) {
	switch {
	case v[0] == '"':
		*to = unquote(v)
	case !v.isNull():
		r.wrong(key)
	}
}

// most reads a text up to the limit, and adds what was left to cut.
func (r *reader) most(to *string, cut *int64, key []byte, v value) {
	if r.limit == 0 || v[0] != '"' {
		r.text(to, key, v)
		return
	}
	var left int
	*to, left = unquoteUpTo(v, r.limit)
	*cut += int64(left)
}

func (r *reader) flag(to *bool, key []byte, v value) {
	switch v[0] {
	case 't', 'f':
		*to = v[0] == 't'
	case 'n':
	default:
		r.wrong(key)
	}
}

func (r *reader) float(to *float64, key []byte, v value) {
	if v.isNull() {
		return
	}
	f, err := strconv.ParseFloat(string(v), 64)
	if err != nil {
		r.wrong(key)
		return
	}
	*to = f
}

func (r *reader) int(to *int64, key []byte, v value) {
	if n, err := strconv.ParseInt(string(v), 10, 64); err == nil {
		*to = n
		return
	}
	f := float64(*to)
	r.float(&f, key, v)
	if math.Abs(f) >= 1<<63 {
		r.wrong(key)
		return
	}
	*to = int64(f)
}

// optional reads a number that may be missing.
func (r *reader) optional(to **int, key []byte, v value) {
	if v.isNull() {
		return
	}
	before := r.odd
	r.odd = ""
	var n int64
	r.int(&n, key, v)
	if r.odd == "" && n == int64(int(n)) {
		small := int(n)
		*to = &small
	}
	if before != "" {
		r.odd = before
	}
}

// time reads an ISO 8601 text or a number of milliseconds since 1970.
func (r *reader) time(to *time.Time, key []byte, v value) {
	if v[0] == '"' {
		at, err := time.Parse(time.RFC3339Nano, unquote(v))
		if err != nil {
			r.wrong(key)
			return
		}
		*to = at
		return
	}
	ms := math.NaN()
	r.float(&ms, key, v)
	if math.Abs(ms) <= 1e15 {
		*to = time.UnixMilli(int64(ms)).UTC()
	} else if !math.IsNaN(ms) {
		r.wrong(key)
	}
}

func (r *reader) usage(to **Usage, key []byte, v value) {
	if v[0] != '{' {
		if !v.isNull() {
			r.wrong(key)
		}
		return
	}
	u := new(Usage)
	v.fields(func(key []byte, v value) {
		switch string(key) {
		case "input":
			r.int(&u.Input, key, v)
		case "output":
			r.int(&u.Output, key, v)
		case "cacheRead":
			r.int(&u.CacheRead, key, v)
		case "cacheWrite":
			r.int(&u.CacheWrite, key, v)
		case "reasoning":
			r.int(&u.Reasoning, key, v)
		case "totalTokens":
			r.int(&u.TotalTokens, key, v)
		case "cost":
			r.cost(&u.Cost, v)
		}
	})
	*to = u
}

func (r *reader) cost(c *Cost, v value) {
	v.fields(func(key []byte, v value) {
		switch string(key) {
		case "input":
			r.float(&c.Input, key, v)
		case "output":
			r.float(&c.Output, key, v)
		case "cacheRead":
			r.float(&c.CacheRead, key, v)
		case "cacheWrite":
			r.float(&c.CacheWrite, key, v)
		case "total":
			r.float(&c.Total, key, v)
		}
	})
}
