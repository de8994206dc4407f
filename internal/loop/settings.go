package loop

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Settings are those of the supervisor, under the names they have in files and
// commands.
type Settings struct {
	Enabled bool `json:"enabled"`
	// RescueMessage is what a stuck session is sent when it is steered.
	RescueMessage string `json:"rescueMessage"`
	// LLMRepeatThreshold is how often the same input or output makes a finding;
	// 0: never.
	LLMRepeatThreshold int `json:"llmRepeatThreshold"`
	// IdleNoProgressSec is how long tools may run without an edit, in seconds;
	// 0: for ever.
	IdleNoProgressSec int `json:"idleNoProgressSec"`
	// CooldownSec is how long the same finding is not told again, in seconds;
	// 0: each time, -1: once.
	CooldownSec int `json:"cooldownSec"`
	// MaxPreviewLines bounds a preview, MaxEventsPerAgent the trail of a session.
	MaxPreviewLines   int  `json:"maxPreviewLines"`
	MaxEventsPerAgent int  `json:"maxEventsPerAgent"`
	AlertMode         Mode `json:"alertMode"`
	// SteerDryRunDefault says whether steering only shows what would be sent;
	// nil is as true.
	SteerDryRunDefault *bool `json:"steerDryRunDefault"`
	// Debug keeps the last message to and from the provider in full.
	Debug bool `json:"debug"`
}

// Mode says who is told of a finding.
type Mode string

// The modes. All of them tell the screen.
const (
	MainOnly Mode = "main_only"       // the parent session
	Direct   Mode = "direct_subagent" // the stuck session
	Both     Mode = "both"
)

// steers says whether the stuck session itself is sent something.
func (m Mode) steers() bool { return m == Direct || m == Both }

// Steers says whether a finding is told to the stuck session itself.
func (s *Settings) Steers() bool { return s.AlertMode.steers() }

// TellsMain says whether a finding is told to the parent session.
func (s *Settings) TellsMain() bool { return s.AlertMode != Direct }

// DryRun says whether steering only shows what would be sent, when nobody says
// otherwise.
func (s *Settings) DryRun() bool { return s.SteerDryRunDefault == nil || *s.SteerDryRunDefault }

// Rules are the thresholds for a Detector.
func (s *Settings) Rules() Config {
	return Config{
		LLMRepeat: s.LLMRepeatThreshold, IdleNoProgress: time.Duration(s.IdleNoProgressSec) * time.Second, PreviewLines: s.MaxPreviewLines,
	}
}

// DefaultSettings are those of a user who set none.
func DefaultSettings() Settings {
	return Settings{
		Enabled:            true,
		RescueMessage:      "You seem to be going in circles: the same steps gave the same results several times. Stop and say what you know, then try another way.",
		LLMRepeatThreshold: 10,
		MaxPreviewLines:    20,
		MaxEventsPerAgent:  200,
		AlertMode:          MainOnly,
	}
}

// Field is one setting.
type Field struct {
	Name    string
	Says    string // what it is, for people
	Allowed string // the values allowed, for people
	Schema  string // the values allowed, as a JSON Schema
	set     func(*Settings, any) bool
	get     func(*Settings) any
	// widens says whether b lets piwatch send more by itself than a does.
	widens func(a, b *Settings) bool
}

// Get is the value of the setting.
func (f *Field) Get(s *Settings) any { return f.get(s) }

// Fields are all settings, in the order people read them.
func Fields() []Field { return fields }

var fields = []Field{
	flag("enabled", "watch for loops at all", func(s *Settings) *bool { return &s.Enabled }),
	{
		Name: "rescueMessage", Says: "what a stuck session is sent when it is steered",
		Allowed: "a text of 1 to 4000 characters", Schema: `{"type":"string","maxLength":4000,"pattern":"\\S"}`,
		set: func(s *Settings, v any) bool {
			text, ok := v.(string)
			s.RescueMessage = text
			return ok && strings.TrimSpace(text) != "" && len([]rune(text)) <= 4000
		},
		get: func(s *Settings) any { return s.RescueMessage },
	},
	whole("llmRepeatThreshold", "the same input or output so often in a row is a loop; 0: never", 0, 1000, func(s *Settings) *int { return &s.LLMRepeatThreshold }),
	whole("idleNoProgressSec", "tools may run so many seconds without an edit; 0: for ever", 0, 86400, func(s *Settings) *int { return &s.IdleNoProgressSec }),
	whole("cooldownSec", "the same finding is told again after so many seconds; 0: each time, -1: once", -1, 86400, func(s *Settings) *int { return &s.CooldownSec }),
	whole("maxPreviewLines", "lines of a preview", 1, 200, func(s *Settings) *int { return &s.MaxPreviewLines }),
	whole("maxEventsPerAgent", "events remembered of a session", 10, 2000, func(s *Settings) *int { return &s.MaxEventsPerAgent }),
	{
		Name: "alertMode", Says: "who is told: the parent session, the stuck session, or both",
		Allowed: "main_only, direct_subagent, both", Schema: `{"enum":["main_only","direct_subagent","both"]}`,
		set: func(s *Settings, v any) bool {
			text, ok := v.(string)
			s.AlertMode = Mode(text)
			return ok && slices.Contains([]Mode{MainOnly, Direct, Both}, s.AlertMode)
		},
		get:    func(s *Settings) any { return s.AlertMode },
		widens: func(a, b *Settings) bool { return b.Steers() && !a.Steers() },
	},
	{
		Name: "steerDryRunDefault", Says: "steering only shows what would be sent; null is as true",
		Allowed: "true, false, null", Schema: `{"type":["boolean","null"]}`,
		set: func(s *Settings, v any) bool {
			on, ok := v.(bool)
			s.SteerDryRunDefault = &on
			if v == nil {
				s.SteerDryRunDefault, ok = nil, true
			}
			return ok
		},
		get: func(s *Settings) any {
			if s.SteerDryRunDefault == nil {
				return nil
			}
			return *s.SteerDryRunDefault
		},
		widens: func(a, b *Settings) bool { return a.DryRun() && !b.DryRun() },
	},
	flag("debug", "keep the last message to and from the provider in full", func(s *Settings) *bool { return &s.Debug }),
}

