package control

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// maxSocketPath is the most bytes of a socket's path, its final NUL included:
// what macOS allows, the smallest of the supported systems (Linux: 108).
const maxSocketPath = 104

// SocketPath is where the hub of this user listens. env reads one environment
// variable, "" when it is unset: os.Getenv, or a table.
//
// The bridge computes the same path, so this is the whole rule. It asks
// nothing of the disk. "Set" means not empty; "absolute" means it begins with
// a slash. join puts one slash between its parts and then cleans the path as
// path.Clean of Go and path.posix.normalize of Node do, without a final slash.
//
//  1. PIWATCH_SOCKET is set: that path, exactly as it is. It must be absolute
//     and pass rule 5, else it is an error.
//  2. XDG_RUNTIME_DIR is absolute: join(XDG_RUNTIME_DIR, "piwatch", "hub.sock").
//  3. Else XDG_STATE_HOME is absolute: join(XDG_STATE_HOME, "piwatch", "run", "hub.sock").
//  4. Else HOME is absolute: join(HOME, ".local/state", "piwatch", "run", "hub.sock");
//     else it is an error.
//  5. A path fits when it has at most 103 bytes in UTF-8. When the path of
//     rules 2 to 4 does not, it is join(T, "piwatch-U-H", "hub.sock"): T is
//     TMPDIR if that is absolute, else /tmp; U is the user id in decimal; H is
//     the first 8 hexadecimal digits, in lower case, of the SHA-256 of the
//     path that does not fit. When that does not fit either, T is /tmp.
func SocketPath(env func(string) string) (string, error) {
	if path := env("PIWATCH_SOCKET"); path != "" {
		switch {
		case !filepath.IsAbs(path):
			return "", fmt.Errorf("PIWATCH_SOCKET=%s: not an absolute path", path)
		case !fits(path):
			return "", fmt.Errorf("PIWATCH_SOCKET=%s: the path of a socket has at most %d bytes, this one has %d", path, maxSocketPath-1, len(path))
		}
		return path, nil
	}
	var path string
	if dir := env("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		path = filepath.Join(dir, "piwatch", "hub.sock")
	} else if dir := env("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		path = filepath.Join(dir, "piwatch", "run", "hub.sock")
	} else if home := env("HOME"); filepath.IsAbs(home) {
		path = filepath.Join(home, ".local/state", "piwatch", "run", "hub.sock")
	} else {
		return "", errors.New("no place for the hub's socket: set HOME, XDG_RUNTIME_DIR or PIWATCH_SOCKET")
	}
	if fits(path) {
		return path, nil
	}
	hash := sha256.Sum256([]byte(path))
	name := "piwatch-" + strconv.Itoa(os.Getuid()) + "-" + hex.EncodeToString(hash[:4])
	for _, tmp := range []string{env("TMPDIR"), "/tmp"} {
		if path := filepath.Join(tmp, name, "hub.sock"); filepath.IsAbs(tmp) && fits(path) {
			return path, nil
		}
	}
	return "", fmt.Errorf("no place for the hub's socket: %s is too long", path)
}

func fits(path string) bool { return len(path)+1 <= maxSocketPath }
