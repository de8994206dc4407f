package hub

import "golang.org/x/sys/unix"

// parentProcess asks the kernel who started a process.
func parentProcess(pid int) (int, error) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return 0, err
	}
	return int(info.Eproc.Ppid), nil
}
