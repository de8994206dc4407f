package pi

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

var scanSeeds = []string{
	`{}`, `[]`, `""`, `0`, `-0`, `01`, `1.`, `.5`, `1.5e+10`, `1e`, `-`, `+1`, `true`, `tru`, `null`, `nul`, `[1,]`, `[,1]`, `{"a"}`, `{"a":}`,
	`{"a":1,}`, `{,}`, `{"a":1 "b":2}`, `[1 2]`, `{"a":[{"b":[]}]}`, `[}`, `{]`, `"\u12"`, `"\u12G4"`, `"\x"`, `"\ud83d\ude00"`, `"\ud83d"`, `"\ud83dx"`,
	`"\ude00\ud83d"`, `"\ud83d\u0041"`, `"\"\\\/\b\f\n\r\t"`, "\"a\nb\"", "\"\x7f\"", `{"a":"x","a":"y"}`, `{"\u0061":1}`, ` { "a" : [ 1 , "]" ] } `,
	`{"a":"\\"}`, `{"a":"\\\""}`, `1 2`, `{"a":-12.5E-3}`, `[[[[`, `{"a":{"b":{"c":`, `"`, `"\`, `{"`, `{"a`, `{"a"`, `[0]]`,
	"\"\\u00\x120\"", `0A`,
}

// TestScanAcceptsWhatJSONIs holds the scanner to encoding/json.
func TestScanAcceptsWhatJSONIs(t *testing.T) {
	for _, seed := range scanSeeds {
		checkScan(t, []byte(seed))
	}
	for _, depth := range []int{maxDepth - 1, maxDepth, maxDepth + 1} {
		for _, deep := range []string{
			strings.Repeat("[", depth) + strings.Repeat("]", depth),
			strings.Repeat(`{"a":`, depth) + "1" + strings.Repeat("}", depth),
		} {
			if end, ok := scan([]byte(deep)); ok != json.Valid([]byte(deep)) || ok && end != len(deep) {
				t.Errorf("depth %d of %.6s: accepted %v", depth, deep, ok)
			}
		}
	}
	for _, path := range sampleFiles(t) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(data) {
			checkScan(t, line)
			checkScan(t, line[:len(line)/2])
		}
	}
}

func FuzzScan(f *testing.F) {
	for _, seed := range scanSeeds {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) { checkScan(t, data) })
}

func checkScan(t *testing.T, data []byte) {
	t.Helper()
	start := skipSpace(data, 0)
	end, ok := 0, false
	if start < len(data) {
		end, ok = scan(data[start:])
		end += start
	}
	if end > len(data) {
		t.Fatalf("%.80q: scanned %d of %d bytes", data, end, len(data))
	}
	valid := ok && skipSpace(data, end) == len(data)
	if valid != json.Valid(data) {
		t.Fatalf("%.80q: accepted %v, by encoding/json %v", data, valid, !valid)
	}
	if !ok {
		return
	}
	if skipped := skipValid(data[:end], start); skipped != end {
		t.Fatalf("%.80q: skipped %d bytes, scanned %d", data, skipped, end)
	}
	if !valid || !utf8.Valid(data) {
		return // invalid UTF-8 becomes U+FFFD by the byte there and here
	}
	var want any
	if err := json.Unmarshal(data, &want); err != nil {
		return // a number out of range
	}
	if got := anyOf(value(data[start:end])); !reflect.DeepEqual(got, want) {
		t.Fatalf("%.80q: read %v, by encoding/json %v", data, got, want)
	}
}

// TestUnquoteUpTo holds a text that is cut to the whole one.
func TestUnquoteUpTo(t *testing.T) {
	for _, seed := range append(scanSeeds, `"äöü\u00e4\ud83d\ude00x"`, `"\ud83d\ude00\ud83d"`, `"😀\n😀 plain and long enough for a word"`) {
		if end, ok := scan([]byte(seed)); !ok || seed[0] != '"' || end != len(seed) {
			continue
		}
		whole := unquote([]byte(seed))
		for limit := range len(seed) {
			text, left := unquoteUpTo([]byte(seed), limit)
			if !strings.HasPrefix(whole, text) || !utf8.ValidString(text) || len(text) > limit || (left == 0) != (text == whole) {
				t.Errorf("%s up to %d: %q, %d left", seed, limit, text, left)
			}
			if left > 0 && limit-len(text) >= utf8.UTFMax {
				t.Errorf("%s up to %d: %q is too short", seed, limit, text)
			}
		}
	}
}

// anyOf reads a value as json.Unmarshal does into an any.
func anyOf(v value) any {
	var r reader
	switch v[0] {
	case '{':
		object := make(map[string]any)
		v.fields(func(key []byte, v value) { object[string(key)] = anyOf(v) })
		return object
	case '[':
		array := []any{}
		v.elements(func(v value) { array = append(array, anyOf(v)) })
		return array
	case '"':
		return unquote(v)
	case 't', 'f':
		var b bool
		r.flag(&b, nil, v)
		return b
	case 'n':
		return nil
	}
	var f float64
	r.float(&f, nil, v)
	return f
}

func TestReaderOfOtherKinds(t *testing.T) {
	r := readRecord(value(`{"type":"message","id":7,"timestamp":1e300,"message":{"role":"assistant","usage":{"input":1.9,"output":"x"},"exitCode":1e3,"isError":"yes"}}`), 0)
	m := r.entry.Message
	if !r.badTime || !r.entry.Time.IsZero() || r.entry.ID != "" || m == nil || m.IsError {
		t.Errorf("%+v, message %+v", r.entry, m)
	}
	if m.Usage == nil || m.Usage.Input != 1 || m.ExitCode == nil || *m.ExitCode != 1000 || r.odd != "id" {
		t.Errorf("usage %+v, exit code %v, odd field %q", m.Usage, m.ExitCode, r.odd)
	}
	r = readRecord(value(`{"type":"message","id":"1","timestamp":1767322801000,"message":{"exitCode":null,"timestamp":"2026-01-02T03:00:01Z"}}`), 0)
	if m := r.entry.Message; r.badTime || r.odd != "" || m.ExitCode != nil || !m.Timestamp.Equal(r.entry.Time) {
		t.Errorf("time %v, message %+v", r.entry.Time, m)
	}
}

// BenchmarkParser reads records of about 3 KB.
func BenchmarkParser(b *testing.B) {
	line := []byte(strings.Replace(two, `"two"`, `"`+strings.Repeat(`some text with \"quotes\" and\nlines `, 80)+`"`, 1))
	b.SetBytes(int64(len(line)))
	var parser Parser
	for b.Loop() {
		if len(parser.Add(line, 0)) != 1 {
			b.Fatal("no entry")
		}
	}
}
