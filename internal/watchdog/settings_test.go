package watchdog

import (
	"errors"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	with := func(change func(*Settings)) Settings {
		s := Defaults()
		change(&s)
		return s
	}
	for _, c := range []struct {
		line string
		want Settings
	}{
		{"", Defaults()},
		{" \t ", Defaults()},
		{"timeout=0", with(func(s *Settings) { s.Timeout = 0 })},
		{"timeout=86400", with(func(s *Settings) { s.Timeout = 86400 })},
		{"timeout=007", with(func(s *Settings) { s.Timeout = 7 })},
		{"max=1", with(func(s *Settings) { s.Max = 1 })},
		{"max=10000", with(func(s *Settings) { s.Max = 10000 })},
		{"mode=once", Defaults()},
		{"mode=keep", with(func(s *Settings) { s.Mode = Keep })},
		{"  max=3\t timeout=5\u00a0mode=keep  ", Settings{5, 3, Keep, ""}},
		{"mode=keep timeout=5 max=3", Settings{5, 3, Keep, ""}},
		{"message=", Defaults()},
		{"message=go on", with(func(s *Settings) { s.Message = "go on" })},
		{"message=  two  spaces \t kept  ", with(func(s *Settings) { s.Message = "  two  spaces \t kept  " })},
		{"max=2\nmessage=a\tb", Settings{60, 2, Once, "a\tb"}},
		{"max=2 message=timeout=5 mode=bad max=9", Settings{60, 2, Once, "timeout=5 mode=bad max=9"}},
		{`message="quoted" \n`, with(func(s *Settings) { s.Message = `"quoted" \n` })},
	} {
		got, err := Parse(c.line)
		if err != nil || got != c.want {
			t.Errorf("Parse(%q) = %+v, %v; want %+v", c.line, got, err, c.want)
		}
	}
}

// usage follows every refusal.
const usage = ". Usage: [timeout=SECONDS] [max=N] [mode=once|keep] [message=TEXT to the end of the line]"

func TestParseRefuses(t *testing.T) {
	const (
		timeouts = "must be a whole number from 0 to 86400"
		maxima   = "must be a whole number from 1 to 10000"
		modes    = "mode is once or keep"
		keys     = "unknown key; the keys are timeout, max, mode, message"
		bare     = "is not key=value"
		lines    = "a message is one line, without control characters"
	)
	for _, c := range []struct{ line, token, why string }{
		{"go", "go", bare},
		{"timeout=5 please", "please", bare},
		{"timeout = 5", "timeout", bare},
		{"timeout", "timeout", bare},
		{"message", "message", bare},
		{"=5", "=5", keys},
		{"speed=5", "speed=5", keys},
		{"Timeout=5", "Timeout=5", keys},
		{"MODE=keep", "MODE=keep", keys},
		{"Message=hi there", "Message=hi", keys},
		{"timeout=5 timeout=5", "timeout=5", "timeout is given twice"},
		{"max=5 mode=keep max=6", "max=6", "max is given twice"},
		{"mode=keep mode=keep", "mode=keep", "mode is given twice"},
		{"timeout=", "timeout=", timeouts},
		{"timeout=-1", "timeout=-1", timeouts},
		{"timeout=+5", "timeout=+5", timeouts},
		{"timeout=5s", "timeout=5s", timeouts},
		{"timeout=1.5", "timeout=1.5", timeouts},
		{"timeout=1e3", "timeout=1e3", timeouts},
		{"timeout=0x10", "timeout=0x10", timeouts},
		{"timeout=1_000", "timeout=1_000", timeouts},
		{"timeout=٣", "timeout=٣", timeouts},
		{"timeout=5=5", "timeout=5=5", timeouts},
		{"timeout=86401", "timeout=86401", timeouts},
		{"timeout=99999999", "timeout=99999999", timeouts},
		{"timeout=18446744073709551621", "timeout=18446744073709551621", timeouts},
		{"timeout=4294967301", "timeout=4294967301", timeouts},
		{"max=0", "max=0", maxima},
		{"max=-0", "max=-0", maxima},
		{"max=10001", "max=10001", maxima},
		{"max=many", "max=many", maxima},
		{"mode=", "mode=", modes},
		{"mode=Keep", "mode=Keep", modes},
		{"mode=forever", "mode=forever", modes},
		{"timeout=5 max=0 message=x", "max=0", maxima},
		{"message=a\x00b", "message=a\x00b", lines},
		{"message=a\nb", "message=a\nb", lines},
		{"message=a\r", "message=a\r", lines},
		{"max=2 message=\x1b[31m", "message=\x1b[31m", lines},
		{"message=a\u0085b", "message=a\u0085b", lines},
		{"message=a\u2028b", "message=a\u2028b", lines},
		{"timeout=\xff", "timeout=\xff", "is not valid UTF-8"},
		{"message=\xc3", "message=\xc3", "is not valid UTF-8"},
	} {
		got, err := Parse(c.line)
		if got != (Settings{}) {
			t.Errorf("Parse(%q) was refused and gives %+v", c.line, got)
		}
		var refused *SettingError
		if !errors.As(err, &refused) {
			t.Errorf("Parse(%q) = %v, want a SettingError", c.line, err)
			continue
		}
		if refused.Token != c.token || refused.Why != c.why {
			t.Errorf("Parse(%q): token %q, %s; want token %q, %s", c.line, refused.Token, refused.Why, c.token, c.why)
		}
		if !strings.HasSuffix(err.Error(), ": "+c.why+usage) {
			t.Errorf("Parse(%q): the error does not end with reason and usage: %s", c.line, err)
		}
	}
}

