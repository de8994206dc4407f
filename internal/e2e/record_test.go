package e2e

import (
	"bytes"
	"encoding/json"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var record = flag.Bool("record", false, "make the session files in testdata/recorded anew")

// recordedProject stands for the project folder in recorded files.
const recordedProject = "/home/dev/project"

// TestRecord makes the session files of testdata/recorded with the real Pi:
//
//	go test ./internal/e2e -run 'TestRecord$' -record
func TestRecord(t *testing.T) {
	if !*record {
		t.Skip("only with -record")
	}
	EachPi(t, func(t *testing.T, pi *Pi) {
		for _, r := range recordings {
			t.Run(r.name, func(t *testing.T) {
				options := r.options
				options.Reasoning = true
				h := NewHome(t, pi, options)
				rpc := h.StartRPC(Launch{
					Extensions: []string{testdata(t, "recorder.ts")},
					Args: []string{
						"--system-prompt", "You are the agent of a recorded session.",
						"--tools", "bash", "--no-context-files", "--no-skills",
					},
				})
				r.play(h, rpc)
				path := rpc.SessionFile()
				rpc.Close()
				data, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				data = scrub(h, data)
				checkOwnTexts(t, pi, data)
				target := filepath.Join(recordedDir(t), "pi-"+pi.Version, r.name+".jsonl")
				if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(target, data, 0o644); err != nil {
					t.Fatal(err)
				}
			})
		}
	})
}

// description is a description in the JSON of a tool declaration.
var description = regexp.MustCompile(`"description":"(?:[^"\\]|\\.)*"`)

// preamble is what Pi puts before the model's summary of a branch, up to the
// script's own words.
var preamble = regexp.MustCompile(`"summary":"(?:[^"\\]|\\.)*?(` + branchSummary + `)`)

// nodeAborted is the message of Node's own AbortError, which Pi 1.6.0 stores.
const nodeAborted = "This operation was aborted"

// scrub takes the machine's paths and the texts of Pi's tools and prompts out of
// a session file. All else stays as Pi wrote it, the order of the keys included.
func scrub(h *Home, data []byte) []byte {
	var out bytes.Buffer
	for line := range bytes.Lines(data) {
		if bytes.Contains(line, []byte(`"toolsAdded"`)) {
			line = description.ReplaceAll(line, []byte(`"description":"left out"`))
		}
		if bytes.Contains(line, []byte(`"branch_summary"`)) {
			line = preamble.ReplaceAll(line, []byte(`"summary":"$1`))
		}
		out.Write(line)
	}
	text := strings.ReplaceAll(out.String(), h.Project, recordedProject)
	text = strings.ReplaceAll(text, h.Dir, "/home/dev")
	// The folder of a session is named after the project.
	return []byte(strings.ReplaceAll(text, folderName(h.Project), folderName(recordedProject)))
}

// folderName is how Pi names the folder for the sessions of a project.
func folderName(project string) string { return strings.ReplaceAll(project, "/", "-") }

// checkOwnTexts fails if a longer text of the session is also in Pi's package.
func checkOwnTexts(t *testing.T, pi *Pi, data []byte) {
	t.Helper()
	var texts []string
	for line := range bytes.Lines(data) {
		var entry any
		if err := json.Unmarshal(line, &entry); err != nil {
			t.Fatal(err)
		}
		texts = longTexts(texts, entry)
	}
	root := pi.Package()
	if err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".js") && !strings.HasSuffix(path, ".md") {
			return err
		}
		code, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, text := range texts {
			if bytes.Contains(code, []byte(text)) {
				t.Errorf("a text of %s is in the recording: %q", path, text)
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// longTexts adds the pieces of a value's strings that are long enough to be
// somebody's work: lines of 25 bytes or more.
func longTexts(texts []string, value any) []string {
	switch v := value.(type) {
	case string:
		for line := range strings.Lines(v) {
			if line = strings.TrimSpace(line); len(line) >= 25 && line != nodeAborted {
				texts = append(texts, line)
			}
		}
	case []any:
		for _, item := range v {
			texts = longTexts(texts, item)
		}
	case map[string]any:
		for _, item := range v {
			texts = longTexts(texts, item)
		}
	}
	return texts
}

// TestRecorded reads all recorded files: every version has them all, and each is
// a header and a tree of entries.
func TestRecorded(t *testing.T) {
	dir := recordedDir(t)
	for _, version := range []string{Pi160, Pi0811} {
		for _, r := range recordings {
			t.Run(version+"/"+r.name, func(t *testing.T) {
				data, err := os.ReadFile(filepath.Join(dir, "pi-"+version, r.name+".jsonl"))
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.HasSuffix(data, []byte("\n")) || len(data) > 64<<10 {
					t.Errorf("%d bytes, the last line may have no end", len(data))
				}
				entries, err := parseRecords(string(data))
				if err != nil {
					t.Fatal(err)
				}
				checkTree(t, entries)
				kinds := map[string]int{}
				for _, entry := range entries {
					kinds[entry.Type()]++
					kinds[entry.Str("message.role")]++
					kinds[entry.Str("message.stopReason")]++
				}
				for _, kind := range r.holds {
					if kinds[kind] == 0 {
						t.Errorf("nothing of the kind %q", kind)
					}
				}
			})
		}
	}
}

// checkTree fails unless entries are a session's header and its tree.
func checkTree(t *testing.T, entries []Record) {
	t.Helper()
	if len(entries) == 0 || entries[0].Type() != "session" || entries[0].Num("version") != 3 {
		t.Fatalf("no header of version 3: %v", entries)
	}
	if got := entries[0].Str("cwd"); got != recordedProject {
		t.Errorf("cwd is %q", got)
	}
	ids := map[string]bool{}
	for _, entry := range entries[1:] {
		if parent := entry.Str("parentId"); parent != "" && !ids[parent] {
			t.Errorf("the parent of %s is not before it", entry)
		}
		ids[entry.Str("id")] = true
	}
}

func recordedDir(t *testing.T) string {
	t.Helper()
	root, err := ModuleRoot()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(root, "testdata", "recorded")
}
