package e2e

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
)

// homeVar marks every process that descends from a test: its value is the
// folder of the test's Home, so that detached ones can be found at the end.
const homeVar = "PIWATCH_E2E_HOME"

// leftover is a process that outlived what started it.
type leftover struct {
	pid     int
	program string // path of the executable where known, else its command line
}

// leftovers are the processes whose environment carries the mark of home.
func leftovers(home string) []leftover {
	mark := homeVar + "=" + home
	if runtime.GOOS == "linux" {
		return leftoversProc(mark)
	}
	return leftoversPs(mark)
}

func leftoversProc(mark string) []leftover {
	paths, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		return nil
	}
	var found []leftover
	for _, path := range paths {
		environ, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(environ, []byte(mark+"\x00")) {
			continue
		}
		dir := filepath.Dir(path)
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err != nil || pid == os.Getpid() {
			continue
		}
		program, err := os.Readlink(filepath.Join(dir, "exe"))
		if err != nil {
			continue // it ended meanwhile
		}
		found = append(found, leftover{pid, program})
	}
	return found
}

// leftoversPs reads the same from ps, where there is no /proc.
func leftoversPs(mark string) []leftover {
	out, err := exec.Command("ps", "-axEww", "-o", "pid=,command=").Output()
	if err != nil {
		return nil
	}
	var found []leftover
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		if len(fields) < 2 || !strings.Contains(line, mark) {
			continue
		}
		if pid, err := strconv.Atoi(fields[0]); err == nil && pid != os.Getpid() {
			found = append(found, leftover{pid, fields[1]})
		}
	}
	return found
}

// sweep ends every process that still carries the mark of home. The piwatch
// hub outlives its clients by design and may be there, if it leaves when it
// is told to; anything else is an error.
func sweep(home string) []error {
	var errs []error
	for _, left := range leftovers(home) {
		ours := filepath.Base(left.program) == programName
		if !ours {
			errs = append(errs, fmt.Errorf("process %d (%s) was left behind", left.pid, left.program))
		}
		_ = syscall.Kill(left.pid, syscall.SIGTERM)
		if poll(closeTimeout, func() bool { return !marked(left.pid, home) }) {
			continue
		}
		if ours {
			errs = append(errs, fmt.Errorf("process %d (%s) did not leave at SIGTERM", left.pid, left.program))
		}
		_ = syscall.Kill(left.pid, syscall.SIGKILL)
		if !poll(closeTimeout, func() bool { return !marked(left.pid, home) }) {
			errs = append(errs, fmt.Errorf("process %d (%s) survived SIGKILL", left.pid, left.program))
		}
	}
	return errs
}

// marked reports whether pid still is a process of home: ids are used again.
func marked(pid int, home string) bool {
	if !alive(pid) {
		return false
	}
	for _, left := range leftovers(home) {
		if left.pid == pid {
			return true
		}
	}
	return false
}
