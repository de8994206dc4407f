package hub

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"syscall"
)

// maxHookLine is how much of the first line of a hook's stderr is kept, in
// bytes.
const maxHookLine = 200

// runHook runs the command in a process session of its own, so that it outlives
// Pi's terminal, and says how it ended: exit status and first line of stderr.
func runHook(cmd *exec.Cmd) string {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	stderr, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return "not started: " + err.Error()
	}
	in := bufio.NewReader(io.LimitReader(stderr, maxHookLine))
	line, _ := in.ReadString('\n') // what there is of a first line is enough
	_, _ = io.Copy(io.Discard, stderr)
	err = cmd.Wait()
	status := "exit 0"
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		status = exit.String()
	case err != nil:
		status = err.Error()
	}
	if line = strings.TrimSpace(line); line != "" {
		return fmt.Sprintf("%s: %s", status, line)
	}
	return status
}
