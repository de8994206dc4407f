package cli

import "testing"

func TestCutLines(t *testing.T) {
	const text = "FROM  THEN   \n12:00 会議は踊る\nshort\n"
	for _, c := range []struct {
		width int
		want  string
	}{
		{0, "FROM  THEN\n12:00 会議は踊る\nshort\n"},
		{16, "FROM  THEN\n12:00 会議は踊る\nshort\n"},
		{10, "FROM  THEN\n12:00 会…\nshort\n"},
		{1, "…\n…\n…\n"},
	} {
		if got := cutLines(text, c.width); got != c.want {
			t.Errorf("width %d: %q, want %q", c.width, got, c.want)
		}
	}
}

func TestShortTime(t *testing.T) {
	for seconds, want := range map[float64]string{
		0: "0s", 0.0284: "28ms", 1.24: "1.2s", 60: "1m", 200: "3m20s", 600: "10m", 3570: "59m30s", 3600: "1h", 36000: "10h", 37230: "10h20m30s",
	} {
		if got := shortTime(seconds); got != want {
			t.Errorf("%g s: %q, want %q", seconds, got, want)
		}
	}
}
