package themes

import (
	"slices"
	"strconv"
	"testing"
)

// Schemes of terminals that many people have: the background, and red, green,
// yellow, blue, magenta and cyan.
var schemes = []struct {
	name   string
	ground Colour
	six    [6]Colour
	least  float64
}{
	// What a scheme makes hard to read on its own background, the screen cannot
	// make better: the theme takes those colours of which most do well.
	{"VGA", "#000000", [6]Colour{"#aa0000", "#00aa00", "#aa5500", "#0000aa", "#aa00aa", "#00aaaa"}, 2.6},
	{"xterm", "#000000", [6]Colour{"#cd0000", "#00cd00", "#cdcd00", "#0000ee", "#cd00cd", "#00cdcd"}, 3.5},
	{"Tango", "#000000", [6]Colour{"#cc0000", "#4e9a06", "#c4a000", "#3465a4", "#75507b", "#06989a"}, 3},
	{"Campbell", "#0c0c0c", [6]Colour{"#c50f1f", "#13a10e", "#c19c00", "#0037da", "#881798", "#3a96dd"}, 2.2},
	{"Solarized dark", "#002b36", [6]Colour{"#dc322f", "#859900", "#b58900", "#268bd2", "#d33682", "#2aa198"}, 3.2},
	{"Solarized light", "#fdf6e3", [6]Colour{"#dc322f", "#859900", "#b58900", "#268bd2", "#d33682", "#2aa198"}, 2.8},
	{"One light", "#fafafa", [6]Colour{"#e45649", "#50a14f", "#986801", "#4078f2", "#a626a4", "#0184bc"}, 3},
	{"Tango on white", "#ffffff", [6]Colour{"#cc0000", "#4e9a06", "#c4a000", "#3465a4", "#75507b", "#06989a"}, 2.4},
}

// The colours of the terminal theme are those of the terminal, which nobody
// here knows: those that are its background in some scheme are never taken, and
// in the usual schemes none comes near to it.
func TestContrastOfThe16Colours(t *testing.T) {
	all, err := Load("", "")
	if err != nil {
		t.Fatal(err)
	}
	theme, err := Pick(all, Default)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range fields {
		colour := *f.of(&theme)
		if colour == "" || colour == Faint {
			continue
		}
		n, err := strconv.Atoi(string(colour))
		if err != nil || n < 1 || n > 6 || slices.Contains(grounds, f.key) {
			t.Errorf("%s is %s: black, white and the bright ones are the background somewhere", f.key, colour)
			continue
		}
		for _, s := range schemes {
			if ratio, ok := contrast(s.six[n-1], s.ground); !ok || ratio < s.least {
				t.Errorf("%s, %s on %s of %s: %.2f:1, want %.1f", f.key, s.six[n-1], s.ground, s.name, ratio, s.least)
			}
		}
	}
}

func TestFaintIsForTextOnly(t *testing.T) {
	for _, key := range grounds {
		if _, err := Parse("x.toml", []byte("[colors]\n"+key+` = "faint"`)); err == nil {
			t.Errorf("%s may be faint", key)
		}
	}
	if theme, err := Parse("x.toml", []byte("[colors]\nmuted = \"faint\"")); err != nil || theme.Muted != Faint {
		t.Errorf("muted is %q, %v", theme.Muted, err)
	}
}
