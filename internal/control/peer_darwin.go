package control

import (
	"net"

	"golang.org/x/sys/unix"
)

// peerUID is the user at the other end, as it was when the connection was made.
func peerUID(conn *net.UnixConn) (int, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, err
	}
	var cred *unix.Xucred
	var asked error
	err = raw.Control(func(fd uintptr) {
		cred, asked = unix.GetsockoptXucred(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	})
	if err != nil {
		return 0, err
	}
	if asked != nil {
		return 0, asked
	}
	return int(cred.Uid), nil
}
