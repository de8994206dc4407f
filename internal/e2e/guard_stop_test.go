package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"piwatch/internal/guard"
	"piwatch/internal/watchdog"
)

// guardRows are the rows of the guard in a session file: records by their event
// and counts, messages as "message".
func guardRows(h *Home, file string) []string {
	var all []string
	for _, e := range h.Entries(file) {
		switch {
		case e.Str("customType") != guard.Type:
		case e.Type() == "custom_message":
			all = append(all, "message")
		default:
			all = append(all, fmt.Sprintf("%s %v/%v", e.Str("data.event"), e.Get("data.row"), e.Get("data.total")))
		}
	}
	return all
}

// urged is what the guard leaves for continuations with these counts.
func urged(counts ...string) []string {
	var all []string
	for _, c := range counts {
		all = append(all, "continued "+c, "message")
	}
	return all
}

func wantRoles(t *testing.T, h *Home, want ...string) {
	t.Helper()
	var got []string
	for _, r := range h.Provider.Requests() {
		got = append(got, r.Roles())
	}
	wantLines(t, "requests", got, want...)
}

// breakerNotice waits for the notice in Pi.
func (r *RPC) breakerNotice() {
	r.home.t.Helper()
	r.WaitNotification("of the breaker", func(n Notification) bool {
		return n.Level == "warning" && strings.Contains(n.Text, "The guard's breaker tripped")
	})
}

// TestSilentStops: one request and three continuations in one run, then one
// notice, and nothing more until the user speaks.
func TestSilentStops(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		h := NewHome(t, pi, HomeOptions{Reasoning: true})
		startHub(t, h)
		h.Provider.Enqueue(Thinking("I only think."), Empty(), Text("<think>hm</think>\u200b"), Text(" \n"), Text("I am here."))
		rpc := watched(t, h, Launch{})
		file := rpc.SessionFile()
		rpc.Turn("work")
		rpc.breakerNotice()
		wantRequests(t, h, 4)
		rows := append(urged("1/1", "2/2", "3/3"), "tripped 3/3")
		wantLines(t, "rows of the guard", guardRows(h, file), rows...)
		for i, r := range h.Provider.Requests()[1:] {
			if last := r.Last(); last.Role != "user" || !strings.Contains(last.Text, "Take the next action now") {
				t.Errorf("continuation %d is %s %q", i+1, last.Role, last.Text)
			}
		}
		rpc.Turn("are you there?")
		rpc.Close()
		wantRequests(t, h, 5)
		wantLines(t, "rows of the guard", guardRows(h, file), rows...)
	})
}

// TestSilentStopsAreOneRun: Pi settles once, whatever the guard sent before.
func TestSilentStopsAreOneRun(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		h := NewHome(t, pi, HomeOptions{})
		startHub(t, h)
		h.Provider.Enqueue(Empty(), Empty(), Text("Done."))
		result := h.JSON(Launch{Extensions: []string{bridgeFile(t)}}, "work")
		events, err := result.Events()
		if err != nil || result.ExitCode != 0 {
			t.Fatalf("status %d, %v: %s", result.ExitCode, err, result.Stderr)
		}
		settled := 0
		for _, e := range events {
			if e.Type() == "agent_settled" {
				settled++
			}
		}
		if settled != 1 {
			t.Errorf("Pi settled %d times", settled)
		}
		wantRequests(t, h, 3)
	})
}

// TestWordsEndARow: a visible word, or a tool call, in between begins a new row.
func TestWordsEndARow(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		h := NewHome(t, pi, HomeOptions{})
		startHub(t, h)
		h.Provider.Enqueue(
			Empty(), Empty(), Text("There is more."), // the user's message resets all: the word shows in the next run
			Empty(), Empty(), Call("bash", map[string]any{"command": "echo hi"}), Empty(), Empty(), Empty(), Empty(),
		)
		rpc := watched(t, h, Launch{})
		file := rpc.SessionFile()
		rpc.Turn("work")
		rpc.Turn("go on")
		rpc.breakerNotice()
		rpc.Close()
		wantRequests(t, h, 10)
		rows := append(urged("1/1", "2/2"), "moved 0/2")
		rows = append(rows, urged("1/1", "2/2")...)
		rows = append(rows, "moved 0/2")
		rows = append(rows, urged("1/3", "2/4", "3/5")...)
		wantLines(t, "rows of the guard", guardRows(h, file), append(rows, "tripped 3/5")...)
	})
}

