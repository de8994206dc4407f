// Package notify tells the user something outside of the screen: by the terminal's
// bell, by a notification of the terminal, or by one of the desktop.
package notify

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// Way is a way to tell.
type Way string

// The ways. The zero value is the bell.
const (
	Bell    Way = "bell"    // the terminal's bell
	OSC9    Way = "osc9"    // a notification of the terminal, as iTerm2 and Windows Terminal know it
	OSC777  Way = "osc777"  // a notification of the terminal, as urxvt, foot and WezTerm know it
	Desktop Way = "desktop" // a notification of the desktop, by notify-send or osascript
	None    Way = "none"
)

// Ways are all of them, in the order in which people read them.
var Ways = []Way{Bell, OSC9, OSC777, Desktop, None}

const title = "piwatch"

// Sequence is what the terminal is sent for a text without control characters; ""
// for a way that is not the terminal's. In tmux, notifications are wrapped so that
// it passes them on, which it does where allow-passthrough is on; it hears the bell
// itself.
func Sequence(way Way, text string, tmux bool) string {
	text = strings.ReplaceAll(text, ";", ",") // which parts the fields of OSC 777
	sequence := ""
	switch way {
	case OSC9:
		sequence = "\x1b]9;" + title + ": " + text + "\x07"
	case OSC777:
		sequence = "\x1b]777;notify;" + title + ";" + text + "\x07"
	case Desktop, None:
		return ""
	default:
		return "\x07"
	}
	if tmux {
		sequence = "\x1bPtmux;" + strings.ReplaceAll(sequence, "\x1b", "\x1b\x1b") + "\x1b\\"
	}
	return sequence
}

// ErrNoDesktop says that there is no desktop that could show something.
var ErrNoDesktop = errors.New("no desktop for notifications")

// desktopTimeout is how long the desktop may take.
const desktopTimeout = 10 * time.Second

// asBody keeps a text as it is: the desktop reads markup, as the specification of
// notifications has it for the body, and before it notify-send what a backslash
// begins.
var asBody = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `\`, `\\`)

// Command is the program that shows a text on the desktop, with its arguments. The
// text is one of them: no shell and no script reads it. env reads the environment.
func Command(env func(string) string, text string) ([]string, error) {
	return command(runtime.GOOS, env, exec.LookPath, text)
}

func command(system string, env func(string) string, find func(string) (string, error), text string) ([]string, error) {
	argv := []string{"notify-send", "--app-name=" + title, "--", title, asBody.Replace(text)}
	switch {
	case system == "darwin":
		argv = []string{
			"osascript", "-e", "on run argv", "-e", "display notification (item 1 of argv) with title (item 2 of argv)", "-e", "end run", "--", text, title,
		}
	case env("DBUS_SESSION_BUS_ADDRESS") == "" && env("DISPLAY") == "" && env("WAYLAND_DISPLAY") == "":
		return nil, ErrNoDesktop
	}
	program, err := find(argv[0])
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoDesktop, err)
	}
	argv[0] = program
	return argv, nil
}

// Show shows a text on the desktop. It is an ErrNoDesktop when there is none.
func Show(ctx context.Context, env func(string) string, text string) error {
	argv, err := Command(env, text)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, desktopTimeout)
	defer cancel()
	if out, err := exec.CommandContext(ctx, argv[0], argv[1:]...).CombinedOutput(); err != nil {
		return fmt.Errorf("notify the desktop: %w: %s", err, strings.TrimSpace(string(out)))
	}
	return nil
}
