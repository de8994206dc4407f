package control

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/gofrs/flock"
)

// ErrHubRunning says that another hub has the place.
var ErrHubRunning = errors.New("another hub is running")

const (
	// lockWait is how long a hub that is just leaving may hold the lock.
	lockWait  = 2 * time.Second
	lockRetry = 20 * time.Millisecond
)

// Listener is the hub's end of the socket. It gives out connections of its own
// user only. It holds the lock of the socket until Close: one hub per user.
type Listener struct {
	// Refused is told the user id of every peer that was turned away. Set it
	// before the first Accept; nil is fine.
	Refused func(uid int)

	socket *net.UnixListener
	path   string
	uid    int
	file   fs.FileInfo // the socket as it was made
	lock   *flock.Flock
	once   sync.Once
}

// Listen makes the socket at path, and its folder when there is none: mode
// 0600 and 0700 whatever the umask. A folder that belongs to another user or
// that others can write is refused.
//
// The lock is the file path + ".lock". A hub that is running is an
// [ErrHubRunning]; the lock is tried for 2 s, as it may be just leaving. A
// socket that nobody listens at is replaced. Everything else at path is left
// alone and is an error: a socket that answers, or that does not answer in
// time, or that may not be asked, and any other file.
func Listen(path string) (*Listener, error) {
	if !fits(path) {
		return nil, fmt.Errorf("listen at %s: the path of a socket has at most %d bytes", path, maxSocketPath-1)
	}
	if err := privateDir(filepath.Dir(path)); err != nil {
		return nil, err
	}
	lock, err := takeLock(path)
	if err != nil {
		return nil, err
	}
	l, err := listenLocked(path)
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	l.lock = lock
	return l, nil
}

func listenLocked(path string) (*Listener, error) {
	if err := clearStale(path); err != nil {
		return nil, err
	}
	socket, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, err
	}
	socket.SetUnlinkOnClose(false)
	// Until here the mode came from the umask; Accept refuses other users anyway.
	err = os.Chmod(path, 0o600)
	file, statErr := os.Lstat(path)
	if err = errors.Join(err, statErr); err != nil {
		return nil, errors.Join(err, socket.Close())
	}
	return &Listener{socket: socket, path: path, uid: os.Getuid(), file: file}, nil
}

// takeLock locks path + ".lock". The file stays: removing it would let two
// hubs lock two files of the same name.
func takeLock(path string) (*flock.Flock, error) {
	ctx, cancel := context.WithTimeout(context.Background(), lockWait)
	defer cancel()
	lock := flock.New(path+".lock", flock.SetPermissions(0o600))
	locked, err := lock.TryLock()
	if err == nil && !locked {
		if conn, dialErr := dialSocket(ctx, path); dialErr == nil {
			return nil, errors.Join(fmt.Errorf("%w (%s)", ErrHubRunning, path), conn.Close(), lock.Close())
		}
		locked, err = lock.TryLockContext(ctx, lockRetry)
	}
	switch {
	case locked:
		if err := os.Chmod(lock.Path(), 0o600); err != nil { // whatever the umask
			return nil, errors.Join(err, lock.Close())
		}
		return lock, nil
	case err == nil, errors.Is(err, context.DeadlineExceeded):
		return nil, errors.Join(fmt.Errorf("%w: it holds %s", ErrHubRunning, lock.Path()), lock.Close())
	}
	return nil, errors.Join(fmt.Errorf("lock %s: %w", lock.Path(), err), lock.Close())
}

// clearStale removes a socket that refuses connections. The caller holds the lock.
func clearStale(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode().Type() != fs.ModeSocket {
		return &DialError{Path: path, Class: ErrNotSocket}
	}
	ctx, cancel := context.WithTimeout(context.Background(), lockWait)
	defer cancel()
	conn, err := dialSocket(ctx, path)
	switch {
	case err == nil:
		return errors.Join(fmt.Errorf("%w (%s)", ErrHubRunning, path), conn.Close())
	case errors.Is(err, ErrNoHub):
		return nil
	case errors.Is(err, ErrDeadHub):
		return os.Remove(path)
	}
	return err
}

// privateDir makes dir with mode 0700, or makes sure that it is our own.
func privateDir(dir string) error {
	info, err := os.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		if err := makeDirs(dir); err != nil {
			return err
		}
		info, err = os.Lstat(dir)
	}
	if err != nil {
		return err
	}
	return checkDir(dir, info, os.Getuid())
}

func checkDir(dir string, info fs.FileInfo, uid int) error {
	stat, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.IsDir():
		return fmt.Errorf("the folder of the hub's socket, %s, is not a folder of its own (%v)", dir, info.Mode().Type())
	case !ok || int(stat.Uid) != uid:
		return fmt.Errorf("the folder of the hub's socket, %s, belongs to user %d, not to user %d", dir, stat.Uid, uid)
	case info.Mode().Perm()&0o022 != 0:
		return fmt.Errorf("the folder of the hub's socket, %s, can be written by others (mode %04o); make it yours alone: chmod go-w %s",
			dir, info.Mode().Perm(), dir)
	}
	return nil
}

// makeDirs makes dir and what is missing above it. A new folder gets its mode
// by chmod, since a umask could take even our own rights.
func makeDirs(dir string) error {
	err := os.Mkdir(dir, 0o700)
	if errors.Is(err, fs.ErrNotExist) {
		if err := makeDirs(filepath.Dir(dir)); err != nil {
			return err
		}
		err = os.Mkdir(dir, 0o700)
	}
	switch {
	case err == nil:
		return os.Chmod(dir, 0o700)
	case errors.Is(err, fs.ErrExist):
		return nil // another hub was faster
	}
	return err
}

// Accept waits for the next connection of this user.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		conn, err := l.socket.AcceptUnix()
		if err != nil {
			return nil, err
		}
		uid, err := peerUID(conn)
		if err == nil && uid == l.uid {
			return conn, nil
		}
		_ = conn.Close()
		if err == nil && l.Refused != nil {
			l.Refused(uid)
		}
	}
}

// Addr is the address of the socket.
func (l *Listener) Addr() net.Addr { return l.socket.Addr() }

// Close removes the socket, if it is still the one that Listen made, and gives
// the place free for another hub.
func (l *Listener) Close() error {
	err := net.ErrClosed
	l.once.Do(func() {
		if now, statErr := os.Lstat(l.path); statErr == nil && os.SameFile(now, l.file) {
			err = os.Remove(l.path)
		} else {
			err = nil
		}
		err = errors.Join(err, l.socket.Close(), l.lock.Close())
	})
	return err
}
