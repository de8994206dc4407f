package control

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const (
	// ensureTimeout bounds an EnsureHub whose ctx has no deadline.
	ensureTimeout = 15 * time.Second
	// startPoll is the pause between two looks whether the hub is there.
	startPoll = 20 * time.Millisecond
	// exitGrace is how long another hub may take to appear when ours has
	// ended: two programs can start one at the same time.
	exitGrace = 3 * time.Second
)

// Starter says how a client comes to a hub. All fields but Env are needed.
type Starter struct {
	Socket   string // path of the socket
	StateDir string // folder of hub.log; made when it is missing
	Version  string // release of this program
	Name     string // tui or cli
	// Command starts a hub: this executable, and "hub", "run".
	Command []string
	Env     []string // environment of the hub; nil for our own
}

// EnsureHub connects to the hub. When there is none it starts one, which
// outlives this process: in a process session of its own, in /, with its
// output in StateDir/hub.log. A hub of an older release is asked to stop first,
// and one is started from here: when both are releases x.y.z and this one is
// higher, or when this one speaks a newer protocol.
func EnsureHub(ctx context.Context, s Starter) (*Client, error) {
	if _, set := ctx.Deadline(); !set {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, ensureTimeout)
		defer cancel()
	}
	c, err := dialClient(ctx, s.Socket, s.Version, s.Name)
	if c != nil {
		if !s.replaces(c, err) {
			if err != nil {
				_ = c.Close()
				return nil, err
			}
			return c, nil
		}
		err = c.StopHub(ctx, "replaced by piwatch "+s.Version)
		if err = errors.Join(err, c.Close()); err != nil {
			return nil, err
		}
	} else if !absent(err) {
		return nil, err
	}
	return s.start(ctx)
}

// absent says that there is no hub, or one that was just leaving.
func absent(err error) bool {
	return errors.Is(err, ErrNoHub) || errors.Is(err, ErrDeadHub) || errors.Is(err, ErrClosed)
}

// replaces says whether this program takes the place of the hub it reached.
func (s Starter) replaces(c *Client, hello error) bool {
	var protocol *ProtocolError
	if errors.As(hello, &protocol) {
		return protocol.Hub < Protocol
	}
	return newer(s.Version, c.Hub.Hub)
}

// newer compares two releases x.y.z. Anything else, a build from a work tree
// above all, is neither newer nor older.
func newer(a, b string) bool {
	x, okX := release(a)
	y, okY := release(b)
	if !okX || !okY {
		return false
	}
	for i := range x {
		if x[i] != y[i] {
			return x[i] > y[i]
		}
	}
	return false
}

func release(version string) (parts [3]uint64, ok bool) {
	fields := strings.Split(strings.TrimPrefix(version, "v"), ".")
	if len(fields) != len(parts) {
		return parts, false
	}
	for i, field := range fields {
		var err error
		if parts[i], err = strconv.ParseUint(field, 10, 32); err != nil {
			return parts, false
		}
	}
	return parts, true
}

// start starts a hub and connects to it.
func (s Starter) start(ctx context.Context) (*Client, error) {
	logPath := filepath.Join(s.StateDir, "hub.log")
	exited, err := s.spawn(logPath)
	if err != nil {
		return nil, fmt.Errorf("start a hub: %w", err)
	}
	again := time.NewTicker(startPoll)
	defer again.Stop()
	var ended error
	for {
		c, err := dialClient(ctx, s.Socket, s.Version, s.Name)
		if err == nil {
			return c, nil
		}
		if c != nil {
			_ = c.Close()
			return nil, err
		}
		if !absent(err) && ctx.Err() == nil {
			return nil, err
		}
		select {
		case <-again.C:
		case ended = <-exited:
			exited = nil
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, exitGrace)
			defer cancel()
		case <-ctx.Done():
			why := "it is not there in time"
			if exited == nil {
				why = "it ended at once"
				if ended != nil {
					why += " (" + ended.Error() + ")"
				}
			}
			return nil, fmt.Errorf("start a hub: %s; last lines of %s:\n%s", why, logPath, tailOf(logPath))
		}
	}
}

// tailOf gives the last lines of a log, for an error message.
func tailOf(path string) string {
	const most = 600
	data, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	text := strings.ToValidUTF8(string(data[max(0, len(data)-most):]), "")
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-5):], "\n")
}
