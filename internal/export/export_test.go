package export

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aymanbagabas/go-udiff"
	"golang.org/x/net/html"

	"piwatch/internal/pi"
	"piwatch/internal/timeline"
)

var update = flag.Bool("update", false, "write the golden files anew")

// rows reads the timeline of session lines.
func rows(t *testing.T, lines string) []*timeline.Row {
	t.Helper()
	var parser pi.Parser
	var builder timeline.Builder
	for line := range strings.Lines(lines) {
		for _, e := range parser.Add([]byte(strings.TrimSuffix(line, "\n")), 0) {
			builder.Add(timeline.Digest(&e))
		}
	}
	for _, d := range parser.Damage().List {
		builder.Add(timeline.DigestDamage(d))
	}
	return builder.Rows()
}

func write(t *testing.T, p Page) (htmlText, markdown string) {
	t.Helper()
	var a, b bytes.Buffer
	p.Zone, p.Version = time.UTC, "1.2.3"
	if err := HTML(&a, p); err != nil {
		t.Fatal(err)
	}
	if err := Markdown(&b, p); err != nil {
		t.Fatal(err)
	}
	return a.String(), b.String()
}

func goldenPage(t *testing.T) Page {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "session.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return Page{Title: "the parser", Session: "s1", Cwd: "/home/ada", Model: "demo/one", Rows: rows(t, string(data))}
}

func TestGolden(t *testing.T) {
	page, markdown := write(t, goldenPage(t))
	for name, got := range map[string]string{"session.html": page, "session.md": markdown} {
		path := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := udiff.Unified("golden", "now", string(want), got); diff != "" {
			t.Errorf("%s changed; -update takes it on:\n%s", name, diff)
		}
	}
}

// attributes are the attributes of all elements of a page, and texts what is seen.
func parse(t *testing.T, page string) (elements map[string]int, attributes map[string][]string, text string) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	elements, attributes = map[string]int{}, map[string][]string{}
	var all strings.Builder
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		switch n.Type {
		case html.ElementNode:
			elements[n.Data]++
			for _, a := range n.Attr {
				attributes[a.Key] = append(attributes[a.Key], a.Val)
			}
		case html.TextNode:
			if n.Parent.Data != "style" {
				all.WriteString(n.Data + "\n")
			}
		case html.CommentNode:
			elements["!--"]++
		}
		for child := n.FirstChild; child != nil; child = child.NextSibling {
			walk(child)
		}
	}
	walk(root)
	return elements, attributes, all.String()
}

// hostile are texts that want to be more than text.
var hostile = []string{
	`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `</pre></details></article><h1>mine</h1>`, `<!-- `, `]]>`, `&lt;b&gt;`,
	"```\n# heading\n<b>bold</b>", "~~~\n* list", "`` ` ``", "@somebody [link](javascript:alert(1)) https://evil.example ![i](x)", "| a | b |\n|---|---|",
	"\x1b[31mred\x1b]0;title\x07", "a\x00b", "\xff\xfe", "</style><script>", "{{.Title}}", "<details>", "${x}", "\u202emirrored", "trailing`", "`leading",
	`<script>document.title = "evil"</script>`, `<img src="https://evil.example/i.png" onerror="document.title = 'evil'">`,
	`</title><script>document.title = "evil"</script>`, `</style></head><body onload="document.title = 'evil'">`,
	`<a href="javascript:document.title = 'evil'">list</a>`, `" style="position: fixed; inset: 0" onmouseover="document.title = 'evil'`,
	`<svg onload="document.title = 'evil'">`, `<iframe srcdoc="<script>parent.document.title = 'evil'</script>"></iframe>`,
	`<meta http-equiv="refresh" content="0; url=https://evil.example">`, `<link rel="stylesheet" href="https://evil.example/s.css">`,
	`<base href="https://evil.example/">`, `@import url("https://evil.example/s.css");`, `<form action="https://evil.example"><button autofocus>list</button></form>`,
	"\u2066bidi\u2069 \u05e9\u05dc\u05d5\u05dd (1) mine", "\u200emine\u200f \u0000\u009b31m",
}

