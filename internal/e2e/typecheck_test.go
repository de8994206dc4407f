package e2e

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"piwatch/internal/bridge"
)

// The compiler that checks the bridge, pinned: 5.9 is the last line of
// TypeScript that is plain JavaScript and runs on any Node.
const (
	typescriptVersion = "5.9.3"
	nodeTypesVersion  = "22.20.7"
)

// TestExtensionTypes checks the bridge, as modules and joined, against the types
// that each Pi ships. A module with wrong calls proves that the types are really
// found: an unresolved import would make everything any, and nothing an error.
func TestExtensionTypes(t *testing.T) {
	root, err := ModuleRoot()
	if err != nil {
		t.Fatal(err)
	}
	joined, err := bridge.Extension()
	if err != nil {
		t.Fatal(err)
	}
	modules := map[string]string{"joined.ts": joined}
	paths, err := filepath.Glob(filepath.Join(root, "internal", "bridge", "src", "*.ts"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("the modules of the bridge: %v, error %v", paths, err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		modules[filepath.Base(path)] = string(data)
	}
	probe, err := os.ReadFile(probe(t))
	if err != nil {
		t.Fatal(err)
	}
	broken := strings.NewReplacer(
		`ctx.ui.setStatus("probe", "probe 1")`, `ctx.ui.setStatus(1, "probe 1")`,
		`pi.appendEntry("probe.mark", { args })`, `pi.on("nonesuch", () => {})`,
	).Replace(string(probe))
	modules["probe.ts"], modules["broken.ts"] = string(probe), broken
	EachPi(t, func(t *testing.T, pi *Pi) {
		out := typecheck(t, pi, modules)
		for line := range strings.Lines(out) {
			if !strings.HasPrefix(line, "broken.ts") && !strings.HasPrefix(line, " ") {
				t.Errorf("Pi %s: %s", pi.Version, line)
			}
		}
		for _, want := range []string{"'number' is not assignable to parameter of type 'string'", `"nonesuch"`} {
			if !strings.Contains(out, want) {
				t.Errorf("no word of %s in the errors of the wrong calls:\n%s", want, out)
			}
		}
	})
}

// typecheck compiles TypeScript modules against the packages of a Pi and returns
// the compiler's errors, one or more lines each, continued with spaces.
func typecheck(t *testing.T, pi *Pi, modules map[string]string) string {
	t.Helper()
	compiler := typescript(t)
	dir := t.TempDir()
	// Imports resolve as they do for an extension beside Pi's own packages.
	if err := os.Symlink(filepath.Join(pi.Dir, "node_modules"), filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	config, err := json.Marshal(map[string]any{
		"compilerOptions": map[string]any{
			"strict":                     true,
			"noEmit":                     true,
			"skipLibCheck":               true,
			"target":                     "es2023",
			"lib":                        []string{"es2023"},
			"module":                     "nodenext",
			"moduleResolution":           "nodenext",
			"allowImportingTsExtensions": true,
			"typeRoots":                  []string{filepath.Join(compiler, "node_modules", "@types")},
			"types":                      []string{"node"},
		},
		"files": slices.Sorted(maps.Keys(modules)),
	})
	if err != nil {
		t.Fatal(err)
	}
	files := maps.Clone(modules)
	files["package.json"] = `{"type":"module"}`
	files["tsconfig.json"] = string(config)
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	defer slots.take(1)() // the compiler costs as much as a Pi
	tsc := filepath.Join(compiler, "node_modules", "typescript", "bin", "tsc")
	cmd := exec.Command(pi.Node, tsc, "--pretty", "false", "-p", ".")
	cmd.Dir = dir
	output, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("run tsc: %v", err)
	}
	return string(output)
}

// typescript is the npm prefix that holds the compiler and Node's types.
func typescript(t *testing.T) string {
	t.Helper()
	good := func(dir string) bool {
		return packageVersion(dir, "typescript") == typescriptVersion &&
			packageVersion(dir, "@types/node") == nodeTypesVersion
	}
	dir, err := npmInstall("ts-"+typescriptVersion, good,
		"typescript@"+typescriptVersion, "@types/node@"+nodeTypesVersion)
	if errors.Is(err, errNoNpm) {
		missing(t, "npm (needed to fetch TypeScript %s)", typescriptVersion)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func packageVersion(dir, name string) string {
	data, err := os.ReadFile(filepath.Join(dir, "node_modules", filepath.FromSlash(name), "package.json"))
	if err != nil {
		return ""
	}
	var manifest struct {
		Version string `json:"version"`
	}
	if json.Unmarshal(data, &manifest) != nil {
		return ""
	}
	return manifest.Version
}
