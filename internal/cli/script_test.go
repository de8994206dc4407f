package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"piwatch/internal/control"
	"piwatch/internal/demo"
	"piwatch/internal/watchdog"
)

// testVersion is the release that piwatch plays in the scripts.
const testVersion = "1.2.3"

// scriptTimeout ends a wait that hangs; nothing is expected to take that long.
const scriptTimeout = 30 * time.Second

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"piwatch": func() { os.Exit(Main(Build{Version: testVersion, Commit: "0123abc", Date: "2026-03-01T08:00:00Z"})) }})
}

// TestScripts runs the scripts of testdata/script, each in a home of its own.
// Beside testscript's commands they use:
//
//	exits CODE piwatch ARGS…   runs a command that must end with that code
//	await-hub                  waits until a hub answers
//	pi NAME FOLDER WORD…       starts a stand-in for Pi in a folder, lets it finish a run, puts its session id into $NAME
//	                           and its file into $NAME_FILE. The words: user:MESSAGE is what the user says at first, the
//	                           others what the agent answers next: done:NOTE, continue:NOTE, wait_user:NOTE, or a text
//	await-phase PHASE NAME     waits until the hub says so of that session
//
// and the condition completes:SHELL.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Deadline:            time.Now().Add(2 * time.Minute),
		Setup:               setUp,
		Condition:           completes,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":     exits,
			"await-hub": awaitHub,
			"pi":        startPi,

			"await-phase": awaitPhase,
		},
	})
}

func setUp(env *testscript.Env) error {
	// The socket's path must be short, and the script's folder is not.
	run, err := os.MkdirTemp("", "pw")
	if err != nil {
		return err
	}
	env.Defer(func() { _ = os.RemoveAll(run) })
	home := filepath.Join(env.WorkDir, "home")
	for key, value := range map[string]string{
		"HOME":                home,
		"XDG_CONFIG_HOME":     "",
		"XDG_STATE_HOME":      "",
		"XDG_RUNTIME_DIR":     "",
		"PIWATCH_SOCKET":      filepath.Join(run, "hub.sock"),
		"PI_CODING_AGENT_DIR": "",
		"PI_CODING_AGENT":     "",
		"PI_SESSION_ID":       "",
		"GORACE":              "atexit_sleep_ms=0", // else each command takes a second longer
	} {
		env.Setenv(key, value)
	}
	return os.Mkdir(home, 0o700)
}

// bashCompletion is what the completion of bash builds on; the scripts name it too.
const bashCompletion = "/usr/share/bash-completion/bash_completion"

// completes says whether a shell is here, with what its completion needs. Without
// it the script is skipped, with one line that stands out: piwatch needs none.
func completes(condition string) (bool, error) {
	shell, ok := strings.CutPrefix(condition, "completes:")
	if !ok {
		return false, fmt.Errorf("no condition %q", condition)
	}
	_, err := exec.LookPath(shell)
	if err == nil && shell == "bash" {
		_, err = os.Stat(bashCompletion)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "!!! TestScripts/complete-%s SKIPPED: %v\n", shell, err)
	}
	return err == nil, nil
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND ARGS…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	err = ts.Exec(args[1], args[2:]...)
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

func awaitHub(ts *testscript.TestScript, _ bool, _ []string) {
	ctx, cancel := context.WithTimeout(context.Background(), scriptTimeout)
	defer cancel()
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for {
		client, err := control.DialClient(ctx, ts.Getenv("PIWATCH_SOCKET"), testVersion, "test")
		if err == nil {
			ts.Check(client.Close())
			return
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			ts.Fatalf("no hub: %v", err)
		}
	}
}

func startPi(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: pi NAME FOLDER WORD…")
	}
	message, replies := "Do it.", args[2:]
	if len(replies) > 0 && strings.HasPrefix(replies[0], "user:") {
		message, replies = strings.TrimPrefix(replies[0], "user:"), replies[1:]
	}
	ctx, cancel := context.WithTimeout(context.Background(), scriptTimeout)
	defer cancel()
	p, err := demo.New(context.Background(), demo.Setup{
		Socket:   ts.Getenv("PIWATCH_SOCKET"),
		Sessions: filepath.Join(ts.Getenv("HOME"), ".pi", "agent", "sessions"),
		Cwd:      ts.MkAbs(args[1]),
		// A name is foreign text: it must not reach the terminal as it is.
		Name:   args[0] + " \x1b[31mred\x1b[0m",
		Script: demo.Answers(append([]demo.Answer{demo.Say("That is a beginning.")}, answers(replies)...)...),
	})
	ts.Check(err)
	ts.Defer(func() { ts.Check(p.Quit()) })
	ts.Check(p.Wait(ctx, func(s demo.State) bool { return s.Connected }))
	p.Prompt(message)
	ts.Check(p.Wait(ctx, demo.Settled(1)))
	awaitSession(ts, p.Session(), "settled", func(s control.Session) bool { return s.Facts.Settle > 0 })
	ts.Setenv(args[0], p.Session())
	ts.Setenv(args[0]+"_FILE", p.File())
}

func answers(texts []string) []demo.Answer {
	var all []demo.Answer
	for _, text := range texts {
		decision, note, found := strings.Cut(text, ":")
		if found && watchdog.Decision(decision).Valid() {
			all = append(all, demo.Decide(decision, note))
		} else {
			all = append(all, demo.Say(text))
		}
	}
	return all
}

func awaitPhase(ts *testscript.TestScript, _ bool, args []string) {
	awaitSession(ts, ts.Getenv(args[1]), args[0], func(s control.Session) bool { return string(s.Watch.Phase) == args[0] })
}

// awaitSession waits until the hub says of a session what is wanted.
func awaitSession(ts *testscript.TestScript, id, what string, wanted func(control.Session) bool) {
	ctx, cancel := context.WithTimeout(context.Background(), scriptTimeout)
	defer cancel()
	client, err := control.DialClient(ctx, ts.Getenv("PIWATCH_SOCKET"), testVersion, "test")
	ts.Check(err)
	defer client.Close()
	sessions, pushes, err := client.Watch(ctx)
	ts.Check(err)
	is := func(s control.Session) bool { return s.ID == id && wanted(s) }
	if slices.ContainsFunc(sessions, is) {
		return
	}
	for push := range pushes {
		if push.Session != nil && is(*push.Session) {
			return
		}
	}
	ts.Fatalf("%s is not %s", id, what)
}
