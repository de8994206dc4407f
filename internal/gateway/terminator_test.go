package gateway

import (
	"bytes"
	"testing"
)

// BenchmarkTerminator is what looking for the end takes of each read of a stream:
// of one event, and of many.
func BenchmarkTerminator(b *testing.B) {
	event := []byte(`data: {"choices":[{"delta":{"content":"token"},"finish_reason":null}]}` + "\n\n")
	for name, read := range map[string][]byte{
		"event": event, "large": bytes.Repeat(event, 32<<10/len(event)), "line": bytes.Repeat([]byte("x"), 32<<10),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(read)))
			var end terminator
			for b.Loop() {
				end.write(read)
			}
		})
	}
}
