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
	listed []string // the ids of all sessions that a new connection has told; never nil then
	down   error    // there is no connection; it is tried again
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
	ids := make([]string, len(sessions))
	for i := range sessions {
		ids[i] = sessions[i].ID
		tell(hubEvent{push: control.Push{Session: &sessions[i]}})
	}
	tell(hubEvent{listed: ids})
	for push := range pushes {
		tell(hubEvent{push: push})
	}
	return errors.New("the hub closed the connection")
}
