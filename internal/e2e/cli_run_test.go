package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"piwatch/internal/watchdog"
)

// Program is the path of the script that starts this Pi, as npm puts it there.
func (p *Pi) Program() string { return filepath.Join(p.Dir, "node_modules", ".bin", "pi") }

// runTask starts piwatch run with the home's Pi.
func (h *Home) runTask(args ...string) *PrintRun {
	h.t.Helper()
	return h.StartPiwatch(append([]string{"run", "--pi", h.Pi.Program()}, args...)...)
}

// lines are the kinds of what a run printed with --json: the type of an object,
// and of a row its kind.
func jsonLines(t *testing.T, out string) (kinds []string, last map[string]any) {
	t.Helper()
	for line := range strings.Lines(out) {
		last = map[string]any{}
		if err := json.Unmarshal([]byte(line), &last); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		kind, _ := last["type"].(string)
		if row, ok := last["row"].(map[string]any); ok {
			kind += " " + row["kind"].(string)
		}
		kinds = append(kinds, kind)
	}
	return kinds, last
}

// TestRun: a task is run to its end without a screen and without an installed
// bridge: progress on stderr, the agent's last text on stdout.
func TestRun(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		h := NewHome(t, pi, HomeOptions{})
		h.Provider.Enqueue(
			Call("bash", map[string]any{"command": "echo hello > made.txt"}), Text("Half of it is done."), decision(watchdog.Continue, "more"),
			Text("All of it is done:\n\tmade.txt"), decision(watchdog.Done, "all there"),
		)
		got := h.runTask("make", "made.txt", "--message", "Mind the tabs.").Wait()
		if got.ExitCode != 0 || got.Stdout != "All of it is done:\n\tmade.txt\n" {
			t.Errorf("status %d, stdout %q", got.ExitCode, got.Stdout)
		}
		for _, want := range []string{"user     make made.txt", "tool     bash echo hello", "check    1/50", "continue - more (folded", "done - all there (folded"} {
			if !strings.Contains(got.Stderr, want) {
				t.Errorf("the progress does not say %q:\n%s", want, got.Stderr)
			}
		}
		if _, err := os.Stat(filepath.Join(h.Project, "made.txt")); err != nil {
			t.Error(err)
		}
		if requests := h.Provider.Requests(); len(requests) != 5 || !requests[3].Contains("Mind the tabs.") {
			t.Errorf("%d requests", len(requests))
		}
		if files, _ := filepath.Glob(filepath.Join(h.Agent, "extensions", "*")); len(files) > 0 {
			t.Errorf("it installed %v", files)
		}
	})
}

// TestRunEnds: each end has its exit code, and its word with --json.
func TestRunEnds(t *testing.T) {
	for _, c := range []struct {
		name    string
		replies []Reply
		args    []string
		code    int
		end     string
		note    string
		result  string
	}{
		{"by itself", []Reply{Text("Done.").Call(watchdog.ToolName, map[string]any{"decision": "done", "note": "at once"})}, nil, 0, "done", "at once", "Done."},
		{"wait_user", []Reply{Text("Which database?"), decision(watchdog.WaitUser, "which database")}, nil, 10, "wait_user", "which database", "Which database?"},
		{"kept, and nobody there", []Reply{Text("Which?"), decision(watchdog.WaitUser, "which")}, []string{"--mode", "keep"}, 10, "wait_user", "which", "Which?"},
		{"cap", []Reply{Text("One."), decision(watchdog.Continue, ""), Text("Two.")}, []string{"--max", "1"}, 11, "max", "", "Two."},
		{"breaker", []Reply{Empty(), Empty(), Empty(), Empty()}, []string{"--timeout", "60"}, 12, "breaker", "in a row", ""},
		{"provider", nil, nil, 12, "error", "no entry", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			EachPi(t, func(t *testing.T, pi *Pi) {
				h := NewHome(t, pi, HomeOptions{})
				if c.replies == nil { // it may be asked once more before the run has ended
					h.Provider.Handle(func(*Request) Reply { return Status(401, `{"error":{"message":"no entry"}}`) })
				}
				h.Provider.Enqueue(c.replies...)
				got := h.runTask(append(c.args, "--json", "do it")...).Wait()
				kinds, end := jsonLines(t, got.Stdout)
				if got.ExitCode != c.code || end["type"] != "end" || end["end"] != c.end || end["code"] != float64(c.code) {
					t.Fatalf("status %d, end %v, stderr %s", got.ExitCode, end, got.Stderr)
				}
				note, _ := end["note"].(string)
				result, _ := end["result"].(string)
				if !strings.Contains(note, c.note) || c.note == "" && note != "" || result != c.result {
					t.Errorf("note %q, result %q", note, result)
				}
				if kinds[0] != "start" || !strings.Contains(strings.Join(kinds, ","), "row user") {
					t.Errorf("printed %v", kinds)
				}
			})
		})
	}
}

