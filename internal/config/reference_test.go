package config

import (
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func write(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func env(pairs map[string]string) func(string) string {
	return func(name string) string { return pairs[name] }
}

// What is read is documented, what is documented is read, and the default that
// people read of is one that may be written.
func TestReferenceIsWhatIsRead(t *testing.T) {
	documented := map[string]bool{}
	for _, r := range reference {
		documented[r.Name()] = true
		if r.What == "" || r.Allowed == "" {
			t.Errorf("%s says nothing", r.Name())
		}
		value := r.Default
		if value == "" {
			value = `"x"`
		}
		if err := Check(write(t, "["+r.Table+"]\n"+r.Key+" = "+value+"\n"), noEnv); err != nil {
			t.Errorf("%s = %s is refused: %v", r.Name(), value, err)
		}
		if err := Check(write(t, "["+r.Table+"]\n"+r.Key+" = [{}]\n"), noEnv); err == nil || !strings.Contains(err.Error(), ":2: "+r.Name()+": ") {
			t.Errorf("%s takes anything: %v", r.Name(), err)
		}
	}
	for table, keys := range map[string][]string{"screen": sortedKeys(screenKeys), "watchdog": sortedKeys(watchdogKeys), "guard": sortedKeys(guardKeys), "log": sortedKeys(logKeys), "notify": sortedKeys(notifyKeys), "gateway": sortedKeys(gatewayKeys)} {
		for _, key := range keys {
			if !documented[table+"."+key] {
				t.Errorf("%s.%s is read and not in the reference", table, key)
			}
		}
	}
}

// A table that is read is known to piwatch config, and its settings are in the
// reference.
func TestEveryTableIsKnown(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	reads := regexp.MustCompile(`Keys\.read\([^"]*"(\w+)"\)`)
	seen := map[string]bool{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range reads.FindAllStringSubmatch(string(data), -1) {
			seen[found[1]] = true
		}
	}
	for name := range seen {
		if known[name] == nil {
			t.Errorf("the table %s is read, and not in known in reference.go", name)
		}
		if !slices.ContainsFunc(reference, func(r Setting) bool { return r.Table == name }) {
			t.Errorf("the settings of the table %s are not in the reference", name)
		}
	}
	if len(seen) < 4 {
		t.Errorf("only %d tables are read", len(seen))
	}
}

// The errors of the environment always come in the same order.
func TestCheckIsInOrder(t *testing.T) {
	wrong := env(map[string]string{"PIWATCH_LOG_LEVEL": "loud", "PIWATCH_ASCII": "yes", "PIWATCH_LOG_MEGABYTES": "x"})
	first := Check("", wrong)
	for range 20 {
		if again := Check("", wrong); again.Error() != first.Error() {
			t.Fatalf("%v\nand then\n%v", first, again)
		}
	}
}

func TestExample(t *testing.T) {
	text := Example()
	if err := Check(write(t, text), noEnv); err != nil {
		t.Errorf("the example: %v", err)
	}
	var bare strings.Builder
	for line := range strings.Lines(text) {
		if after, ok := strings.CutPrefix(line, "# "); ok && strings.Contains(after, " = ") && !strings.Contains(after, ": ") {
			line = after
		}
		bare.WriteString(line)
	}
	if err := Check(write(t, bare.String()), noEnv); err != nil {
		t.Errorf("the example with all its settings: %v\n%s", err, bare.String())
	}
	if got := strings.Count(bare.String(), "\n# ") + 1; got >= strings.Count(text, "\n# ") {
		t.Error("the example holds no settings")
	}
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		name, text string
		env        map[string]string
		want       []string // what the lines of the error are, after the file
	}{
		{"nothing", "", nil, nil},
		{"fine", "[screen]\ntheme = \"dark\"\n[keys]\nnudge = \"N\"\n[log]\nlevel = \"debug\"\n", nil, nil},
		{"an unknown table", "\n[scren]\ntheme = \"dark\"\n", nil, []string{":2: [scren]: unknown table; did you mean screen?; allowed: gateway, guard, keys, log, notify, screen, supervisor, watchdog"}},
		{"an unknown table of its own", "[zoo.cage]\nx = 1\n", nil, []string{":1: [zoo]: unknown table; allowed: gateway, guard, keys, log, notify, screen, supervisor, watchdog"}},
		{"outside a table", "theme = \"dark\"\nx = 1\n", nil, []string{
			":1: theme: stands in no table, it belongs below [screen]; the tables are gateway, guard, keys, log, notify, screen, supervisor, watchdog",
			":2: x: stands in no table; the tables are gateway, guard, keys, log, notify, screen, supervisor, watchdog"}},
		{"all of it, in the order of the file", "[log]\nlevel = \"loud\"\nmegabyte = 3\n[screen]\nmouse = \"yes\"\n", nil, []string{
			`:2: log.level: "loud" does not fit; allowed: debug, info, warn, error`,
			`:3: log.megabyte: unknown setting; did you mean megabytes?; allowed: level, megabytes`,
			`:5: screen.mouse: "yes" does not fit; allowed: true or false`}},
		{"no TOML", "[log\n", nil, []string{":2: "}},
		{"the environment", "", map[string]string{"PIWATCH_LOG_LEVEL": "loud", "PIWATCH_MOUSE": "1", "PIWATCH_ASCII": "yes", "PIWATCH_LOG_MEGABYTES": "7x"}, []string{
			`PIWATCH_ASCII: screen.ascii: "yes" does not fit; allowed: true or false`,
			`PIWATCH_LOG_LEVEL: log.level: "loud" does not fit; allowed: debug, info, warn, error`,
			`PIWATCH_LOG_MEGABYTES: log.megabytes: "7x" does not fit; allowed: a whole number from 1 to 1000`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := write(t, c.text)
			err := Check(file, env(c.env))
			var lines []string
			if err != nil {
				lines = strings.Split(err.Error(), "\n")
			}
			if c.env != nil {
				slices.Sort(lines)
			}
			if len(lines) != len(c.want) {
				t.Fatalf("the error is\n%v", err)
			}
			for i, want := range c.want {
				if got := strings.TrimPrefix(lines[i], file); !strings.HasPrefix(got, want) {
					t.Errorf("line %d is %q, want %q", i+1, got, want)
				}
			}
		})
	}
}

func TestShow(t *testing.T) {
	file := write(t, "[screen]\ntheme = \"dark\"\nmouse = \"yes\"\nnotify = \"osc9\"\n[notify]\nfailed = [\"bell\", \"desktop\"]\n[keys]\nstop = [\"X\", \"f8\"]\n")
	values, err := Show(file, env(map[string]string{"PIWATCH_STILL": "true", "PIWATCH_THEME": `a"b\`}))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, v := range values {
		got[v.Name()] = v.Value + " " + strings.Replace(v.From, file, "FILE", 1)
	}
	for name, want := range map[string]string{
		"screen.theme": `"a\"b\\" PIWATCH_THEME`, "screen.still": "true PIWATCH_STILL", "screen.mouse": "false default",
		"log.level": `"info" default`, "watchdog.on_stop": " default", "keys.stop": `["X", "f8"] FILE:8`,
		"notify.wait_user": `"osc9" screen.notify`, "notify.failed": `["bell", "desktop"] FILE:6`, "notify.done": `"none" default`,
	} {
		if got[name] != want {
			t.Errorf("%s is %s, want %s", name, got[name], want)
		}
	}
}

func TestReadLog(t *testing.T) {
	got, err := ReadLog(write(t, "[log]\nlevel = \"warn\"\nmegabytes = 9\n"), noEnv)
	if want := (Log{slog.LevelWarn, 9}); err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	got, err = ReadLog(filepath.Join(t.TempDir(), "none"), env(map[string]string{"PIWATCH_LOG_LEVEL": "debug"}))
	if want := (Log{Level: slog.LevelDebug}); err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
}
