package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"piwatch/internal/config"
	"piwatch/internal/control"
	"piwatch/internal/pi"
)

// hubTimeout is how long the hub may take to answer.
const hubTimeout = 5 * time.Second

// hinted is an error that knows what to do.
type hinted interface{ Hint() string }

func hintOf(err error) string {
	var h hinted
	if errors.As(err, &h) {
		return h.Hint()
	}
	return ""
}

func lookHub(ctx context.Context, w *World) []Finding {
	ctx, cancel := context.WithTimeout(ctx, hubTimeout)
	defer cancel()
	client, err := w.Dial(ctx)
	switch {
	case errors.Is(err, control.ErrNoHub):
		return []Finding{ok("no hub runs; it is started when it is needed")}
	case errors.Is(err, control.ErrDeadHub):
		return []Finding{ok("a hub was killed; the next one is started when it is needed")}
	case err != nil:
		return []Finding{fail(err.Error(), cmp.Or(hintOf(err), "piwatch hub run says more"))}
	}
	defer client.Close()
	findings := []Finding{ok(fmt.Sprintf("piwatch %s, pid %d", client.Hub.Hub, client.Hub.Pid))}
	if client.Hub.Hub != w.Version {
		findings[0] = warn(fmt.Sprintf("the hub is of piwatch %s, pid %d", client.Hub.Hub, client.Hub.Pid), "piwatch hub stop; the next is of this one")
	}
	sessions, err := client.Sessions(ctx)
	if err != nil {
		return append(findings, fail(err.Error(), "piwatch hub stop; the next start brings a new one"))
	}
	for _, s := range sessions {
		findings = append(findings, sessionFinding(s, w.Version))
	}
	return findings
}

// sessionFinding is about a session with a bridge.
func sessionFinding(s control.Session, version string) Finding {
	text := fmt.Sprintf("session %s in %s: Pi %s, pid %d, bridge %s", s.ID, s.Cwd, orUnknown(s.Pi), s.Pid, orUnknown(s.Bridge))
	switch {
	case s.Other != "":
		return warn(text+": "+s.Other, "use one of the two watchdogs in this session")
	case s.Bridge != "" && s.Bridge != version:
		return warn(text+": of another piwatch", "/reload in that Pi")
	}
	return ok(text)
}

func orUnknown(text string) string {
	if text == "" {
		return "of an unknown version"
	}
	return text
}

func lookSocket(_ context.Context, w *World) []Finding {
	path, err := control.SocketPath(w.Env)
	if err != nil {
		return []Finding{fail(err.Error(), "set PIWATCH_SOCKET, for Pi and for piwatch")}
	}
	if info, err := os.Stat(filepath.Dir(path)); err == nil && !info.IsDir() {
		return []Finding{fail(filepath.Dir(path)+" is not a folder, and the socket is to be in it", "move it away, or set PIWATCH_SOCKET")}
	}
	findings := []Finding{ok(path)}
	if w.Env("PIWATCH_SOCKET") == "" && w.Env("XDG_RUNTIME_DIR") == "" {
		findings[0].Text += " (XDG_RUNTIME_DIR is not set)"
	}
	for _, want := range []struct {
		path string
		mode fs.FileMode
	}{{filepath.Dir(path), 0o700}, {path, 0o600}} {
		if f, bad := modeFinding(want.path, want.mode); bad {
			findings = append(findings, f)
		}
	}
	return findings
}

// modeFinding is about a file that is for its owner only. One that is not there
// yet is fine.
func modeFinding(path string, mode fs.FileMode) (Finding, bool) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Finding{}, false
	case err != nil:
		return fail(err.Error(), "see who owns it: ls -ld "+path), true
	case info.Mode().Perm()&^mode != 0:
		return fail(fmt.Sprintf("%s has mode %03o: others may use it", path, info.Mode().Perm()), fmt.Sprintf("chmod %o %s", mode, path)), true
	}
	return Finding{}, false
}

func lookFolders(_ context.Context, w *World) []Finding {
	var findings []Finding
	state, err := config.StateDir(w.Env)
	if err != nil {
		return []Finding{fail(err.Error(), "set HOME")}
	}
	findings = append(findings, writable("state", state))
	crash := filepath.Join(state, "hub-crash.log")
	if info, err := os.Stat(crash); err == nil && info.Size() > 0 {
		findings = append(findings, warn("a hub crashed, the last time "+info.ModTime().Format(time.DateTime), "read "+crash+", report it, and remove the file"))
	}
	agent := pi.AgentDir(w.Env, w.Home)
	if _, err := os.Stat(agent); errors.Is(err, fs.ErrNotExist) {
		findings = append(findings, warn("Pi's agent folder "+agent+" is not there yet", "start Pi once, or set PI_CODING_AGENT_DIR"))
	} else {
		findings = append(findings, writable("Pi's agent folder", agent))
	}
	dirs, err := pi.SessionDirs(w.Env, w.Home, w.Cwd)
	if err != nil {
		findings = append(findings, fail(err.Error(), "correct that file; Pi does not read it either"))
	}
	files, err := pi.List(dirs)
	var names []string
	for _, d := range dirs {
		names = append(names, d.Path)
	}
	text := fmt.Sprintf("%d session files in %s", len(files), strings.Join(names, ", "))
	if err != nil {
		return append(findings, fail(err.Error(), "see who owns it: ls -ld "+names[0]))
	}
	return append(findings, ok(text))
}

// writable says whether files can be made in a folder. Nothing is written.
func writable(what, dir string) Finding {
	at := dir
	for {
		info, err := os.Stat(at)
		switch {
		case err == nil && !info.IsDir():
			return fail(fmt.Sprintf("%s: %s is not a folder", what, at), "move it away")
		case err == nil:
			if !mayWrite(at) {
				return fail(fmt.Sprintf("%s: nothing can be written in %s", what, at), "see who owns it: ls -ld "+at)
			}
			return ok(what + ": " + dir)
		case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) || at == filepath.Dir(at):
			return fail(fmt.Sprintf("%s: %v", what, err), "see who owns it: ls -ld "+at)
		}
		at = filepath.Dir(at) // it is made when it is needed
	}
}

func lookConfig(_ context.Context, w *World) []Finding {
	file, problems := w.Config()
	if len(problems) == 0 {
		return []Finding{ok(file)}
	}
	var findings []Finding
	for _, p := range problems {
		findings = append(findings, warn(p, "piwatch config edit"))
	}
	return findings
}
