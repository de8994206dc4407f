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

// Guard is what the user set for the guard of all sessions, in the table guard
// of the config file. PI_WATCHDOG_GUARD in the environment of a session goes
// before it.
type Guard struct {
	Off bool // on = false
}

var guardKeys = table[Guard]{
	"on": {func(g *Guard, v any) bool {
		on, ok := v.(bool)
		g.Off = !on
		return ok
	}, "true or false"},
}

// ReadGuard reads the config file as ReadWatchdog does.
func ReadGuard(file string) (Guard, error) {
	source, err := read(file)
	if err != nil {
		return Guard{}, err
	}
	settings, errs := guardKeys.read(source, "guard")
	return settings, errors.Join(errs...)
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
