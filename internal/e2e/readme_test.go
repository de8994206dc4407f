package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"piwatch/internal/watchdog"
)

// readmeScript is the block of the README below the mark <!-- test: NAME -->.
func readmeScript(t *testing.T, name string) string {
	t.Helper()
	root, err := ModuleRoot()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, marked := strings.Cut(string(data), "<!-- test: "+name+" -->\n```sh\n")
	script, _, closed := strings.Cut(rest, "```\n")
	if !marked || !closed {
		t.Fatalf("the README has no script with the mark %q", name)
	}
	return script
}

// runScript runs a script in the home, with pi and piwatch in PATH as a user has
// them.
func (h *Home) runScript(script string) PrintResult {
	h.t.Helper()
	bin := filepath.Join(h.Dir, "bin")
	for name, target := range map[string]string{"piwatch": Piwatch(h.t), "pi": h.Pi.Program()} {
		if err := os.MkdirAll(bin, 0o700); err != nil {
			h.t.Fatal(err)
		}
		if err := os.Symlink(target, filepath.Join(bin, name)); err != nil {
			h.t.Fatal(err)
		}
	}
	cmd := exec.Command("sh", "-c", script)
	cmd.Env = h.Env("PATH=" + bin + ":" + filepath.Dir(h.Pi.Node) + ":" + os.Getenv("PATH"))
	cmd.Dir = h.Project
	return h.startProgram("a script of the README", cmd).Wait()
}

// TestReadmeSubAgents: the README's script runs three sub-agents at a time and
// collects what they say.
func TestReadmeSubAgents(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		h := NewHome(t, pi, HomeOptions{Pis: 3})
		// Each is asked about its part; the one about the docs needs the user.
		h.Provider.Handle(func(r *Request) Reply {
			part := "parser"
			for _, name := range []string{"lexer", "docs"} {
				if r.Contains("Review the " + name) {
					part = name
				}
			}
			switch {
			case r.Last().Text == "Review the "+part:
				return Text("The " + part + " is fine.")
			case part == "docs":
				return decision(watchdog.WaitUser, "which docs")
			}
			return decision(watchdog.Done, "")
		})
		got := h.runScript(readmeScript(t, "three sub-agents"))
		for _, want := range []string{"The parser is fine.\n", "The lexer is fine.\n", "The docs is fine.\n", "docs ended with code 10\n"} {
			if strings.Count(got.Stdout, want) != 1 {
				t.Errorf("the output does not say %q once:\n%s\n%s", want, got.Stdout, got.Stderr)
			}
		}
		if strings.Contains(got.Stdout, "parser ended") || len(h.SessionFiles()) != 3 {
			t.Errorf("%d sessions, output:\n%s", len(h.SessionFiles()), got.Stdout)
		}
	})
}

// TestReadmeInstall: the README's first commands put the bridge into Pi, and find
// nothing wrong.
func TestReadmeInstall(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		h := NewHome(t, pi, HomeOptions{})
		got := h.runScript(readmeScript(t, "install"))
		for _, want := range []string{"extensions/piwatch.ts: created (piwatch devel)", "ok    pi        Pi " + pi.Version, "ok    bridge    "} {
			if !strings.Contains(got.Stdout, want) {
				t.Errorf("the output does not say %q:\n%s", want, got.Stdout)
			}
		}
		if got.ExitCode != 0 || got.Stderr != "" {
			t.Errorf("status %d: %s", got.ExitCode, got.Stderr)
		}
	})
}

// TestReadmeExitCodes: the README's script tells the ends of a run apart.
func TestReadmeExitCodes(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		h := NewHome(t, pi, HomeOptions{})
		h.Provider.Enqueue(
			Text("They pass."), decision(watchdog.Done, ""),
			Text("Which tests?"), decision(watchdog.WaitUser, ""),
		)
		h.Provider.Handle(func(*Request) Reply { return Status(401, "{}") })
		script := readmeScript(t, "exit codes")
		got := h.runScript(script + script + script)
		want := "done: They pass.\nit needs you: Which tests?\nit did not get there, see: piwatch log --last\n"
		if got.Stdout != want {
			t.Errorf("the output is %q, want %q; stderr:\n%s", got.Stdout, want, got.Stderr)
		}
	})
}
