package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aymanbagabas/go-udiff"
	"github.com/spf13/cobra"

	"piwatch/internal/config"
	"piwatch/internal/timeline"
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
	{"variables", func() string {
		var b strings.Builder
		b.WriteString("| variable | is |\n|---|---|\n")
		for _, v := range variables {
			fmt.Fprintf(&b, "| `%s` | %s |\n", strings.ReplaceAll(v.Name, ", ", "`, `"), v.Text)
		}
		return b.String()
	}},
	{"story", storyOfACheck},
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

// storyOfACheck is the timeline of a session with two of them, as lines.
func storyOfACheck() string {
	local := time.Local
	time.Local = time.UTC // the lines hold the time of the reader
	defer func() { time.Local = local }()
	s, err := readStory(context.Background(), filepath.Join("..", "export", "testdata", "session.jsonl"), wholeTexts)
	if err != nil {
		return err.Error()
	}
	rows := slices.DeleteFunc(s.builder.Rows(), func(r *timeline.Row) bool { return r.Kind == timeline.Setting || r.Kind == timeline.Thinking })
	var b strings.Builder
	b.WriteString("```\n")
	if err := timeline.NewPrinter(&b, &timeline.Days{}).Print(rows); err != nil {
		return err.Error()
	}
	b.WriteString("```\n")
	return b.String()
}

// commandText finds what a person may type: in code, up to its end.
var commandText = regexp.MustCompile("(?m)(?:`|^|&& |; |\\()(piwatch(?: [^`\n|&;>#)]*)?)")

// Every command that the README shows makes sense to the program.
func TestReadmeCommandsParse(t *testing.T) {
	data, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, found := range commandText.FindAllStringSubmatch(string(data), -1) {
		line := strings.TrimSpace(found[1])
		words, err := splitWords(line)
		switch {
		case err != nil:
			t.Errorf("%q: %v", line, err)
			continue
		case strings.HasPrefix(line, "piwatch COMMAND"), strings.HasSuffix(line, ":"): // a sentence that begins so
			continue
		}
		seen++
		root := Root(Build{Version: "test"})
		root.InitDefaultCompletionCmd()
		root.InitDefaultHelpCmd()
		cmd, rest, err := root.Find(words[1:])
		if err == nil {
			err = cmd.ParseFlags(rest)
		}
		if err != nil {
			t.Errorf("%q: %v", line, err)
			continue
		}
		// What stands for something is no argument to check.
		if given := cmd.Flags().Args(); len(given) > 0 && cmd.Args != nil && !strings.ContainsAny(line, "[ABCDEFGHIKLMNOPRSTUVWXYZ") {
			if err := cmd.Args(cmd, given); err != nil {
				t.Errorf("%q: %v", line, err)
			}
		}
	}
	if seen < 60 {
		t.Errorf("only %d commands were found", seen)
	}
}

// What the README says of make is in the Makefile.
func TestReadmeTargets(t *testing.T) {
	data, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile("(?m)(?:`|^)make ([a-z]+)").FindAllStringSubmatch(string(data), -1)
	for _, target := range found {
		if !strings.Contains(string(makefile), "\n"+target[1]+":") {
			t.Errorf("the Makefile has no %s", target[1])
		}
	}
	if len(found) < 5 {
		t.Errorf("only %d targets were found", len(found))
	}
}

// splitWords parts a command line as a shell does, without what it expands.
func splitWords(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	var quote rune
	in := false
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '"' || r == '\''):
			quote, in = r, true
		case quote == 0 && r == ' ':
			if in {
				words = append(words, word.String())
			}
			word.Reset()
			in = false
		default:
			word.WriteRune(r)
			in = true
		}
	}
	if quote != 0 {
		return nil, errors.New("a quote is open")
	}
	if in {
		words = append(words, word.String())
	}
	return words, nil
}

// Every command is run by a script of testdata/script, or by a test with the real
// Pi: piwatch run.
func TestEveryCommandIsRun(t *testing.T) {
	scripts, err := filepath.Glob(filepath.Join("testdata", "script", "*.txtar"))
	if err != nil || len(scripts) == 0 {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, path := range scripts {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(data)
	}
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		for _, child := range cmd.Commands() {
			if child.Name() == "help" || child.Name() == "powershell" || child.CommandPath() == "piwatch run" || !child.IsAvailableCommand() {
				continue
			}
			if !regexp.MustCompile(`(?m)^!? ?(\[.*\] )?(exec|exits \d+) ` + child.CommandPath() + `\b`).MatchString(all.String()) {
				t.Errorf("no script runs %s", child.CommandPath())
			}
			walk(child)
		}
	}
	root := Root(Build{})
	root.InitDefaultCompletionCmd()
	walk(root)
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
