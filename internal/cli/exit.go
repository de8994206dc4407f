package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"piwatch/internal/control"
	"piwatch/internal/timeline"
	"piwatch/internal/watchdog"
)

// The exit codes.
const (
	exitOK        = 0
	exitError     = 1
	exitUsage     = 2
	exitNoHub     = 3
	exitNoSession = 4
	exitRefused   = 5

	exitWaitUser    = 10
	exitMax         = 11
	exitFailed      = 12
	exitTimeout     = 13
	exitInterrupted = 130
)

var exitCodes = []struct {
	code    int
	meaning string
}{
	{exitOK, "done"},
	{exitError, "an error that is none of the others; of doctor and config check: something is wrong"},
	{exitUsage, "usage: an unknown command or flag, a bad argument or setting"},
	{exitNoHub, "no hub is running, or it cannot be reached"},
	{exitNoSession, "no session of that name with a bridge, or more than one"},
	{exitRefused, "refused: not possible now, not allowed here, or not piwatch's own file"},
	{exitWaitUser, "run, wait: the agent needs the user"},
	{exitMax, "run, wait: the cap of checks was reached"},
	{exitFailed, "run, wait: the breaker tripped, Pi or the provider failed, or somebody stopped it"},
	{exitTimeout, "run, wait: it took longer than --timeout-total or --timeout"},
	{exitInterrupted, "run, wait: stopped by ctrl+c or a signal"},
}

func exitCodeTable() string {
	var b strings.Builder
	for _, c := range exitCodes {
		fmt.Fprintf(&b, "  %-3d  %s\n", c.code, c.meaning)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// usageError is a command line that makes no sense.
type usageError struct {
	text    string
	command string // whose help to read
}

func (e *usageError) Error() string { return e.text }

// Hint says where to read on.
func (e *usageError) Hint() string { return "see: " + e.command + " --help" }

// refusedError is a request that was understood and not carried out.
type refusedError struct{ text, hint string }

func (e *refusedError) Error() string { return e.text }

// Hint says what to do instead; it may be empty.
func (e *refusedError) Hint() string { return e.hint }

// silentError is an exit code for what was said already.
type silentError struct{ code int }

func (e *silentError) Error() string { return fmt.Sprintf("exit code %d", e.code) }

// hinted is an error that knows what a person can do about it.
type hinted interface {
	error
	Hint() string
}

// tell prints an error, with a hint where there is one, and gives the exit code.
// The text may hold what came from elsewhere, so it is cleaned.
func (a *app) tell(err error) int {
	if err == nil {
		return exitOK
	}
	var end *endError
	var silent *silentError
	if errors.As(err, &end) && end.quiet || errors.As(err, &silent) {
		return codeOf(err)
	}
	fmt.Fprintf(a.err, "piwatch: %s\n", timeline.Clean(err.Error()))
	var h hinted
	if errors.As(err, &h) && h.Hint() != "" {
		fmt.Fprintf(a.err, "hint: %s\n", timeline.Clean(h.Hint()))
	}
	return codeOf(err)
}

func codeOf(err error) int {
	var (
		usage   *usageError
		setting *watchdog.SettingError
		dial    *control.DialError
		hello   *control.ProtocolError
		end     *endError
		silent  *silentError
		signal  *signalError
		h       hinted
	)
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &silent):
		return silent.code
	case errors.As(err, &end):
		return endCodes[end.kind]
	case errors.As(err, &signal):
		return exitInterrupted
	case errors.As(err, &usage), errors.As(err, &setting):
		return exitUsage
	case errors.As(err, &dial), errors.As(err, &hello), errors.Is(err, control.ErrClosed):
		return exitNoHub
	case errors.Is(err, control.ErrNoSession):
		return exitNoSession
	case errors.As(err, &h):
		return exitRefused
	}
	return exitError
}

func quote(s string) string { return strconv.QuoteToGraphic(s) }
