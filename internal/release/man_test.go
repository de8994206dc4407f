package release

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"piwatch/internal/cli"
)

// macros are what a page may hold beside text.
var macros = []string{"TH", "nh", "ad", "SH", "SS", "PP", "TP", "br", "BR", "RS", "RE", "nf", "fi"}

// Each command has a page, and all that a page holds is text or a macro of ours.
func TestManPages(t *testing.T) {
	root := cli.Root(cli.Build{Version: "1.2.3"})
	files, err := documents(root, "1.2.3", date)
	if err != nil {
		t.Fatal(err)
	}
	pages := map[string]string{}
	for _, f := range files {
		if strings.HasPrefix(f.name, "man/") {
			pages[f.name] = string(f.data)
		}
	}
	macro := regexp.MustCompile(`(?m)^[.'](\S*)`)
	for name, page := range pages {
		for _, found := range macro.FindAllStringSubmatch(page, -1) {
			if !slices.Contains(macros, found[1]) {
				t.Errorf("%s: %q is taken for a macro", name, found[0])
			}
		}
		if strings.Contains(page, "\t") || strings.Contains(page, "\n\n") || strings.Contains(page, " \n.TP") || !strings.Contains(page, "\n.SH SEE ALSO\n.BR ") {
			t.Errorf("%s has a tab, an empty line, or sees nothing also", name)
		}
	}
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		if pages["man/man1/"+pageName(cmd)+".1"] == "" {
			t.Errorf("%s has no page", cmd.CommandPath())
		}
		for _, child := range below(cmd) {
			if parent := pages["man/man1/"+pageName(cmd)+".1"]; !strings.Contains(parent, ".TP\n\\fB"+roff(child.Use)+"\\fR\n"+roff(child.Short)+"\n") {
				t.Errorf("the page of %s does not name %s", cmd.CommandPath(), child.Name())
			}
			walk(child)
		}
	}
	walk(root)
}

// The page of piwatch has the keys, the environment, the files and the exit codes.
func TestManual(t *testing.T) {
	page := string(manPages(cli.Root(cli.Build{}), "1.2.3", date, cli.Manual())[0].data)
	for _, s := range cli.Manual() {
		_, part, found := strings.Cut(page, "\n.SH "+strings.ToUpper(s.Title)+"\n")
		part, _, _ = strings.Cut(part, "\n.SH ")
		if !found || len(s.Entries) < 8 {
			t.Errorf("the section %s is missing, or nearly empty", s.Title)
		}
		for _, e := range s.Entries {
			if !strings.Contains(part, ".TP\n\\fB"+roff(e.Name)+"\\fR\n"+roff(e.Text)) || e.Text == "" {
				t.Errorf("%s does not say of %q: %s", s.Title, e.Name, e.Text)
			}
		}
	}
}

func TestRoff(t *testing.T) {
	for text, want := range map[string]string{
		".SH mine":      `\&.SH mine`,
		"'br":           `\(aqbr`,
		"~/.pi, ctrl^c": `\(ti/.pi, ctrl\(hac`,
		`a\nb`:          `a\enb`,
		"--json":        `\-\-json`,
		"see `-f`, `x`": `see \fB\-f\fR, \fBx\fR`,
		"a ` alone":     `a \(ga alone`,
		"`.` first":     `\fB.\fR first`,
		"a\tb":          "a        b",
	} {
		if got := roff(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// A flag without a value has nothing after its name.
func TestOptions(t *testing.T) {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.BoolP("json", "j", false, "write JSON")
	flags.String("mode", "once", "set the `MODE`")
	var m manPage
	m.options(flags)
	if got, want := m.b.String(), `.SH OPTIONS
.TP
\fB\-j, \-\-json\fR
write JSON
.TP
\fB\-\-mode\fR \fIMODE\fR
set the MODE (default once)
`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestHelpAsMan(t *testing.T) {
	var m manPage
	m.help("Codes:\n  0  done\n  1  not\nand so on.\n\nMore.\n\n\ta")
	if got, want := m.b.String(), "Codes:\n.RS 2\n.nf\n  0  done\n  1  not\n.fi\n.RE\n.PP\nand so on.\n.PP\nMore.\n.RS 2\n.nf\n        a\n.fi\n.RE\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
