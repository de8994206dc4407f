package config

import "errors"

// Watchdog is what the user set for all sessions, in the table watchdog of the
// config file. Variables of the environment of a session go before it.
type Watchdog struct {
	OnStop   string // shell command, as in PI_WATCHDOG_ON_STOP
	Rollback bool   // as PI_WATCHDOG_ROLLBACK=1
}

var watchdogKeys = table[Watchdog]{
	"on_stop":  {func(w *Watchdog, v any) (ok bool) { w.OnStop, ok = v.(string); return ok }, `a shell command, as in on_stop = "notify-send piwatch"`},
	"rollback": {func(w *Watchdog, v any) (ok bool) { w.Rollback, ok = v.(bool); return ok }, "true or false"},
}

// ReadWatchdog reads the config file; one that does not exist sets nothing. What
// is wrong in it is left at its default and told in the joined errors, with
// file, line, key and what is allowed.
func ReadWatchdog(file string) (Watchdog, error) {
	source, err := read(file)
	if err != nil {
		return Watchdog{}, err
	}
	settings, errs := watchdogKeys.read(source, "watchdog")
	return settings, errors.Join(errs...)
}
