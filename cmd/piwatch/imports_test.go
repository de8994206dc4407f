package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// mayImport is the rule of the layout: which package of this module may import
// which others. Imports run downwards only. A new package, or a new edge, is
// added here first, on purpose.
var mayImport = map[string][]string{
	"cmd/piwatch":       {"internal/cli"},
	"cmd/dist":          {"internal/release"},
	"internal/release":  {"internal/cli"},
	"internal/pi":       {},
	"internal/tail":     {},
	"internal/noquery":  {},
	"internal/leaks":    {},
	"internal/watchdog": {"internal/pi"},
	"internal/replay":   {"internal/guard", "internal/loop", "internal/pi", "internal/watchdog"},
	"internal/guard":    {"internal/pi"},
	"internal/loop":     {"internal/pi"},
	"internal/timeline": {"internal/guard", "internal/loop", "internal/pi", "internal/watchdog"},
	"internal/control":  {"internal/gateway", "internal/guard", "internal/watchdog"},
	"internal/bridge":   {"internal/control"},
	"internal/gateway":  {},
	"internal/hub":      {"internal/pi", "internal/tail", "internal/watchdog", "internal/guard", "internal/loop", "internal/timeline", "internal/control", "internal/gateway"},
	"internal/config":   {"internal/loop"},
	"internal/doctor":   {"internal/bridge", "internal/config", "internal/control", "internal/notify", "internal/pi"},
	"internal/ending":   {"internal/guard", "internal/pi", "internal/watchdog"},
	"internal/export":   {"internal/timeline"},
	"internal/headless": {},
	"internal/notify":   {},
	"internal/demo":     {"internal/control", "internal/guard", "internal/pi", "internal/watchdog"},
	"internal/cli":      {"internal/bridge", "internal/config", "internal/control", "internal/demo", "internal/doctor", "internal/ending", "internal/export", "internal/gateway", "internal/guard", "internal/headless", "internal/hub", "internal/loop", "internal/notify", "internal/pi", "internal/replay", "internal/tail", "internal/timeline", "internal/watchdog", "ui", "themes"},
	"internal/e2e":      {"internal/control", "internal/gateway", "internal/guard", "internal/pi", "internal/watchdog"},
	"ui":                {"internal/noquery", "internal/timeline", "internal/control", "internal/notify", "internal/pi", "internal/tail", "internal/watchdog", "themes"},
	"themes":            {},
}

// Some packages of others belong into few of ours.
var onlyIn = map[string][]string{
	"github.com/charmbracelet/": {"ui", "themes"}, // one folder changes when the toolkit does
	"github.com/spf13/":         {"internal/cli", "internal/release"},
	"net/http":                  {"internal/gateway", "internal/e2e"},
}

// The pure packages are functions of events and time: they may not touch the
// world.
var pure = map[string][]string{
	"internal/watchdog": {"os", "os/exec", "net", "net/http", "io/fs", "math/rand", "math/rand/v2", "log", "log/slog", "sync"},
	"internal/doctor":   {"internal/bridge", "internal/config", "internal/control", "internal/notify", "internal/pi"},
	"internal/export":   {"os", "os/exec", "net", "net/http", "io/fs", "math/rand", "math/rand/v2", "log", "log/slog", "sync"},
	"internal/ending":   {"os", "os/exec", "net", "net/http", "io/fs", "math/rand", "math/rand/v2", "log", "log/slog", "sync"},
	"internal/replay":   {"os", "os/exec", "net", "net/http", "io/fs", "math/rand", "math/rand/v2", "log", "log/slog", "sync"},
	"internal/guard":    {"os", "os/exec", "net", "net/http", "io/fs", "math/rand", "math/rand/v2", "log", "log/slog", "sync"},
	"internal/loop":     {"os", "os/exec", "net", "net/http", "io/fs", "math/rand", "math/rand/v2", "log", "log/slog", "sync"},
	"internal/timeline": {"os", "os/exec", "net", "net/http", "math/rand", "math/rand/v2", "log", "log/slog", "sync"},
}

func TestImportsRunDownwards(t *testing.T) {
	list := exec.Command("go", "list", "-json=ImportPath,Imports", "piwatch/...")
	list.Stderr = os.Stderr
	data, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for dec := json.NewDecoder(strings.NewReader(string(data))); dec.More(); seen++ {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := dec.Decode(&p); err != nil {
			t.Fatal(err)
		}
		name := strings.TrimPrefix(p.ImportPath, "piwatch/")
		allowed, known := mayImport[name]
		if !known {
			t.Errorf("package %s is not in the table of imports", name)
		}
		for _, path := range p.Imports {
			if inner, ours := strings.CutPrefix(path, "piwatch/"); ours && !slices.Contains(allowed, inner) {
				t.Errorf("%s must not import %s", name, inner)
			}
			for prefix, places := range onlyIn {
				if strings.HasPrefix(path, prefix) && !slices.Contains(places, name) {
					t.Errorf("%s must not import %s: that is for %v", name, path, places)
				}
			}
			if slices.Contains(pure[name], path) {
				t.Errorf("%s must not import %s: it is a pure function of events and time", name, path)
			}
		}
	}
	if seen < 5 {
		t.Errorf("only %d packages were listed", seen)
	}
}

// The table itself must run downwards: no package reaches itself.
func TestTableOfImportsHasNoCircle(t *testing.T) {
	var visit func(name string, path []string)
	visit = func(name string, path []string) {
		if slices.Contains(path, name) {
			t.Fatalf("circle: %v", append(path, name))
		}
		for _, next := range mayImport[name] {
			visit(next, append(slices.Clone(path), name))
		}
	}
	for name := range mayImport {
		visit(name, nil)
	}
}
