package e2e

import (
	"strconv"
	"strings"
	"testing"
)

// TestGuardRecordsAndCompaction: a record of the guard before the user's message
// changes nothing of what Pi summarises and keeps, wherever the cut falls.
func TestGuardRecordsAndCompaction(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		for _, keep := range []int{1, 9, 11} {
			t.Run(strconv.Itoa(keep), func(t *testing.T) {
				h := NewHome(t, pi, HomeOptions{Settings: map[string]any{
					"compaction": map[string]any{"enabled": true, "reserveTokens": 16384, "keepRecentTokens": keep},
				}})
				startHub(t, h)
				var runs [2][]*Request
				for i, launch := range []Launch{{Extensions: []string{bridgeFile(t)}}, {}} {
					h.Provider.Enqueue(Text("A first answer."), Text("A second answer, of some length."))
					rpc := h.StartRPC(launch)
					rpc.Turn("first " + strings.Repeat("word ", 100))
					if i == 0 {
						rpc.Prompt("/guard off")
						rpc.WaitNotification("of /guard", func(n Notification) bool { return strings.Contains(n.Text, "turned off") })
					}
					rpc.Turn("second question")
					h.Provider.Take()
					h.Provider.Handle(func(*Request) Reply { return Text("What was.") })
					rpc.Compact()
					rpc.Turn("third question")
					rpc.Close()
					runs[i] = h.Provider.Take()
					h.Provider.Handle(nil)
				}
				if len(runs[0]) != len(runs[1]) {
					t.Fatalf("%d requests, and %d without the guard:\n%s\n%s", len(runs[0]), len(runs[1]), rolesOf(runs[0]), rolesOf(runs[1]))
				}
				for i := range runs[0] {
					SameBytes(t, runs[0][i].Body, runs[1][i].Body)
				}
			})
		}
	})
}