// piOf is the process of the Pi that a run with --json has started.
func piOf(t *testing.T, run *PrintRun) int {
	t.Helper()
	line, _, _ := strings.Cut(run.stdout.String(), "\n")
	_, start := jsonLines(t, line)
	pid, _ := start["pid"].(float64)
	if pid < 2 {
		t.Fatalf("no process in %s", line)
	}
	return int(pid)
}

// TestRunStops: one ctrl+c ends the agent and Pi in good order, a second kills
// Pi; and a run that is killed itself leaves no Pi.
func TestRunStops(t *testing.T) {
	for _, c := range []struct {
		name    string
		signals []syscall.Signal
		code    int
	}{
		{"ctrl+c", []syscall.Signal{syscall.SIGINT}, 130},
		{"twice", []syscall.Signal{syscall.SIGINT, syscall.SIGINT}, 130},
		{"SIGTERM", []syscall.Signal{syscall.SIGTERM}, 130},
		{"killed", []syscall.Signal{syscall.SIGKILL}, -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			EachPi(t, func(t *testing.T, pi *Pi) {
				h := NewHome(t, pi, HomeOptions{})
				gate := h.Provider.NewGate("in the answer")
				h.Provider.Enqueue(Text("I am ").Gate(gate).Text("at it."))
				run := h.runTask("--json", "do it")
				gate.WaitReached()
				pid := piOf(t, run)
				for i, sig := range c.signals {
					if i > 0 && !poll(Timeout(), func() bool { return strings.Contains(run.proc.stderr.String(), "once more to kill it") }) {
						t.Fatal("the first ctrl+c was not heard")
					}
					run.Signal(sig)
				}
				got := run.Wait()
				if got.ExitCode != c.code {
					t.Errorf("status %d: %s", got.ExitCode, got.Stderr)
				}
				if !poll(Timeout(), func() bool { return !marked(pid, h.Dir) }) {
					t.Error("Pi was left behind")
				}
				if c.name == "ctrl+c" {
					entries := h.Entries(h.SessionFiles()[0])
					last := entries[len(entries)-1]
					for i := len(entries) - 1; !IsRole("assistant")(last); i-- {
						last = entries[i]
					}
					if last.Str("message.stopReason") != "aborted" {
						t.Errorf("the last answer is %s", last)
					}
				}
			})
		})
	}
}

// TestRunTooLong: a run that takes longer than it may is ended.
func TestRunTooLong(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		h := NewHome(t, pi, HomeOptions{})
		got := h.runTask("--timeout-total", "10ms", "do it").Wait()
		if got.ExitCode != 13 || !strings.Contains(got.Stderr, "piwatch: it took too long: after 10ms") {
			t.Errorf("status %d: %s", got.ExitCode, got.Stderr)
		}
	})
}

// TestRunGoesOn: a run that goes on with a session does not take the end of the one
// before for its own.
func TestRunGoesOn(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		h := NewHome(t, pi, HomeOptions{})
		h.Provider.Enqueue(Text("One."), decision(watchdog.Done, "one"), Text("Two."), decision(watchdog.WaitUser, "two"))
		if got := h.runTask("first").Wait(); got.ExitCode != 0 || got.Text() != "One." {
			t.Errorf("the first: status %d, %q, %s", got.ExitCode, got.Stdout, got.Stderr)
		}
		got := h.runTask("second", "--", "--continue").Wait()
		if got.ExitCode != 10 || got.Text() != "Two." || !strings.Contains(got.Stderr, "the agent needs you: two") {
			t.Errorf("the second: status %d, %q, %s", got.ExitCode, got.Stdout, got.Stderr)
		}
		if strings.Contains(got.Stderr, "user     first") || len(h.SessionFiles()) != 1 {
			t.Errorf("%d sessions, the progress of the second is\n%s", len(h.SessionFiles()), got.Stderr)
		}
	})
}

