package pi

import (
	"bytes"
	"maps"
	"os"
	"reflect"
	"slices"
	"testing"
)

// FuzzParser reads any bytes: nothing panics or hangs, every byte is in an
// entry, in the damage or blank, whole files and lines one by one agree, and a
// Lean parser finds the same entries.
func FuzzParser(f *testing.F) {
	for _, path := range sampleFiles(f) {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data[:min(len(data), 3000)], uint16(100))
	}
	for _, seed := range []string{
		lines(header, one+two, three), lines(one[:60]+two, "\x00"+header), header + one[:90],
		`{"type":"a"}{"type":"a"` + "\n\n[]", "{\"type\":\"message\",\"message\":{\"content\":[[],{}]}}\n\xff\n", `{"type":"session","version":-1}`,
		`{"type":"compaction","firstKeptEntryIndex":0}`, `{"type":"label","id":"x","parentId":"x"}`,
	} {
		f.Add([]byte(seed), uint16(7))
	}
	f.Fuzz(func(t *testing.T, data []byte, chunk uint16) {
		r := readAll(data)
		checkAccounted(t, data, r)
		if branch := r.tree.Branch(r.tree.Leaf()); len(branch) > r.tree.Len() || len(r.tree.Context()) != len(branch) {
			t.Errorf("a branch of %d entries in a tree of %d", len(branch), r.tree.Len())
		}
		chunked := readChunks(data, int(chunk)%4096+1)
		if !reflect.DeepEqual(r.entries, chunked.entries) || !maps.Equal(r.damage().Counts, chunked.damage().Counts) {
			t.Error("the bytes in chunks read differently")
		}
		lean := Parser{Lean: true}
		var leanIDs []string
		rest, size, err := eachLine(bytes.NewReader(data), func(line []byte, offset int64) {
			leanIDs = append(leanIDs, ids(lean.Add(line, offset))...)
		})
		if err != nil || size != int64(len(data)) {
			t.Fatalf("%d of %d bytes, %v", size, len(data), err)
		}
		leanIDs = append(leanIDs, ids(lean.Finish(rest, size-int64(len(rest))))...)
		if !slices.Equal(leanIDs, ids(r.entries)) {
			t.Errorf("lean entries %v, full %v", leanIDs, ids(r.entries))
		}
	})
}

// readChunks reads the bytes as they would arrive: each chunk may end anywhere.
func readChunks(data []byte, size int) *reading {
	r := new(reading)
	var pending []byte
	offset := int64(0)
	for chunk := range slices.Chunk(data, size) {
		pending = append(pending, chunk...)
		for {
			end := bytes.IndexByte(pending, '\n')
			if end < 0 {
				break
			}
			r.take(r.parser.Add(pending[:end], offset))
			pending, offset = pending[end+1:], offset+int64(end)+1
		}
	}
	r.take(r.parser.Finish(pending, offset))
	return r
}

func FuzzMessage(f *testing.F) {
	f.Add([]byte(`{"role":"user","content":[{"type":"function","function":{"arguments":"{"}}],"tool_calls":[1,{"id":2}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := ParseMessage(data)
		if err != nil {
			return
		}
		if m.HasToolCall() != (len(m.ToolCalls()) > 0) {
			t.Error("HasToolCall and ToolCalls disagree")
		}
		_, _ = m.Text(), m.ThinkingText()
	})
}
