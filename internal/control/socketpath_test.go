package control

import (
	"crypto/sha256"
	"fmt"
	"os"
	"strings"
	"testing"
)

func TestSocketPath(t *testing.T) {
	uid := os.Getuid()
	// A folder of n bytes.
	dir := func(n int) string { return "/" + strings.Repeat("d", n-1) }
	short := func(tmp, path string) string {
		return fmt.Sprintf("%s/piwatch-%d-%x/hub.sock", tmp, uid, sha256.Sum256([]byte(path)))
	}
	cut := func(path string) string { // 8 digits of the hash
		i := strings.LastIndex(path, "/")
		return path[:i-56] + path[i:]
	}
	const runtimeTail, stateTail, homeTail = "/piwatch/hub.sock", "/piwatch/run/hub.sock", "/.local/state/piwatch/run/hub.sock"
	for _, c := range []struct {
		name string
		env  map[string]string
		want string // begins with "error:" for an error with that text
	}{
		{"run-time folder", map[string]string{"XDG_RUNTIME_DIR": "/run/user/7", "XDG_STATE_HOME": "/s", "HOME": "/h"}, "/run/user/7/piwatch/hub.sock"},
		{"state folder", map[string]string{"XDG_STATE_HOME": "/s", "HOME": "/h"}, "/s/piwatch/run/hub.sock"},
		{"home", map[string]string{"HOME": "/h"}, "/h/.local/state/piwatch/run/hub.sock"},
		{"relative folders do not count", map[string]string{"XDG_RUNTIME_DIR": "run", "XDG_STATE_HOME": "./s", "HOME": "/h"}, "/h/.local/state/piwatch/run/hub.sock"},
		{"a final slash, a dot", map[string]string{"XDG_RUNTIME_DIR": "/run//user/./7/"}, "/run/user/7/piwatch/hub.sock"},
		{"no home", map[string]string{}, "error: set HOME"},
		{"relative home", map[string]string{"HOME": "h"}, "error: set HOME"},

		{"by hand", map[string]string{"PIWATCH_SOCKET": "/a//b", "XDG_RUNTIME_DIR": "/run"}, "/a//b"},
		{"by hand, relative", map[string]string{"PIWATCH_SOCKET": "b.sock", "XDG_RUNTIME_DIR": "/run"}, "error: not an absolute path"},
		{"by hand, just fits", map[string]string{"PIWATCH_SOCKET": dir(103)}, dir(103)},
		{"by hand, too long", map[string]string{"PIWATCH_SOCKET": dir(104)}, "error: at most 103 bytes"},

		{"just fits", map[string]string{"XDG_RUNTIME_DIR": dir(103 - len(runtimeTail))}, dir(103-len(runtimeTail)) + runtimeTail},
		{"too long", map[string]string{"XDG_RUNTIME_DIR": dir(104 - len(runtimeTail))}, cut(short("/tmp", dir(104-len(runtimeTail))+runtimeTail))},
		{"too long, in bytes", map[string]string{"HOME": "/" + strings.Repeat("é", 40)}, cut(short("/tmp", "/"+strings.Repeat("é", 40)+homeTail))},
		{"too long, TMPDIR", map[string]string{"XDG_STATE_HOME": dir(104 - len(stateTail)), "TMPDIR": "/var/t/"}, cut(short("/var/t", dir(104-len(stateTail))+stateTail))},
		{"too long, relative TMPDIR", map[string]string{"HOME": dir(90), "TMPDIR": "t"}, cut(short("/tmp", dir(90)+homeTail))},
		{"too long, TMPDIR too", map[string]string{"HOME": dir(90), "TMPDIR": dir(90)}, cut(short("/tmp", dir(90)+homeTail))},
	} {
		got, err := SocketPath(func(key string) string { return c.env[key] })
		if text, isErr := strings.CutPrefix(c.want, "error: "); isErr {
			if err == nil || !strings.Contains(err.Error(), text) {
				t.Errorf("%s: %q, %v; want an error with %q", c.name, got, err, text)
			}
			continue
		}
		if err != nil || got != c.want {
			t.Errorf("%s: %q, %v; want %q", c.name, got, err, c.want)
		}
		if len(got) > 103 {
			t.Errorf("%s: %q has %d bytes", c.name, got, len(got))
		}
	}
}

// A value worked out by another implementation of SHA-256, for the bridge to
// compare itself with.
func TestShortSocketPathByExample(t *testing.T) {
	env := map[string]string{"HOME": "/home/" + strings.Repeat("long/", 20) + "home"}
	got, err := SocketPath(func(key string) string { return env[key] })
	want := fmt.Sprintf("/tmp/piwatch-%d-2fb7d9e9/hub.sock", os.Getuid())
	if err != nil || got != want {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
}
