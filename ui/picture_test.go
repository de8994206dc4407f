package ui

import (
	"encoding/xml"
	"errors"
	"fmt"
	"html"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"piwatch/internal/e2e"
)

// picturesVar names the folder that pictures are written to; make pictures sets
// it.
const picturesVar = "PIWATCH_PICTURES"

var pictureThemes = []string{"dark", "light"}

// The pictures of the README are the real program in the real tmux. Without
// picturesVar only those that are there are looked at.
func TestPictures(t *testing.T) {
	folder := os.Getenv(picturesVar)
	for _, theme := range pictureThemes {
		file := filepath.Join("..", "testdata", "pictures", theme+".svg")
		if folder != "" {
			file = filepath.Join(folder, theme+".svg")
			if err := os.WriteFile(file, []byte(takePicture(t, theme)), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if text := wellFormed(t, data); !strings.Contains(text, "port the parser") || !strings.Contains(text, "counting") {
			t.Errorf("%s does not show the demo: make pictures", file)
		}
	}
}

// takePicture runs the demo until a countdown runs after a check.
func takePicture(t *testing.T, theme string) string {
	h := e2e.NewHome(t, nil, e2e.HomeOptions{})
	launch := e2e.Launch{Env: []string{"TERM=tmux-256color"}}
	pane := h.StartPane("piwatch demo", launch, e2e.Size{Columns: 116, Rows: 28}, e2e.Piwatch(t), "demo", "--theme", theme)
	pane.WaitScreen("a countdown after a check", func(s e2e.Screen) bool {
		return s.Contains("s 1/10  counting") && s.Contains("╭ 1/10") && s.Contains("back to work")
	})
	return picture(pane.CaptureColours().Text)
}

// wellFormed is the text of an XML file.
func wellFormed(t *testing.T, data []byte) string {
	t.Helper()
	var text strings.Builder
	for dec := xml.NewDecoder(strings.NewReader(string(data))); ; {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return text.String()
		}
		if err != nil {
			t.Fatal(err)
		}
		if chars, ok := token.(xml.CharData); ok {
			text.Write(chars)
		}
	}
}

// Sizes of a picture, in pixels.
const (
	cellWidth, cellHeight = 8.4, 17.0
	margin                = 12.0
)

// look is how a piece of text looks.
type look struct {
	fg, bg       string
	bold, italic bool
}

// spoken is text with single spaces only.
var spoken = regexp.MustCompile(`[^ ]+(?: [^ ]+)*`)

// picture draws a screen with its colours as an SVG.
func picture(screen string) string {
	lines := strings.Split(screen, "\n")
	var shapes, words strings.Builder
	columns, ground := 0, ""
	now := look{}
	for row, line := range lines {
		column := 0
		y := margin + float64(row)*cellHeight
		for line != "" {
			if strings.HasPrefix(line, "\x1b[") {
				end := strings.IndexByte(line, 'm')
				now.apply(line[2:end])
				line = line[end+1:]
				continue
			}
			text, rest := line, ""
			if i := strings.IndexByte(line, 0x1b); i >= 0 {
				text, rest = line[:i], line[i:]
			}
			line = rest
			if ground == "" {
				ground = now.bg
			}
			x, w := margin+float64(column)*cellWidth, float64(width(text))*cellWidth
			if now.bg != "" && now.bg != ground {
				fmt.Fprintf(&shapes, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>`+"\n", x, y, w, cellHeight, now.bg)
			}
			// Browsers draw several spaces as one, and none at an end: what is between
			// them stands by itself.
			for _, at := range spoken.FindAllStringIndex(text, -1) {
				piece := text[at[0]:at[1]]
				fmt.Fprintf(&words, `<text x="%.1f" y="%.1f" textLength="%.1f"%s>%s</text>`+"\n", x+float64(width(text[:at[0]]))*cellWidth, y+13.5,
					float64(width(piece))*cellWidth, now.attributes(), html.EscapeString(piece))
			}
			column += width(text)
		}
		columns = max(columns, column)
	}
	w, h := 2*margin+float64(columns)*cellWidth, 2*margin+float64(len(lines))*cellHeight
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,monospace" font-size="14">`+"\n"+
		`<rect width="100%%" height="100%%" rx="8" fill="%s"/>`+"\n%s%s</svg>\n", w, h, ground, shapes.String(), words.String())
}

func (l *look) attributes() string {
	s := ` fill="` + l.fg + `"`
	if l.bold {
		s += ` font-weight="bold"`
	}
	if l.italic {
		s += ` font-style="italic"`
	}
	return s
}

// apply takes in the parameters of a sequence that sets colours. The pictures
// are of themes in true colour: there are no others.
func (l *look) apply(parameters string) {
	p := strings.Split(parameters, ";")
	for i := 0; i < len(p); i++ {
		switch p[i] {
		case "", "0":
			*l = look{}
		case "1":
			l.bold = true
		case "3":
			l.italic = true
		case "22":
			l.bold = false
		case "23":
			l.italic = false
		case "38", "48":
			if i+4 >= len(p) || p[i+1] != "2" {
				return
			}
			colour := "#"
			for _, part := range p[i+2 : i+5] {
				v, _ := strconv.Atoi(part)
				colour += fmt.Sprintf("%02x", v)
			}
			if p[i] == "38" {
				l.fg = colour
			} else {
				l.bg = colour
			}
			i += 4
		}
	}
}

func TestPictureOfAScreen(t *testing.T) {
	got := picture("\x1b[38;2;1;2;3;48;2;250;250;250m ab  c d \x1b[1m<c>\x1b[0m\x1b[48;2;0;0;0;38;2;9;9;9m漢\x1b[0m")
	text := wellFormed(t, []byte(got))
	if strings.Join(strings.Fields(text), " ") != "ab c d <c> 漢" {
		t.Errorf("the picture says %q", text)
	}
	for _, want := range []string{`fill="#fafafa"/>`, `<text x="20.4" y="25.5" textLength="16.8" fill="#010203">ab</text>`, `<text x="54.0" y="25.5" textLength="25.2" fill="#010203">c d</text>`, `fill="#010203" font-weight="bold">&lt;c&gt;`, `width="16.8" height="17.0" fill="#000000"/>`} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is not in\n%s", want, got)
		}
	}
}
