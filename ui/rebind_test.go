package ui

import (
	"bytes"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/muesli/termenv"

	"piwatch/internal/control"
	"piwatch/internal/watchdog"
)

func keysOf(all []binding, id string) string {
	i := slices.IndexFunc(all, func(b binding) bool { return b.id == id })
	return strings.Join(all[i].keys, " ")
}

func TestRebinding(t *testing.T) {
	for _, c := range []struct {
		name    string
		changes []Rebinding
		keys    map[string]string
		wrong   []string
	}{
		{"another key", []Rebinding{{"nudge", []string{"N", "f5"}, "c:1"}}, map[string]string{"nudge": "N f5"}, nil},
		{"space", []Rebinding{{"pause", []string{"space", "p"}, "c:1"}, {"page_down", []string{"pgdown"}, "c:2"}}, map[string]string{"pause": "  p"}, nil},
		{"two swap", []Rebinding{{"nudge", []string{"p"}, "c:1"}, {"pause", []string{"n"}, "c:2"}}, map[string]string{"nudge": "p", "pause": "n"}, nil},
		{"unknown action", []Rebinding{{"nugde", []string{"N"}, "c:3"}}, nil, []string{"c:3: keys.nugde: unknown action; allowed: unfold, rollback, "}},
		{"no key", []Rebinding{{"nudge", []string{"ctrl+shift+n"}, "c:4"}}, map[string]string{"nudge": "n"}, []string{`c:4: keys.nudge: "ctrl+shift+n" is no key; allowed: a character, ctrl+ or alt+ and a letter, enter, `}},
		{"none", []Rebinding{{"nudge", nil, "c:4"}}, map[string]string{"nudge": "n"}, []string{"c:4: keys.nudge: no key; "}},
		{"ctrl+c", []Rebinding{{"nudge", []string{"ctrl+c"}, "c:4"}}, map[string]string{"nudge": "n"}, []string{`"ctrl+c" is no key`}},
		{"taken", []Rebinding{{"nudge", []string{"x"}, "c:5"}}, map[string]string{"nudge": "n", "stop": "x"}, []string{`c:5: keys.nudge: "x" is a key of stop already; the default stays`}},
		{"taken by a change", []Rebinding{{"nudge", []string{"X"}, "c:5"}, {"stop", []string{"X"}, "c:6"}}, nil, []string{`is a key of`}},
		{"put back onto a key that was taken", []Rebinding{{"nudge", []string{"x"}, "c:1"}, {"pause", []string{"n"}, "c:2"}}, map[string]string{"nudge": "n", "pause": "p"}, []string{"keys.nudge", "keys.pause"}},
		{"in another place", []Rebinding{{"next_exchange", []string{"n"}, "c:1"}}, map[string]string{"next_exchange": "n"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			all, problems := rebind(bindings(), c.changes)
			for id, want := range c.keys {
				if got := keysOf(all, id); got != want {
					t.Errorf("%s has the keys %q, want %q", id, got, want)
				}
			}
			if len(problems) != len(c.wrong) {
				t.Fatalf("the problems are %q", problems)
			}
			joined := strings.Join(problems, "\n")
			for _, want := range c.wrong {
				if !strings.Contains(joined, want) {
					t.Errorf("the problems are %q, want %q in them", problems, want)
				}
			}
		})
	}
}

func TestReboundKeysAreUsedAndShown(t *testing.T) {
	m := screenIn(t, Options{Keys: []Rebinding{{"nudge", []string{"N"}, "c:1"}, {"nope", []string{"x"}, "c.toml:2"}}}, termenv.Ascii, "counting", 120, 40)
	if !strings.Contains(bottomLine(m), "c.toml:2: keys.nope: unknown action") {
		t.Errorf("a bad binding is not told: %q", bottomLine(m))
	}
	send(m, key("esc"))
	if !strings.Contains(bottomLine(m), "N nudge") {
		t.Errorf("the bottom line is %q", bottomLine(m))
	}
	hub := newFakeHub()
	m.hub = hub
	press(m, "n")
	wantNothingAsked(t, hub)
	press(m, "N")
	wantAsked(t, hub, steered{control.Nudge, control.SteerParams{}})
}

// The table of keys in the README is that of the program. -update writes it.
func TestReadmeHasTheKeys(t *testing.T) {
	const path, begin, end = "../README.md", "<!-- keys: go test ./ui -update -->\n", "<!-- end of keys -->"
	readme, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := bytes.Cut(readme, []byte(begin))
	old, after, closed := bytes.Cut(rest, []byte(end))
	if !ok || !closed {
		t.Fatal("the README has no marks around the table of keys")
	}
	if string(old) == keyTable() {
		return
	}
	if f := flag.Lookup("update"); f == nil || f.Value.String() != "true" {
		t.Fatal("the table of keys in the README is stale: go test ./ui -update")
	}
	now := slices.Concat(before, []byte(begin+keyTable()+end), after)
	if err := os.WriteFile(path, now, 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestTheHelpIsSearched(t *testing.T) {
	m := screenIn(t, Options{}, termenv.Ascii, "counting", 120, 40)
	send(m, key("?"), key("/"), key("clipboard"), key("enter"))
	help := strings.Join(m.helpLines(&m.env, 80), "\n")
	if !strings.Contains(help, "copy the row") || strings.Contains(help, "nudge") {
		t.Errorf("the help shows\n%s", help)
	}
	send(m, key("esc"))
	if m.helpFind != "" || m.over != overlayHelp {
		t.Error("the first esc does not end the search only")
	}
	send(m, key("/"), key("no such key"))
	if help := strings.Join(m.helpLines(&m.env, 80), "\n"); !strings.Contains(help, "no key does no such key") {
		t.Errorf("the help shows\n%s", help)
	}
}

// Why a key does nothing is told whole.
func TestTheHelpDoesNotCutReasons(t *testing.T) {
	for _, w := range []int{80, 40, 20} {
		m := screenIn(t, Options{}, termenv.Ascii, "paused", w, 24)
		off := watchdog.View{Phase: watchdog.Working, Settings: settings, Why: "off: the provider said so with many words, at the end of which there is the one that matters"}
		one := live("aaaa-1", "api", off, control.Facts{Idle: true})
		send(m, hubPush{control.Push{Session: &one}})
		lines := m.helpLines(&m.env, w)
		wantFits(t, strings.Join(lines, "\n"), w, len(lines))
		text := strings.Join(strings.Fields(strings.Join(lines, " ")), " ")
		for i := range m.keys {
			why := m.disabled(&m.keys[i])
			// Long words may be split, so spaces do not count.
			if bare := strings.ReplaceAll(why, " ", ""); why != "" && !m.keys[i].pair && !strings.Contains(strings.ReplaceAll(text, " ", ""), "("+bare+")") {
				t.Errorf("at width %d the reason of %s is cut: %s", w, m.keys[i].id, why)
			}
		}
	}
}

// keyTable is the table of keys for the README, in Markdown.
func keyTable() string {
	var b strings.Builder
	b.WriteString("| key | does | name in the config |\n|---|---|---|\n")
	for _, k := range Reference(false) {
		b.WriteString("| `" + strings.Join(k.Keys, "` `") + "` | " + k.About + " | `" + strings.Join(k.IDs, "`, `") + "` |\n")
	}
	return b.String()
}
