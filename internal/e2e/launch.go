package e2e

import "os/exec"

// Launch says how to start Pi, beside the mode that the driver chooses.
type Launch struct {
	Extensions []string // files for -e
	Args       []string // further arguments: --continue, --no-session, …
	Env        []string // "NAME=value", after the home's
	Dir        string   // working directory; "" = the home's project
}

// args is Pi's argument list: the mode's own first, then the launch's.
func (l Launch) args(mode ...string) []string {
	args := mode
	for _, extension := range l.Extensions {
		args = append(args, "-e", extension)
	}
	return append(args, l.Args...)
}

func (l Launch) dir(h *Home) string {
	if l.Dir != "" {
		return l.Dir
	}
	return h.Project
}

// piCommand is Pi's command in the home, with the mode's arguments.
func (h *Home) piCommand(l Launch, mode ...string) *exec.Cmd {
	return h.command(l, h.Pi.Command(l.args(mode...)...))
}

func (h *Home) command(l Launch, argv []string) *exec.Cmd {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = h.Env(l.Env...)
	cmd.Dir = l.dir(h)
	return cmd
}
