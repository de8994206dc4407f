package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// The scripted provider and its model, as models.json names them.
const (
	ProviderName = "scripted"
	ModelName    = "scripted-1"
)

// maxSocketPath is the length of the longest Unix socket path that every
// system takes (macOS: 104 bytes with the final NUL).
const maxSocketPath = 103

// HomeOptions shapes a [Home]. The zero value is a model without thinking, a
// context window of 128,000 tokens, and Pi's own retries with short pauses.
type HomeOptions struct {
	Reasoning     bool           // the model thinks; session starts at level medium
	ContextWindow int            // tokens; 0 = 128,000
	MaxTokens     int            // tokens of one answer; 0 = 16,384
	API           API            // "" = chat completions
	Settings      map[string]any // over the defaults in settings.json, key by key
	Pis           int            // how many Pis the test runs at a time; 0 = 1
}

// Home is the world of one test: HOME, Pi's agent dir, a project and the XDG
// folders, all under one short temporary path, with the scripted provider as
// Pi's only model. Everything in it is gone when the test ends, and a process
// that is left then fails the test.
type Home struct {
	Pi       *Pi       // runs when this home starts Pi; may be changed between starts
	Provider *Provider // answers every model request

	Dir     string // the temporary folder of all this; also $HOME
	Agent   string // PI_CODING_AGENT_DIR
	Project string // where Pi works
	Run     string // XDG_RUNTIME_DIR
	State   string // XDG_STATE_HOME
	Config  string // XDG_CONFIG_HOME
	Data    string // XDG_DATA_HOME
	Cache   string // XDG_CACHE_HOME

	options HomeOptions
	t       testing.TB
	report  report
}

// NewHome makes a home for one test. It waits while other tests of this process
// run as many Pis as the machine should bear.
func NewHome(t testing.TB, pi *Pi, options HomeOptions) *Home {
	t.Helper()
	if options.ContextWindow == 0 {
		options.ContextWindow = 128_000
	}
	if options.MaxTokens == 0 {
		options.MaxTokens = 16_384
	}
	if options.API == "" {
		options.API = ChatCompletions
	}
	t.Cleanup(slots.take(max(options.Pis, 1)))

	dir, err := os.MkdirTemp(shortTemp(), "pw-")
	if err != nil {
		t.Fatalf("make a home: %v", err)
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		t.Fatalf("make a home: %v", err)
	}
	h := &Home{
		Pi: pi, Dir: dir, options: options, t: t,
		Agent:   filepath.Join(dir, "agent"),
		Project: filepath.Join(dir, "project"),
		Run:     filepath.Join(dir, "run"),
		State:   filepath.Join(dir, "state"),
		Config:  filepath.Join(dir, "config"),
		Data:    filepath.Join(dir, "data"),
		Cache:   filepath.Join(dir, "cache"),
	}
	t.Cleanup(h.clean)
	for _, folder := range []string{h.Agent, h.Project, h.Run, h.State, h.Config, h.Data, h.Cache} {
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatalf("make a home: %v", err)
		}
	}
	if err := shareCompiled(h.Run); err != nil {
		t.Fatalf("make a home: %v", err)
	}
	h.Provider = newProvider(h)
	h.WriteModels(h.Provider.URL())
	h.writeSettings()
	h.report.add("hub log", h.logTail)
	return h
}

// shortTemp is a temporary folder with a short path: sockets live below it.
func shortTemp() string {
	if runtime.GOOS == "darwin" {
		return "/tmp" // $TMPDIR is 50 bytes long there
	}
	if dir := os.TempDir(); len(dir) < maxSocketPath/3 {
		return dir
	}
	return "/tmp"
}

// clean runs when the test and all it started have ended.
func (h *Home) clean() {
	for _, err := range sweep(h.Dir) {
		h.t.Errorf("clean up: %v", err)
	}
	if h.t.Failed() {
		h.report.print(h.t)
	}
	if err := os.RemoveAll(h.Dir); err != nil {
		h.t.Errorf("clean up: %v", err)
	}
}

