package hub

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// parentProcess reads who started a process. The name of the program stands in
// parentheses and may hold anything, so the fields are counted from its end.
func parentProcess(pid int) (int, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	fields := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
	if len(fields) < 2 {
		return 0, fmt.Errorf("process %d: a short stat", pid)
	}
	return strconv.Atoi(string(fields[1]))
}
