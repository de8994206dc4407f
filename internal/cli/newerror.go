package cli

import (
	"log/slog"
	"sync"
)

// newErrors logs the errors of a config that is read again and again: each when
// its text is another than the time before.
type newErrors struct {
	log *slog.Logger

	mu   sync.Mutex
	last string
}

// note takes what came of reading; nil when it went well.
func (n *newErrors) note(err error) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	n.mu.Lock()
	changed := text != n.last
	n.last = text
	n.mu.Unlock()
	if changed && text != "" {
		n.log.Error("config", "err", err)
	}
}