// TestSilentStopsInPrintMode: the guard works where nobody is there, and the
// result is the agent's last word.
func TestSilentStopsInPrintMode(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		for _, env := range []string{"PI_WATCHDOG=0", "PI_WATCHDOG=1"} {
			t.Run(env, func(t *testing.T) {
				h := NewHome(t, pi, HomeOptions{})
				startHub(t, h)
				h.Provider.Enqueue(Empty(), Empty(), Text("Done after all."), decision(watchdog.Done, ""))
				result := h.Print(Launch{Extensions: []string{bridgeFile(t)}, Env: []string{env}}, "work")
				if result.ExitCode != 0 || result.Text() != "Done after all." {
					t.Errorf("status %d, result %q: %s", result.ExitCode, result.Text(), result.Stderr)
				}
				// Pi leaves empty answers out of its requests.
				roles := []string{"system user", "system user user", "system user user user"}
				if env == "PI_WATCHDOG=1" {
					roles = append(roles, "system user user user assistant user")
				}
				wantRoles(t, h, roles...)
			})
		}
	})
}

// TestNoSilentStopNoTrace: a session without one has the same requests, byte by
// byte, as with the guard off, and nothing of it in the file.
func TestNoSilentStopNoTrace(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		h := NewHome(t, pi, HomeOptions{Reasoning: true})
		startHub(t, h)
		var runs [2][]*Request
		for i, env := range []string{"PI_WATCHDOG_GUARD=1", "PI_WATCHDOG_GUARD=0"} {
			h.Provider.Enqueue(
				Thinking("look first").Call("bash", map[string]any{"command": "echo hi"}), Thinking("hm").Text("Done."),
				Text("and th").Finish("length").Usage(Usage{Input: 100, Output: 16_384}),
				Text("Yes."),
			)
			rpc := watched(t, h, Launch{Env: []string{env}})
			file := rpc.SessionFile()
			for _, text := range []string{"work", "more", "sure?"} {
				rpc.Turn(text)
			}
			rpc.Close()
			if rows := guardRows(h, file); len(rows) > 0 {
				t.Errorf("%s: the file holds %v", env, rows)
			}
			runs[i] = h.Provider.Take()
		}
		if len(runs[0]) != 4 || len(runs[1]) != 4 {
			t.Fatalf("%d and %d requests, want 4 each", len(runs[0]), len(runs[1]))
		}
		for i := range runs[0] {
			SameBytes(t, runs[0][i].Body, runs[1][i].Body)
		}
	})
}

// TestGuardCommand: /guard in Pi, and what it says is in the session file.
func TestGuardCommand(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		h := NewHome(t, pi, HomeOptions{})
		startHub(t, h)
		h.Provider.Enqueue(Empty(), Empty(), Empty(), Empty(), Empty(), Text("Well."))
		rpc := watched(t, h, Launch{})
		file := rpc.SessionFile()
		says := func(word, want string) {
			t.Helper()
			rpc.Prompt("/guard " + word)
			rpc.WaitNotification(want, func(n Notification) bool { return strings.Contains(n.Text, want) })
		}
		if !slices.Contains(rpc.Commands(), "guard") {
			t.Errorf("the commands are %v", rpc.Commands())
		}
		says("status", "Guard: on.")
		rpc.Turn("work")
		says("status", "Breaker: tripped")
		says("reset", "Guard reset")
		says("off", "Guard turned off")
		rpc.Turn("work")
		wantRequests(t, h, 5)
		says("on", "Guard turned on")
		rpc.Turn("work")
		rpc.Close()
		wantRequests(t, h, 6)
		wantLines(t, "rows of the guard", guardRows(h, file), append(urged("1/1", "2/2", "3/3"), "tripped 3/3", "reset 0/0", "off 0/0", "on 0/0")...)
	})
}
