package cli

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every variable that the program names is in the manual.
func TestManualNamesEveryVariable(t *testing.T) {
	var manual strings.Builder
	for _, e := range manualEnvironment() {
		manual.WriteString(e.Name + ", " + e.Text + "\n")
	}
	variable := regexp.MustCompile(`"((?:PIWATCH|PI|XDG)_[A-Z_]*[A-Z]|NO_COLOR|PAGER|EDITOR|VISUAL)"`)
	seen := map[string]bool{}
	for _, dir := range []string{"..", "../../ui", "../../cmd"} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && (d.Name() == "e2e" || d.Name() == "demo"): // for tests, and no session of the user's
				return filepath.SkipDir
			case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
				return nil
			}
			source, err := os.ReadFile(path)
			for _, found := range variable.FindAllStringSubmatch(string(source), -1) {
				name := found[1]
				seen[name] = true
				if !regexp.MustCompile(`\b` + name + `\b`).MatchString(manual.String()) {
					t.Errorf("the manual does not name %s of %s", name, path)
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(seen) < 15 {
		t.Errorf("only %d variables were found", len(seen))
	}
}

// The files are named as a user knows them, and there are no two of a name.
func TestManualFiles(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range manualFiles() {
		if seen[e.Name] || !strings.HasPrefix(e.Name, "~/.") && !strings.HasPrefix(e.Name, ".pi/") {
			t.Errorf("the file %q", e.Name)
		}
		seen[e.Name] = true
	}
}
