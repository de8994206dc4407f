package themes

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/muesli/termenv"
)

func TestBuiltinThemesAreComplete(t *testing.T) {
	all, err := Load("", "")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, theme := range all {
		names = append(names, theme.Name)
		data, err := builtin.ReadFile(theme.Name + ".toml")
		if err != nil {
			t.Fatalf("the file of %s has another name: %v", theme.Name, err)
		}
		for _, f := range fields {
			if lineOf(data, f.key) == 0 {
				t.Errorf("%s does not name %s", theme.Name, f.key)
			}
		}
	}
	if got := strings.Join(names, " "); got != "terminal dark high-contrast light mono" {
		t.Errorf("the themes are %s", got)
	}
}

// Every colour of Theme has a key, and every key sets a colour of its own.
func TestFieldsAreTheColours(t *testing.T) {
	var theme Theme
	seen := map[*Colour]bool{}
	for _, f := range fields {
		if seen[f.of(&theme)] {
			t.Errorf("%s sets the colour of another key", f.key)
		}
		seen[f.of(&theme)] = true
	}
	if n := reflect.TypeFor[Theme]().NumField() - 1; n != len(fields) {
		t.Errorf("there are %d colours and %d keys", n, len(fields))
	}
}

func TestParse(t *testing.T) {
	got, err := Parse("x/mine.toml", []byte("[colors]\ntext = \"#Ff0000\"\nuser = \"bright-red\"\nok = 200\nkey = \"default\"\nbar = \"cyan\"\n"))
	want := Theme{Name: "mine", Text: "#Ff0000", User: "9", OK: "200", Bar: "6"}
	if err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
}

func TestParseErrors(t *testing.T) {
	for _, c := range []struct{ name, data, want string }{
		{"syntax", "name = \"a\"\n[colors]\ntext = = 1\n", "theme f.toml:3: "},
		{"unknown key", "name = \"a\"\ncolour = 1\n", "theme f.toml:2: colour: unknown key; allowed: name and the table colors"},
		{"unknown colour", "[colors]\n\nteext = 1\n", "theme f.toml:3: colors.teext: unknown colour; allowed: background, text, muted, "},
		{"no colour", "[colors]\ntext = \"reddish\"\n", `theme f.toml:2: colors.text: "reddish" is no colour; allowed: "#rrggbb", a number from 0 to 255, `},
		{"short hex", "[colors]\ntext = \"#fff\"\n", `theme f.toml:2: colors.text: "#fff" is no colour`},
		{"number too large", "[colors]\ntext = 256\n", "theme f.toml:2: colors.text: 256 is no colour"},
		{"negative", "[colors]\ntext = -1\n", "theme f.toml:2: colors.text: -1 is no colour"},
		{"of another kind", "[colors]\ntext = true\n", "theme f.toml:2: colors.text: true is no colour"},
		{"bright grey", "[colors]\ntext = \"bright-grey\"\n", `theme f.toml:2: colors.text: "bright-grey" is no colour`},
		{"name of another kind", "name = 1\n", "theme f.toml:1: name: 1 does not fit; allowed: a text for name, a table for colors"},
		{"colours of another kind", "colors = 1\n", "theme f.toml:1: colors: 1 does not fit"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse("f.toml", []byte(c.data))
			var fileError *FileError
			if !errors.As(err, &fileError) || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("the error is %q, want %q", err, c.want)
			}
		})
	}
}

