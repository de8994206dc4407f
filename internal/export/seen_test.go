package export

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"piwatch/internal/timeline"
)

// picturesVar names a folder in which the pages that were looked at are kept, as
// pictures.
const picturesVar = "PIWATCH_PICTURES"

// The page as a browser shows it.
func TestSeen(t *testing.T) {
	b := startBrowser(t)
	for _, c := range []struct {
		name string
		look func(*testing.T, *browser)
	}{
		{"foreign text is text", seeForeignText},
		{"nothing runs or loads", seeNothingRuns},
		{"exchanges open and close", seeExchanges},
		{"exchanges on paper", seePaper},
		{"readable", seeReadable},
	} {
		t.Run(c.name, func(t *testing.T) {
			b.t = t
			c.look(t, b)
		})
	}
}

// What fetches a browser looks for the same names.
func TestBrowsersFetched(t *testing.T) {
	run, err := os.ReadFile("../../.ci/run")
	if err != nil {
		t.Fatal(err)
	}
	if names := "for name in " + strings.Join(browsers, " ") + "; do\n"; !strings.Contains(string(run), names) {
		t.Errorf(".ci/run has no %q", names)
	}
}

// foreignPage has each of the hostile texts in all places of a session.
func foreignPage(t *testing.T) Page {
	t.Helper()
	all := foreign(t, strings.Join(hostile, " "))
	for _, text := range hostile {
		all.Rows = append(all.Rows, foreign(t, text).Rows...)
	}
	return all
}

// What the foreign text wants to do shows in the title, in elements or requests.
func seeForeignText(t *testing.T, b *browser) {
	p := foreignPage(t)
	page, _ := write(t, p)
	at := b.open(page)
	openAll(b)
	if got, want := eval[string](b, "document.title"), timeline.OneLine(p.Title); got != want {
		t.Errorf("the title is %q, want %q", got, want)
	}
	const foreignElements = "script, img, svg, iframe, object, embed, link, base, form, button, a, meta[http-equiv=refresh], h1 ~ h1, [style], [href], [src]"
	if n := eval[int](b, fmt.Sprintf("document.querySelectorAll(%q).length", foreignElements)); n != 0 {
		t.Errorf("%d elements of the foreign text are in the page", n)
	}
	if n := eval[int](b, `[...document.querySelectorAll("*")].filter(e => e.getAttributeNames().some(name => name.startsWith("on"))).length`); n != 0 {
		t.Errorf("%d elements have a handler", n)
	}
	if got := b.requests(); !slices.Equal(got, []string{at}) {
		t.Errorf("the page asks for %q", got)
	}
	for _, place := range []string{".user > .what", ".thinking > .what", ".tool b", ".tool code", ".tool pre", ".error > .what", ".card bdi", ".card .ask > .what"} {
		seen := eval[[]string](b, fmt.Sprintf(`[...document.querySelectorAll(%q)].map(e => e.innerText)`, place))
		for i := range seen {
			seen[i] = timeline.OneLine(seen[i])
		}
		for _, text := range hostile {
			holds := func(seen string) bool { return strings.Contains(seen, timeline.OneLine(text)) }
			if isUTF8(text) && !slices.ContainsFunc(seen, holds) {
				t.Errorf("%s does not show %q as it is", place, text)
			}
		}
	}
}

// Also if a text got through as HTML, nothing of it would run, and no server hear
// of it.
func seeNothingRuns(t *testing.T, b *browser) {
	var heard atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { heard.Add(1) }))
	defer server.Close()
	page, _ := write(t, Page{Title: "mine"})
	evil := strings.ReplaceAll(`<script>document.title = "evil"</script><img src="SERVER/i.png" onerror="document.title = 'evil'"><iframe src="SERVER/f"></iframe>
<link rel="stylesheet" href="SERVER/s.css"><script src="SERVER/s.js"></script><style>@import url("SERVER/i.css"); body { background: url("SERVER/b.png") }</style>`, "SERVER", server.URL)
	b.open(strings.Replace(page, "</main>", evil+"</main>", 1))
	if got := eval[string](b, "document.title"); got != "mine" {
		t.Errorf("a script ran: the title is %q", got)
	}
	if n := eval[int](b, "document.images.length"); n != 1 {
		t.Errorf("the page has %d images, want the one that does not load", n)
	}
	if n := heard.Load(); n != 0 {
		t.Errorf("a server was asked %d times", n)
	}
}

func openAll(b *browser) {
	b.t.Helper()
	eval[int](b, `[...document.querySelectorAll("details")].map(d => d.open = true).length`)
}

