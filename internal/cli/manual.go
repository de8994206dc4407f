package cli

import (
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"piwatch/internal/bridge"
	"piwatch/internal/config"
	"piwatch/internal/control"
	"piwatch/internal/pi"
	"piwatch/ui"
)

// Section is a part of the man page of piwatch, beside its commands.
type Section struct {
	Title   string
	Intro   string // "" for none
	Entries []Entry
}

// Entry is a name and what it is. What is typed stands in backticks in the text.
type Entry struct {
	Group string // a heading above it and the next of the same
	Name  string
	Text  string
}

// Root is the command line as it is documented: it is not to be run.
func Root(b Build) *cobra.Command {
	a := &app{version: b.Version, build: b, env: func(string) string { return "" }}
	root := a.root()
	root.Long = about // the manual has the exit codes
	return root
}

// Manual are the sections, from the tables that the program itself goes by.
func Manual() []Section {
	return []Section{
		{"Keys", "Those of the screen. The word in brackets is the name of what a key does, by which the table `[keys]` of the settings gives it others.", manualKeys()},
		{"Environment", "Those that begin with `PI_WATCHDOG` count in the environment of Pi.", manualEnvironment()},
		{"Files", "", manualFiles()},
		{"Exit status", "", manualExit()},
	}
}

func manualKeys() []Entry {
	var all []Entry
	for _, k := range ui.Reference(true) {
		all = append(all, Entry{k.Group, strings.Join(k.Keys, ", "), k.About + " (`" + strings.Join(k.IDs, "`, `") + "`)"})
	}
	return all
}

func manualExit() []Entry {
	var all []Entry
	for _, c := range exitCodes {
		all = append(all, Entry{Name: strconv.Itoa(c.code), Text: c.meaning})
	}
	return all
}

// variables are those of the environment that are no setting's; the README has
// the same table.
var variables = []Entry{
	{"", "PI_WATCHDOG", "`1`: start with the defaults in every session this Pi opens, also one that it resumes; else a settings line; `0` or empty: off. It counts once the agent has finished a run"},
	{"", "PI_WATCHDOG_ON_STOP", "a shell command for when it stops: `done`, `wait_user`, `max`; and for when the guard's breaker trips: `breaker`. It gets `PIWATCH_EVENT`, `PIWATCH_NOTE`, `PIWATCH_SESSION_ID`, `PIWATCH_SESSION_FILE`, `PIWATCH_CWD`, `PIWATCH_NUDGES` (checks, or what the guard sent, since your last message). In the config: `on_stop` in the table `[watchdog]`"},
	{"", "PI_WATCHDOG_SUPERVISOR", "`1`: the session has the tools of a supervising agent"},
	{"", "PI_WATCHDOG_ROLLBACK", "`1`: an exchange that has ended is also taken off Pi's branch, and so off its screen. In the config: `rollback = true`"},
	{"", "PI_WATCHDOG_GUARD", "`0`: no guard, unless it is turned on in the session; `1`: the guard, also where the config turns it off. In the config: `on = false` in the table `[guard]`"},
	{"", envPi, "the program of Pi, for `piwatch run` and `doctor`; else `pi` in `PATH`"},
	{"", "PIWATCH_SOCKET", "another place for the hub's socket; the same for Pi and for piwatch"},
	{"", pi.EnvAgentDir, "Pi's agent folder, where the bridge goes; else `~/.pi/agent`"},
	{"", pi.EnvSessionDir, "where Pi keeps its sessions; else `sessions` in its agent folder"},
	{"", "PI_SESSION_ID, PI_CODING_AGENT", "set by Pi for its tools: there piwatch only reads, since an agent must not steer its own watchdog"},
	{"", "XDG_CONFIG_HOME, XDG_STATE_HOME, XDG_RUNTIME_DIR", "other places for piwatch's files: the settings, the log, the socket"},
	{"", "VISUAL, EDITOR, PAGER", "the programs that edit and show texts; else `vi` and `less`"},
	{"", "NO_COLOR", "anything: no colours"},
}

func manualEnvironment() []Entry {
	all := append([]Entry{}, variables...)
	for _, s := range config.Reference() {
		if s.Env != "" {
			all = append(all, Entry{Name: s.Env, Text: s.What + ". In the config: `" + s.Name() + "`"})
		}
	}
	return all
}

// manualFiles names the files as the program finds them, for a user with nothing
// else set.
func manualFiles() []Entry {
	env := func(name string) string { return map[string]string{"HOME": "/~"}[name] }
	agent := pi.AgentDir(env, env("HOME"))
	at := func(find func(func(string) string) (string, error)) string {
		path, _ := find(env) // there is a HOME
		return path
	}
	all := []Entry{
		{"", at(config.File), "the settings: `piwatch config`"},
		{"", filepath.Join(at(config.ThemeDir), "*.toml"), "themes of your own"},
		{"", at(config.HubLog), "the log of the hub: `piwatch hub log`"},
		{"", at(config.GatewayState), "the gateway's port and key, and for which providers it is on"},
		{"", at(control.SocketPath), "the hub's socket; `$XDG_RUNTIME_DIR/piwatch/hub.sock` where that is set"},
		{"", bridge.Path(agent), "the bridge: `piwatch install`"},
		{"", filepath.Join(agent, "sessions"), "Pi's session files, which are the record of all that piwatch did"},
		{"", config.ProjectSupervisor(""), "the supervisor's settings of a project: `piwatch config schema`"},
	}
	for i := range all {
		all[i].Name = strings.TrimPrefix(all[i].Name, "/")
	}
	return all
}
