package loop

import (
	"strings"
	"testing"
)

func shown(text string) string {
	out, _ := erase(nil, text, func(kind, string) bool { return true })
	return strings.ReplaceAll(string(out), string(rune(taken)), "·")
}

func TestErase(t *testing.T) {
	for in, want := range map[string]string{
		"":                                    "",
		"plain words stay":                    "plain words stay",
		"at 2026-11-30T23:42:27.5Z it failed": "at · it failed",
		"[2026-11-30 23:42:27,123] no":        "[·] no",
		"2026-11-30 23:42:27 +0100":           "·",
		"on 2026-11-30":                       "on ·",
		"on 2026-13-30":                       "on 2026-13-30",
		"12:30:01 up":                         "· up",
		"Mon Nov 30 23:42:27 UTC 2026":        "Mon ·",
		"-rw 1 dev 120 Nov  3 12:00 a":        "-rw 1 dev 120 · a",
		"Mar 5 items":                         "Mar 5 items",
		"ok in 0.52s":                         "ok in ·",
		"(12 ms)":                             "(·)",
		"real 0m1.5s":                         "real ·",
		"took 1h2m":                           "took ·",
		`"elapsed_ms": 1234, "n": 5`:          `"elapsed_ms": ·, "n": 5`,
		"5 s of the 12 m":                     "5 s of the 12 m",
		"3f2504e0-4f89-11d3-9a0c-0305e82c3301 gone": "· gone",
		"commit 1a2b3c4 and deadbeef":               "commit · and deadbeef",
		"at 0x7ffe12ab":                             "at ·",
		"0xyz":                                      "0xyz",
		"id req_011CSabc42XY77 is":                  "id · is",
		"test_that_names_are_long_1":                "test_that_names_are_long_1",
		"1764546147123":                             "·",
		"timestamp=1764546147":                      "timestamp=·",
		"1764546147 bytes":                          "1764546147 bytes",
		"pid 4242":                                  "pid ·",
		"/tmp/tmp.aB3dE5fG/out":                     "·/out",
		"/tmp/go-build1234567/b001":                 "·/b001",
		"/tmp/notes/a1":                             "/tmp/notes/a1",
		"\x1b[1;31mred\x1b[0m":                      "red",

		// What makes work different stays.
		"offset 1000":           "offset 1000",
		"file1 file2 file33":    "file1 file2 file33",
		"45% of 300":            "45% of 300",
		"a.go:12:30: error":     "a.go:12:30: error",
		"a.go:12:30:45: error":  "a.go:12:30:45: error",
		"line 1234567":          "line 1234567",
		"v1.2.3":                "v1.2.3",
		"127.0.0.1:8080":        "127.0.0.1:8080",
		"3 passed, 1 failed":    "3 passed, 1 failed",
		"日本語 12:00 と é":         "日本語 12:00 と é",
		"bad \xff\xfe \x00 end": "bad \xff\xfe \x00 end",
	} {
		if got := shown(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestResultsThatAreEqual(t *testing.T) {
	equal := func(a, b string) bool {
		none := func(Hash) {}
		return digestResult(a, false, none).equal == digestResult(b, false, none).equal
	}
	long := strings.Repeat("x1 ", 40<<10)
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"cannot bind at 12:00:01", "cannot bind at 12:00:02", true},
		{"Mon Nov 30 23:42:27 UTC 2026", "Mon Nov 30 23:42:28 UTC 2026", false}, // the time is all it says
		{"1a2b3c4d5e6f", "2b3c4d5e6f70", false},
		{"a\n", "a", true},
		{"a", "b", false},
		{"", " ", true},
		{long, long, true},
		{long + "a", long + "b", false},
		{long + "y" + long, long + "z" + long, false},
		{"done in  9ms, all of it", "done in 12ms, all of it", true},
	} {
		if got := equal(c.a, c.b); got != c.want {
			t.Errorf("%.40q and %.40q: equal %t, want %t", c.a, c.b, got, c.want)
		}
	}
	if a, b := digestResult("x", true, func(Hash) {}), digestResult("x", false, func(Hash) {}); a.equal == b.equal {
		t.Error("an error equals a result")
	}
}

func TestChanges(t *testing.T) {
	for command, want := range map[string]bool{
		"sed -i s/a/b/ x":          true,
		"cd x && sed -i s/a/b/ x":  true,
		"cat > a <<EOF":            true,
		"make >> log":              true,
		"make > /dev/null":         false,
		"make 2>&1 | tail":         false,
		"grep '=>' a.js":           false,
		`echo "a > b"`:             false,
		"git commit -m x":          true,
		"git log":                  false,
		"make test":                false,
		"warm -x":                  false,
		"rm -rf build; make":       true,
		"find . | xargs sed -i s/": true,
	} {
		if got := changes("bash", []byte(`{"command":`+quote(command)+`}`)); got != want {
			t.Errorf("%q: %t, want %t", command, got, want)
		}
	}
	for tool, want := range map[string]bool{"edit": true, "write": true, "apply_patch": true, "read": false, "todo_write": false, "MultiEdit": true} {
		if got := changes(tool, nil); got != want {
			t.Errorf("%s: %t, want %t", tool, got, want)
		}
	}
}