func seeExchanges(t *testing.T, b *browser) {
	page, _ := write(t, goldenPage(t))
	b.open(page)
	b.look(look{1200, "light", "screen"})
	cards := eval[[]string](b, `[...document.querySelectorAll(".card")].map(c => c.className + ": " + c.querySelector(".title").innerText)`)
	if want := []string{"card continue: 1/5 continue – the lexer is missing", "card done: done – lexer and parser"}; !slices.Equal(cards, want) {
		t.Errorf("the cards are %q, want %q", cards, want)
	}
	for name, c := range map[string]struct{ press, shows string }{
		"the exchange of a check": {".card > details > summary", ".card .ask.hidden > .what"},
		"the output of a tool":    {".tool details > summary", ".tool details > pre"},
		"thinking":                {".thinking summary", ".thinking pre"},
	} {
		seen := func() bool {
			return eval[bool](b, fmt.Sprintf("document.querySelector(%q).checkVisibility()", c.shows))
		}
		before := seen()
		b.click(c.press)
		opened := seen()
		b.click(c.press)
		if closed := seen(); before || !opened || closed {
			t.Errorf("%s: seen before %v, opened %v, closed %v", name, before, opened, closed)
		}
	}
}

// The page opens the exchanges on paper in a way that Chromium has since 131.
func seePaper(t *testing.T, b *browser) {
	if !eval[bool](b, `CSS.supports("selector(::details-content)")`) {
		skip(t, "the browser is too old for ::details-content")
	}
	page, _ := write(t, goldenPage(t))
	b.open(page)
	b.look(look{1200, "light", "print"})
	if !eval[bool](b, `[...document.querySelectorAll(".card article")].every(e => e.checkVisibility() && e.getBoundingClientRect().height > 0)`) {
		t.Error("on paper, where nothing opens, the exchanges are not shown")
	}
}

// faults are what makes the texts of a page hard to read: too little contrast (less
// than 4.5 : 1, WCAG AA), too small a letter, a place outside of the window.
const faults = `(() => {
	const faults = new Set()
	const colour = text => text.match(/[\d.]+/g).map(Number)
	const light = c => c.slice(0, 3).map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
		.reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0)
	const ground = e => {
		for (; e; e = e.parentElement) {
			const c = colour(getComputedStyle(e).backgroundColor)
			if (c.length < 4 || c[3] === 1) return c
		}
		return [255, 255, 255]
	}
	const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
	for (let node; node = texts.nextNode();) {
		const e = node.parentElement
		if (!node.data.trim() || !e.checkVisibility()) continue
		const style = getComputedStyle(e), named = e.closest("article")?.className + " " + e.localName + "." + e.className + ": "
		const [high, low] = [light(colour(style.color)), light(ground(e))].sort((a, b) => b - a)
		const contrast = (high + 0.05) / (low + 0.05)
		if (contrast < 4.5) faults.add(named + "contrast " + contrast.toFixed(2))
		if (parseFloat(style.fontSize) < 12) faults.add(named + "letters of " + style.fontSize)
		const range = document.createRange()
		range.selectNode(node)
		const box = range.getBoundingClientRect()
		if (box.left < 0 || box.right > innerWidth) faults.add(named + "from " + box.left + " to " + box.right)
	}
	if (document.scrollingElement.scrollWidth > innerWidth) faults.add("the page scrolls sideways")
	return [...faults]
})()`

func seeReadable(t *testing.T, b *browser) {
	p := goldenPage(t)
	p.Rows = slices.Concat(p.Rows, foreign(t, strings.Repeat("wide", 200)).Rows, foreignPage(t).Rows)
	page, _ := write(t, p)
	session, _ := write(t, goldenPage(t))
	for _, width := range []int{400, 1200} {
		for scheme, dark := range map[string]bool{"light": false, "dark": true} {
			l := look{width, scheme, "screen"}
			b.open(page)
			b.look(l)
			for range 2 { // closed, then open
				for _, fault := range eval[[]string](b, faults) {
					t.Errorf("%s: %s", l, fault)
				}
				openAll(b)
			}
			if got := eval[string](b, "getComputedStyle(document.body).backgroundColor"); (got == "rgb(255, 255, 255)") == dark {
				t.Errorf("%s: on %s", l, got)
			}
			if dir := os.Getenv(picturesVar); dir != "" {
				b.open(session)
				openAll(b)
				if err := os.WriteFile(filepath.Join(dir, "page-"+l.String()+".png"), b.picture(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}
