package e2e

import "testing"

// TestVoid plays the causes that one Pi can play one after the other.
func TestVoid(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		s := newStage(t, pi, HomeOptions{})
		for _, group := range []struct {
			name string
			play func(*stage)
		}{
			{"the user speaks", voidBySpeech},
			{"an extension speaks", voidByExtension},
			{"after a swallowed message", voidAfterSwallowed},
			{"the check after", checkAfterSteer},
			{"answered already", voidWork},
			{"stop", voidByStop},
			{"abort", voidByAbort},
			{"provider error", voidErrors},
			{"session replaced", voidBySession},
			{"session copied", voidInClone},
			{"tree", voidByTree},
			{"reload", voidByReload},
			{"quit", voidByQuit},
			{"kill", voidByKill},
		} {
			s.group(group.name, group.play)
		}
	})
}
