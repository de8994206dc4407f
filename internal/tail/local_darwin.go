package tail

import "golang.org/x/sys/unix"

// tellsChanges says whether the file system of a folder tells of every change:
// those of this machine do.
func tellsChanges(dir string) bool {
	var fs unix.Statfs_t
	return unix.Statfs(dir, &fs) == nil && fs.Flags&unix.MNT_LOCAL != 0
}