// TestRunAsSubAgent: an agent may run one of its own by its shell: the result is
// what its tool gets.
func TestRunAsSubAgent(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		h := NewHome(t, pi, HomeOptions{Pis: 2})
		startHub(t, h)
		command := Piwatch(t) + " run --quiet --pi " + pi.Program() + " 'child task'"
		parent := []Reply{Call("bash", map[string]any{"command": command}), Text("My child is done."), decision(watchdog.Done, "all")}
		child := []Reply{Text("The child says this."), decision(watchdog.Done, "child")}
		h.Provider.Handle(func(r *Request) Reply {
			replies := &parent
			if r.Contains("child task") && !r.Contains("parent task") {
				replies = &child
			}
			if len(*replies) == 0 {
				return Status(400, "{}")
			}
			next := (*replies)[0]
			*replies = (*replies)[1:]
			return next
		})
		rpc := watched(t, h, Launch{})
		rpc.Prompt("/watchdog timeout=0")
		rpc.askedTurn("parent task", isOutcome(watchdog.Done))
		file := rpc.SessionFile()
		result := h.WaitEntry(file, "with the result of the child", IsRole("toolResult"))
		rpc.Close()
		if !strings.Contains(result.Text(), "The child says this.") {
			t.Errorf("the tool got %q", result.Text())
		}
		if len(parent)+len(child) > 0 || len(h.SessionFiles()) != 2 {
			t.Errorf("%d and %d answers are left, %d sessions", len(parent), len(child), len(h.SessionFiles()))
		}
	})
}

// TestWaitForAKilledPi: a session whose Pi is gone has ended.
func TestWaitForAKilledPi(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		h := NewHome(t, pi, HomeOptions{})
		startHub(t, h)
		gate := h.Provider.NewGate("the answer")
		h.Provider.Enqueue(Text("I begin."), Text("It is ").Gate(gate).Text("done."))
		rpc := watched(t, h, Launch{})
		rpc.Prompt("/watchdog timeout=86400")
		rpc.Turn("begin") // Pi 0.81.1 writes its file with the first answer: it is found there also when wait comes late
		rpc.Prompt("do it")
		gate.WaitReached()
		run := h.StartPiwatch("wait", rpc.SessionID())
		rpc.Kill()
		if got := run.Wait(); got.ExitCode != 12 || !strings.Contains(got.Stdout, "  gone") {
			t.Errorf("status %d: %s %s", got.ExitCode, got.Stdout, got.Stderr)
		}
	})
}

// TestWait: piwatch wait ends with the session it waits for.
func TestWait(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		h := NewHome(t, pi, HomeOptions{})
		startHub(t, h)
		gate := h.Provider.NewGate("the answer")
		h.Provider.Enqueue(Text("It is ").Gate(gate).Text("done."), decision(watchdog.Done, "all of it"))
		rpc := watched(t, h, Launch{})
		rpc.Prompt("/watchdog timeout=0")
		rpc.Prompt("do it")
		gate.WaitReached()
		run := h.StartPiwatch("wait", "--last", "--json")
		gate.Release()
		got := run.Wait()
		if _, end := jsonLines(t, got.Stdout); got.ExitCode != 0 || end["end"] != "done" || end["note"] != "all of it" {
			t.Errorf("status %d: %s %s", got.ExitCode, got.Stdout, got.Stderr)
		}
		rpc.Close()
	})
}

// TestRunAsks: an agent that needs the user gets an answer from the terminal, and
// goes on.
func TestRunAsks(t *testing.T) {
	RequireTmux(t)
	EachPi(t, func(t *testing.T, pi *Pi) {
		h := NewHome(t, pi, HomeOptions{})
		h.Provider.Enqueue(
			Text("Which database?"), decision(watchdog.WaitUser, "which database"),
			Text("Postgres it is."), decision(watchdog.Done, "set up"),
		)
		pane := h.StartPane("piwatch run", Launch{}, Small, Piwatch(t), "run", "--pi", pi.Program(), "set up the database")
		pane.WaitText("the agent needs you: which database")
		pane.Type("postgres, please")
		pane.Keys("Enter")
		if got := pane.WaitExit(); got != 0 {
			t.Errorf("status %d", got)
		}
		pane.WaitText("Postgres it is.")
		requests := h.Provider.Requests()
		if last := requests[2].Last(); len(requests) != 4 || last.Text != "postgres, please" {
			t.Errorf("%d requests, the third ends with %+v", len(requests), last)
		}
	})
}
