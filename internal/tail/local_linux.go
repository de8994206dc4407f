package tail

import "golang.org/x/sys/unix"

// local are the file systems of which inotify tells every change, since each
// goes through this kernel. On others, as on NFS, SMB or FUSE, another machine
// may write.
var local = map[int64]bool{
	unix.EXT4_SUPER_MAGIC:      true, // ext2 and ext3, too
	unix.XFS_SUPER_MAGIC:       true,
	unix.BTRFS_SUPER_MAGIC:     true,
	unix.TMPFS_MAGIC:           true,
	unix.RAMFS_MAGIC:           true,
	unix.OVERLAYFS_SUPER_MAGIC: true,
	unix.F2FS_SUPER_MAGIC:      true,
	0x2fc12fc1:                 true, // ZFS
	0xca451a4e:                 true, // bcachefs
}

// tellsChanges says whether the file system of a folder tells of every change.
func tellsChanges(dir string) bool {
	var fs unix.Statfs_t
	return unix.Statfs(dir, &fs) == nil && local[int64(fs.Type)]
}