// Env is the environment of what the test runs: the home's folders, a plain
// locale, no key and nothing of the user's; then extra, "NAME=value" each.
func (h *Home) Env(extra ...string) []string {
	path := os.Getenv("PATH")
	if h.Pi != nil {
		path = filepath.Dir(h.Pi.Node) + string(os.PathListSeparator) + path
	}
	env := []string{
		"PATH=" + path,
		"HOME=" + h.Dir,
		"USER=tester",
		"SHELL=/bin/sh",
		"LANG=C.UTF-8",
		"TZ=UTC",
		"TERM=xterm-256color",
		"COLORTERM=truecolor",
		"TMPDIR=" + h.Run,
		"XDG_RUNTIME_DIR=" + h.Run,
		"XDG_STATE_HOME=" + h.State,
		"XDG_CONFIG_HOME=" + h.Config,
		"XDG_DATA_HOME=" + h.Data,
		"XDG_CACHE_HOME=" + h.Cache,
		"PI_CODING_AGENT_DIR=" + h.Agent,
		"PI_OFFLINE=1",
		homeVar + "=" + h.Dir,
		"GORACE=atexit_sleep_ms=0", // else each command of a piwatch with the race detector takes a second longer
	}
	return append(env, extra...)
}

// WriteModels points Pi at a server that speaks the home's API: the scripted
// provider, or something in front of it.
func (h *Home) WriteModels(baseURL string) {
	h.t.Helper()
	h.WriteJSON(filepath.Join(h.Agent, "models.json"), map[string]any{
		"providers": map[string]any{
			ProviderName: map[string]any{
				"baseUrl": baseURL,
				"api":     h.options.API,
				"apiKey":  "dummy",
				"models": []any{map[string]any{
					"id":            ModelName,
					"reasoning":     h.options.Reasoning,
					"contextWindow": h.options.ContextWindow,
					"maxTokens":     h.options.MaxTokens,
					"input":         []string{"text"},
					"cost":          map[string]any{"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
				}},
			},
		},
	})
}

func (h *Home) writeSettings() {
	h.t.Helper()
	settings := map[string]any{
		"defaultProvider":        ProviderName,
		"defaultModel":           ModelName,
		"defaultProjectTrust":    "always",
		"quietStartup":           true,
		"enableInstallTelemetry": false,
		"retry":                  map[string]any{"enabled": true, "maxRetries": 3, "baseDelayMs": 20},
	}
	maps.Copy(settings, h.options.Settings)
	h.WriteJSON(filepath.Join(h.Agent, "settings.json"), settings)
}

// WriteJSON writes value to path as JSON.
func (h *Home) WriteJSON(path string, value any) {
	h.t.Helper()
	data, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		h.t.Fatalf("write %s: %v", path, err)
	}
	h.WriteFile(path, string(data))
}

// WriteFile writes a file, with its folders; a relative path is in the project.
// It returns the file's path.
func (h *Home) WriteFile(path, content string) string {
	h.t.Helper()
	if !filepath.IsAbs(path) {
		path = filepath.Join(h.Project, path)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		h.t.Fatalf("write %s: %v", path, err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		h.t.Fatalf("write %s: %v", path, err)
	}
	return path
}

// Fatalf fails the test at once with the message and all that is known.
func (h *Home) Fatalf(format string, args ...any) {
	h.t.Helper()
	h.t.Errorf(format, args...)
	h.report.print(h.t)
	h.t.FailNow()
}

// logTail is the end of every log under the state folder.
func (h *Home) logTail() string {
	var out strings.Builder
	paths, _ := filepath.Glob(filepath.Join(h.State, "piwatch", "*.log"))
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		fmt.Fprintf(&out, "%s:\n%s\n", filepath.Base(path), lastLines(string(data), 40))
	}
	return out.String()
}
