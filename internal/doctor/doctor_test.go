package doctor

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"piwatch/internal/bridge"
	"piwatch/internal/control"
)

const binary = "/usr/local/bin/piwatch"

// world is one with nothing in it.
func world(t *testing.T, env map[string]string) World {
	t.Helper()
	home := t.TempDir()
	all := map[string]string{"HOME": home, "LANG": "C.UTF-8", "PIWATCH_SOCKET": filepath.Join(home, "run", "hub.sock")}
	for key, value := range env {
		all[key] = value
	}
	return World{
		Env: func(name string) string { return all[name] }, Home: home, Cwd: filepath.Join(home, "project"),
		Version: "1.2.3", Binary: binary, Pi: filepath.Join(home, "no", "pi"),
		Dial: func(context.Context) (*control.Client, error) {
			return nil, &control.DialError{Path: "/s", Class: control.ErrNoHub}
		},
		Config: func() (string, []string) { return "/c", nil },
	}
}

func write(t *testing.T, path, text string, mode os.FileMode) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	return path
}

// has looks for a finding.
func has(t *testing.T, findings []Finding, level Level, text string) {
	t.Helper()
	for _, f := range findings {
		if f.Level == level && strings.Contains(f.Text, text) {
			if (level == OK) != (f.Next == "") {
				t.Errorf("%q: the next step is %q", f.Text, f.Next)
			}
			return
		}
	}
	t.Errorf("nothing is %s with %q: %+v", level, text, findings)
}

func TestNothingIsThere(t *testing.T) {
	r := Examine(context.Background(), world(t, nil))
	if !r.OK {
		t.Errorf("it fails: %+v", r.Findings)
	}
	has(t, r.Findings, Warn, "there is no Pi")
	has(t, r.Findings, Warn, "the bridge is not installed")
	has(t, r.Findings, OK, "no hub runs")
	has(t, r.Findings, Warn, "Pi's agent folder")
	for _, f := range r.Findings {
		if f.Area == "" {
			t.Errorf("%q is of nothing", f.Text)
		}
	}
}

func TestPi(t *testing.T) {
	node := write(t, filepath.Join(t.TempDir(), "node"), "#!/bin/sh\necho v22.18.0\n", 0o755)
	t.Setenv("PATH", filepath.Dir(node)+":"+os.Getenv("PATH"))
	for _, c := range []struct {
		name, script string
		level        Level
		text         string
	}{
		{"new", "#!/bin/sh\necho 1.6.0\n", OK, "Pi 1.6.0, "},
		{"newer", "#!/bin/sh\necho pi 2.10.0-beta\n", OK, "Pi 2.10.0, "},
		{"old", "#!/bin/sh\necho 0.80.9\n", Warn, "Pi 0.80.9, "},
		{"no version", "#!/bin/sh\necho hello\n", Warn, `says no version, but "hello"`},
		{"broken", "#!/bin/sh\necho oh no >&2\nexit 3\n", Fail, "exit status 3: oh no"},
		{"old Node", "#!/usr/bin/env node\n", Fail, "Node 22.18.0, " + node + ": Pi needs 22.19 or newer"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := world(t, nil)
			w.Pi = write(t, filepath.Join(w.Home, "pi"), c.script, 0o755)
			has(t, lookPi(context.Background(), &w), c.level, c.text)
		})
	}
}

func TestOlder(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{{"0.81.0", "0.81.1", true}, {"0.81.1", "0.81.1", false}, {"0.9.0", "0.81.1", true}, {"1.0.0", "0.81.1", false}, {"22.9.0", "22.19.0", true}} {
		if older(c.a, c.b) != c.want {
			t.Errorf("older(%s, %s) is not %v", c.a, c.b, c.want)
		}
	}
}

