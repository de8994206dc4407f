package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"piwatch/internal/bridge"
	"piwatch/internal/watchdog"
)

// TestGuardLimitsLast: neither the death of the hub nor that of Pi resets what
// the guard has counted; the user's message does.
func TestGuardLimitsLast(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		h := NewHome(t, pi, HomeOptions{})
		installBridge(t, h)
		gate := h.Provider.NewGate("the third answer")
		h.Provider.Enqueue(Empty(), Empty(), Reply{}.Gate(gate), Empty(), Empty(), Empty(), Text("Here."))
		rpc := h.StartRPC(Launch{})
		defer stopHub(t, h)
		file := rpc.SessionFile()
		rpc.Prompt("work")
		gate.WaitReached()
		old := hubPID(t, h)
		kill(t, old)
		waitHub(t, h, old)
		says := func(r *RPC, want string) {
			t.Helper()
			if !poll(Timeout(), func() bool {
				r.Prompt("/guard status")
				return strings.Contains(r.WaitNotification("of /guard", func(n Notification) bool { return strings.Contains(n.Text, "uard") }).Text, want)
			}) {
				t.Fatalf("/guard status does not say %q", want)
			}
		}
		says(rpc, "in a row: 2 of 3")
		gate.Release()
		rpc.WaitSettled()
		rpc.breakerNotice()
		wantRequests(t, h, 4)
		rpc.Kill()

		again := h.StartRPC(Launch{Args: []string{"--continue"}})
		says(again, "Breaker: tripped")
		again.Turn("are you there?")
		again.Close()
		wantRequests(t, h, 7) // the user spoke: two silent stops, and a word
		wantLines(t, "rows of the guard", guardRows(h, file),
			append(append(urged("1/1", "2/2", "3/3"), "tripped 3/3"), append(urged("1/1", "2/2"), "moved 0/2")...)...)
	})
}

// TestSilentStopBeforeTheHub: a hub that is still being started when the first run
// ends is waited for.
func TestSilentStopBeforeTheHub(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		h := NewHome(t, pi, HomeOptions{})
		now, late := filepath.Join(h.Dir, "now"), filepath.Join(h.Dir, "late")
		script := fmt.Sprintf("#!/bin/sh\nuntil [ -e '%s' ]; do [ -d '%s' ] || exit 1; sleep 0.05; done\nexec '%s' \"$@\"\n", now, h.Dir, Piwatch(t))
		if err := os.WriteFile(late, []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
		if _, _, err := bridge.Install(h.Agent, late, "0.0.0-test", false); err != nil {
			t.Fatal(err)
		}
		h.Provider.Enqueue(Empty(), Text("Here."))
		rpc := h.StartRPC(Launch{})
		defer stopHub(t, h)
		file := rpc.SessionFile()
		rpc.Prompt("work")
		rpc.WaitEvent("the end of the turn", IsType("turn_end"))
		if err := os.WriteFile(now, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		rpc.WaitSettled()
		rpc.Close()
		wantRequests(t, h, 2)
		wantLines(t, "rows of the guard", guardRows(h, file), append(urged("1/1"), "moved 0/1")...)
	})
}

// TestGuardAndWatchdogTakeTurns: one message for one stop. The guard comes
// first, within the run; the countdown begins when it has no more to say, and
// in a check the guard is silent.
func TestGuardAndWatchdogTakeTurns(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		h := NewHome(t, pi, HomeOptions{})
		startHub(t, h)
		h.Provider.Enqueue(
			Empty(), Text("Half of it."), // the guard is enough
			Empty(),                            // silent in the check: no answer
			decision(watchdog.Continue, ""),    // asked again
			Empty(), Empty(), Empty(), Empty(), // silent at work: the guard, to its limit
			decision(watchdog.Done, "all"),
		)
		rpc := watched(t, h, Launch{})
		file := rpc.SessionFile()
		rpc.Prompt("/watchdog timeout=0")
		rpc.Prompt("work")
		rpc.status("")
		rpc.breakerNotice()
		rpc.Close()
		wantRequests(t, h, 9)
		wantLines(t, "outcomes", outcomes(h, file),
			"no_answer: no call of the tool", "answered: continue", "answered: done: all")
		rows := append(urged("1/1"), "moved 0/1")
		wantLines(t, "rows of the guard", guardRows(h, file), append(append(rows, urged("1/2", "2/3", "3/4")...), "tripped 3/4")...)
	})
}

// TestCutAnswerGoesOn: an answer that the token limit cut leads to a work
// message without a check, which counts like one; the guard leaves it alone.
func TestCutAnswerGoesOn(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		for _, mode := range []string{"rpc", "print"} {
			t.Run(mode, func(t *testing.T) {
				h := NewHome(t, pi, HomeOptions{})
				startHub(t, h)
				// At the model's maxTokens; fewer would be a full context to 1.6.0.
				cut := func(text string) Reply {
					return Text(text).Finish("length").Usage(Usage{Input: 100, Output: 16_384})
				}
				h.Provider.Enqueue(cut("One, two, thr"), cut("Three, fo"), Text("Five."), decision(watchdog.Done, "all"))
				env := []string{"PI_WATCHDOG=timeout=0 max=5"}
				if mode == "print" {
					result := h.Print(Launch{Extensions: []string{bridgeFile(t)}, Env: env}, "count to five")
					if result.ExitCode != 0 || result.Text() != "Five." {
						t.Errorf("status %d, result %q: %s", result.ExitCode, result.Text(), result.Stderr)
					}
				} else {
					rpc := watched(t, h, Launch{Env: env})
					rpc.Prompt("count to five")
					for _, text := range []string{"⏱▶ 1/5", "⏱▶ 2/5", "⏱▶ 3/5", ""} {
						rpc.status(text)
					}
					rpc.Close()
				}
				file := h.SessionFiles()[0]
				wantRequests(t, h, 4)
				requests := h.Provider.Requests()
				for i, want := range []string{"count to five", watchdog.CutText, watchdog.CutText, watchdog.CheckText} {
					if got := requests[i].Last().Text; got != want {
						t.Errorf("request %d ends with %q, want %q", i+1, got, want)
					}
				}
				wantLines(t, "outcomes", outcomes(h, file), "answered: done: all")
				wantLines(t, "rows of the guard", guardRows(h, file))
				var counts []float64
				for _, e := range h.Entries(file) {
					if IsCustom(watchdog.RecordOnward)(e) {
						counts = append(counts, e.Num("data.n"))
					}
				}
				if len(counts) != 2 || counts[0] != 1 || counts[1] != 2 {
					t.Errorf("work without a check was counted as %v", counts)
				}
			})
		}
	})
}
