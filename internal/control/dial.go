package control

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"syscall"
	"time"
)

// dialTimeout bounds a Dial whose ctx has no deadline. A hub that lives
// answers in milliseconds.
const dialTimeout = 3 * time.Second

// dialRetry is the pause before a hub whose queue is full is tried again.
const dialRetry = 20 * time.Millisecond

// The classes of a [DialError]. They are told apart with errors.Is, because
// they call for different things.
var (
	ErrNoHub     = errors.New("no hub is running")                    // no socket: nothing was started, or it was stopped
	ErrDeadHub   = errors.New("the hub is gone")                      // a socket nobody listens at: it was killed
	ErrForbidden = errors.New("the hub may not be used")              // no permission, or another user listens
	ErrTimeout   = errors.New("the hub does not answer in time")      // it hangs or is stopped; it may come back
	ErrNotSocket = errors.New("something else is at the hub's place") // a file that is not a socket of this kind
)

// DialError says why there is no connection.
type DialError struct {
	Path  string // of the socket
	Class error  // one of the classes, nil for anything else
	Err   error  // what the system said
}

func (e *DialError) Error() string {
	switch {
	case e.Class == nil:
		return fmt.Sprintf("connect to the hub at %s: %v", e.Path, e.Err)
	case e.Err == nil:
		return fmt.Sprintf("%v (%s)", e.Class, e.Path)
	}
	return fmt.Sprintf("%v (%s: %v)", e.Class, e.Path, e.Err)
}

// Unwrap gives the class and the error of the system.
func (e *DialError) Unwrap() []error { return []error{e.Class, e.Err} }

// Hint says what a person can do about the error; "" when there is no advice.
func (e *DialError) Hint() string {
	switch e.Class {
	case ErrNoHub:
		return "start it with: piwatch hub run; the TUI and a Pi with the bridge start it by themselves"
	case ErrDeadHub:
		return "it ended without cleaning up; the next start takes its place: piwatch hub run"
	case ErrForbidden:
		return "see who owns it: ls -l " + e.Path + "; another place can be set with PIWATCH_SOCKET"
	case ErrTimeout:
		return "its process is stopped or very busy; nothing was changed, try again, or end it by its process id"
	case ErrNotSocket:
		return "piwatch leaves it alone: move " + e.Path + " away, or set PIWATCH_SOCKET to another place"
	}
	return ""
}

// Dial connects to the hub at path. It is a *[DialError] when that fails, 3 s
// at most when ctx has no deadline. The hub must run as the same user.
func Dial(ctx context.Context, path string, h Handler, options ...Option) (*Conn, error) {
	socket, err := dialSocket(ctx, path)
	if err != nil {
		return nil, err
	}
	return NewConn(context.WithoutCancel(ctx), socket, h, options...), nil
}

func dialSocket(ctx context.Context, path string) (*net.UnixConn, error) {
	if !fits(path) {
		return nil, &DialError{path, nil, fmt.Errorf("the path of a socket has at most %d bytes", maxSocketPath-1)}
	}
	if _, set := ctx.Deadline(); !set {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, dialTimeout)
		defer cancel()
	}
	again := time.NewTicker(dialRetry)
	defer again.Stop()
	for {
		conn, err := new(net.Dialer).DialContext(ctx, "unix", path)
		if err == nil {
			return checkPeer(conn.(*net.UnixConn), path, os.Getuid())
		}
		// Linux answers a connect to a full queue at once.
		if !errors.Is(err, syscall.EAGAIN) {
			return nil, &DialError{path, classOf(err, path), err}
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return nil, &DialError{path, classOf(ctx.Err(), path), err}
		}
	}
}

// checkPeer makes sure that it is the same user who listens: the fallback of
// SocketPath is in a folder where others may create files.
func checkPeer(conn *net.UnixConn, path string, want int) (*net.UnixConn, error) {
	uid, err := peerUID(conn)
	if err == nil && uid == want {
		return conn, nil
	}
	_ = conn.Close()
	if err != nil {
		return nil, &DialError{path, nil, fmt.Errorf("who listens: %w", err)}
	}
	return nil, &DialError{path, ErrForbidden, fmt.Errorf("user %d listens there, this is user %d", uid, want)}
}

func classOf(err error, path string) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ErrNoHub
	case errors.Is(err, syscall.ECONNREFUSED):
		// Linux refuses a plain file in the same way as a dead socket.
		if info, statErr := os.Lstat(path); statErr == nil && info.Mode().Type() != fs.ModeSocket {
			return ErrNotSocket
		}
		return ErrDeadHub
	case errors.Is(err, syscall.ENOTSOCK), errors.Is(err, syscall.EPROTOTYPE):
		return ErrNotSocket
	case errors.Is(err, fs.ErrPermission):
		return ErrForbidden
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded):
		return ErrTimeout
	}
	return nil
}
