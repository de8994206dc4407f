package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/aymanbagabas/go-udiff"
)

// SameBytes fails the test if two request bodies differ in any byte, and shows
// where: as a diff of the indented JSON, or around the first byte that differs
// when that is only in the form.
func SameBytes(t testing.TB, got, want []byte) {
	t.Helper()
	if diff := DiffBytes(got, want); diff != "" {
		t.Errorf("bytes differ (- want, + got):\n%s", diff)
	}
}

// DiffBytes describes the difference of two request bodies; empty if they are
// the same byte by byte.
func DiffBytes(got, want []byte) string {
	if bytes.Equal(got, want) {
		return ""
	}
	if diff := udiff.Unified("want", "got", indented(want), indented(got)); diff != "" {
		return shorten(diff, 8000)
	}
	at := 0
	for at < len(got) && at < len(want) && got[at] == want[at] {
		at++
	}
	return fmt.Sprintf("same JSON, other bytes from %d on (%d and %d bytes):\n- %q\n+ %q\n",
		at, len(want), len(got), around(want, at), around(got, at))
}

func indented(data []byte) string {
	var out bytes.Buffer
	if json.Indent(&out, data, "", "  ") != nil {
		return string(data)
	}
	out.WriteByte('\n')
	return out.String()
}

func around(data []byte, at int) []byte {
	return data[max(0, at-60):min(len(data), at+60)]
}
