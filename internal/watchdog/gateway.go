package watchdog

import "fmt"

// Gateway is the data of a RecordGateway. The watchdog does nothing with it.
type Gateway struct {
	Kind     string  `json:"kind"` // retry, recovered, failed, broken, silent, unterminated
	Provider string  `json:"provider"`
	Cause    string  `json:"cause,omitempty"`   // status or fault
	Retry    int     `json:"retry,omitempty"`   // the one to come, or how many there were
	Of       int     `json:"of,omitempty"`      // retries the request has at most
	Seconds  float64 `json:"seconds,omitempty"` // to the retry, or of silence
	Cut      bool    `json:"cut,omitempty"`     // the answer was ended so that Pi tries again
}

// Text says in a line what happened.
func (g Gateway) Text() string {
	cut := ""
	if g.Cut {
		cut = "; cut, so that Pi tries again"
	}
	switch g.Kind {
	case "retry":
		return fmt.Sprintf("%s: %s, retry %d of %d in %.1f s", g.Provider, g.Cause, g.Retry, g.Of, g.Seconds)
	case "recovered":
		return fmt.Sprintf("%s: answered %s after %s", g.Provider, g.Cause, retries(g.Retry))
	case "failed":
		return fmt.Sprintf("%s: %s after %s, passed on as it was", g.Provider, g.Cause, retries(g.Retry))
	case "broken":
		return fmt.Sprintf("%s: the answer broke (%s)", g.Provider, g.Cause)
	case "silent":
		return fmt.Sprintf("%s: nothing said for %.0f s%s", g.Provider, g.Seconds, cut)
	case "unterminated":
		return fmt.Sprintf("%s: the answer ended without its terminator%s", g.Provider, cut)
	}
	return fmt.Sprintf("%s: %s %s", g.Provider, g.Kind, g.Cause)
}

func retries(n int) string {
	switch n {
	case 0:
		return "no retry"
	case 1:
		return "1 retry"
	}
	return fmt.Sprintf("%d retries", n)
}
