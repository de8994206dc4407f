package cli

import (
	"context"
	"errors"
	"time"

	"piwatch/internal/control"
)

// The pauses between two tries to reach the hub.
const (
	firstRedial = 100 * time.Millisecond
	lastRedial  = 5 * time.Second
)

// hubEvent is what the hub tells who watches. One field is set.
type hubEvent struct {
	push   control.Push
	listed bool  // all sessions of a new connection were told
	down   error // there is no connection; it is tried again
}

// watchHub watches the hub until ctx ends, over a new connection when one
// breaks.
func watchHub(ctx context.Context, dial func(context.Context) (*control.Client, error), tell func(hubEvent)) {
	pause := firstRedial
	for ctx.Err() == nil {
		client, err := dial(ctx)
		if err == nil {
			err = watchOnce(ctx, client, tell)
			_ = client.Close() // it is of no use any more
			pause = firstRedial
		}
		if ctx.Err() != nil {
			return
		}
		tell(hubEvent{down: err})
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
		pause = min(2*pause, lastRedial)
	}
}

func watchOnce(ctx context.Context, client *control.Client, tell func(hubEvent)) error {
	sessions, pushes, err := client.Watch(ctx)
	if err != nil {
		return err
	}
	for i := range sessions {
		tell(hubEvent{push: control.Push{Session: &sessions[i]}})
	}
	tell(hubEvent{listed: true})
	for push := range pushes {
		tell(hubEvent{push: push})
	}
	return errors.New("the hub closed the connection")
}
