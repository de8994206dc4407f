package cli

import (
	"bufio"
	"errors"
	"slices"
	"strings"
	"testing"

	"piwatch/internal/control"
	"piwatch/internal/watchdog"
)

func TestTaskOf(t *testing.T) {
	for _, c := range []struct {
		given []string
		dash  int
		task  string
		args  []string
	}{
		{[]string{"fix", "it"}, -1, "fix it", nil},
		{[]string{"fix it"}, 0, "fix it", nil},
		{[]string{"fix it", "--tools", "read"}, 0, "fix it", []string{"--tools", "read"}},
		{[]string{"fix", "it", "--tools", "read"}, 2, "fix it", []string{"--tools", "read"}},
		{[]string{"fix it"}, 1, "fix it", nil},
	} {
		task, args := taskOf(c.given, c.dash)
		if task != c.task || !slices.Equal(args, c.args) {
			t.Errorf("%q, -- at %d: %q, %q", c.given, c.dash, task, args)
		}
	}
}

func TestReadTask(t *testing.T) {
	if got, err := readTask("-", strings.NewReader("from\nstdin\n")); got != "from\nstdin\n" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	for _, task := range []string{"", " \n"} {
		if _, err := readTask(task, nil); codeOf(err) != exitUsage {
			t.Errorf("the task %q: %v", task, err)
		}
	}
}

func TestPiArgs(t *testing.T) {
	if err := piArgs([]string{"--tools", "read", "--continue", "@notes.md"}); err != nil {
		t.Error(err)
	}
	for _, arg := range []string{"--mode", "--mode=json", "-p", "--no-session", "--resume", "--model=x"} {
		if err := piArgs([]string{"--tools", "read", arg}); codeOf(err) != exitUsage || !strings.Contains(err.Error(), "not for Pi here") {
			t.Errorf("%s: %v", arg, err)
		}
	}
}

func TestSettingsOf(t *testing.T) {
	flags := runFlags{settings: watchdog.Settings{Max: 3, Message: "the rest"}}
	alone, asked := &app{}, &app{inTTY: true, errTTY: true}
	for _, c := range []struct {
		app  *app
		mode string
		want watchdog.Mode
	}{{alone, "", watchdog.Once}, {asked, "", watchdog.Keep}, {alone, "keep", watchdog.Keep}, {asked, "once", watchdog.Once}} {
		flags.mode = c.mode
		if flags.settings.Mode == "" {
			flags.settings.Mode = watchdog.Once
		}
		got, err := c.app.settingsOf(flags)
		if want := (watchdog.Settings{Max: 3, Mode: c.want, Message: "the rest"}); err != nil || got != want {
			t.Errorf("mode %q: %+v, %v", c.mode, got, err)
		}
	}
	flags.mode = "sometimes"
	if _, err := alone.settingsOf(flags); codeOf(err) != exitUsage {
		t.Errorf("a bad mode: %v", err)
	}
	flags.mode, flags.settings.Max = "", 0
	if _, err := alone.settingsOf(flags); codeOf(err) != exitUsage {
		t.Errorf("a bad cap: %v", err)
	}
}

func TestEnvFor(t *testing.T) {
	got := envFor([]string{"A=1", "PI_WATCHDOG=0", "PI_WATCHDOG_ON_STOP=x"}, watchdog.Settings{Max: 2, Mode: watchdog.Once, Message: "a b"})
	if want := []string{"A=1", "PI_WATCHDOG_ON_STOP=x", "PI_WATCHDOG=timeout=0 max=2 mode=once message=a b"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// Only what keeps the watchdog from its start ends the start of a task.
func TestWhatEndsAStart(t *testing.T) {
	r := &taskRun{refused: map[string]string{}, news: make(chan struct{}, 1)}
	say := func(level, text string) {
		r.hear(hubEvent{push: control.Push{Notice: &control.Notice{Session: "s1", Level: level, Text: text}}})
	}
	say("warning", "gateway: acme goes direct: Pi does not take it")
	say("error", `PI_WATCHDOG_GUARD: must be 0 or 1, and is "off". The guard is as configured.`)
	if len(r.refused) > 0 {
		t.Errorf("it ends with %q", r.refused)
	}
	const why = "PI_WATCHDOG: not started, so that two watchdogs do not both ask: another."
	say("warning", why)
	say("warning", "gateway: acme goes direct: Pi does not take it")
	if r.refused["s1"] != why {
		t.Errorf("it goes on: %q", r.refused)
	}
}

func TestFindPi(t *testing.T) {
	a := &app{env: func(string) string { return "/no/such/pi" }}
	for _, flag := range []string{"", "/no/such/other"} {
		_, err := a.findPi(flag)
		var h hinted
		if !errors.As(err, &h) || !strings.Contains(h.Hint(), "--pi") {
			t.Errorf("%q: %v", flag, err)
		}
	}
}

func TestQuestion(t *testing.T) {
	var out strings.Builder
	in := bufio.NewReader(strings.NewReader("\n  postgres \nlast"))
	for _, want := range []string{"postgres", "last", ""} {
		if got, ok := question(in, &out, "> "); got != want || ok != (want != "") {
			t.Errorf("the answer is %q, %v; want %q", got, ok, want)
		}
	}
	if got := out.String(); got != "> > > > \n" {
		t.Errorf("asked %q", got)
	}
}