func TestLoadTheUsersThemes(t *testing.T) {
	folder := t.TempDir()
	for name, data := range map[string]string{
		"mine.toml":  "[colors]\ntext = 1\n",
		"dark.toml":  "[colors]\ntext = 2\n",
		"bad.toml":   "[colors]\ntext = \"?\"\n",
		"notes.text": "nothing",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	all, err := Load(folder, "")
	if err == nil || !strings.Contains(err.Error(), filepath.Join(folder, "bad.toml")+":2") || strings.Count(err.Error(), "\n") > 0 {
		t.Errorf("the error is %v", err)
	}
	var names []string
	for _, theme := range all {
		names = append(names, theme.Name)
	}
	if got := strings.Join(names, " "); got != "terminal dark high-contrast light mine mono" {
		t.Errorf("the themes are %s", got)
	}
	if dark, err := Pick(all, "dark"); err != nil || dark.Text != "2" {
		t.Errorf("the user's dark theme does not replace the other: %+v, %v", dark, err)
	}
}

func TestLoadWithoutAFolder(t *testing.T) {
	if all, err := Load(filepath.Join(t.TempDir(), "none"), ""); err != nil || len(all) != 5 {
		t.Errorf("%d themes, %v", len(all), err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(filepath.Join(file, "sub"), ""); err == nil {
		t.Error("a folder that cannot be one is no error")
	}
}

func TestPick(t *testing.T) {
	all := []Theme{{Name: "a"}, {Name: Default}}
	if got, err := Pick(all, ""); err != nil || got.Name != Default {
		t.Errorf("the default is %q, %v", got.Name, err)
	}
	if _, err := Pick(all, "b"); err == nil || err.Error() != `no theme "b"; there are: a, terminal` {
		t.Errorf("the error is %v", err)
	}
}

// noText are the colours that no text is drawn in.
var noText = []string{"background", "border", "border_focus", "selected_back", "selected_text", "bar", "bar_empty"}

// The text of each theme that knows its background can be read on it, by
// WCAG 2, also where a terminal of 256 colours draws what comes next to each;
// the terminal decides for the others.
func TestContrast(t *testing.T) {
	const least = 4.5
	paints := map[string]func(Colour) Colour{"true colour": func(c Colour) Colour { return c }, "256 colours": nextOf256}
	all, err := Load("", "")
	if err != nil {
		t.Fatal(err)
	}
	painted := 0
	for _, theme := range all {
		if theme.Background == "" {
			continue
		}
		painted++
		for _, f := range fields {
			on, colour := theme.Background, *f.of(&theme)
			if f.key == "selected_text" {
				on = theme.SelectedBack
			} else if slices.Contains(noText, f.key) {
				continue
			}
			for name, paint := range paints {
				if ratio, ok := contrast(paint(colour), paint(on)); !ok || ratio < least {
					t.Errorf("%s, %s: %s is %s on %s: %.2f:1", theme.Name, name, f.key, paint(colour), paint(on), ratio)
				}
			}
		}
	}
	if painted != 3 {
		t.Errorf("%d themes know their background", painted)
	}
}

// nextOf256 is the colour that a terminal of 256 draws for c, by the palette that
// all of them begin with.
func nextOf256(c Colour) Colour {
	n, ok := termenv.ANSI256.Color(string(c)).(termenv.ANSI256Color)
	if !ok {
		return ""
	}
	return Colour(termenv.ConvertToRGB(n).Hex())
}

func TestContrastOfKnownColours(t *testing.T) {
	for _, c := range []struct {
		a, b Colour
		want float64
	}{{"#000000", "#ffffff", 21}, {"#ffffff", "#000000", 21}, {"#777777", "#ffffff", 4.48}, {"#0000ff", "#ffffff", 8.59}} {
		if got, ok := contrast(c.a, c.b); !ok || math.Abs(got-c.want) > 0.01 {
			t.Errorf("%s on %s is %.2f:1, want %.2f", c.a, c.b, got, c.want)
		}
	}
	if _, ok := contrast("", "#ffffff"); ok {
		t.Error("the contrast of the terminal's own colour is known")
	}
}

const piTheme = `{
	"$schema": "https://pi.dev/schemas/theme.schema.json",
	"name": "mine",
	"vars": {"blue": "#00aaff", "link": "blue", "a": "b", "b": "a"},
	"colors": {
		"text": "", "muted": 242, "accent": "link", "error": "#f00",
		"success": "okhsl(142 100% 87%)", "warning": "oklch(62.8% 0.2577 29.23)"
	}
}`

func TestThemesOfPi(t *testing.T) {
	got, err := ParsePi("x/mine.json", []byte(piTheme))
	if err != nil {
		t.Fatal(err)
	}
	want := Theme{
		Name: "mine", Muted: "242", Accent: "#00aaff", Error: "#ff0000", BorderFocus: "#00aaff", User: "#00aaff", Thinking: "242",
		Check: "#00aaff", Warning: "#ff0000", Waits: "#ff0000", Counting: "#00aaff", Paused: "242", Bar: "#00aaff", BarEmpty: "242", Key: "#00aaff",
	}
	if got.OK == "" || got.OK != got.Working || got.OK != got.Done {
		t.Errorf("success is %s, %s and %s", got.OK, got.Working, got.Done)
	}
	got.OK, got.Working, got.Done = "", "", ""
	if got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestErrorsInThemesOfPi(t *testing.T) {
	for _, c := range []struct{ name, colors, want string }{
		{"unknown name", `"text": "blu"`, `theme f.json:3: colors.text: "blu" is neither a colour nor in vars; allowed: "#rgb", `},
		{"a circle", `"text": "a"`, `theme f.json:3: colors.text: the variable "`},
		{"a large number", `"text": 256`, `theme f.json:3: colors.text: 256 is no colour`},
		{"a list", `"text": []`, `theme f.json:3: colors.text: [] is no colour`},
		{"nothing", ``, `theme f.json: colors: there are none`},
		{"syntax", `"text": }`, `theme f.json:3: invalid character`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ParsePi("f.json", []byte("{\"vars\": {\"a\": \"b\", \"b\": \"a\"},\n\"colors\": {\n"+c.colors+"}}"))
			if err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("the error is %v, want %s", err, c.want)
			}
		})
	}
}

// The corners of OKHSL and OKLCH, by the published conversions.
func TestColourSpaces(t *testing.T) {
	for _, c := range []struct {
		text string
		want Colour
	}{
		{"okhsl(0 0% 0%)", "#000000"}, {"okhsl(0 0% 100%)", "#ffffff"}, {"okhsl(200 0% 50%)", "#777777"},
		{"okhsl(29.23 100% 56.8%)", "#ff0000"}, {"oklch(100% 0 0)", "#ffffff"}, {"oklch(62.8% 0.2577 29.23)", "#ff0000"},
		{"oklch(45.2% 0.3132 264.05)", "#0000ff"}, {"#0aF", "#00aaFF"},
	} {
		got, ok := hexOrSpace(c.text)
		if !ok || distance(got, c.want) > 3 {
			t.Errorf("%s is %s, want %s", c.text, got, c.want)
		}
	}
	if c, ok := hexOrSpace("oklch(70% 0.4 150)"); !ok || c == "" { // out of gamut
		t.Errorf("a colour out of gamut is %q", c)
	}
	for _, text := range []string{"#12", "oklch(1 2)", "rgb(1 2 3)", "#12345g"} {
		if _, ok := hexOrSpace(text); ok {
			t.Errorf("%s is a colour", text)
		}
	}
}

// distance is the largest difference of the parts of two colours.
func distance(a, b Colour) (most int) {
	var x, y [3]int
	_, errA := fmt.Sscanf(strings.ToLower(string(a)), "#%02x%02x%02x", &x[0], &x[1], &x[2])
	_, errB := fmt.Sscanf(strings.ToLower(string(b)), "#%02x%02x%02x", &y[0], &y[1], &y[2])
	if errA != nil || errB != nil {
		return 256
	}
	for i := range x {
		most = max(most, x[i]-y[i], y[i]-x[i])
	}
	return most
}

func TestThemesOfPiKeepOurs(t *testing.T) {
	folder := t.TempDir()
	for name, data := range map[string]string{"mine.json": piTheme, "dark.json": strings.Replace(piTheme, `"mine"`, `"dark"`, 1)} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	all, err := Load("", folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"dark", "pi-dark", "mine"} {
		theme, err := Pick(all, name)
		if err != nil || (name == "dark") != (theme.Background != "") {
			t.Errorf("%s: %+v, %v", name, theme, err)
		}
	}
}

func TestFewColoursFallBack(t *testing.T) {
	all, err := Load("", "")
	if err != nil {
		t.Fatal(err)
	}
	dark, _ := Pick(all, "dark")
	own, _ := Pick(all, Default)
	if got := dark.For(termenv.ANSI, own); got.Name != "dark" || got.Text != own.Text || got.Background != "" {
		t.Errorf("with 16 colours dark is %+v", got)
	}
	for _, p := range []termenv.Profile{termenv.ANSI256, termenv.TrueColor} {
		if got := dark.For(p, own); got != dark {
			t.Errorf("with %v dark is another theme", p)
		}
	}
	if got := own.For(termenv.ANSI, dark); got != own {
		t.Error("a theme of 16 colours is changed where there are 16")
	}
}

// luminance is the relative luminance of WCAG 2.
func (c rgb) luminance() float64 { return 0.2126*c.r + 0.7152*c.g + 0.0722*c.b }

// contrast is the contrast of two colours by WCAG 2, from 1 to 21; ok is false
// when one of them is not "#rrggbb": the terminal decides what the others are.
func contrast(a, b Colour) (ratio float64, ok bool) {
	x, okA := parseHex(a)
	y, okB := parseHex(b)
	if !okA || !okB {
		return 0, false
	}
	high, low := x.luminance(), y.luminance()
	if high < low {
		high, low = low, high
	}
	return (high + 0.05) / (low + 0.05), true
}

func parseHex(c Colour) (rgb, bool) {
	var r, g, b int
	if !hexColour.MatchString(string(c)) {
		return rgb{}, false
	}
	if _, err := fmt.Sscanf(string(c), "#%02x%02x%02x", &r, &g, &b); err != nil {
		return rgb{}, false
	}
	return rgb{decode(float64(r) / 255), decode(float64(g) / 255), decode(float64(b) / 255)}, true
}

// decode takes the transfer function of sRGB off.
func decode(v float64) float64 {
	if v <= 0.04045 {
		return v / 12.92
	}
	return math.Pow((v+0.055)/1.055, 2.4)
}
