package timeline

import (
	"strings"
	"time"
)

// WaitsFor says what a session waits for.
type WaitsFor string

// What sessions wait for.
const (
	ForNothing WaitsFor = ""
	ForModel   WaitsFor = "model" // the provider's answer
	ForTool    WaitsFor = "tool"  // a tool that runs
	ForRetry   WaitsFor = "retry" // Pi asks the provider again by itself
	ForQuota   WaitsFor = "quota" // more of the provider, later
	ForLogin   WaitsFor = "login" // a key, a login, a payment: a human
)

// Wait is what a session waits for, by its file alone: whether the agent still
// runs, the file cannot say.
type Wait struct {
	For   WaitsFor
	Since time.Time
	// Until is when more of a quota is there, as far as that can be believed;
	// zero when unknown.
	Until time.Time
	// What is the tool, or the error.
	What string
	// Failures are the failed answers in a row before it.
	Failures int

	failed string // entry of the last failed answer
}

// asked says that the model has the word.
func (w *Wait) asked(at time.Time) {
	*w = Wait{For: ForModel, Since: at, Failures: w.Failures}
}

// answered takes in what the model said.
func (w *Wait) answered(n *node, ev agentEvent) {
	failures := w.Failures
	*w = Wait{Since: n.time}
	if len(n.rows) > 0 {
		switch last := &n.rows[len(n.rows)-1]; last.Kind {
		case Failed:
			w.failed, w.What, w.Failures = n.id, last.Title, failures+1
			w.For, w.Until = trouble(last.Title+"\n"+last.Body, n.time)
			return
		case Aborted: // calls in such a row do not run
			return
		}
	}
	if len(ev.calls) > 0 {
		w.For, w.What = ForTool, ev.calls[0].words()
	}
}

func (t *Tool) words() string { return strings.TrimSpace(t.Name + " " + t.Arg) }

// ran takes in the result of a tool; the others still run.
func (w *Wait) ran(at time.Time, others []*Tool) {
	switch {
	case w.For != ForTool:
	case len(others) == 0:
		w.asked(at)
	default:
		w.What = others[0].words()
	}
}

// retried says that an edit took a failed answer out of the context: Pi 1.6.0
// does so when it is about to ask again.
func (w *Wait) retried(target string) bool {
	if w.failed == "" || w.failed != target {
		return false
	}
	w.For, w.Until = ForRetry, time.Time{}
	return true
}
