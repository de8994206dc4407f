package release

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"piwatch/internal/cli"
)

// manPages are those of a command and of all below it. The first has the sections
// of the manual.
func manPages(cmd *cobra.Command, version string, date time.Time, manual []cli.Section) []file {
	cmd.InitDefaultHelpFlag()
	cmd.InitDefaultVersionFlag()
	name := pageName(cmd)
	m := &manPage{}
	m.line(".TH %q 1 %q %q %q", strings.ToUpper(name), date.Format(time.DateOnly), "piwatch "+version, "piwatch")
	m.line(".nh\n.ad l") // a name is typed as it stands here
	m.section("Name")
	m.line("%s \\- %s", roff(name), roff(strings.ToLower(cmd.Short[:1])+cmd.Short[1:]))
	m.synopsis(cmd)
	m.section("Description")
	m.help(cmd.Long)
	m.commands(cmd)
	m.options(cmd.NonInheritedFlags())
	for _, s := range manual {
		m.section(s.Title)
		if s.Intro != "" {
			m.text(s.Intro)
		}
		m.entries(s.Entries)
	}
	if cmd.Example != "" {
		m.section("Examples")
		m.block(strings.Split(cmd.Example, "\n"))
	}
	m.seeAlso(cmd)
	files := []file{{name: "man/man1/" + name + ".1", data: []byte(m.b.String())}}
	for _, child := range below(cmd) {
		files = append(files, manPages(child, version, date, nil)...)
	}
	return files
}

// below are the commands and topics of a command that have a page.
func below(cmd *cobra.Command) []*cobra.Command {
	var all []*cobra.Command
	for _, child := range cmd.Commands() {
		if (child.IsAvailableCommand() || child.IsAdditionalHelpTopicCommand()) && child.Name() != "help" {
			all = append(all, child)
		}
	}
	return all
}

func pageName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// manPage is a page in the macros of man(7).
type manPage struct{ b strings.Builder }

func (m *manPage) line(format string, args ...any) { fmt.Fprintf(&m.b, format+"\n", args...) }

func (m *manPage) section(title string) { m.line(".SH %s", strings.ToUpper(title)) }

// text writes a text of one paragraph. No line of it is taken for a macro.
func (m *manPage) text(text string) {
	for line := range strings.SplitSeq(text, "\n") {
		m.line("%s", roff(line))
	}
}

func (m *manPage) synopsis(cmd *cobra.Command) {
	m.section("Synopsis")
	if !cmd.Runnable() {
		m.line("\\fB%s\\fR", roff("piwatch help "+cmd.Name()))
		return
	}
	use := strings.TrimPrefix(cmd.UseLine(), cmd.CommandPath())
	m.line("\\fB%s\\fR%s", roff(cmd.CommandPath()), roff(use))
	if len(below(cmd)) > 0 {
		m.line(".br\n\\fB%s\\fR COMMAND", roff(cmd.CommandPath()))
	}
}

// help writes the text of a help: paragraphs, and what is indented line by line.
func (m *manPage) help(help string) {
	var part []string
	first, indented := true, false
	flush := func() {
		switch {
		case len(part) == 0:
			return
		case indented:
			m.block(part)
		default:
			if !first {
				m.line(".PP")
			}
			m.text(strings.Join(part, "\n"))
		}
		part, first = nil, false
	}
	for line := range strings.SplitSeq(help, "\n") {
		if now := strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t"); line == "" || now != indented {
			flush()
			indented = now
		}
		if line != "" {
			part = append(part, line)
		}
	}
	flush()
}

// block writes lines as they are.
func (m *manPage) block(lines []string) {
	m.line(".RS 2\n.nf")
	m.text(strings.Join(lines, "\n"))
	m.line(".fi\n.RE")
}

func (m *manPage) entries(entries []cli.Entry) {
	group := ""
	for _, e := range entries {
		if e.Group != group {
			group = e.Group
			m.line(".SS %s", roff(group))
		}
		m.line(".TP\n\\fB%s\\fR", roff(e.Name))
		m.text(e.Text)
	}
}

func (m *manPage) commands(cmd *cobra.Command) {
	var entries []cli.Entry
	add := func(group, title string) {
		for _, child := range below(cmd) {
			if child.GroupID == group {
				entries = append(entries, cli.Entry{Group: title, Name: child.Use, Text: child.Short})
			}
		}
	}
	for _, g := range cmd.Groups() {
		title, _, _ := strings.Cut(strings.TrimSuffix(g.Title, ":"), " (")
		add(g.ID, title)
	}
	rest := ""
	if len(entries) > 0 {
		rest = "Topics" // all commands are in a group
	}
	add("", rest)
	if len(entries) > 0 {
		m.section("Commands")
		m.entries(entries)
	}
}

func (m *manPage) options(flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	m.section("Options")
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		if value != "" {
			value = ` \fI` + roff(value) + `\fR`
		}
		m.line(".TP\n\\fB%s\\fR%s", roff(name), value)
		switch f.DefValue {
		case "", "0", "false", "[]", "0s":
		default:
			usage += " (default " + f.DefValue + ")"
		}
		m.text(usage)
	})
}

func (m *manPage) seeAlso(cmd *cobra.Command) {
	pages := below(cmd)
	if cmd.HasParent() {
		pages = append([]*cobra.Command{cmd.Parent()}, pages...)
	}
	m.section("See also")
	for i, page := range pages {
		comma := ","
		if i == len(pages)-1 {
			comma = ""
		}
		m.line(".BR %s (1)%s", roff(pageName(page)), comma)
	}
}

// roffSigns are the signs of ASCII that roff would show as others.
var roffSigns = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "~", `\(ti`, "^", `\(ha`, "\t", "        ")

// roff is a line as roff takes it for text. What stands between backticks is bold.
func roff(line string) string {
	parts := strings.Split(roffSigns.Replace(line), "`")
	var b strings.Builder
	for i, part := range parts {
		switch {
		case i%2 == 1 && i < len(parts)-1:
			b.WriteString(`\fB` + part + `\fR`)
		case i%2 == 1:
			b.WriteString(`\(ga` + part) // which nothing closes
		default:
			b.WriteString(part)
		}
	}
	if text := b.String(); strings.HasPrefix(text, ".") {
		return `\&` + text
	}
	return b.String()
}
