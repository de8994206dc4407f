package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"piwatch/internal/pi"
)

// piDir is the folder that holds Pi's extensions folder.
func (a *app) piDir(flags installFlags) (string, error) {
	switch {
	case flags.project:
		cwd, err := workDir()
		return filepath.Join(cwd, ".pi"), err
	case flags.pi != "":
		return a.agentDirOf(flags.pi)
	}
	dir := pi.AgentDir(a.env, a.env("HOME"))
	if !filepath.IsAbs(dir) {
		return "", fmt.Errorf("no agent folder of Pi: %q is not an absolute path; set HOME or %s", dir, pi.EnvAgentDir)
	}
	return dir, nil
}

// agentDirOf is the agent folder of a Pi: the folder itself, or that of a
// program.
func (a *app) agentDirOf(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return "", &refusedError{"no Pi at " + path, "--pi takes the agent folder of a Pi, or its program"}
	case info.IsDir():
		return path, nil
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return "", err
	}
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		agent, found, err := a.agentDirIn(filepath.Join(dir, "package.json"))
		if found || err != nil {
			return agent, err
		}
		if dir == filepath.Dir(dir) {
			return "", &refusedError{path + " is no Pi: there is no package.json of one above it", "--pi takes the agent folder of a Pi, or its program"}
		}
	}
}

// agentDirIn reads from the package.json of a Pi, or of one under another name,
// where its agent folder is: Pi 0.81.1 and 1.6.0 read the name of their folder and
// of their variable from there.
func (a *app) agentDirIn(file string) (dir string, found bool, err error) {
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	} else if err != nil {
		return "", false, err
	}
	var manifest struct {
		Pi *struct {
			Name      string `json:"name"`
			ConfigDir string `json:"configDir"`
		} `json:"piConfig"`
	}
	if json.Unmarshal(data, &manifest) != nil || manifest.Pi == nil {
		return "", false, nil // another package's, on the way up
	}
	name, folder := "pi", ".pi"
	if manifest.Pi.Name != "" {
		name = manifest.Pi.Name
	}
	if manifest.Pi.ConfigDir != "" {
		folder = manifest.Pi.ConfigDir
	}
	if dir := a.env(strings.ToUpper(name) + "_CODING_AGENT_DIR"); filepath.IsAbs(dir) {
		return dir, true, nil
	}
	home := a.env("HOME")
	if !filepath.IsAbs(home) {
		return "", false, errors.New("HOME is not set to an absolute path")
	}
	return filepath.Join(home, folder, "agent"), true, nil
}
