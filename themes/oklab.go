package themes

import (
	"fmt"
	"math"
)

// rgb is a colour in linear sRGB; outside of 0..1 it is out of gamut.
type rgb struct{ r, g, b float64 }

// hex is the colour as a theme names it, brought into gamut by cutting.
func (c rgb) hex() Colour {
	part := func(v float64) int { return int(math.Round(255 * encode(min(max(v, 0), 1)))) }
	return Colour(fmt.Sprintf("#%02x%02x%02x", part(c.r), part(c.g), part(c.b)))
}

func (c rgb) inGamut() bool {
	const slack = 1e-4
	for _, v := range []float64{c.r, c.g, c.b} {
		if v < -slack || v > 1+slack {
			return false
		}
	}
	return true
}

// encode is the transfer function of sRGB.
func encode(v float64) float64 {
	if v <= 0.0031308 {
		return 12.92 * v
	}
	return 1.055*math.Pow(v, 1/2.4) - 0.055
}

// oklab is Björn Ottosson's colour space: lightness 0..1 and two axes.
func oklab(l, a, b float64) rgb {
	cube := func(v float64) float64 { return v * v * v }
	x := cube(l + 0.3963377774*a + 0.2158037573*b)
	y := cube(l - 0.1055613458*a - 0.0638541728*b)
	z := cube(l - 0.0894841775*a - 1.2914855480*b)
	return rgb{
		4.0767416621*x - 3.3077115913*y + 0.2309699292*z,
		-1.2684380046*x + 2.6097574011*y - 0.3413193965*z,
		-0.0041960863*x - 0.7034186147*y + 1.7076147010*z,
	}
}

// oklch has lightness 0..1, chroma, and hue in degrees. What is out of gamut
// loses chroma.
func oklch(l, c, h float64) rgb {
	sin, cos := math.Sincos(h * math.Pi / 180)
	if in := oklab(l, c*cos, c*sin); in.inGamut() {
		return in
	}
	c = min(c, maxChroma(l, h))
	return oklab(l, c*cos, c*sin)
}

// maxChroma is the most that sRGB has at a lightness and a hue.
func maxChroma(l, h float64) float64 {
	sin, cos := math.Sincos(h * math.Pi / 180)
	low, high := 0.0, 0.5 // no colour of sRGB has more
	for range 24 {
		middle := (low + high) / 2
		if oklab(l, middle*cos, middle*sin).inGamut() {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

// okhsl has a hue in degrees, and a saturation and a lightness of 0..1.
// Saturation is here a part of the most chroma that the gamut has there. Pi's
// curve bends between; the two differ by a shade, and hue and lightness not at
// all.
func okhsl(h, s, l float64) rgb {
	// The lightness of OKHSL follows what the eye sees, that of Oklab not.
	const k1, k2 = 0.206, 0.03
	const k3 = (1 + k1) / (1 + k2)
	ok := (l*l + k1*l) / (k3 * (l + k2))
	return oklch(ok, s*maxChroma(ok, h), h)
}
