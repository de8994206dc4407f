package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// openTerminal opens a pseudo terminal: the end of the one who looks, and the
// end of the program.
func openTerminal(t *testing.T) (ours, theirs *os.File) {
	t.Helper()
	ours, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ours.Close() })
	if err := unix.IoctlSetPointerInt(int(ours.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(ours.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err = os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return ours, theirs
}

// A command writes to the terminal what it says, and asks it nothing.
func TestACommandAsksTheTerminalNothing(t *testing.T) {
	home := t.TempDir()
	binary := filepath.Join(t.TempDir(), "piwatch")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, ci := range [][]string{nil, {"CI="}, {"CI=true"}} {
		ours, theirs := openTerminal(t)
		status := exec.Command(binary, "status")
		status.Env = append([]string{"HOME=" + home, "XDG_RUNTIME_DIR=" + home, "TERM=xterm-256color", "PATH=" + os.Getenv("PATH")}, ci...)
		status.Stdin, status.Stdout, status.Stderr = theirs, theirs, theirs
		status.SysProcAttr = &unix.SysProcAttr{Setsid: true, Setctty: true}
		if err := status.Start(); err != nil {
			t.Fatal(err)
		}
		theirs.Close()
		got, _ := io.ReadAll(ours) // it ends in EIO when the program does
		_ = status.Wait()          // there is no hub, which it says
		if !strings.Contains(string(got), "no hub is running") || strings.Contains(string(got), "\x1b") {
			t.Errorf("with %q the terminal got %q", ci, got)
		}
	}
}