func flag(name, says string, at func(*Settings) *bool) Field {
	return Field{
		Name: name, Says: says, Allowed: "true or false", Schema: `{"type":"boolean"}`,
		set: func(s *Settings, v any) bool {
			on, ok := v.(bool)
			*at(s) = on
			return ok
		},
		get: func(s *Settings) any { return *at(s) },
	}
}

func whole(name, says string, least, most int, at func(*Settings) *int) Field {
	return Field{
		Name: name, Says: says, Allowed: fmt.Sprintf("a whole number from %d to %d", least, most),
		Schema: fmt.Sprintf(`{"type":"integer","minimum":%d,"maximum":%d}`, least, most),
		set: func(s *Settings, v any) bool {
			n, ok := wholeNumber(v)
			*at(s) = int(n)
			return ok && n >= int64(least) && n <= int64(most)
		},
		get: func(s *Settings) any { return *at(s) },
	}
}

// wholeNumber reads a number as decoders of JSON and TOML give it. 10.0 is one
// in JSON Schema.
func wholeNumber(v any) (int64, bool) {
	switch v := v.(type) {
	case int64:
		return v, true
	case int:
		return int64(v), true
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n, true
		}
		f, err := v.Float64()
		return int64(f), err == nil && f == float64(int64(f)) && f > -1e15 && f < 1e15
	}
	return 0, false
}

// SettingError says what is wrong with a setting.
type SettingError struct {
	Key     string
	Value   any    // nil when the key is unknown
	Allowed string // values, or keys when the key is unknown
	Unknown bool
}

func (e *SettingError) Error() string {
	if e.Unknown {
		return fmt.Sprintf("%s: unknown setting; allowed: %s", e.Key, e.Allowed)
	}
	value, err := json.Marshal(e.Value)
	if err != nil {
		value = fmt.Appendf(nil, "%v", e.Value)
	}
	return fmt.Sprintf("%s: %s does not fit; allowed: %s", e.Key, value, e.Allowed)
}

// With is the settings with one of them changed. The value is as a decoder of
// JSON or TOML gives it. A wrong one is a *SettingError, and changes nothing.
func (s Settings) With(key string, value any) (Settings, error) {
	for i := range fields {
		if fields[i].Name != key {
			continue
		}
		next := s
		if !fields[i].set(&next, value) {
			return s, &SettingError{Key: key, Value: value, Allowed: fields[i].Allowed}
		}
		return next, nil
	}
	names := make([]string, len(fields))
	for i := range fields {
		names[i] = fields[i].Name
	}
	return s, &SettingError{Key: key, Allowed: strings.Join(names, ", "), Unknown: true}
}

// ParseValue reads a value as a person types it: JSON, or else a text.
func ParseValue(text string) any {
	text = strings.TrimSpace(text)
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil || dec.InputOffset() != int64(len(text)) {
		return text
	}
	return v
}

// Widens names the settings by which s lets piwatch send more by itself than
// than does: what only the user may change.
func (s *Settings) Widens(than *Settings) []string {
	var names []string
	for i := range fields {
		if f := &fields[i]; f.widens != nil && f.widens(than, s) {
			names = append(names, f.Name)
		}
	}
	return names
}

// Schema is the JSON Schema of a file with these settings.
func Schema() []byte {
	var b bytes.Buffer
	b.WriteString("{\n  \"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n  \"title\": \"piwatch supervisor\",\n  \"type\": \"object\",\n  \"additionalProperties\": false,\n  \"properties\": {\n")
	b.WriteString("    \"$schema\": { \"type\": \"string\" }")
	defaults := DefaultSettings()
	for i := range fields {
		f := &fields[i]
		says, _ := json.Marshal(f.Says) // texts and numbers
		value, _ := json.Marshal(f.get(&defaults))
		fmt.Fprintf(&b, ",\n    %q: { \"description\": %s, \"default\": %s, %s }", f.Name, says, value, strings.Trim(f.Schema, "{}"))
	}
	b.WriteString("\n  }\n}\n")
	return b.Bytes()
}

// Change is one setting that was made at run time.
type Change struct {
	Key   string
	Value any // as a decoder of JSON gives it
}
