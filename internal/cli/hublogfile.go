package cli

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"

	"github.com/mattn/go-isatty"
	"gopkg.in/natefinch/lumberjack.v2"

	"piwatch/internal/config"
	"piwatch/internal/timeline"
)

const (
	logMegabytes = 4 // by default
	logsKept     = 3 // old logs beside the one that is written
)

// openLog opens the log of the hub, which begins a new file when one is long, and
// the place where a crash leaves its stack: a hub that the bridge has started has
// no stderr for it.
func (a *app) openLog() (io.Closer, *slog.Logger, error) {
	path, err := config.HubLog(a.env)
	if err != nil {
		return nil, nil, err
	}
	file, err := config.File(a.env)
	if err != nil {
		return nil, nil, err
	}
	set, problem := config.ReadLog(file, a.env)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, nil, fmt.Errorf("open the log of the hub: %w", err)
	}
	if err := crashInto(filepath.Join(filepath.Dir(path), "hub-crash.log")); err != nil {
		return nil, nil, fmt.Errorf("open the log of the hub: %w", err)
	}
	if set.Megabytes == 0 {
		set.Megabytes = logMegabytes
	}
	log := &lumberjack.Logger{Filename: path, MaxSize: set.Megabytes, MaxBackups: logsKept}
	var to io.Writer = log
	if isatty.IsTerminal(os.Stderr.Fd()) {
		to = io.MultiWriter(log, a.err)
	}
	logger := slog.New(slog.NewTextHandler(to, &slog.HandlerOptions{Level: set.Level, ReplaceAttr: cleanAttr}))
	if problem != nil {
		logger.Error("config", "err", problem)
	}
	return log, logger, nil
}

// cleanAttr keeps what comes from elsewhere from steering the terminal that the
// log is read in.
func cleanAttr(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindString {
		a.Value = slog.StringValue(timeline.Clean(a.Value.String()))
	}
	return a
}

func crashInto(path string) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer file.Close() // the run-time keeps a handle of its own
	return debug.SetCrashOutput(file, debug.CrashOptions{})
}
