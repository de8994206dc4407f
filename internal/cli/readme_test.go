package cli

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/aymanbagabas/go-udiff"
	"github.com/spf13/cobra"

	"piwatch/internal/config"
)

const readme = "../../README.md"

// generated are the parts of the README that the program writes itself, between
// <!-- NAME: go test ./internal/cli -update --> and <!-- end of NAME -->.
var generated = []struct {
	name string
	text func() string
}{
	{"exit codes", func() string {
		var b strings.Builder
		b.WriteString("| code | means |\n|---|---|\n")
		for _, c := range exitCodes {
			fmt.Fprintf(&b, "| %d | %s |\n", c.code, c.meaning)
		}
		return b.String()
	}},
	{"settings", func() string {
		var b strings.Builder
		b.WriteString("| setting | is | allowed | default | before it |\n|---|---|---|---|---|\n")
		for _, s := range config.Reference() {
			before := s.Flag
			for _, name := range []string{s.Env, s.Session} {
				if name != "" && before != "" {
					before += ", "
				}
				before += name
			}
			value := "none"
			if s.Default != "" {
				value = "`" + s.Default + "`"
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", s.Name(), s.What, s.Allowed, value, before)
		}
		return b.String()
	}},
}

func TestReadmeIsUpToDate(t *testing.T) {
	data, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	for _, g := range generated {
		begin, end := "<!-- "+g.name+": go test ./internal/cli -update -->\n", "<!-- end of "+g.name+" -->"
		before, rest, opened := strings.Cut(text, begin)
		old, after, closed := strings.Cut(rest, end)
		if !opened || !closed {
			t.Errorf("the README has no marks around the %s", g.name)
			continue
		}
		if diff := udiff.Unified("README.md", "the program", old, g.text()); diff != "" && !*update {
			t.Errorf("the %s in the README are old; go test ./internal/cli -update writes them:\n%s", g.name, diff)
		}
		text = before + begin + g.text() + end + after
	}
	if *update {
		if err := os.WriteFile(readme, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// Every command is in the README, and has a text, an example where it takes
// arguments, and no flag without a word on it.
func TestEveryCommandIsDocumented(t *testing.T) {
	data, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	root := (&app{out: &strings.Builder{}, err: &strings.Builder{}, env: os.Getenv}).root()
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		for _, child := range cmd.Commands() {
			if !child.IsAvailableCommand() || child.Name() == "help" {
				continue
			}
			name := child.Name()
			if !strings.Contains(string(data), "`"+name) && !strings.Contains(string(data), "piwatch "+name) && !strings.Contains(string(data), " "+name+"`") {
				t.Errorf("the README does not name %s", child.CommandPath())
			}
			if child.Short == "" {
				t.Errorf("%s has no text", child.CommandPath())
			}
			if strings.Contains(child.Use, " ") && child.Example == "" {
				t.Errorf("%s takes arguments and has no example", child.CommandPath())
			}
			walk(child)
		}
	}
	walk(root)
}
