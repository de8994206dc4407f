package pi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// Environment variables that Pi reads.
const (
	EnvAgentDir   = "PI_CODING_AGENT_DIR"
	EnvSessionDir = "PI_CODING_AGENT_SESSION_DIR"
)

// Sources of a session folder, in the order in which they win.
const (
	FromFlag     = "--session-dir"
	FromEnv      = EnvSessionDir
	FromProject  = "project settings"
	FromSettings = "user settings"
	FromDefault  = "default"
)

// Dir is a folder that holds session files.
type Dir struct {
	Path string
	// Flat says that Pi puts the files right into the folder. The default
	// folder has one folder below it for each working directory.
	Flat bool
	// Source is one of the From constants.
	Source string
}

// AgentDir is Pi's agent folder: PI_CODING_AGENT_DIR, or ~/.pi/agent.
func AgentDir(env func(string) string, home string) string {
	if dir := env(EnvAgentDir); dir != "" {
		return expandPath(dir, home)
	}
	return filepath.Join(home, ".pi", "agent")
}

// SessionDirs are the folders in which sessions of a Pi that is started in cwd
// are found. The first is where such a Pi writes: the value of --session-dir
// if one is given, else PI_CODING_AGENT_SESSION_DIR, else sessionDir from
// cwd/.pi/settings.json, which Pi reads before it asks whether the project is
// trusted, else from the agent folder's settings.json (both; an empty value in
// the project's file brings the default back). Those are flat, and relative
// ones belong to cwd. The others follow, without repetition, the default
// folder last: earlier sessions may be there.
//
// A settings file that cannot be read or parsed is an error that names it; the
// folders are those that Pi uses then, without it.
func SessionDirs(env func(string) string, home, cwd string, flag ...string) ([]Dir, error) {
	agentDir := absolute(AgentDir(env, home), cwd)
	project, projectSet, projectErr := settingsSessionDir(filepath.Join(absolute(cwd, ""), ".pi", "settings.json"))
	user, _, userErr := settingsSessionDir(filepath.Join(agentDir, "settings.json"))
	if projectSet {
		user = ""
	}
	var dirs []Dir
	add := func(path, source string, flat bool) {
		path = absolute(expandPath(path, home), cwd)
		for _, d := range dirs {
			if d.Path == path {
				return
			}
		}
		dirs = append(dirs, Dir{Path: path, Flat: flat, Source: source})
	}
	for _, value := range flag {
		if value != "" {
			add(value, FromFlag, true)
		}
	}
	if value := env(EnvSessionDir); value != "" {
		add(value, FromEnv, true)
	}
	if project != "" {
		add(project, FromProject, true)
	}
	if user != "" {
		add(user, FromSettings, true)
	}
	add(filepath.Join(agentDir, "sessions"), FromDefault, false)
	return dirs, errors.Join(projectErr, userErr)
}

// settingsSessionDir reads sessionDir from a settings file. A missing file is
// no error.
func settingsSessionDir(path string) (dir string, set bool, err error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	if err != nil {
		return "", false, fmt.Errorf("read Pi's settings: %w", err)
	}
	var settings struct {
		SessionDir *string `json:"sessionDir"`
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if len(data) == 0 {
		return "", false, nil
	}
	if err := json.Unmarshal(data, &settings); err != nil {
		return "", false, fmt.Errorf("read Pi's settings %s: %w", path, err)
	}
	if settings.SessionDir == nil {
		return "", false, nil
	}
	return *settings.SessionDir, true, nil
}

// FolderName is the name of the folder in the default session folder that
// holds the sessions of a working directory. Two directories may share one:
// /a/b and /a-b do.
func FolderName(cwd string) string {
	cwd = absolute(cwd, "")
	if strings.HasPrefix(cwd, "/") || strings.HasPrefix(cwd, `\`) {
		cwd = cwd[1:]
	}
	return "--" + strings.NewReplacer("/", "-", `\`, "-", ":", "-").Replace(cwd) + "--"
}

// expandPath resolves what Pi resolves in a path from the outside: a leading
// ~ and file: URLs. "~name" is left as it is.
func expandPath(path, home string) string {
	switch {
	case path == "~":
		return home
	case strings.HasPrefix(path, "~/"):
		return filepath.Join(home, path[2:])
	case strings.HasPrefix(path, "file://"):
		if u, err := url.Parse(path); err == nil && u.Path != "" {
			return filepath.FromSlash(u.Path)
		}
	}
	return path
}

// absolute cleans a path and puts a relative one below base.
func absolute(path, base string) string {
	if base != "" && !filepath.IsAbs(path) {
		path = filepath.Join(base, path)
	}
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return filepath.Clean(path)
}
