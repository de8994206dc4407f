package doctor

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/clipperhouse/displaywidth"
	"github.com/mattn/go-isatty"
	"golang.org/x/sys/unix"

	"piwatch/internal/notify"
)

// cursorTimeout is how long a terminal may take to say where its cursor is.
const cursorTimeout = time.Second

// The sign whose width terminals do not agree on.
const clock = "⏱"

func lookTerminal(_ context.Context, w *World) []Finding {
	findings := []Finding{w.lookLocale()}
	if w.Out == nil || !isatty.IsTerminal(w.Out.Fd()) {
		return append(findings, ok("not a terminal: piwatch prints lines"))
	}
	if size, err := unix.IoctlGetWinsize(int(w.Out.Fd()), unix.TIOCGWINSZ); err == nil {
		f := ok(fmt.Sprintf("%d×%d", size.Col, size.Row))
		if size.Col < 20 || size.Row < 5 {
			f = warn(f.Text+": too small for the screen, which needs 20×5", "make it larger, or piwatch --plain")
		}
		findings = append(findings, f)
	}
	findings = append(findings, w.lookColours())
	if w.In == nil || !isatty.IsTerminal(w.In.Fd()) {
		return findings
	}
	width, err := measure(w.In, w.Out, clock)
	switch believed := displaywidth.String(clock); {
	case err != nil:
		findings = append(findings, warn("the terminal does not say how wide "+clock+" is: "+err.Error(), "if rows are out of line: piwatch --ascii"))
	case width != believed:
		findings = append(findings, warn(fmt.Sprintf("%s is %d cells wide here, piwatch counts %d: rows may be out of line", clock, width, believed),
			"ascii = true in the table [screen] of the config, or piwatch --ascii"))
	default:
		findings = append(findings, ok(fmt.Sprintf("%s is %d cells wide", clock, width)))
	}
	return findings
}

func (w *World) lookLocale() Finding {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		value := w.Env(name)
		if value == "" {
			continue
		}
		if flat := strings.ToLower(strings.ReplaceAll(value, "-", "")); strings.Contains(flat, "utf8") {
			return ok(name + "=" + value)
		}
		return warn(name+"="+value+" is not UTF-8: signs may be unreadable", "export LC_ALL=C.UTF-8, or piwatch --ascii")
	}
	return warn("no locale is set: signs may be unreadable", "export LC_ALL=C.UTF-8, or piwatch --ascii")
}

func (w *World) lookColours() Finding {
	term, colours := w.Env("TERM"), w.Env("COLORTERM")
	text := "TERM=" + term
	switch {
	case term == "" || term == "dumb":
		return warn(text+": piwatch prints lines", "export TERM=xterm-256color, if it is such a terminal")
	case w.Env("NO_COLOR") != "":
		return ok(text + ", one colour: NO_COLOR is set")
	case colours == "truecolor" || colours == "24bit" || strings.HasSuffix(term, "-direct"):
		return ok(text + ", true colour")
	case strings.Contains(term, "256color"):
		return ok(text + ", 256 colours")
	}
	return ok(text + ", 16 colours")
}

var cursorReply = regexp.MustCompile("\x1b\\[(\\d+);(\\d+)R")

// measure is the width of a text in the terminal: how far the cursor moves. What
// it wrote is gone again.
func measure(in, out *os.File, text string) (int, error) {
	restore, err := makeRaw(int(in.Fd()))
	if err != nil {
		return 0, err
	}
	defer restore()
	if _, err := fmt.Fprintf(out, "\r%s\x1b[6n", text); err != nil {
		return 0, err
	}
	defer fmt.Fprint(out, "\r\x1b[K")
	var got []byte
	for deadline := time.Now().Add(cursorTimeout); ; {
		left := time.Until(deadline)
		if left <= 0 {
			return 0, fmt.Errorf("no answer within %s", cursorTimeout)
		}
		ready, err := unix.Poll([]unix.PollFd{{Fd: int32(in.Fd()), Events: unix.POLLIN}}, int(left.Milliseconds())+1)
		if err != nil && err != unix.EINTR {
			return 0, err
		}
		if ready <= 0 {
			continue
		}
		buffer := make([]byte, 64)
		n, err := unix.Read(int(in.Fd()), buffer)
		if err != nil {
			return 0, err
		}
		got = append(got, buffer[:n]...)
		if found := cursorReply.FindSubmatch(got); found != nil {
			column, err := strconv.Atoi(string(found[2]))
			return column - 1, err
		}
	}
}

// makeRaw lets every byte of a terminal through at once, unseen.
func makeRaw(fd int) (restore func(), err error) {
	was, err := unix.IoctlGetTermios(fd, getTermios)
	if err != nil {
		return nil, err
	}
	raw := *was
	raw.Lflag &^= unix.ECHO | unix.ICANON
	raw.Cc[unix.VMIN], raw.Cc[unix.VTIME] = 1, 0
	if err := unix.IoctlSetTermios(fd, setTermios, &raw); err != nil {
		return nil, err
	}
	return func() { _ = unix.IoctlSetTermios(fd, setTermios, was) }, nil // it was so a moment ago
}

// passed are the ways to notify that tmux must pass on to the terminal.
var passed = []string{string(notify.OSC9), string(notify.OSC777)}

// lookDesktop says whether the desktop shows notifications, where the config wants
// it to.
func lookDesktop(_ context.Context, w *World) []Finding {
	if !slices.Contains(w.Notify, string(notify.Desktop)) {
		return nil
	}
	argv, err := notify.Command(w.Env, "")
	if err != nil {
		return []Finding{warn(err.Error(), "install notify-send (libnotify), or take desktop out of [notify] in the config")}
	}
	return []Finding{ok("notifications by " + argv[0])}
}

func lookTmux(ctx context.Context, w *World) []Finding {
	if w.Env("TMUX") == "" {
		return nil
	}
	options := map[string]string{}
	for _, name := range []string{"allow-passthrough", "escape-time", "default-terminal", "focus-events"} {
		text, err := ask(ctx, os.Environ(), "tmux", "show-options", "-Agv", name)
		if err != nil {
			text, err = ask(ctx, os.Environ(), "tmux", "show-options", "-sv", name)
		}
		if err != nil {
			continue // an older tmux has no such option
		}
		options[name] = text
	}
	var findings []Finding
	wants := slices.ContainsFunc(w.Notify, func(how string) bool { return slices.Contains(passed, how) })
	if pass := options["allow-passthrough"]; wants && pass != "on" && pass != "all" {
		findings = append(findings, warn("the notifications of the terminal (osc9, osc777) do not get through tmux (allow-passthrough is "+orOff(pass)+")",
			"in ~/.tmux.conf: set -g allow-passthrough on; or bell or desktop in [notify] in the config of piwatch"))
	}
	if ms, err := strconv.Atoi(options["escape-time"]); err == nil && ms > 100 {
		findings = append(findings, warn(fmt.Sprintf("escape-time is %d ms: esc is that slow, in Pi too", ms), "in ~/.tmux.conf: set -sg escape-time 10"))
	}
	if term := options["default-terminal"]; term == "screen" || term == "xterm" {
		findings = append(findings, warn("default-terminal is "+term+": 16 colours or fewer", "in ~/.tmux.conf: set -g default-terminal tmux-256color"))
	}
	if len(findings) == 0 {
		findings = append(findings, ok("its options are fine"))
	}
	return findings
}

func orOff(value string) string {
	if value == "" {
		return "off"
	}
	return value
}
