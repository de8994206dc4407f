package doctor

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"piwatch/internal/bridge"
	"piwatch/internal/pi"
)

// askTimeout is how long a program may take to say its version.
const askTimeout = 20 * time.Second

// What Pi's package.json asks for, in 0.81.1 and 1.6.0.
const (
	nodeMajor = 22
	nodeMinor = 19
)

// tested are the versions of Pi that piwatch is tested with, oldest first.
var tested = []string{"0.81.1", "1.6.0"}

func lookPi(ctx context.Context, w *World) []Finding {
	name := cmp.Or(w.Pi, "pi")
	path, err := exec.LookPath(name)
	if err != nil {
		return []Finding{warn("there is no Pi: "+err.Error(),
			"npm install -g @earendil-works/pi-coding-agent, or name it: PIWATCH_PI=/path/to/pi")}
	}
	findings := w.lookNode(ctx, path)
	text, err := ask(ctx, append(os.Environ(), "PI_OFFLINE=1"), path, "--version")
	version := versionPattern.FindString(text)
	switch {
	case err != nil:
		return append(findings, fail(fmt.Sprintf("%s does not run: %v", path, err), "try it: "+name+" --version"))
	case version == "":
		return append(findings, warn(fmt.Sprintf("%s says no version, but %q", path, cut(text)), "try it: "+name+" --version"))
	case older(version, tested[0]):
		return append(findings, warn(fmt.Sprintf("Pi %s, %s: piwatch is tested with %s", version, path, strings.Join(tested, " and ")),
			"npm install -g @earendil-works/pi-coding-agent"))
	}
	return append(findings, ok("Pi "+version+", "+path))
}

var versionPattern = regexp.MustCompile(`\d+\.\d+\.\d+`)

// ask runs a program that says one thing and ends.
func ask(ctx context.Context, env []string, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = env
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if err != nil && len(bytes.TrimSpace(out)) > 0 {
		err = fmt.Errorf("%w: %s", err, cut(string(out)))
	}
	return strings.TrimSpace(string(out)), err
}

