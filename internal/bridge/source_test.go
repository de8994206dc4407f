package bridge

import (
	"regexp"
	"strings"
	"testing"
)

func TestSourceNamesItsProgram(t *testing.T) {
	const path = `/opt/it's "here"\now/é/piwatch`
	data, err := Source(path, "1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	first, body, _ := strings.Cut(text, "\n")
	if !strings.HasPrefix(first, "// piwatch bridge 1.2.3; installed by piwatch install; do not edit") {
		t.Errorf("first line: %s", first)
	}
	want := strings.Replace(extension(t), `const PIWATCH_BIN = "piwatch";`, `const PIWATCH_BIN = "/opt/it's \"here\"\\now/é/piwatch";`, 1)
	want = strings.Replace(want, `const BRIDGE_VERSION = "0.1.0";`, `const BRIDGE_VERSION = "1.2.3";`, 1)
	if body != want {
		t.Error("the rest is not the extension with path and release in it")
	}
	if version, ours, edited := mark(text); version != "1.2.3" || !ours || edited {
		t.Errorf("mark: %q, ours %v, edited %v", version, ours, edited)
	}
}

func TestSourceRefusesWhatItCannotHold(t *testing.T) {
	for _, c := range []struct{ binary, version, want string }{
		{"piwatch", "1.0.0", "not absolute"},
		{"./piwatch", "1.0.0", "not absolute"},
		{"/bin/\xff", "1.0.0", "UTF-8"},
		{"/bin/piwatch", "", "not a version"},
		{"/bin/piwatch", "1.0\nimport evil", "not a version"},
	} {
		if _, err := Source(c.binary, c.version); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Source(%q, %q): %v, want %q", c.binary, c.version, err, c.want)
		}
	}
}

func TestMarkKnowsEdits(t *testing.T) {
	data, err := Source("/bin/piwatch", "1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		text         string
		ours, edited bool
	}{
		"as written":        {string(data), true, false},
		"a line more":       {string(data) + "// mine\n", true, true},
		"a letter changed":  {strings.Replace(string(data), "PIWATCH_BIN", "PIWATCH_BIM", 1), true, true},
		"empty":             {"", false, false},
		"the bare file":     {extension(t), false, false},
		"mark further down": {"\n" + string(data), false, false},
		"mark only":         {regexp.MustCompile(`^.*\n`).FindString(string(data)), true, true},
	} {
		if _, ours, edited := mark(c.text); ours != c.ours || edited != c.edited {
			t.Errorf("%s: ours %v, edited %v", name, ours, edited)
		}
	}
}

// extension is the joined file.
func extension(t *testing.T) string {
	t.Helper()
	joined, err := Extension()
	if err != nil {
		t.Fatal(err)
	}
	return joined
}
