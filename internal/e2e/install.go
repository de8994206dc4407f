package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

// The versions of Pi that piwatch supports and is tested with.
const (
	Pi160  = "1.6.0"
	Pi0811 = "0.81.1"
)

// VersionsVar names the environment variable that restricts the tests to some
// versions of Pi: a list separated by commas or spaces.
const VersionsVar = "PIWATCH_PI_VERSIONS"

const piPackage = "@earendil-works/pi-coding-agent"

// Pi's package.json asks for Node 22.19 or newer, in both versions.
const (
	nodeMajor = 22
	nodeMinor = 19
)

// Pi is an installed version of Pi.
type Pi struct {
	Version string
	Dir     string // the npm prefix: holds node_modules
	Node    string // the Node binary that runs it
	CLI     string // Pi's entry script
}

// Package is the folder of Pi's npm package: docs, dist, type declarations.
func (p *Pi) Package() string { return packageDir(p.Dir) }

// Modern reports whether Pi has the events and session entries that came with
// 1.x (agent_before_settle, context_edit).
func (p *Pi) Modern() bool { return !strings.HasPrefix(p.Version, "0.") }

// Command returns the argument vector that runs Pi with args.
func (p *Pi) Command(args ...string) []string {
	return append([]string{p.Node, p.CLI}, args...)
}

// Versions are the versions of Pi to test with: newest first, and only those
// that PIWATCH_PI_VERSIONS lists if it is set.
func Versions() []string {
	all := []string{Pi160, Pi0811}
	wanted := strings.FieldsFunc(os.Getenv(VersionsVar), func(r rune) bool { return r == ',' || r == ' ' })
	if len(wanted) == 0 {
		return all
	}
	return slices.DeleteFunc(all, func(v string) bool { return !slices.Contains(wanted, v) })
}

// EachPi runs test as a parallel subtest for every version in [Versions], beside
// other tests: most of the time a test waits for Pi.
func EachPi(t *testing.T, test func(t *testing.T, pi *Pi)) {
	t.Helper()
	t.Parallel()
	versions := Versions()
	if len(versions) == 0 {
		t.Fatalf("%s=%q names no supported version of Pi (%s, %s)", VersionsVar, os.Getenv(VersionsVar), Pi160, Pi0811)
	}
	for _, version := range versions {
		t.Run("pi-"+version, func(t *testing.T) {
			t.Parallel()
			test(t, RequirePi(t, version))
		})
	}
}

// RequirePi returns the version of Pi, fetched into the cache if need be.
// Without npm the test is skipped, or fails where CI=true is set. A version
// that PIWATCH_PI_VERSIONS leaves out is skipped.
func RequirePi(t testing.TB, version string) *Pi {
	t.Helper()
	if !slices.Contains(Versions(), version) {
		t.Skipf("Pi %s is not in %s", version, VersionsVar)
	}
	pi, err := installed.get(version)
	if errors.Is(err, errNoNpm) {
		missing(t, "npm (needed to fetch Pi %s)", version)
	}
	if err != nil {
		t.Fatalf("Pi %s is not available: %v", version, err)
	}
	return pi
}

// missing skips the test with one line that stands out, or fails it in CI.
func missing(t testing.TB, format string, args ...any) {
	t.Helper()
	what := fmt.Sprintf(format, args...)
	if os.Getenv("CI") == "true" {
		t.Fatalf("%s is missing", what)
	}
	fmt.Fprintf(os.Stderr, "!!! %s SKIPPED: %s is missing\n", t.Name(), what)
	t.Skipf("%s is missing", what)
}

// installs looks each version up once in a test process.
type installs struct {
	mu    sync.Mutex
	found map[string]*install
}

type install struct {
	once sync.Once
	pi   *Pi
	err  error
}

var installed = installs{found: map[string]*install{}}

func (i *installs) get(version string) (*Pi, error) {
	i.mu.Lock()
	entry := i.found[version]
	if entry == nil {
		entry = new(install)
		i.found[version] = entry
	}
	i.mu.Unlock()
	entry.once.Do(func() { entry.pi, entry.err = installPi(version) })
	return entry.pi, entry.err
}

func installPi(version string) (*Pi, error) {
	var packages []string
	system := systemNode()
	if system == "" {
		name, err := nodePackage()
		if err != nil {
			return nil, err
		}
		packages = append(packages, fmt.Sprintf("%s@%d", name, nodeMajor))
	}
	packages = append(packages, piPackage+"@"+version)
	good := func(dir string) bool {
		pi, err := openPi(dir, system)
		return err == nil && pi.Version == version
	}
	dir, err := npmInstall("pi-"+version, good, packages...)
	if err != nil {
		return nil, err
	}
	return openPi(dir, system)
}

// openPi reads the install in dir. node is the system's Node, or empty for the
// one in the install.
func openPi(dir, node string) (*Pi, error) {
	data, err := os.ReadFile(filepath.Join(packageDir(dir), "package.json"))
	if err != nil {
		return nil, fmt.Errorf("open Pi: %w", err)
	}
	var manifest struct {
		Version string            `json:"version"`
		Bin     map[string]string `json:"bin"`
	}
	if err := json.Unmarshal(data, &manifest); err != nil {
		return nil, fmt.Errorf("open Pi: package.json: %w", err)
	}
	pi := &Pi{Version: manifest.Version, Dir: dir, Node: node}
	pi.CLI = filepath.Join(packageDir(dir), filepath.FromSlash(manifest.Bin["pi"]))
	if pi.Node == "" {
		name, err := nodePackage()
		if err != nil {
			return nil, err
		}
		pi.Node = filepath.Join(dir, "node_modules", name, "bin", "node")
	}
	for _, path := range []string{pi.CLI, pi.Node} {
		if info, err := os.Stat(path); err != nil || info.IsDir() {
			return nil, fmt.Errorf("open Pi: %s is not there", path)
		}
	}
	return pi, nil
}

func packageDir(dir string) string {
	return filepath.Join(dir, "node_modules", filepath.FromSlash(piPackage))
}

// nodePackage is the npm package that carries a Node binary for this machine.
func nodePackage() (string, error) {
	arch := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	if arch == "" || (runtime.GOOS != "linux" && runtime.GOOS != "darwin") {
		return "", fmt.Errorf("no Node %d.%d on this system, and no npm package with one for %s/%s", nodeMajor, nodeMinor, runtime.GOOS, runtime.GOARCH)
	}
	return "node-" + runtime.GOOS + "-" + arch, nil
}

// systemNode is the path of a Node that is new enough for Pi, or empty.
func systemNode() string {
	path, err := exec.LookPath("node")
	if err != nil {
		return ""
	}
	out, err := exec.Command(path, "--version").Output()
	if err != nil {
		return ""
	}
	var major, minor int
	if _, err := fmt.Sscanf(string(out), "v%d.%d", &major, &minor); err != nil {
		return ""
	}
	if major > nodeMajor || (major == nodeMajor && minor >= nodeMinor) {
		return path
	}
	return ""
}