// cut is the beginning of a text, for one line.
func cut(text string) string {
	const most = 120
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

// older compares two versions x.y.z.
func older(a, b string) bool {
	x, y := strings.Split(a, "."), strings.Split(b, ".")
	for i := range min(len(x), len(y)) {
		m, _ := strconv.Atoi(x[i])
		n, _ := strconv.Atoi(y[i])
		if m != n {
			return m < n
		}
	}
	return false
}

// lookNode looks at the Node that runs Pi, where Pi is a script.
func (w *World) lookNode(ctx context.Context, piPath string) []Finding {
	if !isNodeScript(piPath) {
		return nil
	}
	node, err := exec.LookPath("node")
	if err != nil {
		return []Finding{fail("Pi needs Node, and there is none: "+err.Error(), fmt.Sprintf("install Node %d.%d or newer", nodeMajor, nodeMinor))}
	}
	text, err := ask(ctx, os.Environ(), node, "--version")
	version := versionPattern.FindString(text)
	switch {
	case err != nil:
		return []Finding{fail(fmt.Sprintf("%s does not run: %v", node, err), "try it: node --version")}
	case older(version, fmt.Sprintf("%d.%d.0", nodeMajor, nodeMinor)):
		return []Finding{fail(fmt.Sprintf("Node %s, %s: Pi needs %d.%d or newer", version, node, nodeMajor, nodeMinor), "install a newer Node")}
	}
	return []Finding{ok("Node " + version + ", " + node)}
}

// isNodeScript says whether a program is a script that Node runs.
func isNodeScript(path string) bool {
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	head := make([]byte, 128)
	n, _ := io.ReadFull(file, head) // a short file is looked at too
	line, _, _ := bytes.Cut(head[:n], []byte("\n"))
	return bytes.HasPrefix(line, []byte("#!")) && bytes.Contains(line, []byte("node"))
}

// place is where a bridge may be installed.
type place struct {
	dir     string
	command string // that installs there
}

func (w *World) places() []place {
	return []place{
		{pi.AgentDir(w.Env, w.Home), "piwatch install"},
		{filepath.Join(w.Cwd, ".pi"), "piwatch install --project"},
	}
}

func lookBridge(_ context.Context, w *World) []Finding {
	var findings []Finding
	var missing *Finding // for the user, where it may still be installed for the project
	installed := 0
	for i, p := range w.places() {
		status, err := bridge.Inspect(p.dir, w.Binary, w.Version)
		if err != nil {
			findings = append(findings, fail(err.Error(), "see who owns it: ls -l "+bridge.Path(p.dir)))
			continue
		}
		if status.State != bridge.Missing {
			installed++
			findings = append(findings, bridgeFinding(status, p.command))
		} else if i == 0 {
			missing = new(warn("the bridge is not installed in "+filepath.Dir(status.Path), p.command+"; piwatch run brings its own"))
		}
	}
	switch {
	case installed > 1:
		findings = append(findings, warn("it is installed for you and for this project; Pi uses one of them", "piwatch uninstall --project"))
	case installed == 0 && missing != nil:
		findings = append([]Finding{*missing}, findings...)
	}
	return findings
}

func bridgeFinding(s bridge.Status, command string) Finding {
	switch s.State {
	case bridge.Current:
		return ok(fmt.Sprintf("%s, of piwatch %s", s.Path, s.Version))
	case bridge.Other:
		return warn(fmt.Sprintf("%s is of another piwatch (%s), or of one elsewhere", s.Path, s.Version), command+", then /reload in Pi")
	case bridge.Edited:
		return fail(s.Path+" was edited after piwatch wrote it", "keep your changes elsewhere, then "+command+" --force")
	}
	return fail(s.Path+" was not written by piwatch, and is in its place", "move it away, then "+command)
}

// otherName is what the names of other watchdogs have in common.
var otherName = regexp.MustCompile(`(?i)watchdog|auto-?continue|keep-?going`)

// lookOthers looks for other extensions that watch too: two watchdogs would both
// ask.
func lookOthers(_ context.Context, w *World) []Finding {
	var found []string
	for _, p := range w.places() {
		settings := filepath.Join(p.dir, "settings.json")
		names, err := settingsNames(settings)
		if err != nil {
			return []Finding{fail(err.Error(), "correct "+settings)}
		}
		for _, name := range names {
			if otherName.MatchString(name) {
				found = append(found, fmt.Sprintf("%s in %s", name, settings))
			}
		}
		files, _ := filepath.Glob(filepath.Join(p.dir, "extensions", "*")) // the pattern is well formed
		for _, file := range files {
			if otherName.MatchString(filepath.Base(file)) {
				found = append(found, file)
			}
		}
	}
	if len(found) == 0 {
		return []Finding{ok("no other watchdog is installed in Pi")}
	}
	slices.Sort(found)
	return []Finding{warn("another watchdog is installed: "+strings.Join(slices.Compact(found), ", "),
		"use one of the two: pi remove takes a package out, or do not start both in one session")}
}

// settingsNames are the packages and extensions that Pi's settings name.
func settingsNames(path string) ([]string, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("read Pi's settings: %w", err)
	}
	var settings struct {
		Packages   []json.RawMessage `json:"packages"`
		Extensions []json.RawMessage `json:"extensions"`
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, nil
	}
	if err := json.Unmarshal(data, &settings); err != nil {
		return nil, fmt.Errorf("read Pi's settings %s: %w", path, err)
	}
	var names []string
	for _, raw := range append(settings.Packages, settings.Extensions...) {
		var name string
		var object struct {
			Source string `json:"source"`
		}
		switch {
		case json.Unmarshal(raw, &name) == nil:
			names = append(names, name)
		case json.Unmarshal(raw, &object) == nil && object.Source != "":
			names = append(names, object.Source)
		}
	}
	return names, nil
}
