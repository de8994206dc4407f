package hub_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"piwatch/internal/control"
	"piwatch/internal/watchdog"
)

// hooked is a session with an on-stop command, in a folder of its own.
func hooked(t *testing.T, command, line string) (h *testHub, w *watcher, b *bridge, dir string) {
	t.Helper()
	dir = t.TempDir()
	h = start(t)
	c := h.client()
	w = c.watch()
	b = h.join(hello("s1", env("PI_WATCHDOG_ON_STOP", command), func(h *control.BridgeHello) { h.Cwd = dir }))
	c.start("s1", line)
	return h, w, b, dir
}

const writeEnv = `env | grep ^PIWATCH_ | sort > "$PIWATCH_CWD/tmp" && mv tmp told`

func told(t *testing.T, dir string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "told"))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// The hook is told what ended, where, and why, also when it is only suspended.
func TestHookEnvironment(t *testing.T) {
	for _, mode := range []string{"once", "keep"} {
		_, w, b, dir := hooked(t, writeEnv, "mode="+mode)
		b.run(false)
		b.decide("", "wait_user", "needs $(date); a `key`")
		if n := w.notice("on_stop"); n.Text != "on_stop (wait_user): exit 0" || n.Session != "s1" || n.Level != "info" {
			t.Errorf("notice %+v", n)
		}
		want := strings.Join([]string{
			"PIWATCH_CWD=" + dir, "PIWATCH_EVENT=wait_user", "PIWATCH_NOTE=needs $(date); a `key`", "PIWATCH_NUDGES=0",
			"PIWATCH_SESSION_FILE=/s/s1.jsonl", "PIWATCH_SESSION_ID=s1", "",
		}, "\n")
		if got := told(t, dir); got != want {
			t.Errorf("mode %s: the hook was told\n%s\nwant\n%s", mode, got, want)
		}
	}
}

// The cap is an end too.
func TestHookAtTheCap(t *testing.T) {
	h, w, b, dir := hooked(t, writeEnv, "timeout=1 max=1")
	b.wants("tool", startRecord(`"timeout":1,"max":1,"mode":"once"`), "status ⏱1s 0/1")
	h.clock.advance(1 * sec)
	check := b.check("check 1/1 at 1 leaf1")
	b.run(true)
	b.closed(watchdog.Outcome{Check: check, End: watchdog.EndNoAnswer})
	b.settle()
	w.notice("on_stop (max): exit 0")
	if got := told(t, dir); !strings.Contains(got, "PIWATCH_EVENT=max\nPIWATCH_NOTE=\nPIWATCH_NUDGES=1\n") {
		t.Errorf("the hook was told\n%s", got)
	}
}

// Exit status and the first line of stderr are shown.
func TestHookFails(t *testing.T) {
	for command, want := range map[string]string{
		"echo first >&2; echo second >&2; echo out; exit 3": "on_stop (done): exit status 3: first",
		"exit 0":                  "on_stop (done): exit 0",
		"printf 'no newline' >&2": "on_stop (done): exit 0: no newline",
		"kill -9 $$":              "on_stop (done): signal: killed",
		"head -c 100000 /dev/zero | tr '\\0' x >&2": "on_stop (done): exit 0: " + strings.Repeat("x", 200),
	} {
		_, w, b, _ := hooked(t, command, "")
		b.run(false)
		b.decide("", "done", "")
		if n := w.notice("on_stop"); n.Text != want {
			t.Errorf("%s: %q, want %q", command, n.Text, want)
		}
	}
}

func TestHookThatCannotStart(t *testing.T) {
	h := start(t)
	c := h.client()
	w := c.watch()
	b := h.join(hello("s1", env("PI_WATCHDOG_ON_STOP", "true"), func(h *control.BridgeHello) { h.Cwd = "/nowhere/at/all" }))
	c.start("s1", "")
	b.run(false)
	b.decide("", "done", "")
	w.notice("on_stop (done): not started: ")
}

// A stop by hand is no end that the hook is told of.
func TestNoHookAfterAStopByHand(t *testing.T) {
	h, w, b, _ := hooked(t, "true", "")
	c := h.client()
	c.steer(control.Stop, control.SteerParams{Session: "s1"}, "info: Watchdog stopped.")
	c.start("s1", "")
	b.run(false)
	b.decide("", "done", "the only one")
	w.until(func(p control.Push) bool {
		if p.Notice != nil && strings.HasPrefix(p.Notice.Text, "on_stop") {
			if p.Notice.Text != "on_stop (done): exit 0" {
				t.Errorf("notice %q", p.Notice.Text)
			}
			return true
		}
		return false
	})
}

// A hook that takes its time holds up nothing.
func TestHookDoesNotBlock(t *testing.T) {
	h, w, b, dir := hooked(t, `read line < pipe; echo "$line" >&2`, "")
	pipe := filepath.Join(dir, "pipe")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	b.run(false)
	b.decide("", "done", "")
	b.settle()
	c := h.client()
	c.start("s1", "timeout=60")
	if v := c.session("s1").Watch; v.Phase != watchdog.Counting {
		t.Errorf("while the hook runs: %+v", v)
	}
	if err := os.WriteFile(pipe, []byte("released\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.notice("on_stop (done): exit 0: released")
}
