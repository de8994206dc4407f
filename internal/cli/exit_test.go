package cli

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"piwatch/internal/bridge"
	"piwatch/internal/control"
	"piwatch/internal/ending"
	"piwatch/internal/watchdog"
)

func TestExitCodes(t *testing.T) {
	_, badSetting := watchdog.Parse("timeout=x")
	for _, c := range []struct {
		err  error
		want int
		hint bool
	}{
		{nil, exitOK, false},
		{errors.New("e"), exitError, false},
		{&usageError{"e", "piwatch"}, exitUsage, true},
		{badSetting, exitUsage, false},
		{&control.DialError{Path: "/s", Class: control.ErrNoHub}, exitNoHub, true},
		{&control.DialError{Path: "/s", Class: control.ErrTimeout}, exitNoHub, true},
		{&control.ProtocolError{Hub: 1, Peer: 2, Version: "1"}, exitNoHub, true},
		{&control.ProtocolError{Hub: 3, Peer: 2, Version: "1"}, exitNoHub, true},
		{control.ErrClosed, exitNoHub, false},
		{&control.Error{Code: -32001, Message: "m"}, exitNoSession, false},
		{&sessionError{text: "e", hint: "h"}, exitNoSession, true},
		{&refusedError{text: "e"}, exitRefused, false},
		{&endError{kind: ending.WaitUser, note: "which?"}, exitWaitUser, false},
		{&endError{kind: ending.Breaker}, exitFailed, false},
		{&signalError{os.Interrupt}, exitInterrupted, false},
		{&bridge.RefusedError{Status: bridge.Status{State: bridge.Edited}}, exitRefused, true},
	} {
		var out strings.Builder
		a := &app{err: &out}
		err := c.err
		if err != nil {
			err = fmt.Errorf("while\x1b[31m testing: %w", err)
		}
		if got := a.tell(err); got != c.want {
			t.Errorf("%v: exit code %d, want %d", c.err, got, c.want)
		}
		text := out.String()
		if err != nil && !strings.HasPrefix(text, "piwatch: while testing: ") || strings.Contains(text, "\nhint: ") != c.hint {
			t.Errorf("%v is told as %q", c.err, text)
		}
	}
}

func TestEveryExitCodeIsDocumented(t *testing.T) {
	known := map[int]bool{}
	for i, c := range exitCodes {
		known[c.code] = true
		if c.meaning == "" || i > 0 && c.code <= exitCodes[i-1].code {
			t.Errorf("row %d: %+v", i, c)
		}
	}
	for kind, code := range endCodes {
		if !known[code] || endTexts[kind] == "" {
			t.Errorf("the end %s with code %d is not in the table, or has no text", kind, code)
		}
	}
	if len(exitCodes) != exitRefused+1+5 {
		t.Errorf("%d rows", len(exitCodes))
	}
}
