package hub

import "testing"

func TestLogText(t *testing.T) {
	for text, want := range map[string]string{
		"the machine slept: the countdown starts anew":                                   "the machine slept: the countdown starts anew",
		"the check is void: the user spoke":                                              "the check is void: the user spoke",
		"the check was not sent: the settle number is another one":                       "the check was not sent: the settle number is another one",
		"the check was not sent: the bridge failed: TypeError: secret":                   "the check was not sent: the bridge failed: …",
		"answered continue: secret: more":                                                "answered continue: …",
		"answered done":                                                                  "answered done",
		"the provider failed in the check: 400: secret":                                  "the provider failed in the check: …",
		"the cap of 50 checks was reached: the watchdog is off":                          "the cap of 50 checks was reached: …",
		"cli: Watchdog started: timeout=30 max=5 mode=once message=secret: more\nsecret": "cli: Watchdog started: timeout=30 max=5 mode=once message=…",
		"tui: Watchdog stopped.":                                                         "tui: Watchdog stopped.",
		"on_stop (done): exit 0":                                                         "on_stop (done): exit 0",
		"on_stop (done): exit status 3: secret":                                          "on_stop (done): exit status 3",
		"on_stop (done): not started: secret":                                            "on_stop (done): not started",
		`PI_WATCHDOG: "sec\"ret": is not key=value. Usage: x`:                            `PI_WATCHDOG: "…": …`,
		`Your last message says to wait: "secret". Start it?`:                            "Your last message says to wait: …",
		"a finding of a later release: secret":                                           "a finding of a later release: …",
		"silent stop (thinking only): not continued, the guard is off by hand":           "silent stop (thinking only): not continued, the guard is off by hand",
		"silent stop (blank text): not continued, the bridge failed: TypeError: secret":  "silent stop (blank text): not continued, the bridge failed: …",
		"gateway: acme: 502 after 3 retries, passed on as it was":                        "gateway: acme: 502 after 3 retries, passed on as it was",
		"gateway: acme goes direct: its models have no address":                          "gateway: acme goes direct: its models have no address",
		"gateway: acme goes direct: the bridge failed: TypeError: secret":                "gateway: acme goes direct: the bridge failed: …",
		"gateway: a name of: secret":                                                     "gateway: …",
		"Not steered: the bridge failed: TypeError: secret":                              "Not steered: the bridge failed: …",
		"one line\nsecret":                                                               "one line",
		"":                                                                               "",
	} {
		if got := logText(text); got != want {
			t.Errorf("%q is logged as %q, want %q", text, got, want)
		}
	}
}
