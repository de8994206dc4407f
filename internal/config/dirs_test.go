package config

import (
	"errors"
	"testing"
)

func TestDirs(t *testing.T) {
	for _, c := range []struct {
		name string
		dir  func(func(string) string) (string, error)
		env  map[string]string
		want string // "" for ErrNoHome
	}{
		{"config", Dir, map[string]string{"XDG_CONFIG_HOME": "/c", "HOME": "/h"}, "/c/piwatch"},
		{"config", Dir, map[string]string{"HOME": "/h"}, "/h/.config/piwatch"},
		{"config", Dir, map[string]string{"XDG_CONFIG_HOME": "c", "HOME": "/h/"}, "/h/.config/piwatch"},
		{"config", Dir, map[string]string{}, ""},
		{"themes", ThemeDir, map[string]string{"XDG_CONFIG_HOME": "/c"}, "/c/piwatch/themes"},
		{"themes", ThemeDir, map[string]string{"HOME": "h"}, ""},
		{"state", StateDir, map[string]string{"XDG_STATE_HOME": "/s", "HOME": "/h"}, "/s/piwatch"},
		{"state", StateDir, map[string]string{"XDG_STATE_HOME": "", "HOME": "/h"}, "/h/.local/state/piwatch"},
		{"hub.log", HubLog, map[string]string{"HOME": "/h"}, "/h/.local/state/piwatch/hub.log"},
		{"hub.log", HubLog, map[string]string{}, ""},
		{"gateway.json", GatewayState, map[string]string{"XDG_STATE_HOME": "/s"}, "/s/piwatch/gateway.json"},
		{"gateway.json", GatewayState, map[string]string{}, ""},
	} {
		got, err := c.dir(func(key string) string { return c.env[key] })
		if got != c.want || (c.want == "") != errors.Is(err, ErrNoHome) {
			t.Errorf("%s with %v: %q, %v; want %q", c.name, c.env, got, err, c.want)
		}
	}
}