func TestBridge(t *testing.T) {
	ctx := context.Background()
	w := world(t, nil)
	agent, project := filepath.Join(w.Home, ".pi", "agent"), filepath.Join(w.Cwd, ".pi")
	install := func(dir, version string) {
		t.Helper()
		if _, _, err := bridge.Install(dir, binary, version, true); err != nil {
			t.Fatal(err)
		}
	}
	install(agent, "1.2.2")
	has(t, lookBridge(ctx, &w), Warn, "is of another piwatch (1.2.2)")
	install(agent, "1.2.3")
	has(t, lookBridge(ctx, &w), OK, bridge.Path(agent)+", of piwatch 1.2.3")
	install(project, "1.2.3")
	has(t, lookBridge(ctx, &w), Warn, "installed for you and for this project")
	if err := os.RemoveAll(agent); err != nil {
		t.Fatal(err)
	}
	findings := lookBridge(ctx, &w)
	has(t, findings, OK, bridge.Path(project))
	if len(findings) != 1 {
		t.Errorf("for the project only, it says %+v", findings)
	}

	data, err := os.ReadFile(bridge.Path(project))
	if err != nil {
		t.Fatal(err)
	}
	write(t, bridge.Path(project), string(data)+"// mine\n", 0o644)
	has(t, lookBridge(ctx, &w), Fail, "was edited")
	write(t, bridge.Path(project), "export default 1\n", 0o644)
	has(t, lookBridge(ctx, &w), Fail, "was not written by piwatch")
}

func TestOthers(t *testing.T) {
	ctx := context.Background()
	w := world(t, nil)
	agent := filepath.Join(w.Home, ".pi", "agent")
	has(t, lookOthers(ctx, &w), OK, "no other watchdog")
	write(t, filepath.Join(agent, "settings.json"), "\ufeff{\"packages\": [\"npm:pi-extension-watchdog\", {\"source\": \"git:x/auto-continue\"}, 7], \"extensions\": []}", 0o600)
	write(t, filepath.Join(w.Cwd, ".pi", "extensions", "my-watchdog.ts"), "", 0o600)
	findings := lookOthers(ctx, &w)
	for _, name := range []string{"npm:pi-extension-watchdog in", "git:x/auto-continue", "my-watchdog.ts"} {
		has(t, findings, Warn, name)
	}
	write(t, filepath.Join(agent, "settings.json"), "{", 0o600)
	has(t, lookOthers(ctx, &w), Fail, "settings.json")
	write(t, filepath.Join(agent, "settings.json"), " \n", 0o600)
	has(t, lookOthers(ctx, &w), Warn, "my-watchdog.ts")
}

func TestHub(t *testing.T) {
	for _, c := range []struct {
		err   error
		level Level
		text  string
	}{
		{&control.DialError{Path: "/s", Class: control.ErrDeadHub}, OK, "a hub was killed"},
		{&control.DialError{Path: "/s", Class: control.ErrForbidden}, Fail, "may not be used"},
		{&control.DialError{Path: "/s", Class: control.ErrNotSocket}, Fail, "something else is at"},
		{&control.DialError{Path: "/s", Err: errors.New("not a directory")}, Fail, "not a directory"},
		{&control.ProtocolError{Hub: 1, Peer: 2, Version: "0.9.0"}, Fail, "speaks protocol 1"},
	} {
		w := world(t, nil)
		w.Dial = func(context.Context) (*control.Client, error) { return nil, c.err }
		has(t, lookHub(context.Background(), &w), c.level, c.text)
	}
}

func TestSessions(t *testing.T) {
	for _, c := range []struct {
		session control.Session
		level   Level
		text    string
	}{
		{control.Session{ID: "s", Bridge: "1.2.3", Pi: "1.6.0"}, OK, "session s in "},
		{control.Session{ID: "s", Bridge: "1.2.2"}, Warn, "bridge 1.2.2: of another piwatch"},
		{control.Session{ID: "s", Bridge: "1.2.3", Other: "another extension"}, Warn, "another extension"},
		{control.Session{ID: "s"}, OK, "bridge of an unknown version"},
	} {
		has(t, []Finding{sessionFinding(c.session, "1.2.3")}, c.level, c.text)
	}
}

func TestSocketAndFolders(t *testing.T) {
	ctx := context.Background()
	w := world(t, nil)
	socket := w.Env("PIWATCH_SOCKET")
	has(t, lookSocket(ctx, &w), OK, socket)
	write(t, socket, "", 0o600)
	if err := os.Chmod(filepath.Dir(socket), 0o755); err != nil {
		t.Fatal(err)
	}
	has(t, lookSocket(ctx, &w), Fail, "has mode 755")
	inFile := world(t, nil)
	write(t, filepath.Dir(inFile.Env("PIWATCH_SOCKET")), "a file", 0o600)
	has(t, lookSocket(ctx, &inFile), Fail, "is not a folder")
	broken := world(t, map[string]string{"PIWATCH_SOCKET": "relative"})
	has(t, lookSocket(ctx, &broken), Fail, "not an absolute path")

	write(t, filepath.Join(w.Home, ".local", "state"), "a file", 0o600)
	has(t, lookFolders(ctx, &w), Fail, "is not a folder")
	crashed := world(t, nil)
	write(t, filepath.Join(crashed.Home, ".local", "state", "piwatch", "hub-crash.log"), "panic", 0o600)
	has(t, lookFolders(ctx, &crashed), Warn, "a hub crashed")
	nowhere := world(t, map[string]string{"HOME": ""})
	has(t, lookFolders(ctx, &nowhere), Fail, "HOME is not set")
}

