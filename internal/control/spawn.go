package control

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// spawn starts the command of a hub, apart from this process and its terminal.
// The channel gets its end.
func (s Starter) spawn(logPath string) (<-chan error, error) {
	if len(s.Command) == 0 {
		return nil, errors.New("no command")
	}
	if err := os.MkdirAll(s.StateDir, 0o700); err != nil {
		return nil, err
	}
	log, err := os.OpenFile(logPath, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	hub := exec.Command(s.Command[0], s.Command[1:]...)
	hub.Env = s.Env
	hub.Dir = "/" // keeps no folder of the user busy
	hub.Stdout, hub.Stderr = log, log
	hub.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := hub.Start(); err != nil {
		return nil, err
	}
	exited := make(chan error, 1)
	go func() { exited <- hub.Wait() }()
	return exited, nil
}