func quoteJSON(text string) string {
	var b strings.Builder
	for _, c := range []byte(text) {
		switch {
		case c == '"' || c == '\\':
			b.WriteString("\\" + string(rune(c)))
		case c < 0x20:
			b.WriteString("\\u00" + string("0123456789abcdef"[c>>4]) + string("0123456789abcdef"[c&15]))
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// foreignSession has EVIL in each place of a session where a text of others stands.
const foreignSession = `{"type":"session","version":3,"id":"s1","timestamp":"2026-03-01T08:00:00.000Z","cwd":"/home/ada"}
{"type":"message","id":"a0","parentId":null,"timestamp":"2026-03-01T08:00:00.000Z","message":{"role":"user","content":"EVIL"}}
{"type":"message","id":"a1","parentId":"a0","timestamp":"2026-03-01T08:00:01.000Z","message":{"role":"assistant","content":[{"type":"thinking","thinking":"EVIL"},{"type":"text","text":"EVIL\nEVIL"},{"type":"toolCall","id":"c1","name":"EVIL","arguments":{"command":"EVIL"}}],"stopReason":"toolUse"}}
{"type":"message","id":"a2","parentId":"a1","timestamp":"2026-03-01T08:00:02.000Z","message":{"role":"toolResult","toolCallId":"c1","toolName":"EVIL","content":[{"type":"text","text":"EVIL\nEVIL"}]}}
{"type":"custom","id":"a3","parentId":"a2","timestamp":"2026-03-01T08:00:03.000Z","customType":"piwatch.check","data":{"id":"c1","n":1,"max":2,"reason":"EVIL"}}
{"type":"custom_message","id":"a4","parentId":"a3","timestamp":"2026-03-01T08:00:03.000Z","customType":"piwatch.ask","content":"EVIL","display":true,"details":{"check":"c1"}}
{"type":"custom","id":"a5","parentId":"a4","timestamp":"2026-03-01T08:00:04.000Z","customType":"piwatch.outcome","data":{"check":"c1","end":"answered","decision":"done","note":"EVIL"}}
{"type":"message","id":"a6","parentId":"a5","timestamp":"2026-03-01T08:00:05.000Z","message":{"role":"assistant","content":[],"stopReason":"error","errorMessage":"EVIL"}}
{"type":"session_info","id":"a7","parentId":"a6","timestamp":"2026-03-01T08:00:05.000Z","name":"EVIL"}
{"type":"EVIL","id":"a8","parentId":"a7","timestamp":"2026-03-01T08:00:05.000Z","x":"EVIL"}
`

// foreign is the page of a session that has a text in all these places.
func foreign(t *testing.T, text string) Page {
	t.Helper()
	return Page{Title: text, Session: text, Cwd: text, Model: text, Rows: rows(t, strings.ReplaceAll(foreignSession, "EVIL", quoteJSON(text)))}
}

// A text stays a text, wherever in a session it stands: the page has the elements
// and attributes of one with harmless texts.
func TestForeignTextIsEscaped(t *testing.T) {
	with := func(text string) (string, string) { return write(t, foreign(t, text)) }
	harmless, _ := with("harmless")
	wantElements, wantAttributes, _ := parse(t, harmless)
	if wantElements["script"]+wantElements["img"]+wantElements["a"]+wantElements["!--"] > 0 || len(wantAttributes["href"])+len(wantAttributes["src"]) > 0 {
		t.Fatalf("a harmless page holds %v", wantElements)
	}
	if !strings.Contains(harmless, "Content-Security-Policy\" content=\"default-src 'none'") {
		t.Error("the page may load what it likes")
	}
	for _, text := range hostile {
		page, markdown := with(text)
		elements, attributes, seen := parse(t, page)
		for name, n := range elements {
			// A text that is longer opens, and may not fit the title; bytes that are no
			// text are rows of damage.
			if !isUTF8(text) && (name == "article" || name == "time") {
				continue
			}
			if n != wantElements[name] && name != "details" && name != "summary" && name != "pre" && name != "div" || wantElements[name] == 0 {
				t.Errorf("%q: %d elements %s, want %d", text, n, name, wantElements[name])
			}
		}
		for name := range attributes {
			if wantAttributes[name] == nil {
				t.Errorf("%q: an attribute %s", text, name)
			}
		}
		if clean := timeline.OneLine(text); !strings.Contains(strings.Join(strings.Fields(seen), " "), clean) {
			t.Errorf("%q is not seen in the page", text)
		}
		for _, all := range []string{page, markdown} {
			if strings.ContainsAny(all, "\x00\x1b\u202e") || strings.Contains(all, "\u009b") || !isUTF8(all) {
				t.Errorf("%q: controls reach the page", text)
			}
		}
		onlyCode(t, text, markdown)
	}
}

func isUTF8(text string) bool { return strings.ToValidUTF8(text, "") == text }

// onlyCode holds that outside of code the Markdown has nothing but our own words:
// code is taken out as a reader of Markdown does.
func onlyCode(t *testing.T, text, markdown string) {
	t.Helper()
	var left strings.Builder
	fence := ""
	for line := range strings.Lines(markdown) {
		line = strings.TrimRight(strings.TrimPrefix(strings.TrimPrefix(line, "> "), ">"), "\n")
		run := line[:len(line)-len(strings.TrimLeft(line, "`"))]
		switch {
		case fence == "" && len(run) >= 3 && line == run+"text":
			fence = run
		case fence != "" && line == fence:
			fence = ""
		case fence == "":
			left.WriteString(withoutSpans(line) + "\n")
		}
	}
	if fence != "" {
		t.Errorf("%q: a code block is not closed", text)
	}
	for _, bad := range []string{"alert", "evil", "mine", "bold", "heading", "list", "somebody", "{{", "${", "|", "`", "<b", "<script", "<img", "red", "mirrored", "leading", "trailing"} {
		if strings.Contains(left.String(), bad) {
			t.Errorf("%q: outside of code stands %q:\n%s", text, bad, left.String())
			return
		}
	}
}

// withoutSpans takes the code spans out of a line: from a run of backticks to the
// next of the same length.
func withoutSpans(line string) string {
	var left strings.Builder
	for line != "" {
		at := strings.IndexByte(line, '`')
		if at < 0 {
			break
		}
		left.WriteString(line[:at])
		line = line[at:]
		run := line[:len(line)-len(strings.TrimLeft(line, "`"))]
		rest := line[len(run):]
		end := -1
		for i := 0; i < len(rest); {
			if rest[i] != '`' {
				i++
				continue
			}
			n := len(rest[i:]) - len(strings.TrimLeft(rest[i:], "`"))
			if n == len(run) {
				end = i
				break
			}
			i += n
		}
		if end < 0 {
			left.WriteString(run)
			line = rest
			continue
		}
		line = rest[end+len(run):]
	}
	return left.String() + line
}

func TestEmptySession(t *testing.T) {
	page, markdown := write(t, Page{Title: "none"})
	if !strings.Contains(page, "This session is empty.") || !strings.Contains(markdown, "This session is empty.") {
		t.Error("an empty session is not said to be empty")
	}
}

// failing is a writer that takes nothing.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, os.ErrClosed }

func TestWriterFails(t *testing.T) {
	if HTML(failing{}, Page{}) == nil || Markdown(failing{}, Page{}) == nil {
		t.Error("a writer that fails is not told")
	}
}
