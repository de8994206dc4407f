package e2e

import "testing"

// TestGatewayPrint: a Pi that asks its one question at once asks it through the
// gateway, also one without a session file.
func TestGatewayPrint(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		h := NewHome(t, pi, HomeOptions{})
		startHub(t, h)
		switchGateway(t, h, true)
		for _, args := range [][]string{nil, {"--no-session"}} {
			h.Provider.Enqueue(Status(522, ""), Text("answered"))
			result := h.Print(Launch{Extensions: []string{bridgeFile(t)}, Args: args}, "ask")
			if result.Text() != "answered" || h.Provider.Pending() != 0 {
				t.Errorf("pi -p %v: %q, stderr %q", args, result.Text(), result.Stderr)
			}
		}
	})
}
