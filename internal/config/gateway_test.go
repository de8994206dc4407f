package config

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestReadGateway(t *testing.T) {
	long, short := 900*time.Second, time.Duration(0)
	for _, c := range []struct {
		name, text string
		want       Gateway
		err        string // part of it, "" for none
	}{
		{"empty", "", Gateway{}, ""},
		{"all", "[gateway]\nsilence = 900\ncut = true\nretry_after = 0\n", Gateway{&long, true, &short}, ""},
		{"healthy models are silent for longer", "[gateway]\nsilence = 299\ncut = true\n", Gateway{Cut: true},
			":2: gateway.silence: 299 does not fit; allowed: seconds from 300 to 86400"},
		{"too long a wait", "[gateway]\n\nretry_after = 301\n", Gateway{}, ":3: gateway.retry_after: 301 does not fit; allowed: seconds from 0 to 300"},
		{"no whole number", "[gateway]\nsilence = 480.5\n", Gateway{}, ":2: gateway.silence: 480.5 does not fit"},
		{"unknown", "[gateway]\nretries = 9\n", Gateway{}, ":2: gateway.retries: unknown setting; allowed: cut, retry_after, silence"},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "config.toml")
			if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := ReadGateway(file)
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("%+v, want %+v", got, c.want)
			}
			if (c.err == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), file+c.err) {
				t.Errorf("error %v, want %s%s", err, file, c.err)
			}
		})
	}
}