func TestSettingErrorText(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"speed=5", `"speed=5": unknown key; the keys are timeout, max, mode, message` + usage},
		{"max=0", `"max=0": must be a whole number from 1 to 10000` + usage},
		{"\x1b[31mred", `"\x1b[31mred": is not key=value` + usage},
	} {
		if _, err := Parse(c.line); err == nil || err.Error() != c.want {
			t.Errorf("Parse(%q):\n got %v\nwant %s", c.line, err, c.want)
		}
	}
}

// A change while it runs goes on from what is set; a start never does.
func TestWith(t *testing.T) {
	s := Settings{5, 3, Keep, "go"}
	for _, c := range []struct {
		line string
		want Settings
	}{
		{"", s},
		{"max=4", Settings{5, 4, Keep, "go"}},
		{"timeout=0 mode=once", Settings{0, 3, Once, "go"}},
		{"message=", Settings{5, 3, Keep, ""}},
	} {
		if got, err := s.With(c.line); err != nil || got != c.want {
			t.Errorf("With(%q) = %+v, %v; want %+v", c.line, got, err, c.want)
		}
	}
	if got, err := s.With("max=4 mode=bad"); err == nil || got != (Settings{}) {
		t.Errorf("a refused change gives %+v, %v", got, err)
	}
	if s != (Settings{5, 3, Keep, "go"}) {
		t.Errorf("With changed what it was called on: %+v", s)
	}
	if got, err := Parse(""); err != nil || got != (Settings{60, 50, Once, ""}) {
		t.Errorf("after other settings the defaults are %+v, %v", got, err)
	}
}

func TestSettingsString(t *testing.T) {
	for _, c := range []struct {
		s    Settings
		want string
	}{
		{Defaults(), "timeout=60 max=50 mode=once"},
		{Settings{0, 1, Keep, " a  b "}, "timeout=0 max=1 mode=keep message= a  b "},
	} {
		line := c.s.String()
		if line != c.want {
			t.Errorf("String() = %q, want %q", line, c.want)
		}
		if back, err := Parse(line); err != nil || back != c.s {
			t.Errorf("Parse(%q) = %+v, %v; want %+v", line, back, err, c.s)
		}
	}
}

func TestFromEnv(t *testing.T) {
	for _, c := range []struct {
		value string
		want  Settings
		on    bool
	}{
		{"", Settings{}, false},
		{"  ", Settings{}, false},
		{"0", Settings{}, false},
		{"false", Settings{}, false},
		{"1", Defaults(), true},
		{" true ", Defaults(), true},
		{"timeout=5 message=go  on ", Settings{5, 50, Once, "go  on "}, true},
	} {
		got, on, err := FromEnv(c.value)
		if got != c.want || on != c.on || err != nil {
			t.Errorf("FromEnv(%q) = %+v, %v, %v; want %+v, %v", c.value, got, on, err, c.want, c.on)
		}
	}
	for _, value := range []string{"2", "TRUE", "False", "yes", "on", "00", "timeout=x", "1 max=5"} {
		if got, on, err := FromEnv(value); err == nil || on || got != (Settings{}) {
			t.Errorf("FromEnv(%q) = %+v, %v, %v; want a refusal", value, got, on, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, line := range []string{
		"", "timeout=5", "timeout=5 max=3 mode=keep message= a  b ", "message=x\x00", "max=0", "timeout=1 timeout=2",
		"message=\xff", "mode=keep\u2003max=4", "timeout", "=", "message=message=x", "max=99999999999999999999",
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		s, err := Parse(line)
		if err != nil {
			var refused *SettingError
			if s != (Settings{}) || !errors.As(err, &refused) || !strings.Contains(line, refused.Token) {
				t.Fatalf("Parse(%q) = %+v, %#v", line, s, err)
			}
			return
		}
		if s.Timeout < 0 || s.Timeout > MaxTimeout || s.Max < 1 || s.Max > MaxChecks || (s.Mode != Once && s.Mode != Keep) {
			t.Fatalf("Parse(%q) = %+v: out of bounds", line, s)
		}
		back, err := Parse(s.String())
		if err != nil || back != s {
			t.Fatalf("Parse(%q) = %+v, but its String %q gives %+v, %v", line, s, s.String(), back, err)
		}
	})
}