func TestConfigAndFiles(t *testing.T) {
	w := world(t, nil)
	w.Config = func() (string, []string) { return "/c", []string{"one", "two"} }
	findings := lookConfig(context.Background(), &w)
	has(t, findings, Warn, "one")
	has(t, findings, Warn, "two")
	if findings := lookInotify(context.Background(), &w); len(findings) != 1 || findings[0].Level == Fail {
		t.Errorf("events of files: %+v", findings)
	}
}

func TestTerminal(t *testing.T) {
	for _, c := range []struct {
		env   map[string]string
		level Level
		text  string
	}{
		{map[string]string{"TERM": "xterm-256color", "COLORTERM": "truecolor"}, OK, "true colour"},
		{map[string]string{"TERM": "xterm-256color"}, OK, "256 colours"},
		{map[string]string{"TERM": "xterm"}, OK, "16 colours"},
		{map[string]string{"TERM": "xterm", "NO_COLOR": "1"}, OK, "one colour"},
		{map[string]string{"TERM": "dumb"}, Warn, "prints lines"},
	} {
		w := world(t, c.env)
		has(t, []Finding{w.lookColours()}, c.level, c.text)
	}
	for value, level := range map[string]Level{"en_GB.UTF-8": OK, "C.utf8": OK, "C": Warn, "": Warn} {
		w := world(t, map[string]string{"LANG": value})
		if f := w.lookLocale(); f.Level != level {
			t.Errorf("LANG=%s: %+v", value, f)
		}
	}
	w := world(t, nil)
	has(t, lookTerminal(context.Background(), &w), OK, "not a terminal")
}

// The options of tmux are those that tmux says.
func TestTmux(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "tmux"), `#!/bin/sh
case "$*" in
*allow-passthrough) echo "$PASS" ;;
*escape-time) echo "$ESCAPE" ;;
*default-terminal) echo "$DEFAULT" ;;
*) exit 1 ;;
esac
`, 0o755)
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	for _, c := range []struct {
		pass, escape, terminal string
		notify                 []string
		level                  Level
		text                   string
	}{
		{"on", "10", "tmux-256color", []string{"osc9"}, OK, "fine"},
		{"off", "10", "tmux-256color", []string{"bell"}, OK, "fine"},
		{"off", "10", "tmux-256color", []string{"bell", "osc777"}, Warn, "allow-passthrough is off"},
		{"on", "500", "tmux-256color", nil, Warn, "escape-time is 500 ms"},
		{"on", "10", "screen", nil, Warn, "default-terminal is screen"},
	} {
		t.Setenv("PASS", c.pass)
		t.Setenv("ESCAPE", c.escape)
		t.Setenv("DEFAULT", c.terminal)
		w := world(t, map[string]string{"TMUX": "/tmp/tmux,1,0"})
		w.Notify = c.notify
		has(t, lookTmux(context.Background(), &w), c.level, c.text)
	}
	w := world(t, nil)
	if findings := lookTmux(context.Background(), &w); findings != nil {
		t.Errorf("outside of tmux: %+v", findings)
	}
}

func TestDesktop(t *testing.T) {
	w := world(t, nil)
	if findings := lookDesktop(context.Background(), &w); findings != nil {
		t.Errorf("nobody asked for it: %+v", findings)
	}
	t.Setenv("PATH", t.TempDir())
	w.Notify = []string{"desktop"}
	has(t, lookDesktop(context.Background(), &w), Warn, "no desktop")
}

func TestHintOf(t *testing.T) {
	if got := hintOf(errors.New("e")); got != "" {
		t.Errorf("hint %q", got)
	}
	if got := hintOf(&control.DialError{Class: control.ErrTimeout}); got == "" {
		t.Error("no hint")
	}
}
