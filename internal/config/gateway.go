package config

import (
	"errors"
	"time"
)

// Gateway is what the user set of the gateway, in the table gateway of the
// config file. A nil field is one that is not set.
type Gateway struct {
	Silence    *time.Duration // how long a provider may say nothing before that is told
	Cut        bool           // an answer that went silent, or has no end, is cut
	RetryAfter *time.Duration // the longest wait that a provider may ask for
}

// The limits of the settings, in seconds. Models have been silent for 325 s and
// then answered, and Pi itself gives up after 300 s.
const (
	minSilence    = 300
	maxSilence    = 86_400
	maxRetryAfter = 300
)

var gatewayKeys = table[Gateway]{
	"silence": {func(g *Gateway, v any) (ok bool) { g.Silence, ok = seconds(v, minSilence, maxSilence); return ok },
		"seconds from 300 to 86400, as in silence = 480"},
	"cut": {func(g *Gateway, v any) (ok bool) { g.Cut, ok = v.(bool); return ok }, "true or false"},
	"retry_after": {func(g *Gateway, v any) (ok bool) { g.RetryAfter, ok = seconds(v, 0, maxRetryAfter); return ok },
		"seconds from 0 to 300, as in retry_after = 60"},
}

func seconds(v any, least, most int64) (*time.Duration, bool) {
	n, ok := v.(int64)
	if !ok || n < least || n > most {
		return nil, false
	}
	d := time.Duration(n) * time.Second
	return &d, true
}

// ReadGateway reads the config file; one that does not exist sets nothing. What
// is wrong in it is left at its default and told in the joined errors, with
// file, line, key and what is allowed.
func ReadGateway(file string) (Gateway, error) {
	source, err := read(file)
	if err != nil {
		return Gateway{}, err
	}
	settings, errs := gatewayKeys.read(source, "gateway")
	return settings, errors.Join(errs...)
}
